import type { BrokerId } from "../ids.ts";
import { FlexibleReader } from "../metadata/flexible-reader.ts";
import { FlexibleWriter, NO_TAGS } from "../metadata/flexible-writer.ts";
import type { Uuid } from "../uuid.ts";

/**
 * The values of the control records in the metadata log and its snapshots (KIP-595, KIP-630, KIP-853);
 * a leader's own is written by `leaderChangeBatch`. Each has its version in front.
 */
export interface SnapshotHeader {
  /** Milliseconds: the append time of the last record that the snapshot covers. */
  readonly lastContainedLogTimestamp: number;
}

export interface LeaderChangeMessage {
  readonly leaderId: BrokerId;
  readonly voters: readonly NamedVoter[];
  readonly grantingVoters: readonly NamedVoter[];
}

export interface NamedVoter {
  readonly voterId: BrokerId;
  /** From version 1 on. */
  readonly voterDirectoryId?: Uuid;
}

export interface KRaftVersion {
  /** 0 for a static quorum, 1 for one whose voters stand in the log. */
  readonly kRaftVersion: number;
}

export interface KRaftVoters {
  readonly voters: readonly KRaftVoter[];
}

export interface KRaftVoter {
  readonly voterId: BrokerId;
  readonly voterDirectoryId: Uuid;
  readonly endpoints: readonly KRaftEndpoint[];
  readonly kRaftVersionFeature: {
    readonly minSupportedVersion: number;
    readonly maxSupportedVersion: number;
  };
}

export interface KRaftEndpoint {
  readonly name: string;
  readonly host: string;
  /** uint16. */
  readonly port: number;
}

/** Throws on bytes that are no such value, as all of these do. */
export function decodeLeaderChange(value: Uint8Array): LeaderChangeMessage {
  return decode(value, (reader, version) => {
    const voter = (): NamedVoter => {
      const voterId = reader.int32();
      const named = version > 0 ? { voterId, voterDirectoryId: reader.uuid() } : { voterId };
      reader.tagged();
      return named;
    };
    const leaderId = reader.int32();
    const voters = reader.array(voter);
    return { leaderId, voters, grantingVoters: reader.array(voter) };
  });
}

export function encodeSnapshotHeader({ lastContainedLogTimestamp }: SnapshotHeader): Uint8Array {
  return encode((writer) => writer.int64(lastContainedLogTimestamp));
}

export function decodeSnapshotHeader(value: Uint8Array): SnapshotHeader {
  return decode(value, (reader) => ({ lastContainedLogTimestamp: reader.int64() }));
}

/** It has no fields. */
export function encodeSnapshotFooter(): Uint8Array {
  return encode(() => undefined);
}

export function decodeSnapshotFooter(value: Uint8Array): object {
  return decode(value, () => ({}));
}

export function encodeKRaftVersion({ kRaftVersion }: KRaftVersion): Uint8Array {
  return encode((writer) => writer.int16(kRaftVersion));
}

export function decodeKRaftVersion(value: Uint8Array): KRaftVersion {
  return decode(value, (reader) => ({ kRaftVersion: reader.int16() }));
}

export function encodeKRaftVoters({ voters }: KRaftVoters): Uint8Array {
  return encode((writer) => {
    writer.arrayLength(voters.length);
    for (const { voterId, voterDirectoryId, endpoints, kRaftVersionFeature } of voters) {
      writer.int32(voterId);
      writer.uuid(voterDirectoryId);
      writer.arrayLength(endpoints.length);
      for (const { name, host, port } of endpoints) {
        writer.string(name);
        writer.string(host);
        writer.int16(port);
        writer.tagged(NO_TAGS);
      }
      writer.int16(kRaftVersionFeature.minSupportedVersion);
      writer.int16(kRaftVersionFeature.maxSupportedVersion);
      writer.tagged(NO_TAGS);
      writer.tagged(NO_TAGS);
    }
  });
}

export function decodeKRaftVoters(value: Uint8Array): KRaftVoters {
  return decode(value, (reader) => ({ voters: reader.array(() => readVoter(reader)) }));
}

function readVoter(reader: FlexibleReader): KRaftVoter {
  const voterId = reader.int32();
  const voterDirectoryId = reader.uuid();
  const endpoints = reader.array(() => {
    const name = reader.string();
    const host = reader.string();
    const port = reader.int16() & 0xffff;
    reader.tagged();
    return { name, host, port };
  });
  const minSupportedVersion = reader.int16();
  const maxSupportedVersion = reader.int16();
  reader.tagged();
  reader.tagged();
  const kRaftVersionFeature = { minSupportedVersion, maxSupportedVersion };
  return { voterId, voterDirectoryId, endpoints, kRaftVersionFeature };
}

const VERSION = 0;

function encode(fields: (writer: FlexibleWriter) => void): Uint8Array {
  const writer = new FlexibleWriter();
  writer.int16(VERSION);
  fields(writer);
  writer.tagged(NO_TAGS);
  return writer.bytes;
}

/** Of a later version only what this one has is read. */
function decode<Fields>(
  value: Uint8Array,
  fields: (reader: FlexibleReader, version: number) => Fields,
): Fields {
  const reader = new FlexibleReader(value);
  const version = reader.int16();
  return fields(reader, version);
}
