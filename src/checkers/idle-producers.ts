import { toMillis } from "../base/time.ts";
import type { Offset, PartitionName } from "../kafka/ids.ts";
import type { Appended } from "../trace/fact.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import type { CheckSetup } from "./check-setup.ts";

/** What one producer last wrote to one partition. */
interface LastAppend {
  /** Of the batch, milliseconds: brokers go by it, however late it came. */
  timestamp: number;
  /** Below lies what it wrote before it was idle for so long. */
  forgottenBelow: Offset;
}

/**
 * Which producers brokers may have forgotten: those that have written nothing to a partition for
 * `producer.id.expiration.ms`. What they send then is new, be it a retry or not (KIP-360).
 */
export class IdleProducers {
  readonly #expirationMs: number;
  readonly #partitions = new Map<PartitionName, Map<number, LastAppend>>();

  constructor(recorder: FactRecorder, { brokers, clockStart }: CheckSetup) {
    const expirations = brokers.map((one) => one["producer.id.expiration.ms"]);
    this.#expirationMs = expirations.reduce((one, other) => Math.min(one, other));
    recorder.on("appended", (fact, at) => {
      if (fact.asLeader && fact.batch.hasProducerId) this.#append(fact, toMillis(clockStart + at));
    });
  }

  /** Of what the producer wrote below, brokers may know nothing. */
  forgottenBelow(partition: PartitionName, producerId: number): Offset {
    return this.#partitions.get(partition)?.get(producerId)?.forgottenBelow ?? 0;
  }

  #append({ partition, batch }: Appended, now: number): void {
    let producers = this.#partitions.get(partition);
    if (producers === undefined) {
      producers = new Map();
      this.#partitions.set(partition, producers);
    }
    const last = producers.get(batch.producerId);
    if (last === undefined) {
      producers.set(batch.producerId, { timestamp: batch.maxTimestamp, forgottenBelow: 0 });
      return;
    }
    if (now - last.timestamp >= this.#expirationMs) last.forgottenBelow = batch.baseOffset;
    last.timestamp = batch.maxTimestamp;
  }
}
