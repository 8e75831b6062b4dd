import { readInt16 } from "../../base/big-endian.ts";
import { invariant } from "../../base/invariant.ts";
import { byNumber, byText } from "../../base/order.ts";
import { decodeUtf8, encodeUtf8 } from "../../base/utf8.ts";
import type { TopicId } from "../ids.ts";
import type { DecodedRecord } from "../log/record-cursor.ts";
import { FlexibleReader } from "../metadata/flexible-reader.ts";
import { FlexibleWriter, NO_TAGS, taggedContent } from "../metadata/flexible-writer.ts";
import type { JoinGroupProtocol } from "../protocol/group-membership.ts";
import { ZERO_UUID } from "../uuid.ts";
import type { TopicPartitions } from "./assignors/topic-partitions.ts";
import type {
  AssignedPartitions,
  ClassicMemberMetadata,
  CurrentAssignment,
  GroupMetadataValue,
  GroupRecord,
  MemberMetadata,
  OffsetAndMetadata,
  StoredMember,
} from "./group-record.ts";

export interface EncodedRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

/** A record's bytes, each with the version in front. */
export function encodeGroupRecord(record: GroupRecord): EncodedRecord {
  return { key: encodeKey(record), value: encodeValue(record) };
}

/**
 * What a record says; undefined if this code does not know its type, as Kafka passes over those of
 * later releases.
 */
export function decodeGroupRecord({ key, value }: DecodedRecord): GroupRecord | undefined {
  if (key === undefined || key.length < 2) return undefined;
  const type = TYPE_OF_KEY[readInt16(key, 0)];
  if (type === undefined) return undefined;
  const fields = new FlexibleReader(key, 2);
  const group = readText(fields);
  const content = value === undefined ? undefined : new FlexibleReader(value, 2);
  const version = value === undefined ? 0 : readInt16(value, 0);
  if (content !== undefined) {
    const written = VALUE_VERSION[type];
    invariant(version === written, () => `${type} of version ${version}, not ${written}`);
  }
  switch (type) {
    case "OffsetCommit": {
      const topic = readText(fields);
      const partition = fields.int32();
      return { type, group, topic, partition, value: content && readOffset(content) };
    }
    case "GroupMetadata":
      return { type, group, value: content && readGroup(content) };
    case "ConsumerGroupMetadata":
      return { type, group, value: content && readEpoch(content) };
    case "ConsumerGroupMemberMetadata":
      return { type, group, member: readText(fields), value: content && readMember(content) };
    case "ConsumerGroupTargetAssignmentMetadata":
      return { type, group, value: content && readTargetEpoch(content) };
    case "ConsumerGroupTargetAssignmentMember":
      return { type, group, member: readText(fields), value: content && readTarget(content) };
    case "ConsumerGroupCurrentMemberAssignment":
      return { type, group, member: readText(fields), value: content && readCurrent(content) };
  }
}

/** The type of a record is the version of its key. Kafka's 0 and 1 are both offsets; 1 is written. */
const KEY_VERSION: Readonly<Record<GroupRecord["type"], number>> = {
  OffsetCommit: 1,
  GroupMetadata: 2,
  ConsumerGroupMetadata: 3,
  ConsumerGroupMemberMetadata: 5,
  ConsumerGroupTargetAssignmentMetadata: 6,
  ConsumerGroupTargetAssignmentMember: 7,
  ConsumerGroupCurrentMemberAssignment: 8,
};
const TYPE_OF_KEY: readonly (GroupRecord["type"] | undefined)[] = [
  "OffsetCommit",
  "OffsetCommit",
  "GroupMetadata",
  "ConsumerGroupMetadata",
  undefined,
  "ConsumerGroupMemberMetadata",
  "ConsumerGroupTargetAssignmentMetadata",
  "ConsumerGroupTargetAssignmentMember",
  "ConsumerGroupCurrentMemberAssignment",
];
const VALUE_VERSION: Readonly<Record<GroupRecord["type"], number>> = {
  OffsetCommit: 4,
  GroupMetadata: 3,
  ConsumerGroupMetadata: 0,
  ConsumerGroupMemberMetadata: 0,
  ConsumerGroupTargetAssignmentMetadata: 0,
  ConsumerGroupTargetAssignmentMember: 0,
  ConsumerGroupCurrentMemberAssignment: 0,
};

function encodeKey(record: GroupRecord): Uint8Array {
  const writer = new FlexibleWriter();
  writer.int16(KEY_VERSION[record.type]);
  writeText(writer, record.group);
  if (record.type === "OffsetCommit") {
    writeText(writer, record.topic);
    writer.int32(record.partition);
  } else if ("member" in record) {
    writeText(writer, record.member);
  }
  return writer.bytes;
}

function encodeValue(record: GroupRecord): Uint8Array | undefined {
  if (record.value === undefined) return undefined;
  const writer = new FlexibleWriter();
  writer.int16(VALUE_VERSION[record.type]);
  switch (record.type) {
    case "OffsetCommit":
      writeOffset(writer, record.value);
      break;
    case "GroupMetadata":
      writeGroup(writer, record.value);
      break;
    case "ConsumerGroupMetadata":
      writer.int32(record.value.epoch);
      writeTaggedInt64(writer, record.value.metadataHash, 0);
      break;
    case "ConsumerGroupMemberMetadata":
      writeMember(writer, record.value);
      break;
    case "ConsumerGroupTargetAssignmentMetadata":
      writer.int32(record.value.epoch);
      writeTaggedInt64(writer, record.value.timestamp, 0);
      break;
    case "ConsumerGroupTargetAssignmentMember":
      writeTarget(writer, record.value);
      break;
    case "ConsumerGroupCurrentMemberAssignment":
      writeCurrent(writer, record.value);
      break;
  }
  return writer.bytes;
}

function writeOffset(writer: FlexibleWriter, value: OffsetAndMetadata): void {
  writer.int64(value.offset);
  writer.int32(value.leaderEpoch);
  writer.string(value.metadata);
  writer.int64(value.commitTimestamp);
  const isKnown = value.topicId !== ZERO_UUID;
  const content = taggedContent((tag) => tag.uuid(value.topicId));
  writer.tagged(isKnown ? [{ tag: 0, content }] : NO_TAGS);
}

function readOffset(reader: FlexibleReader): OffsetAndMetadata {
  const offset = reader.int64();
  const leaderEpoch = reader.int32();
  const metadata = reader.string();
  const commitTimestamp = reader.int64();
  let topicId: TopicId = ZERO_UUID;
  reader.tagged((tag, content) => {
    if (tag === 0) topicId = content.uuid();
  });
  return { offset, leaderEpoch, metadata, commitTimestamp, topicId };
}

function writeGroup(writer: FlexibleWriter, value: GroupMetadataValue): void {
  writeText(writer, value.protocolType);
  writer.int32(value.generation);
  writeNullableText(writer, value.protocol);
  writeNullableText(writer, value.leader);
  writer.int64(value.currentStateTimestamp);
  writer.int32(value.members.length);
  for (const member of value.members) {
    writeText(writer, member.memberId);
    writeNullableText(writer, member.groupInstanceId);
    writeText(writer, member.clientId);
    writeText(writer, member.clientHost);
    writer.int32(member.rebalanceTimeoutMs);
    writer.int32(member.sessionTimeoutMs);
    writeBytes(writer, member.subscription);
    writeBytes(writer, member.assignment);
  }
}

function readGroup(reader: FlexibleReader): GroupMetadataValue {
  const protocolType = readText(reader);
  const generation = reader.int32();
  const protocol = readNullableText(reader);
  const leader = readNullableText(reader);
  const currentStateTimestamp = reader.int64();
  const members: StoredMember[] = [];
  for (let left = reader.int32(); left > 0; left--) {
    members.push({
      memberId: readText(reader),
      groupInstanceId: readNullableText(reader),
      clientId: readText(reader),
      clientHost: readText(reader),
      rebalanceTimeoutMs: reader.int32(),
      sessionTimeoutMs: reader.int32(),
      subscription: reader.raw(reader.int32()),
      assignment: reader.raw(reader.int32()),
    });
  }
  return { protocolType, generation, protocol, leader, currentStateTimestamp, members };
}

function readEpoch(reader: FlexibleReader): { epoch: number; metadataHash: number } {
  return { epoch: reader.int32(), metadataHash: readTaggedInt64(reader, 0) };
}

function readTargetEpoch(reader: FlexibleReader): { epoch: number; timestamp: number } {
  return { epoch: reader.int32(), timestamp: readTaggedInt64(reader, 0) };
}

function writeMember(writer: FlexibleWriter, value: MemberMetadata): void {
  writer.string(value.instanceId);
  writer.string(value.rackId);
  writer.string(value.clientId);
  writer.string(value.clientHost);
  writer.arrayLength(value.subscribedTopicNames.length);
  for (const topic of [...value.subscribedTopicNames].sort(byText)) writer.string(topic);
  writer.string(value.subscribedTopicRegex);
  writer.int32(value.rebalanceTimeoutMs);
  writer.string(value.serverAssignor);
  // A struct that may be null has a byte in front that says so; what Kafka leaves out is an empty one, not null.
  const content = taggedContent((tag) => writeClassicMember(tag, value.classicMemberMetadata));
  writer.tagged([{ tag: 0, content }]);
}

function writeClassicMember(
  writer: FlexibleWriter,
  value: ClassicMemberMetadata | undefined,
): void {
  writer.unsignedVarint(value === undefined ? 0 : 1);
  if (value === undefined) return;
  writer.int32(value.sessionTimeoutMs);
  writer.arrayLength(value.supportedProtocols.length);
  for (const { name, metadata } of value.supportedProtocols) {
    writer.string(name);
    writer.unsignedVarint(metadata.length + 1);
    writer.raw(metadata);
    writer.tagged(NO_TAGS);
  }
  writer.tagged(NO_TAGS);
}

function readMember(reader: FlexibleReader): MemberMetadata {
  let classicMemberMetadata: ClassicMemberMetadata | undefined;
  const value = {
    instanceId: reader.nullableString(),
    rackId: reader.nullableString(),
    clientId: reader.string(),
    clientHost: reader.string(),
    subscribedTopicNames: reader.array(() => reader.string()),
    subscribedTopicRegex: reader.nullableString(),
    rebalanceTimeoutMs: reader.int32(),
    serverAssignor: reader.nullableString(),
  };
  reader.tagged((tag, content) => {
    if (tag === 0) classicMemberMetadata = readClassicMember(content);
  });
  return { ...value, classicMemberMetadata };
}

function readClassicMember(reader: FlexibleReader): ClassicMemberMetadata | undefined {
  if (reader.unsignedVarint() === 0) return undefined;
  const sessionTimeoutMs = reader.int32();
  const supportedProtocols = reader.array((): JoinGroupProtocol => {
    const name = reader.string();
    const metadata = reader.raw(reader.unsignedVarint() - 1);
    reader.tagged();
    return { name, metadata };
  });
  reader.tagged();
  return { sessionTimeoutMs, supportedProtocols };
}

function writeTarget(writer: FlexibleWriter, value: TopicPartitions): void {
  writer.arrayLength(value.size);
  for (const [topicId, partitions] of value) {
    writer.uuid(topicId);
    writer.int32s([...partitions].sort(byNumber));
    writer.tagged(NO_TAGS);
  }
  writer.tagged(NO_TAGS);
}

function readTarget(reader: FlexibleReader): TopicPartitions {
  const entries = reader.array((): [TopicId, number[]] => {
    const entry: [TopicId, number[]] = [reader.uuid(), reader.int32s()];
    reader.tagged();
    return entry;
  });
  reader.tagged();
  return new Map(entries);
}

function writeCurrent(writer: FlexibleWriter, value: CurrentAssignment): void {
  writer.int32(value.memberEpoch);
  writer.int32(value.previousMemberEpoch);
  writer.int8(value.state);
  writeAssigned(writer, value.assigned);
  writeAssigned(writer, value.revoking);
  writer.tagged(NO_TAGS);
}

function writeAssigned(writer: FlexibleWriter, value: AssignedPartitions): void {
  writer.arrayLength(value.size);
  for (const [topicId, epochs] of value) {
    const inOrder = [...epochs].sort(([one], [other]) => byNumber(one, other));
    writer.uuid(topicId);
    writer.int32s(inOrder.map(([partition]) => partition));
    const content = taggedContent((tag) => tag.int32s(inOrder.map(([, epoch]) => epoch)));
    writer.tagged([{ tag: 0, content }]);
  }
}

function readCurrent(reader: FlexibleReader): CurrentAssignment {
  const value = {
    memberEpoch: reader.int32(),
    previousMemberEpoch: reader.int32(),
    state: reader.int8(),
    assigned: readAssigned(reader),
    revoking: readAssigned(reader),
  };
  reader.tagged();
  return value;
}

function readAssigned(reader: FlexibleReader): AssignedPartitions {
  const entries = reader.array((): [TopicId, Map<number, number>] => {
    const topicId = reader.uuid();
    const partitions = reader.int32s();
    let epochs: number[] = [];
    reader.tagged((tag, content) => {
      if (tag === 0) epochs = content.int32s();
    });
    return [topicId, new Map(partitions.map((each, i) => [each, epochs[i] ?? 0]))];
  });
  return new Map(entries);
}

/** A tagged field that is left out if it has its default. */
function writeTaggedInt64(writer: FlexibleWriter, value: number, byDefault: number): void {
  const content = taggedContent((tag) => tag.int64(value));
  writer.tagged(value === byDefault ? NO_TAGS : [{ tag: 0, content }]);
}

function readTaggedInt64(reader: FlexibleReader, byDefault: number): number {
  let value = byDefault;
  reader.tagged((tag, content) => {
    if (tag === 0) value = content.int64();
  });
  return value;
}

// Keys, and values that are not flexible (KIP-482), have lengths of two and four bytes.

function writeText(writer: FlexibleWriter, text: string): void {
  const bytes = encodeUtf8(text);
  writer.int16(bytes.length);
  writer.raw(bytes);
}

function writeNullableText(writer: FlexibleWriter, text: string | undefined): void {
  if (text === undefined) writer.int16(-1);
  else writeText(writer, text);
}

function writeBytes(writer: FlexibleWriter, bytes: Uint8Array): void {
  writer.int32(bytes.length);
  writer.raw(bytes);
}

function readText(reader: FlexibleReader): string {
  return decodeUtf8(reader.raw(reader.int16()));
}

function readNullableText(reader: FlexibleReader): string | undefined {
  const length = reader.int16();
  return length < 0 ? undefined : decodeUtf8(reader.raw(length));
}
