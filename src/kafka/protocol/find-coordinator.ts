import {
  arraySize,
  INT8,
  INT16,
  INT32,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  textSize,
} from "./wire-size.ts";

/** What a coordinator is looked for by (Kafka's `CoordinatorType`). */
export const COORDINATOR_TYPE = { group: 0, transaction: 1 } as const;

/** FindCoordinatorRequest v6 (KIP-699): which brokers coordinate these groups or transactional ids? */
export interface FindCoordinatorRequest {
  readonly keyType: number;
  readonly coordinatorKeys: readonly string[];
}

export interface FindCoordinatorResponse {
  readonly throttleTimeMs: number;
  readonly coordinators: readonly Coordinator[];
}

export interface Coordinator {
  readonly key: string;
  /** -1 on error. */
  readonly nodeId: number;
  readonly host: string;
  /** The simulated network has no ports: here stands the node's address. */
  readonly port: number;
  readonly errorCode: number;
  readonly errorMessage: string | undefined;
}

export function findCoordinatorRequestSize(body: FindCoordinatorRequest): number {
  return REQUEST_OVERHEAD + INT8 + arraySize(body.coordinatorKeys, textSize) + NO_TAGS;
}

export function findCoordinatorResponseSize(body: FindCoordinatorResponse): number {
  return (
    RESPONSE_OVERHEAD +
    INT32 +
    arraySize(
      body.coordinators,
      ({ key, host, errorMessage }) =>
        textSize(key) + 2 * INT32 + textSize(host) + INT16 + textSize(errorMessage) + NO_TAGS,
    ) +
    NO_TAGS
  );
}
