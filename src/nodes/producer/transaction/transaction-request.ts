import type { Duration } from "../../../base/time.ts";
import type { NodeAddress } from "../../../ports/network.ts";

/** In which order requests go out (`TransactionManager.Priority`). The end comes last, but for a new epoch. */
export const PRIORITY = {
  findCoordinator: 0,
  initProducerId: 1,
  addPartitionsOrOffsets: 2,
  endTxn: 3,
  epochBump: 4,
} as const;

export type CoordinatorKind = "transaction" | "group";

/** Whose coordinator: of which group or transactional id. */
export interface Coordination {
  readonly kind: CoordinatorKind;
  readonly key: string;
}

/**
 * A request of a transactional producer, of which one is on its way at a time, until it is answered for good
 * (`TxnRequestHandler`). What an answer means is known to its kind.
 */
export abstract class TransactionRequest {
  /** The name of its API. */
  readonly api: string;
  readonly priority: number;
  /** Who must be known before it can be sent; undefined: any broker will do. */
  readonly coordinator: Coordination | undefined;
  /** It was sent before: it waits for `backoff` first. */
  isRetry = false;
  backoff: Duration;

  constructor(
    api: string,
    priority: number,
    coordinator: Coordination | undefined,
    backoff: Duration,
  ) {
    this.api = api;
    this.priority = priority;
    this.coordinator = coordinator;
    this.backoff = backoff;
  }

  get isEndTxn(): boolean {
    return this.priority === PRIORITY.endTxn;
  }

  abstract sendTo(address: NodeAddress): void;
}
