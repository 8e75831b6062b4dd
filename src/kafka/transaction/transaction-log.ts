import { readInt16, writeInt16 } from "../../base/big-endian.ts";
import { invariant } from "../../base/invariant.ts";
import { decodeUtf8, encodeUtf8 } from "../../base/utf8.ts";
import type { PartitionName, TopicPartition } from "../ids.ts";
import { NO_PRODUCER_ID, partitionName } from "../ids.ts";
import { FlexibleReader } from "../metadata/flexible-reader.ts";
import type { TaggedFields } from "../metadata/flexible-writer.ts";
import { FlexibleWriter, taggedContent } from "../metadata/flexible-writer.ts";
import type {
  TransactionMetadataOptions,
  TransactionPartitions,
  TransactionTransition,
  TransactionVersion,
} from "./transaction-metadata.ts";
import { transactionVersionOf } from "./transaction-metadata.ts";
import { transactionStateId, transactionStateOf } from "./transaction-state.ts";

/** `TransactionLogKey` v0: the version, and a text whose length takes two bytes. */
export function encodeTransactionKey(transactionalId: string): Uint8Array {
  const text = encodeUtf8(transactionalId);
  const key = new Uint8Array(4 + text.length);
  writeInt16(key, 2, text.length);
  key.set(text, 4);
  return key;
}

/** The transactional id; undefined for a key of another version, which loading passes over. */
export function decodeTransactionKey(key: Uint8Array): string | undefined {
  if (readInt16(key, 0) !== 0) return undefined;
  return decodeUtf8(key, 4, 4 + readInt16(key, 2));
}

/**
 * `TransactionLogValue`: in version 1, which has tagged fields, once the cluster's transaction.version is 1.
 * Simplified: topics come in the order in which they joined; Kafka's order is that of a hash table.
 */
export function encodeTransactionValue(
  to: TransactionTransition,
  version: TransactionVersion,
): Uint8Array {
  const isEmpty = to.state === "Empty";
  invariant(!isEmpty || to.partitions.size === 0, () => "an empty transaction has partitions");
  return version === 0 ? encodeV0(to, isEmpty) : encodeV1(to, isEmpty);
}

/** A record that is not a tombstone. Its last producer epoch is not written. */
export function decodeTransactionValue(
  transactionalId: string,
  value: Uint8Array,
): TransactionMetadataOptions {
  const version = readInt16(value, 0);
  invariant(version === 0 || version === 1, () => `a transaction's record of version ${version}`);
  const reader = new FlexibleReader(value, 2);
  const isFlexible = version === 1;
  const producerId = reader.int64();
  const producerEpoch = reader.int16();
  const timeoutMs = reader.int32();
  const state = transactionStateOf(reader.int8());
  const partitions = isFlexible ? readPartitions(reader) : readPartitionsV0(reader);
  const lastUpdateTimestamp = reader.int64();
  const startTimestamp = reader.int64();
  let previousProducerId = NO_PRODUCER_ID;
  let nextProducerId = NO_PRODUCER_ID;
  let clientTransactionVersion: TransactionVersion = 0;
  if (isFlexible) {
    reader.tagged((tag, content) => {
      if (tag === PREVIOUS_PRODUCER_ID) previousProducerId = content.int64();
      else if (tag === NEXT_PRODUCER_ID) nextProducerId = content.int64();
      else if (tag === CLIENT_TRANSACTION_VERSION) {
        clientTransactionVersion = transactionVersionOf(content.int16());
      }
    });
  }
  return {
    transactionalId,
    state,
    producerId,
    previousProducerId,
    nextProducerId,
    producerEpoch,
    timeoutMs,
    partitions,
    startTimestamp,
    lastUpdateTimestamp,
    clientTransactionVersion,
  };
}

function encodeV1(to: TransactionTransition, isEmpty: boolean): Uint8Array {
  const writer = new FlexibleWriter();
  writer.int16(1);
  writeHead(writer, to);
  const topics = partitionsByTopic(to.partitions);
  writer.arrayLength(isEmpty ? undefined : topics.length);
  if (!isEmpty) {
    for (const { topic, partitions } of topics) {
      writer.string(topic);
      writer.int32s(partitions);
      writer.tagged([]);
    }
  }
  writer.int64(to.lastUpdateTimestamp);
  writer.int64(to.startTimestamp);
  writer.tagged(taggedFields(to));
  return writer.bytes;
}

function encodeV0(to: TransactionTransition, isEmpty: boolean): Uint8Array {
  const writer = new FlexibleWriter();
  writer.int16(0);
  writeHead(writer, to);
  const topics = partitionsByTopic(to.partitions);
  writer.int32(isEmpty ? -1 : topics.length);
  for (const { topic, partitions } of topics) {
    const text = encodeUtf8(topic);
    writer.int16(text.length);
    writer.raw(text);
    writer.int32(partitions.length);
    for (const partition of partitions) writer.int32(partition);
  }
  writer.int64(to.lastUpdateTimestamp);
  writer.int64(to.startTimestamp);
  return writer.bytes;
}

function writeHead(writer: FlexibleWriter, to: TransactionTransition): void {
  writer.int64(to.producerId);
  writer.int16(to.producerEpoch);
  writer.int32(to.timeoutMs);
  writer.int8(transactionStateId(to.state));
}

function taggedFields(to: TransactionTransition): TaggedFields {
  const { previousProducerId, nextProducerId, clientTransactionVersion } = to;
  const fields: { tag: number; content: Uint8Array }[] = [];
  if (previousProducerId !== NO_PRODUCER_ID) {
    const content = taggedContent((writer) => writer.int64(previousProducerId));
    fields.push({ tag: PREVIOUS_PRODUCER_ID, content });
  }
  if (nextProducerId !== NO_PRODUCER_ID) {
    const content = taggedContent((writer) => writer.int64(nextProducerId));
    fields.push({ tag: NEXT_PRODUCER_ID, content });
  }
  if (clientTransactionVersion !== 0) {
    const content = taggedContent((writer) => writer.int16(clientTransactionVersion));
    fields.push({ tag: CLIENT_TRANSACTION_VERSION, content });
  }
  return fields;
}

export interface PartitionsOfTopic {
  readonly topic: string;
  readonly partitions: readonly number[];
}

/** Topics in the order in which they joined. */
export function partitionsByTopic(all: TransactionPartitions): readonly PartitionsOfTopic[] {
  const topics: { readonly topic: string; readonly partitions: number[] }[] = [];
  for (const { topic, partition } of all.values()) {
    const known = topics.find((one) => one.topic === topic);
    if (known === undefined) topics.push({ topic, partitions: [partition] });
    else known.partitions.push(partition);
  }
  return topics;
}

function readPartitions(reader: FlexibleReader): TransactionPartitions {
  const topics = reader.array(() => {
    const topic = reader.string();
    const partitions = reader.int32s();
    reader.tagged();
    return { topic, partitions };
  });
  return flat(topics);
}

function readPartitionsV0(reader: FlexibleReader): TransactionPartitions {
  const topics: PartitionsOfTopic[] = [];
  for (let left = reader.int32(); left > 0; left--) {
    const topic = textV0(reader);
    const partitions: number[] = [];
    for (let more = reader.int32(); more > 0; more--) partitions.push(reader.int32());
    topics.push({ topic, partitions });
  }
  return flat(topics);
}

function textV0(reader: FlexibleReader): string {
  const bytes = new Uint8Array(reader.int16());
  for (let i = 0; i < bytes.length; i++) bytes[i] = reader.int8();
  return decodeUtf8(bytes);
}

function flat(topics: readonly PartitionsOfTopic[]): TransactionPartitions {
  const all = new Map<PartitionName, TopicPartition>();
  for (const { topic, partitions } of topics) {
    for (const partition of partitions) {
      all.set(partitionName(topic, partition), { topic, partition });
    }
  }
  return all;
}

const PREVIOUS_PRODUCER_ID = 0;
const NEXT_PRODUCER_ID = 1;
const CLIENT_TRANSACTION_VERSION = 2;
