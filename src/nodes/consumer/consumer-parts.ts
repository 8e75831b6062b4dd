import type { Duration, Instant } from "../../base/time.ts";
import {
  BACKOFF_JITTER_HIGH,
  BACKOFF_JITTER_LOW,
  exponentialBackoff,
} from "../../kafka/client/backoff.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import type { BrokerId, PartitionName } from "../../kafka/ids.ts";
import type { World } from "../../ports/node.ts";
import type { ClientMetadata } from "../client-metadata/client-metadata.ts";
import type { RpcClient } from "../rpc/rpc-client.ts";
import type { WakeUp } from "../wake-up.ts";
import type { AskedPartition } from "./asked-partition.ts";
import type { AssignedPartition } from "./assigned-partition.ts";
import type { ConsumerSettings } from "./consumer-options.ts";

/** What the parts of one consumer share. */
export class ConsumerParts {
  readonly world: World;
  readonly rpc: RpcClient;
  readonly client: string;
  readonly settings: ConsumerSettings;
  readonly metadata: ClientMetadata;
  readonly assigned: AssignedPartition[] = [];
  readonly wakeUp: WakeUp;
  /** Positions or leaders changed: who looks after offsets and fetches must look again. */
  isChanged = true;
  /** The application waits for the answer to a call: until then it does not poll. */
  isBlocked = false;

  constructor(
    world: World,
    rpc: RpcClient,
    client: string,
    settings: ConsumerSettings,
    metadata: ClientMetadata,
    wakeUp: WakeUp,
  ) {
    this.world = world;
    this.rpc = rpc;
    this.client = client;
    this.settings = settings;
    this.metadata = metadata;
    this.wakeUp = wakeUp;
  }

  /** A request for the partition failed: it waits before the next. */
  backOff(partition: Pick<AskedPartition, "retryAt" | "failures">, now: Instant): void {
    partition.retryAt = now + this.backoff(partition.failures);
    partition.failures++;
    this.isChanged = true;
    this.wakeUp.noLaterThan(partition.retryAt, now);
  }

  noteFailure(
    api: string,
    broker: BrokerId,
    partition: PartitionName,
    error: ErrorCode,
    retried: boolean,
  ): void {
    this.world.facts.note({
      kind: "request-failed",
      client: this.client,
      api,
      broker,
      partition,
      error: error.name,
      retried,
    });
  }

  /** `poll` throws, and the application does not catch it. */
  die(reason: string): void {
    this.world.process.exit(reason);
  }

  /** How long to wait after so many failures in a row (retry.backoff.ms, retry.backoff.max.ms). */
  backoff(attempts: number): Duration {
    const { retryBackoff, retryBackoffMax } = this.settings;
    const jitter = this.world.random.between(BACKOFF_JITTER_LOW, BACKOFF_JITTER_HIGH);
    return exponentialBackoff(retryBackoff, retryBackoffMax, attempts, jitter);
  }
}
