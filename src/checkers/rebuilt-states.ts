import type { BrokerId, Offset, PartitionName } from "../kafka/ids.ts";
import type { FactRecorder } from "../trace/recorder.ts";

/**
 * Up to where each replica has made up its mind anew about producers, from snapshots and what lies
 * behind them: at a start, or when its log was cut. A snapshot holds only the last batch of a producer
 * (`ProducerStateManager.writeSnapshot`).
 */
export class RebuiltStates {
  readonly #ends = new Map<string, Offset>();

  constructor(recorder: FactRecorder) {
    recorder.on("log-loaded", ({ partition, broker, logEndOffset }) =>
      this.#rebuilt(partition, broker, logEndOffset),
    );
    recorder.on("truncated", ({ partition, broker, to }) => this.#rebuilt(partition, broker, to));
  }

  /** Of what lies below it the replica may know only the last batch of each producer. */
  endOf(partition: PartitionName, broker: BrokerId): Offset {
    return this.#ends.get(`${partition} ${broker}`) ?? 0;
  }

  #rebuilt(partition: PartitionName, broker: BrokerId, end: Offset): void {
    const key = `${partition} ${broker}`;
    this.#ends.set(key, Math.max(end, this.#ends.get(key) ?? 0));
  }
}
