import type { Offset } from "../kafka/ids.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";

/** So many batches at least are remembered, if there were so many, and at most twice as many. */
export const REMEMBERED = 512;

/**
 * The newest batches of a segment and where they lie in its file. Readers that keep up are served from
 * here; what is older is read from the file again, so that a log's memory does not grow with it.
 */
export class RecentBatches {
  /** Ascending, up to the end of the segment. */
  #batches: RecordBatch[] = [];
  #positions: number[] = [];

  get length(): number {
    return this.#batches.length;
  }

  /** At the end of the segment. */
  add(batch: RecordBatch, position: number): void {
    if (this.#batches.length === 2 * REMEMBERED) this.#dropOldest();
    this.#batches.push(batch);
    this.#positions.push(position);
  }

  /** Would the batch that holds `offset`, or the first after it, be here? */
  covers(offset: Offset): boolean {
    const first = this.#batches[0];
    return first !== undefined && (offset >= first.baseOffset || this.#positions[0] === 0);
  }

  at(index: number): RecordBatch {
    return this.#batches[index] as RecordBatch;
  }

  last(): RecordBatch | undefined {
    return this.#batches[this.#batches.length - 1];
  }

  positionAt(index: number): number {
    return this.#positions[index] as number;
  }

  slice(first: number, end: number): RecordBatch[] {
    return this.#batches.slice(first, end);
  }

  /** The index of the first batch that ends at `offset` or later; the length if there is none. */
  indexOf(offset: Offset): number {
    const batches = this.#batches;
    const { length } = batches;
    let low = 0;
    let high = length;
    // Backwards in growing steps first: most searches are for the newest batches.
    for (let step = 1; step <= length; step *= 2) {
      const probe = length - step;
      if ((batches[probe] as RecordBatch).lastOffset < offset) {
        low = probe + 1;
        break;
      }
      high = probe;
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((batches[middle] as RecordBatch).lastOffset < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The file was cut at `position`. */
  cutAt(position: number): void {
    const positions = this.#positions;
    let kept = positions.length;
    while (kept > 0 && (positions[kept - 1] as number) >= position) kept--;
    this.#batches.length = kept;
    positions.length = kept;
  }

  clear(): void {
    this.#batches.length = 0;
    this.#positions.length = 0;
  }

  #dropOldest(): void {
    this.#batches = this.#batches.slice(REMEMBERED);
    this.#positions = this.#positions.slice(REMEMBERED);
  }
}
