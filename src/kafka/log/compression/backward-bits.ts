import { corrupt } from "./corrupt-block.ts";

/**
 * Reads a Zstandard bit stream, which was written forwards and is read from its end. Past its beginning it
 * gives zeros; `left` is negative then.
 */
export class BackwardBits {
  /** Unread bits. */
  left: number;
  readonly #bytes: Uint8Array;
  readonly #start: number;

  /** Of bytes[start, end). The highest bit that is set in the last byte is where the writer stopped. */
  constructor(bytes: Uint8Array, start: number, end: number) {
    const last = end > start ? (bytes[end - 1] as number) : 0;
    if (last === 0) corrupt("a bit stream of Zstandard without an end");
    this.#bytes = bytes;
    this.#start = start;
    this.left = (end - start) * 8 - 1 - (Math.clz32(last) - 24);
  }

  /** The next `count` bits, at most 24, as a number; they stay unread. */
  peek(count: number): number {
    const from = this.left - count;
    if (from < 0) return this.left <= 0 ? 0 : this.#at(0, this.left) << -from;
    return this.#at(from, count);
  }

  /** The next `count` bits, at most 31. */
  read(count: number): number {
    if (count > 16) {
      const high = this.peek(count - 16);
      this.left -= count - 16;
      const low = this.peek(16);
      this.left -= 16;
      return high * 65_536 + low;
    }
    const value = this.peek(count);
    this.left -= count;
    return value;
  }

  #at(from: number, count: number): number {
    const bytes = this.#bytes;
    const at = this.#start + (from >>> 3);
    const word =
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24);
    return (word >>> (from & 7)) & ((1 << count) - 1);
  }
}
