import { fail, invariant } from "../../base/invariant.ts";
import type { BrokerId } from "../ids.ts";
import type { Uuid } from "../uuid.ts";
import { FlexibleReader } from "./flexible-reader.ts";
import type { TaggedFields } from "./flexible-writer.ts";
import { FlexibleWriter, NO_TAGS, taggedContent } from "./flexible-writer.ts";
import type {
  BeginTransactionRecord,
  BrokerEndPoint,
  BrokerFeature,
  BrokerRegistrationChangeRecord,
  ClearElrRecord,
  ConfigRecord,
  EndTransactionRecord,
  FeatureLevelRecord,
  LeaderRecoveryState,
  MetadataRecord,
  MetadataRecordType,
  NoOpRecord,
  PartitionChangeRecord,
  PartitionRecord,
  ProducerIdsRecord,
  RegisterBrokerRecord,
  RegisterControllerRecord,
  RemoveTopicRecord,
  TopicRecord,
  UnregisterBrokerRecord,
} from "./records.ts";
import { NO_LEADER_CHANGE } from "./records.ts";

/** How the fields of one type of record are written and read. */
interface Schema<R extends MetadataRecord> {
  /** Kafka's `apiKey`. */
  readonly key: number;
  /** The highest version that metadata.version 4.3-IV0 writes. */
  readonly version: number;
  /** The version in which a record is written, if that depends on it; the lower ones only lack tags. */
  versionOf?(record: R): number;
  write(writer: FlexibleWriter, record: R): void;
  read(reader: FlexibleReader): R;
}

/**
 * The bytes that Kafka writes as the value of a record of the metadata log: frame version, key and
 * version as varints, then the fields (`AbstractApiMessageSerde`).
 */
export function encodeMetadataRecord(record: MetadataRecord): Uint8Array {
  const writer = new FlexibleWriter();
  writer.unsignedVarint(FRAME_VERSION);
  writeBody(writer, record.type, record);
  return writer.bytes;
}

/** The record in such bytes. Throws on bytes that `encodeMetadataRecord` does not make. */
export function decodeMetadataRecord(bytes: Uint8Array): MetadataRecord {
  const reader = new FlexibleReader(bytes);
  const frame = reader.unsignedVarint();
  invariant(frame === FRAME_VERSION, () => `a metadata record of frame version ${frame}`);
  const key = reader.unsignedVarint();
  const schema = BY_KEY.get(key) ?? fail(`a metadata record of key ${key}`);
  const version = reader.unsignedVarint();
  const isKnown =
    schema.versionOf === undefined ? version === schema.version : version <= schema.version;
  invariant(isKnown, () => `version ${version} of metadata record ${key}`);
  const record = schema.read(reader);
  invariant(reader.isAtEnd, () => `bytes left over after a ${record.type}`);
  return record;
}

const FRAME_VERSION = 1;

const REGISTER_BROKER: Schema<RegisterBrokerRecord> = {
  key: 0,
  version: 4,
  write(writer, record) {
    writer.int32(record.brokerId);
    writer.boolean(false);
    writer.uuid(record.incarnationId);
    writer.int64(record.brokerEpoch);
    writeEndPoints(writer, record.endPoints);
    writeFeatures(writer, record.features);
    writer.string(record.rack);
    writer.boolean(record.fenced);
    writer.boolean(record.inControlledShutdown);
    writer.tagged(record.logDirs.length === 0 ? NO_TAGS : [uuidsTag(0, record.logDirs)]);
  },
  read(reader) {
    const brokerId = reader.int32();
    reader.boolean();
    const incarnationId = reader.uuid();
    const brokerEpoch = reader.int64();
    const endPoints = readEndPoints(reader);
    const features = readFeatures(reader);
    const rack = reader.nullableString();
    const fenced = reader.boolean();
    const inControlledShutdown = reader.boolean();
    let logDirs: readonly Uuid[] = [];
    reader.tagged((tag, content) => {
      if (tag === 0) logDirs = content.uuids();
    });
    return {
      type: "RegisterBrokerRecord",
      brokerId,
      incarnationId,
      brokerEpoch,
      endPoints,
      features,
      rack,
      fenced,
      inControlledShutdown,
      logDirs,
    };
  },
};

const UNREGISTER_BROKER: Schema<UnregisterBrokerRecord> = {
  key: 1,
  version: 0,
  write(writer, record) {
    writer.int32(record.brokerId);
    writer.int64(record.brokerEpoch);
    writer.tagged(NO_TAGS);
  },
  read(reader) {
    const brokerId = reader.int32();
    const brokerEpoch = reader.int64();
    reader.tagged();
    return { type: "UnregisterBrokerRecord", brokerId, brokerEpoch };
  },
};

const TOPIC: Schema<TopicRecord> = {
  key: 2,
  version: 0,
  write(writer, record) {
    writer.string(record.name);
    writer.uuid(record.topicId);
    writer.tagged(NO_TAGS);
  },
  read(reader) {
    const name = reader.string();
    const topicId = reader.uuid();
    reader.tagged();
    return { type: "TopicRecord", name, topicId };
  },
};

const REMOVE_TOPIC: Schema<RemoveTopicRecord> = {
  key: 9,
  version: 0,
  write(writer, record) {
    writer.uuid(record.topicId);
    writer.tagged(NO_TAGS);
  },
  read(reader) {
    const topicId = reader.uuid();
    reader.tagged();
    return { type: "RemoveTopicRecord", topicId };
  },
};

const PARTITION: Schema<PartitionRecord> = {
  key: 3,
  version: 2,
  write(writer, record) {
    writer.int32(record.partitionId);
    writer.uuid(record.topicId);
    writer.int32s(record.replicas);
    writer.int32s(record.isr);
    writer.int32s(record.removingReplicas);
    writer.int32s(record.addingReplicas);
    writer.int32(record.leader);
    writer.int32(record.leaderEpoch);
    writer.int32(record.partitionEpoch);
    writer.uuids(record.directories);
    const { leaderRecoveryState: state, eligibleLeaderReplicas: elr, lastKnownElr } = record;
    const tags: { tag: number; content: Uint8Array }[] = [];
    if (state !== 0) tags.push(int8Tag(0, state));
    if (elr !== undefined) tags.push(int32sTag(1, elr));
    if (lastKnownElr !== undefined) tags.push(int32sTag(2, lastKnownElr));
    writer.tagged(tags);
  },
  read(reader) {
    const partitionId = reader.int32();
    const topicId = reader.uuid();
    const replicas = reader.int32s();
    const isr = reader.int32s();
    const removingReplicas = reader.int32s();
    const addingReplicas = reader.int32s();
    const leader = reader.int32();
    const leaderEpoch = reader.int32();
    const partitionEpoch = reader.int32();
    const directories = reader.uuids();
    let leaderRecoveryState: LeaderRecoveryState = 0;
    let eligibleLeaderReplicas: readonly BrokerId[] | undefined;
    let lastKnownElr: readonly BrokerId[] | undefined;
    reader.tagged((tag, content) => {
      if (tag === 0) leaderRecoveryState = recoveryState(content.int8());
      else if (tag === 1) eligibleLeaderReplicas = content.int32s();
      else if (tag === 2) lastKnownElr = content.int32s();
    });
    return {
      type: "PartitionRecord",
      partitionId,
      topicId,
      replicas,
      isr,
      removingReplicas,
      addingReplicas,
      leader,
      leaderRecoveryState,
      leaderEpoch,
      partitionEpoch,
      directories,
      eligibleLeaderReplicas,
      lastKnownElr,
    };
  },
};

const PARTITION_CHANGE: Schema<PartitionChangeRecord> = {
  key: 5,
  version: 2,
  write(writer, record) {
    writer.int32(record.partitionId);
    writer.uuid(record.topicId);
    const tags: { tag: number; content: Uint8Array }[] = [];
    const { isr, leader, replicas, removingReplicas, addingReplicas } = record;
    const { leaderRecoveryState, eligibleLeaderReplicas, lastKnownElr, directories } = record;
    if (isr !== undefined) tags.push(int32sTag(0, isr));
    if (leader !== undefined) tags.push(int32Tag(1, leader));
    if (replicas !== undefined) tags.push(int32sTag(2, replicas));
    if (removingReplicas !== undefined) tags.push(int32sTag(3, removingReplicas));
    if (addingReplicas !== undefined) tags.push(int32sTag(4, addingReplicas));
    if (leaderRecoveryState !== undefined) tags.push(int8Tag(5, leaderRecoveryState));
    if (eligibleLeaderReplicas !== undefined) tags.push(int32sTag(6, eligibleLeaderReplicas));
    if (lastKnownElr !== undefined) tags.push(int32sTag(7, lastKnownElr));
    if (directories !== undefined) tags.push(uuidsTag(8, directories));
    writer.tagged(tags);
  },
  read(reader) {
    const change: Mutable<PartitionChangeRecord> = {
      type: "PartitionChangeRecord",
      partitionId: reader.int32(),
      topicId: reader.uuid(),
    };
    reader.tagged((tag, content) => readChange(change, tag, content));
    return change;
  },
};

const CONFIG: Schema<ConfigRecord> = {
  key: 4,
  version: 0,
  write(writer, record) {
    writer.int8(record.resourceType);
    writer.string(record.resourceName);
    writer.string(record.name);
    writer.string(record.value);
    writer.tagged(NO_TAGS);
  },
  read(reader) {
    const resourceType = reader.int8();
    const resourceName = reader.string();
    const name = reader.string();
    const value = reader.nullableString();
    reader.tagged();
    return { type: "ConfigRecord", resourceType, resourceName, name, value };
  },
};

const FEATURE_LEVEL: Schema<FeatureLevelRecord> = {
  key: 12,
  version: 0,
  write(writer, record) {
    writer.string(record.name);
    writer.int16(record.featureLevel);
    writer.tagged(NO_TAGS);
  },
  read(reader) {
    const name = reader.string();
    const featureLevel = reader.int16();
    reader.tagged();
    return { type: "FeatureLevelRecord", name, featureLevel };
  },
};

const BROKER_REGISTRATION_CHANGE: Schema<BrokerRegistrationChangeRecord> = {
  key: 17,
  version: 3,
  versionOf(record) {
    if (record.cordonedLogDirs !== undefined) return 3;
    if (record.logDirs !== undefined) return 2;
    return record.inControlledShutdown === 0 ? 0 : 1;
  },
  write(writer, record) {
    writer.int32(record.brokerId);
    writer.int64(record.brokerEpoch);
    const tags: { tag: number; content: Uint8Array }[] = [];
    const { fenced, inControlledShutdown, logDirs, cordonedLogDirs } = record;
    if (fenced !== 0) tags.push(int8Tag(0, fenced));
    if (inControlledShutdown !== 0) tags.push(int8Tag(1, inControlledShutdown));
    if (logDirs !== undefined) tags.push(uuidsTag(2, logDirs));
    if (cordonedLogDirs !== undefined) tags.push(uuidsTag(3, cordonedLogDirs));
    writer.tagged(tags);
  },
  read(reader) {
    const change: Mutable<BrokerRegistrationChangeRecord> = {
      type: "BrokerRegistrationChangeRecord",
      brokerId: reader.int32(),
      brokerEpoch: reader.int64(),
      fenced: 0,
      inControlledShutdown: 0,
    };
    reader.tagged((tag, content) => {
      if (tag === 0) change.fenced = content.int8() < 0 ? -1 : 1;
      else if (tag === 1) change.inControlledShutdown = content.int8() === 0 ? 0 : 1;
      else if (tag === 2) change.logDirs = content.uuids();
      else if (tag === 3) change.cordonedLogDirs = content.uuids();
    });
    return change;
  },
};

const REGISTER_CONTROLLER: Schema<RegisterControllerRecord> = {
  key: 27,
  version: 0,
  write(writer, record) {
    writer.int32(record.controllerId);
    writer.uuid(record.incarnationId);
    writer.boolean(false);
    writeEndPoints(writer, record.endPoints);
    writeFeatures(writer, record.features);
    writer.tagged(NO_TAGS);
  },
  read(reader) {
    const controllerId = reader.int32();
    const incarnationId = reader.uuid();
    reader.boolean();
    const endPoints = readEndPoints(reader);
    const features = readFeatures(reader);
    reader.tagged();
    return { type: "RegisterControllerRecord", controllerId, incarnationId, endPoints, features };
  },
};

const PRODUCER_IDS: Schema<ProducerIdsRecord> = {
  key: 15,
  version: 0,
  write(writer, record) {
    writer.int32(record.brokerId);
    writer.int64(record.brokerEpoch);
    writer.int64(record.nextProducerId);
    writer.tagged(NO_TAGS);
  },
  read(reader) {
    const brokerId = reader.int32();
    const brokerEpoch = reader.int64();
    const nextProducerId = reader.int64();
    reader.tagged();
    return { type: "ProducerIdsRecord", brokerId, brokerEpoch, nextProducerId };
  },
};

const BEGIN_TRANSACTION: Schema<BeginTransactionRecord> = {
  key: 23,
  version: 0,
  write(writer, { name }) {
    writer.tagged(name === undefined ? NO_TAGS : [stringTag(0, name)]);
  },
  read(reader) {
    let name: string | undefined;
    reader.tagged((tag, content) => {
      if (tag === 0) name = content.nullableString();
    });
    return { type: "BeginTransactionRecord", name };
  },
};

const END_TRANSACTION: Schema<EndTransactionRecord> = {
  key: 24,
  version: 0,
  write(writer) {
    writer.tagged(NO_TAGS);
  },
  read(reader) {
    reader.tagged();
    return { type: "EndTransactionRecord" };
  },
};

const NO_OP: Schema<NoOpRecord> = {
  key: 20,
  version: 0,
  write(writer) {
    writer.tagged(NO_TAGS);
  },
  read(reader) {
    reader.tagged();
    return { type: "NoOpRecord" };
  },
};

const CLEAR_ELR: Schema<ClearElrRecord> = {
  key: 28,
  version: 0,
  write(writer, record) {
    writer.string(record.topicName);
    writer.tagged(NO_TAGS);
  },
  read(reader) {
    const topicName = reader.string();
    reader.tagged();
    return { type: "ClearElrRecord", topicName };
  },
};

type RecordOf<T extends MetadataRecordType> = Extract<MetadataRecord, { readonly type: T }>;

const SCHEMAS: { readonly [T in MetadataRecordType]: Schema<RecordOf<T>> } = {
  RegisterBrokerRecord: REGISTER_BROKER,
  UnregisterBrokerRecord: UNREGISTER_BROKER,
  TopicRecord: TOPIC,
  RemoveTopicRecord: REMOVE_TOPIC,
  PartitionRecord: PARTITION,
  PartitionChangeRecord: PARTITION_CHANGE,
  ConfigRecord: CONFIG,
  FeatureLevelRecord: FEATURE_LEVEL,
  BrokerRegistrationChangeRecord: BROKER_REGISTRATION_CHANGE,
  RegisterControllerRecord: REGISTER_CONTROLLER,
  ProducerIdsRecord: PRODUCER_IDS,
  BeginTransactionRecord: BEGIN_TRANSACTION,
  EndTransactionRecord: END_TRANSACTION,
  NoOpRecord: NO_OP,
  ClearElrRecord: CLEAR_ELR,
};

interface Reading {
  readonly version: number;
  readonly versionOf?: unknown;
  read(reader: FlexibleReader): MetadataRecord;
}

const BY_KEY: ReadonlyMap<number, Reading> = new Map(
  Object.values(SCHEMAS).map((schema) => [schema.key, schema]),
);

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Generic in the type, so that the compiler sees that schema and record belong together. */
function writeBody<T extends MetadataRecordType>(
  writer: FlexibleWriter,
  type: T,
  record: RecordOf<T>,
): void {
  const schema: Schema<RecordOf<T>> = SCHEMAS[type];
  writer.unsignedVarint(schema.key);
  writer.unsignedVarint(schema.versionOf?.(record) ?? schema.version);
  schema.write(writer, record);
}

function writeEndPoints(writer: FlexibleWriter, endPoints: readonly BrokerEndPoint[]): void {
  writer.arrayLength(endPoints.length);
  for (const endPoint of endPoints) {
    writer.string(endPoint.name);
    writer.string(endPoint.host);
    writer.int16(endPoint.port);
    writer.int16(endPoint.securityProtocol);
    writer.tagged(NO_TAGS);
  }
}

function readEndPoints(reader: FlexibleReader): BrokerEndPoint[] {
  return reader.array(() => {
    const name = reader.string();
    const host = reader.string();
    const port = reader.int16() & 0xffff;
    const securityProtocol = reader.int16();
    reader.tagged();
    return { name, host, port, securityProtocol };
  });
}

function writeFeatures(writer: FlexibleWriter, features: readonly BrokerFeature[]): void {
  writer.arrayLength(features.length);
  for (const feature of features) {
    writer.string(feature.name);
    writer.int16(feature.minSupportedVersion);
    writer.int16(feature.maxSupportedVersion);
    writer.tagged(NO_TAGS);
  }
}

function readFeatures(reader: FlexibleReader): BrokerFeature[] {
  return reader.array(() => {
    const name = reader.string();
    const minSupportedVersion = reader.int16();
    const maxSupportedVersion = reader.int16();
    reader.tagged();
    return { name, minSupportedVersion, maxSupportedVersion };
  });
}

function readChange(
  change: Mutable<PartitionChangeRecord>,
  tag: number,
  content: FlexibleReader,
): void {
  switch (tag) {
    case 0:
      change.isr = content.int32s();
      break;
    case 1: {
      const leader = content.int32();
      if (leader !== NO_LEADER_CHANGE) change.leader = leader;
      break;
    }
    case 2:
      change.replicas = content.int32s();
      break;
    case 3:
      change.removingReplicas = content.int32s();
      break;
    case 4:
      change.addingReplicas = content.int32s();
      break;
    case 5:
      change.leaderRecoveryState = recoveryState(content.int8());
      break;
    case 6:
      change.eligibleLeaderReplicas = content.int32s();
      break;
    case 7:
      change.lastKnownElr = content.int32s();
      break;
    case 8:
      change.directories = content.uuids();
      break;
    default:
      // A tag of a later version.
      break;
  }
}

function recoveryState(code: number): LeaderRecoveryState {
  return code === 1 ? 1 : 0;
}

type TaggedField = TaggedFields[number];

function int8Tag(tag: number, value: number): TaggedField {
  return { tag, content: taggedContent((writer) => writer.int8(value)) };
}

function int32Tag(tag: number, value: number): TaggedField {
  return { tag, content: taggedContent((writer) => writer.int32(value)) };
}

function int32sTag(tag: number, values: readonly number[]): TaggedField {
  return { tag, content: taggedContent((writer) => writer.int32s(values)) };
}

function stringTag(tag: number, value: string): TaggedField {
  return { tag, content: taggedContent((writer) => writer.string(value)) };
}

function uuidsTag(tag: number, values: readonly Uuid[]): TaggedField {
  return { tag, content: taggedContent((writer) => writer.uuids(values)) };
}
