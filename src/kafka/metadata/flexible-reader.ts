import { readInt16, readInt32, readInt64 } from "../../base/big-endian.ts";
import { invariant } from "../../base/invariant.ts";
import { decodeUtf8 } from "../../base/utf8.ts";
import type { Uuid } from "../uuid.ts";
import { uuidAt } from "../uuid.ts";

/**
 * Reads the fields of a flexible version of Kafka's messages (KIP-482). The bytes come from a batch
 * whose CRC was checked, so bytes that do not fit are a bug and throw.
 */
export class FlexibleReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at: number;

  constructor(bytes: Uint8Array, start = 0, end: number = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#end;
  }

  int8(): number {
    const at = this.#take(1);
    return ((this.#bytes[at] as number) << 24) >> 24;
  }

  int16(): number {
    return readInt16(this.#bytes, this.#take(2));
  }

  int32(): number {
    return readInt32(this.#bytes, this.#take(4));
  }

  int64(): number {
    return readInt64(this.#bytes, this.#take(8));
  }

  boolean(): boolean {
    return this.int8() !== 0;
  }

  uuid(): Uuid {
    return uuidAt(this.#bytes, this.#take(16));
  }

  unsignedVarint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.#bytes[this.#take(1)] as number;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  }

  /** A view of the next bytes. */
  raw(length: number): Uint8Array {
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** Null is undefined. */
  nullableString(): string | undefined {
    const length = this.unsignedVarint() - 1;
    if (length < 0) return undefined;
    const at = this.#take(length);
    return decodeUtf8(this.#bytes, at, at + length);
  }

  string(): string {
    const text = this.nullableString();
    invariant(text !== undefined, () => `a null text ends at byte ${this.#at}`);
    return text;
  }

  /** A compact array, element by element. Null reads as empty. */
  array<T>(element: () => T): T[] {
    const values: T[] = [];
    for (let left = this.unsignedVarint() - 1; left > 0; left--) values.push(element());
    return values;
  }

  int32s(): number[] {
    return this.array(() => this.int32());
  }

  uuids(): Uuid[] {
    return this.array(() => this.uuid());
  }

  /** The tagged fields that end a structure; `read` takes the content of those that it knows. */
  tagged(read: (tag: number, content: FlexibleReader) => void = ignore): void {
    for (let left = this.unsignedVarint(); left > 0; left--) {
      const tag = this.unsignedVarint();
      const length = this.unsignedVarint();
      const at = this.#take(length);
      read(tag, new FlexibleReader(this.#bytes, at, at + length));
    }
  }

  #take(count: number): number {
    const at = this.#at;
    invariant(at + count <= this.#end, () => `no ${count} bytes left at ${at} of ${this.#end}`);
    this.#at = at + count;
    return at;
  }
}

function ignore(): void {
  // A tag of a later version.
}
