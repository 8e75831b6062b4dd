import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";

/** What a `ReplicaLog` should hold, done naively: an array of batches, compared whole. */
export class ReplicaLogTwin {
  batches: RecordBatch[] = [];

  get end(): number {
    return this.batches.at(-1)?.nextOffset ?? 0;
  }

  append(batch: RecordBatch): void {
    this.cutTo(batch.baseOffset);
    this.batches.push(batch);
  }

  cutTo(offset: number): void {
    this.batches = this.batches.filter((batch) => batch.lastOffset < offset);
  }

  indexOf(offset: number): number {
    return offset < 0 ? -1 : this.batches.findIndex((batch) => batch.lastOffset >= offset);
  }

  commonCount(other: ReplicaLogTwin): number {
    const length = Math.min(this.batches.length, other.batches.length);
    for (let i = 0; i < length; i++) {
      if (!isSame(this.batches[i], other.batches[i])) return i;
    }
    return length;
  }
}

function isSame(one: RecordBatch | undefined, other: RecordBatch | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one.bytes.join() === other.bytes.join();
}
