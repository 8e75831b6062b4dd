/** Three numbers a stretch: where it ends in the file, its source, and where it begins in that. */
const STRIDE = 3;
const SMALLEST = 16 * STRIDE;
/** The source of a stretch that no array is kept for: its bytes are elsewhere. */
const NONE = 0;
const NOTHING = new Uint8Array(0);

/** The largest position that can be kept. */
export const LARGEST_POSITION = 0xffff_ffff;

/**
 * Which arrays hold the stretches of a file that were written without being copied. They cover the
 * file from 0 to `end`, those between them included that have no source.
 *
 * There may be one for each record batch, so a stretch is three numbers and no object; and what
 * follows its neighbour in the file as in the source is one with it.
 */
export class Stretches {
  /** The end of the last. */
  end = 0;
  #numbers: Uint32Array = new Uint32Array(0);
  /** How much of `#numbers` is in use. */
  #used = 0;
  /** In the order of the stretches; the first stands for none. */
  readonly #sources: Uint8Array[] = [NOTHING];
  /** The source of the last stretch, and where it goes on. */
  #last: Uint8Array = NOTHING;
  #lastEnd = 0;

  get count(): number {
    return this.#used / STRIDE;
  }

  /** Adds bytes[start, end) at `position`, which must not lie before `end`. */
  add(position: number, bytes: Uint8Array, start: number, end: number): void {
    const stop = position + end - start;
    if (start === this.#lastEnd && bytes === this.#last && position === this.end) {
      this.#numbers[this.#used - STRIDE] = stop;
    } else {
      if (position > this.end) this.#push(position, NONE, 0);
      if (bytes !== this.#last) {
        this.#sources.push(bytes);
        this.#last = bytes;
      }
      this.#push(stop, this.#sources.length - 1, start);
    }
    this.#lastEnd = end;
    this.end = stop;
  }

  /** The stretch that holds `position`, which must lie before `end`. */
  indexAt(position: number): number {
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.endOf(middle) > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  startOf(index: number): number {
    return index === 0 ? 0 : (this.#numbers[(index - 1) * STRIDE] as number);
  }

  endOf(index: number): number {
    return this.#numbers[index * STRIDE] as number;
  }

  /** Undefined if the stretch has none. */
  sourceOf(index: number): Uint8Array | undefined {
    const source = this.#numbers[index * STRIDE + 1] as number;
    return source === NONE ? undefined : this.#sources[source];
  }

  /** Where the stretch begins in its source. */
  sourceStartOf(index: number): number {
    return this.#numbers[index * STRIDE + 2] as number;
  }

  /** The stretch has no source any more. */
  forget(index: number): void {
    this.#numbers[index * STRIDE + 1] = NONE;
    if (index === this.count - 1) this.#endRun();
  }

  /** Drops everything from `position` on. */
  cut(position: number): void {
    if (position >= this.end) return;
    const index = this.indexAt(position);
    const isWhole = this.startOf(index) === position;
    this.#used = (isWhole ? index : index + 1) * STRIDE;
    if (!isWhole) this.#numbers[index * STRIDE] = position;
    this.end = position;
    let last = this.count - 1;
    while (last >= 0 && this.sourceOf(last) === undefined) last--;
    this.#sources.length = last < 0 ? 1 : (this.#numbers[last * STRIDE + 1] as number) + 1;
    this.#endRun();
  }

  /** What is added next begins a stretch of its own. */
  #endRun(): void {
    this.#last = NOTHING;
    this.#lastEnd = 0;
  }

  #push(end: number, source: number, sourceStart: number): void {
    const used = this.#used;
    if (used === this.#numbers.length) {
      const grown = new Uint32Array(Math.max(SMALLEST, 2 * used));
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    this.#numbers[used] = end;
    this.#numbers[used + 1] = source;
    this.#numbers[used + 2] = sourceStart;
    this.#used = used + STRIDE;
  }
}
