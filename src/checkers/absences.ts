import type { Place } from "./record-keys.ts";

/**
 * Which records of its path a replica's log does not hold although they are above its start: cleaned
 * away there, or already from what it copied. One byte a record, for logs of compacted topics that
 * have been cleaned.
 */
export class Absences {
  #bits: Uint8Array = new Uint8Array(1024);
  /** A power loss may have undone a cleaning: what is noted as absent may be there after all. */
  areUncertain = false;

  has(place: Place): boolean {
    return this.#bits[place] === 1;
  }

  add(place: Place): void {
    if (place >= this.#bits.length) this.#grow(place + 1);
    this.#bits[place] = 1;
  }

  /** The records at places [first, first + length) are there. */
  remove(first: Place, length: number): void {
    if (first < this.#bits.length) this.#bits.fill(0, first, first + length);
  }

  #grow(size: number): void {
    const grown = new Uint8Array(Math.max(this.#bits.length * 2, size));
    grown.set(this.#bits);
    this.#bits = grown;
  }
}
