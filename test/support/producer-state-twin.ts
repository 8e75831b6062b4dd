import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";

/** What a partition answers a producer. */
export type Answer = "append" | "duplicate" | "stale-epoch" | "out-of-order";

/**
 * The rules of idempotent producers, written down as plainly as they are told: a list of all that
 * was appended, searched from the end. The twin of `ProducerState`.
 */
export class ProducerStateTwin {
  readonly #appended: RecordBatch[] = [];

  judge(batch: RecordBatch): { answer: Answer; original?: RecordBatch } {
    const mine = this.#appended.filter(({ producerId }) => producerId === batch.producerId);
    const last = mine.at(-1);
    if (last === undefined) return { answer: "append" };
    const sameEpoch: RecordBatch[] = [];
    for (const one of mine.toReversed()) {
      if (one.producerEpoch !== last.producerEpoch) break;
      sameEpoch.unshift(one);
    }
    const original = sameEpoch
      .slice(-5)
      .find(
        (one) =>
          one.producerEpoch === batch.producerEpoch &&
          one.baseSequence === batch.baseSequence &&
          one.recordCount === batch.recordCount,
      );
    if (original !== undefined) return { answer: "duplicate", original };
    if (batch.producerEpoch < last.producerEpoch) return { answer: "stale-epoch" };
    const expected =
      batch.producerEpoch > last.producerEpoch ? 0 : (last.lastSequence + 1) % 0x8000_0000;
    return { answer: batch.baseSequence === expected ? "append" : "out-of-order" };
  }

  add(batch: RecordBatch): void {
    this.#appended.push(batch);
  }
}
