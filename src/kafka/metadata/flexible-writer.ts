import { writeInt16, writeInt32, writeInt64 } from "../../base/big-endian.ts";
import { encodeUtf8 } from "../../base/utf8.ts";
import type { Uuid } from "../uuid.ts";
import { writeUuid } from "../uuid.ts";

/** Writes the fields of a flexible version of Kafka's messages (KIP-482), one after another. */
export class FlexibleWriter {
  #bytes = new Uint8Array(64);
  #size = 0;

  /** What was written. */
  get bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#size);
  }

  int8(value: number): void {
    // First the room: it may put other bytes in place.
    const at = this.#reserve(1);
    this.#bytes[at] = value;
  }

  int16(value: number): void {
    const at = this.#reserve(2);
    writeInt16(this.#bytes, at, value);
  }

  int32(value: number): void {
    const at = this.#reserve(4);
    writeInt32(this.#bytes, at, value);
  }

  int64(value: number): void {
    const at = this.#reserve(8);
    writeInt64(this.#bytes, at, value);
  }

  boolean(value: boolean): void {
    this.int8(value ? 1 : 0);
  }

  uuid(value: Uuid): void {
    const at = this.#reserve(16);
    writeUuid(this.#bytes, at, value);
  }

  /** Seven bits a byte, lowest first, without zigzag. */
  unsignedVarint(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.int8((rest % 128) | 128);
    this.int8(rest);
  }

  /** Undefined is null. */
  string(value: string | undefined): void {
    if (value === undefined) {
      this.unsignedVarint(0);
      return;
    }
    const text = encodeUtf8(value);
    this.unsignedVarint(text.length + 1);
    this.raw(text);
  }

  /** The length of a compact array; its elements follow. Undefined is null. */
  arrayLength(length: number | undefined): void {
    this.unsignedVarint(length === undefined ? 0 : length + 1);
  }

  int32s(values: readonly number[]): void {
    this.arrayLength(values.length);
    for (const value of values) this.int32(value);
  }

  uuids(values: readonly Uuid[]): void {
    this.arrayLength(values.length);
    for (const value of values) this.uuid(value);
  }

  raw(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** The tagged fields that end a structure. */
  tagged(fields: TaggedFields): void {
    this.unsignedVarint(fields.length);
    for (const { tag, content } of fields) {
      this.unsignedVarint(tag);
      this.unsignedVarint(content.length);
      this.raw(content);
    }
  }

  /** Makes room for `count` more bytes; returns where they begin. */
  #reserve(count: number): number {
    const at = this.#size;
    this.#size = at + count;
    if (this.#size > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#size, this.#bytes.length * 2));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    return at;
  }
}

/** Fields that are written only if they differ from their default, in order of their tags. */
export type TaggedFields = readonly { readonly tag: number; readonly content: Uint8Array }[];

export const NO_TAGS: TaggedFields = [];

/** The content of one tagged field. */
export function taggedContent(write: (writer: FlexibleWriter) => void): Uint8Array {
  const writer = new FlexibleWriter();
  write(writer);
  return writer.bytes;
}
