/** The place of a record in a partition's tree: `BatchTree.firstValue` of its batch, and on from there. */
export type Place = number;

/** Nothing stands at the place, or a record without a key. */
export const NO_KEY = -1;

/** A key, as a number from 0. */
export type KeyNumber = number;

/**
 * The keys of all records that ever stood in any replica's log of one compacted partition, by the
 * record's place, and which records a cleaning has taken away. 5 bytes a record.
 */
export class RecordKeys {
  readonly #numbers = new Map<string, KeyNumber>();
  /** Twice the key's number, and one more for a record without a value (a tombstone); or NO_KEY. */
  #words: Int32Array = new Int32Array(256);
  /** 1 where a record is no longer in some replica's log, because that was cleaned. */
  #removed: Uint8Array = new Uint8Array(256);

  /** How many different keys there are. */
  get count(): number {
    return this.#numbers.size;
  }

  /** Makes room for places [first, first + length): nothing stands there yet. */
  reserve(first: Place, length: number): void {
    if (first + length > this.#words.length) this.#grow(first + length);
    this.#words.fill(NO_KEY, first, first + length);
  }

  /** `start` is negative for a record without a key, which is then not told from a hole. */
  set(place: Place, bytes: Uint8Array, start: number, end: number, isTombstone: boolean): void {
    if (start >= 0) this.#words[place] = 2 * this.numberOf(bytes, start, end) + +isTombstone;
  }

  /** The number of the key bytes[start, end), a new one if it has none yet. */
  numberOf(bytes: Uint8Array, start: number, end: number): KeyNumber {
    let text = "";
    for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i] as number);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(text, number);
    return number;
  }

  /** The key at a place, or NO_KEY. */
  at(place: Place): KeyNumber {
    return (this.#words[place] as number) >> 1;
  }

  isTombstone(place: Place): boolean {
    const word = this.#words[place] as number;
    return word >= 0 && (word & 1) === 1;
  }

  isRemoved(place: Place): boolean {
    return this.#removed[place] === 1;
  }

  setRemoved(place: Place): void {
    this.#removed[place] = 1;
  }

  #grow(size: number): void {
    const length = Math.max(this.#words.length * 2, size);
    const words = new Int32Array(length);
    words.set(this.#words);
    this.#words = words;
    const removed = new Uint8Array(length);
    removed.set(this.#removed);
    this.#removed = removed;
  }
}
