import type { RecordBatch } from "../../../kafka/log/record-batch.ts";

/** What a coordinator knows by one partition of its topic, and does with it. */
export interface CoordinatorShard {
  /** Takes a batch of the log into the state: all of them, in order, before `onLoaded`. */
  replay(batch: RecordBatch): void;
  /** The state is that of the whole log: timers may be started, and requests come from now on. */
  onLoaded(): void;
  /**
   * The broker does not lead the partition any more, or does in a later epoch: timers are to be cancelled,
   * and what waits is to be answered NOT_COORDINATOR. What waits in `whenCommitted` is told right after.
   * Also called of a shard that is not loaded.
   */
  onUnloaded(): void;
}
