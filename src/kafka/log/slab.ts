const SLAB_SIZE = 256 * 1024;

/**
 * Memory for many small byte strings that live equally long: a typed array for each would cost more
 * than what it holds. What was handed out is written once, then never again.
 */
export class Slab {
  /** The array to write into, after `reserve`. */
  buffer: Uint8Array = new Uint8Array(0);
  #used = 0;

  /** Returns the position in `buffer` from which `size` bytes are the caller's. */
  reserve(size: number): number {
    const start = this.#used;
    if (start + size > this.buffer.length) return this.#renew(size);
    this.#used = start + size;
    return start;
  }

  #renew(size: number): number {
    this.buffer = new Uint8Array(size > SLAB_SIZE >> 2 ? size : SLAB_SIZE);
    this.#used = size;
    return 0;
  }
}
