import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";

/** What one field of a message holds on the wire. An array of fields is a structure. */
export type WireType =
  | "bool"
  | "int8"
  | "int16"
  | "uint16"
  | "int32"
  | "int64"
  | "uuid"
  | "string"
  | "bytes"
  | "records"
  | { readonly arrayOf: WireType }
  | readonly WireField[];

/** One field of a message in a flexible version, as Kafka's message JSON states it. */
export interface WireField {
  readonly name: string;
  readonly type: WireType;
  readonly nullable?: true;
  /** Written if the body does not hold the field: simulated nodes leave out what never varies. */
  readonly default?: unknown;
  /** A tagged field goes to the end of its structure, and only if it is there. */
  readonly tag?: number;
}

/** A message's fields by name; `undefined` is null, or a tagged field that is left out. */
export type WireBody = Readonly<Record<string, unknown>>;

/**
 * Encodes messages byte for byte in the flexible versions of Kafka's protocol (KIP-482), field after
 * field from a schema: the slow and simple twin of the sizes in src/kafka/protocol.
 */
export class WireEncoder {
  readonly bytes: number[] = [];

  /** Length prefix, request header v2, body. */
  static request(
    header: { readonly key: number; readonly version: number; readonly correlationId: number },
    clientId: string,
    schema: readonly WireField[],
    body: WireBody,
  ): Uint8Array {
    const encoder = new WireEncoder();
    encoder.value("int16", header.key);
    encoder.value("int16", header.version);
    encoder.value("int32", header.correlationId);
    // The client id alone keeps the old form of a string, with a length of two bytes.
    const name = Buffer.from(clientId, "utf8");
    encoder.value("int16", name.length);
    encoder.bytes.push(...name);
    encoder.unsignedVarint(0);
    encoder.value(schema, body);
    return encoder.framed();
  }

  /** Length prefix, response header v1, body. */
  static response(correlationId: number, schema: readonly WireField[], body: WireBody): Uint8Array {
    const encoder = new WireEncoder();
    encoder.value("int32", correlationId);
    encoder.unsignedVarint(0);
    encoder.value(schema, body);
    return encoder.framed();
  }

  framed(): Uint8Array {
    const prefix = new WireEncoder();
    prefix.value("int32", this.bytes.length);
    return Uint8Array.from([...prefix.bytes, ...this.bytes]);
  }

  value(type: WireType, value: unknown): void {
    if (typeof type === "object") {
      if ("arrayOf" in type) this.#array(type.arrayOf, value as readonly unknown[]);
      else this.#structure(type, value as WireBody);
      return;
    }
    switch (type) {
      case "bool":
        this.#integer(1, value === true ? 1 : 0);
        return;
      case "int8":
        this.#integer(1, value as number);
        return;
      case "int16":
      case "uint16":
        this.#integer(2, value as number);
        return;
      case "int32":
        this.#integer(4, value as number);
        return;
      case "int64":
        this.#integer(8, value as number);
        return;
      case "uuid":
        this.#uuid(value as string);
        return;
      case "string":
        this.#compactBytes(Buffer.from(value as string, "utf8"));
        return;
      case "bytes":
        this.#compactBytes(value as Uint8Array);
        return;
      case "records":
        this.#compactBytes(concatenated(value as RecordBatch | readonly RecordBatch[]));
        return;
    }
  }

  unsignedVarint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.bytes.push((rest % 0x80) + 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.bytes.push(rest);
  }

  #structure(fields: readonly WireField[], body: WireBody): void {
    for (const field of fields) {
      if (field.tag !== undefined) continue;
      const value = body[field.name] ?? field.default;
      if (field.nullable === true && Array.isArray(field.type)) {
        // A structure that may be null has a byte in front that says whether it is.
        this.#integer(1, value === undefined ? -1 : 1);
        if (value === undefined) continue;
      }
      if (value !== undefined) this.value(field.type, value);
      else if (field.nullable === true) this.unsignedVarint(0);
      else throw new Error(`the body holds no ${field.name}`);
    }
    const tagged = fields.filter(({ tag, name }) => tag !== undefined && body[name] !== undefined);
    this.unsignedVarint(tagged.length);
    for (const { tag, name, type } of tagged) {
      const content = new WireEncoder();
      content.value(type, body[name]);
      this.unsignedVarint(tag as number);
      this.unsignedVarint(content.bytes.length);
      for (const byte of content.bytes) this.bytes.push(byte);
    }
  }

  #array(type: WireType, items: readonly unknown[]): void {
    this.unsignedVarint(items.length + 1);
    for (const item of items) this.value(type, item);
  }

  #compactBytes(bytes: Uint8Array): void {
    this.unsignedVarint(bytes.length + 1);
    for (const byte of bytes) this.bytes.push(byte);
  }

  #integer(width: number, value: number): void {
    let rest = BigInt.asUintN(width * 8, BigInt(value));
    const digits: number[] = [];
    for (let i = 0; i < width; i++) {
      digits.unshift(Number(rest & 0xffn));
      rest >>= 8n;
    }
    this.bytes.push(...digits);
  }

  #uuid(text: string): void {
    const bytes = Buffer.from(text, "base64url");
    if (bytes.length !== 16) throw new Error(`not a uuid: ${text}`);
    this.bytes.push(...bytes);
  }
}

function concatenated(records: RecordBatch | readonly RecordBatch[]): Uint8Array {
  const batches = "bytes" in records ? [records] : records;
  return Buffer.concat(batches.map(({ bytes }) => bytes));
}
