import { corrupt } from "./corrupt-block.ts";

/**
 * Bytes that may come out of one compressed block. Kafka has no bound. A real batch is far from it: a
 * broker takes 1 MiB compressed, unless told otherwise.
 */
export const MAX_CONTENT = 128 * 1024 * 1024;

/** Where a decoder writes what it finds, and looks back at it. Grows as it is filled, up to MAX_CONTENT. */
export class Output {
  length = 0;
  #bytes: Uint8Array;

  /** `expected` is a guess at the size. */
  constructor(expected: number) {
    this.#bytes = new Uint8Array(Math.min(Math.max(expected, 64), MAX_CONTENT));
  }

  append(source: Uint8Array, start: number, end: number): void {
    const count = end - start;
    this.#makeRoom(count);
    const bytes = this.#bytes;
    const { length } = this;
    // Most are short: a loop is cheaper than a view and a call.
    if (count > 32) bytes.set(source.subarray(start, end), length);
    else for (let i = 0; i < count; i++) bytes[length + i] = source[start + i] as number;
    this.length = length + count;
  }

  fill(byte: number, count: number): void {
    this.#makeRoom(count);
    this.#bytes.fill(byte, this.length, this.length + count);
    this.length += count;
  }

  /** Repeats `count` bytes from `distance` back, which may overlap themselves; not from before `floor`. */
  copyBack(distance: number, count: number, floor: number): void {
    const { length } = this;
    if (distance <= 0 || distance > length - floor)
      corrupt("it repeats bytes from before its start");
    this.#makeRoom(count);
    const bytes = this.#bytes;
    if (distance >= count && count > 32)
      bytes.copyWithin(length, length - distance, length - distance + count);
    else for (let i = length; i < length + count; i++) bytes[i] = bytes[i - distance] as number;
    this.length = length + count;
  }

  /** What was written; the output is not to be used any more. */
  finish(): Uint8Array {
    const { length } = this;
    return length === this.#bytes.length ? this.#bytes : this.#bytes.slice(0, length);
  }

  /** A view of bytes [start, length). */
  from(start: number): Uint8Array {
    return this.#bytes.subarray(start, this.length);
  }

  #makeRoom(count: number): void {
    const needed = this.length + count;
    const bytes = this.#bytes;
    if (needed <= bytes.length) return;
    if (needed > MAX_CONTENT) corrupt(`it holds more than ${MAX_CONTENT} bytes`);
    const grown = new Uint8Array(Math.min(Math.max(needed, bytes.length * 2), MAX_CONTENT));
    grown.set(bytes.subarray(0, this.length));
    this.#bytes = grown;
  }
}
