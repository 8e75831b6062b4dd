/** Where a file is not what it should be, and why. */
export interface Damage {
  /** Of the file; the first that is wrong, as far as that can be told. */
  readonly byte: number;
  readonly reason: string;
}

/** What is found to be wrong with one file: the first in the file counts, and how many there are. */
export class Damages {
  #first: Damage | undefined;
  #count = 0;

  get first(): Damage | undefined {
    return this.#first;
  }

  /** Besides the first. */
  get more(): number {
    return Math.max(0, this.#count - 1);
  }

  add(byte: number, reason: string): void {
    this.#count++;
    if (this.#first === undefined || byte < this.#first.byte) this.#first = { byte, reason };
  }

  /** `byte 341: the CRC-32C is 1, but the bytes give 2`; undefined if nothing is wrong. */
  get text(): string | undefined {
    if (this.#first === undefined) return undefined;
    const { byte, reason } = this.#first;
    const more = this.more === 0 ? "" : `; and ${this.more} more`;
    return `byte ${byte}: ${reason}${more}`;
  }
}
