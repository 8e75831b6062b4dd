import { readInt16, readInt32 } from "../../base/big-endian.ts";
import { byNumber, byText } from "../../base/order.ts";
import { decodeUtf8, encodeUtf8 } from "../../base/utf8.ts";
import type { TopicPartitions } from "./assignors/topic-partitions.ts";
import { inOrder } from "./assignors/topic-partitions.ts";

/** The version of both schemas that Kafka writes; it reads 0 to 3, and takes what is newer for 3. */
const VERSION = 3;

/** What a consumer says in JoinGroup of itself, in the bytes that only consumers read. */
export interface ConsumerSubscription {
  readonly topics: readonly string[];
  readonly userData: Uint8Array | undefined;
  /** What it owns, by the cooperative protocol (KIP-429). */
  readonly ownedPartitions: TopicPartitions;
  /** Of what it owns (KIP-792); undefined if it is in no generation. */
  readonly generation: number | undefined;
  /** `client.rack` (KIP-881). */
  readonly rackId: string | undefined;
}

/** What the leader says in SyncGroup to one member. */
export interface ConsumerAssignment {
  readonly partitions: TopicPartitions;
  readonly userData: Uint8Array | undefined;
}

/** The bytes of `ConsumerProtocolSubscription`, after their version (`ConsumerProtocol`). */
export function encodeSubscription(subscription: ConsumerSubscription): Uint8Array {
  const writer = new ProtocolWriter();
  writer.int16(VERSION);
  const topics = [...subscription.topics].sort(byText);
  writer.int32(topics.length);
  for (const topic of topics) writer.text(topic);
  writer.nullableBytes(subscription.userData);
  writer.topicPartitions(inOrder(subscription.ownedPartitions));
  writer.int32(subscription.generation ?? -1);
  writer.nullableText(subscription.rackId);
  return writer.bytes();
}

/** Undefined if the bytes make no sense (`SchemaException`). */
export function decodeSubscription(bytes: Uint8Array): ConsumerSubscription | undefined {
  const reader = new ProtocolReader(bytes);
  const version = reader.int16();
  if (version === undefined || version < 0) return undefined;
  const topics = reader.texts();
  const userData = reader.nullableBytes();
  if (topics === undefined || userData === undefined) return undefined;
  const owned = version < 1 ? new Map<string, number[]>() : reader.topicPartitions();
  const generation = version < 2 ? -1 : reader.int32();
  const rackId = version < 3 ? "" : reader.nullableText();
  if (owned === undefined || generation === undefined || rackId === undefined) return undefined;
  return {
    topics,
    userData: userData.bytes,
    ownedPartitions: owned,
    generation: generation < 0 ? undefined : generation,
    rackId: rackId === "" ? undefined : rackId,
  };
}

/** The bytes of `ConsumerProtocolAssignment`, after their version. */
export function encodeAssignment(assignment: ConsumerAssignment): Uint8Array {
  const writer = new ProtocolWriter();
  writer.int16(VERSION);
  writer.topicPartitions(assignment.partitions);
  writer.nullableBytes(assignment.userData);
  return writer.bytes();
}

/** Undefined if the bytes make no sense. */
export function decodeAssignment(bytes: Uint8Array): ConsumerAssignment | undefined {
  const reader = new ProtocolReader(bytes);
  const version = reader.int16();
  if (version === undefined || version < 0) return undefined;
  const partitions = reader.topicPartitions();
  const userData = reader.nullableBytes();
  if (partitions === undefined || userData === undefined) return undefined;
  return { partitions, userData: userData.bytes };
}

/** Writes fields as schemas do that are not flexible (KIP-482): lengths are int16 and int32. */
export class ProtocolWriter {
  readonly #bytes: number[] = [];

  int16(value: number): void {
    this.#bytes.push((value >> 8) & 255, value & 255);
  }

  int32(value: number): void {
    this.int16(value >> 16);
    this.int16(value);
  }

  text(text: string): void {
    const bytes = encodeUtf8(text);
    this.int16(bytes.length);
    for (const byte of bytes) this.#bytes.push(byte);
  }

  nullableText(text: string | undefined): void {
    if (text === undefined) this.int16(-1);
    else this.text(text);
  }

  nullableBytes(bytes: Uint8Array | undefined): void {
    this.int32(bytes === undefined ? -1 : bytes.length);
    for (const byte of bytes ?? []) this.#bytes.push(byte);
  }

  topicPartitions(partitions: TopicPartitions): void {
    this.int32(partitions.size);
    for (const [topic, numbers] of partitions) {
      this.text(topic);
      this.int32(numbers.length);
      for (const number of numbers) this.int32(number);
    }
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}

/** Reads such fields. All answers are undefined once the bytes have run out. */
export class ProtocolReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  int16(): number | undefined {
    const at = this.#take(2);
    return at === undefined ? undefined : readInt16(this.#bytes, at);
  }

  int32(): number | undefined {
    const at = this.#take(4);
    return at === undefined ? undefined : readInt32(this.#bytes, at);
  }

  /** No text at all is the empty one. */
  nullableText(): string | undefined {
    const length = this.int16();
    if (length === undefined) return undefined;
    if (length < 0) return "";
    const at = this.#take(length);
    return at === undefined ? undefined : decodeUtf8(this.#bytes, at, at + length);
  }

  texts(): readonly string[] | undefined {
    const count = this.int32();
    if (count === undefined || count < 0) return undefined;
    const texts: string[] = [];
    for (let i = 0; i < count; i++) {
      const text = this.nullableText();
      if (text === undefined) return undefined;
      texts.push(text);
    }
    return texts;
  }

  nullableBytes(): { readonly bytes: Uint8Array | undefined } | undefined {
    const length = this.int32();
    if (length === undefined) return undefined;
    if (length < 0) return { bytes: undefined };
    const at = this.#take(length);
    return at === undefined ? undefined : { bytes: this.#bytes.slice(at, at + length) };
  }

  /** Of each topic, in ascending order. */
  topicPartitions(): TopicPartitions | undefined {
    const count = this.int32();
    if (count === undefined || count < 0) return undefined;
    const partitions = new Map<string, readonly number[]>();
    for (let i = 0; i < count; i++) {
      const topic = this.nullableText();
      const length = this.int32();
      if (topic === undefined || length === undefined || length < 0) return undefined;
      const numbers: number[] = [];
      for (let j = 0; j < length; j++) {
        const number = this.int32();
        if (number === undefined) return undefined;
        numbers.push(number);
      }
      partitions.set(topic, numbers.sort(byNumber));
    }
    return partitions;
  }

  #take(length: number): number | undefined {
    const at = this.#at;
    // Once they have run out they stay so.
    this.#at = at + length > this.#bytes.length ? this.#bytes.length + 1 : at + length;
    return this.#at > this.#bytes.length ? undefined : at;
  }
}
