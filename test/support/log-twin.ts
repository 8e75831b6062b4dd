import type { EpochEntry } from "../../src/kafka/log/leader-epoch-cache.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";

/** A partition's log as a plain list of batches: the simple twin of `PartitionLog`. */
export class LogTwin {
  batches: RecordBatch[] = [];
  start = 0;
  end = 0;
  /** Everything below survives a power loss. */
  flushed = 0;
  #assigned: EpochEntry[] = [];

  /** The epochs and where they start, as the batches and the assignments say. */
  get epochs(): EpochEntry[] {
    return this.#assigned.slice();
  }

  /** Are these the twin's batches, byte for byte? */
  sameBytes(batches: readonly RecordBatch[]): boolean {
    if (batches.length !== this.batches.length) return false;
    return batches.every((batch, i) => {
      const bytes = this.batches[i]?.bytes ?? new Uint8Array(0);
      return (
        batch.sizeInBytes === bytes.length && batch.bytes.every((byte, at) => byte === bytes[at])
      );
    });
  }

  append(batch: RecordBatch): void {
    this.assignEpoch(batch.partitionLeaderEpoch);
    this.batches.push(batch);
    this.end = batch.nextOffset;
  }

  assignEpoch(epoch: number): void {
    const latest = this.#assigned.at(-1);
    if (latest?.epoch === epoch) return;
    this.#assigned = this.#assigned.filter(({ startOffset }) => startOffset < this.end);
    this.#assigned.push({ epoch, startOffset: this.end });
  }

  /** The end of the batch so many batches before the last. */
  boundary(back: number): number {
    return this.batches.at(-1 - back)?.nextOffset ?? this.start;
  }

  truncateTo(offset: number): void {
    this.end = Math.min(this.end, offset);
    this.batches = this.batches.filter(({ lastOffset }) => lastOffset < this.end);
    this.#assigned = this.#assigned.filter(({ startOffset }) => startOffset < this.end);
    this.flushed = Math.min(this.flushed, this.end);
  }

  wipe(offset: number): void {
    this.batches = [];
    this.#assigned = [];
    this.start = offset;
    this.end = offset;
    this.flushed = Math.min(this.flushed, offset);
  }

  /** The log was opened again: epochs in which nothing is written are dropped. */
  reopen(): void {
    this.truncateTo(this.end);
  }

  /**
   * A power loss left these batches and this end. Only what was not flushed may be missing; that
   * may be a segment's end before a segment that is whole (recovery looks at each by itself).
   */
  loseUnflushed(left: readonly RecordBatch[], end: number): void {
    const kept = this.batches.filter((batch) =>
      left.some(({ baseOffset, crc }) => baseOffset === batch.baseOffset && crc === batch.crc),
    );
    const missing = this.batches.find(
      (one) => one.lastOffset < this.flushed && !kept.includes(one),
    );
    if (kept.length !== left.length || missing !== undefined) {
      throw new Error(
        `of what was flushed up to ${this.flushed}, ${missing?.baseOffset} is missing`,
      );
    }
    if (end < this.flushed || end > this.end) {
      throw new Error(`the log ends at ${end}, not in [${this.flushed}, ${this.end}]`);
    }
    this.batches = kept;
    this.truncateTo(end);
  }
}
