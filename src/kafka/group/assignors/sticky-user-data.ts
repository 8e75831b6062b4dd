import { readInt32, writeInt32 } from "../../../base/big-endian.ts";
import { ProtocolReader, ProtocolWriter } from "../consumer-protocol.ts";
import type { TopicPartitions } from "./topic-partitions.ts";
import { NO_PARTITIONS } from "./topic-partitions.ts";

/** What a member's sticky assignor tells the leader's of what the member had. */
export interface OwnershipClaim {
  readonly partitions: TopicPartitions;
  /** Undefined if it did not say. */
  readonly generation: number | undefined;
}

/** Of `StickyAssignor`: all that it was assigned, since an eager member owns nothing when it joins. */
export function encodeStickyUserData(partitions: TopicPartitions, generation: number): Uint8Array {
  const writer = new ProtocolWriter();
  writer.topicPartitions(partitions);
  writer.int32(generation);
  return writer.bytes();
}

/** Undefined data claim nothing; data that make no sense, nothing in generation -1. */
export function decodeStickyUserData(data: Uint8Array | undefined): OwnershipClaim {
  if (data === undefined || data.length === 0) return NO_CLAIM;
  const reader = new ProtocolReader(data);
  const partitions = reader.topicPartitions();
  if (partitions === undefined) return { partitions: NO_PARTITIONS, generation: -1 };
  // The first version of the schema, before Kafka 2.1, had no generation (KIP-341).
  return { partitions, generation: reader.int32() };
}

/** Of `CooperativeStickyAssignor`: the generation only; what it owns stands in the subscription. */
export function encodeCooperativeUserData(generation: number): Uint8Array {
  const bytes = new Uint8Array(4);
  writeInt32(bytes, 0, generation);
  return bytes;
}

export function decodeCooperativeUserData(data: Uint8Array | undefined): number | undefined {
  if (data === undefined) return undefined;
  return data.length < 4 ? -1 : readInt32(data, 0);
}

const NO_CLAIM: OwnershipClaim = { partitions: NO_PARTITIONS, generation: undefined };
