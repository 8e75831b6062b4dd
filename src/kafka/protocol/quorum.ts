import { METADATA_TOPIC } from "../ids.ts";
import {
  countSize,
  EMPTY,
  INT8,
  INT16,
  INT32,
  INT64,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  textSize,
  UUID,
  uniformSize,
} from "./wire-size.ts";

/**
 * Kafka nests these messages in topics; here there is only the metadata log.
 * Simplified: without the endpoints of leaders (KIP-853), as all know the voters from the start.
 */

/** VoteRequest v2: `preVote` since KIP-996. */
export interface VoteRequest {
  readonly clusterId: string;
  readonly voterId: number;
  readonly replicaEpoch: number;
  readonly replicaId: number;
  readonly replicaDirectoryId: string;
  readonly voterDirectoryId: string;
  readonly lastOffsetEpoch: number;
  readonly lastOffset: number;
  readonly preVote: boolean;
}

export interface VoteResponse {
  readonly errorCode: number;
  readonly leaderId: number;
  readonly leaderEpoch: number;
  readonly voteGranted: boolean;
}

/** BeginQuorumEpochRequest v1: a new leader tells the voters. */
export interface BeginQuorumEpochRequest {
  readonly clusterId: string;
  readonly voterId: number;
  readonly voterDirectoryId: string;
  readonly leaderId: number;
  readonly leaderEpoch: number;
}

export interface BeginQuorumEpochResponse {
  readonly errorCode: number;
  readonly leaderId: number;
  readonly leaderEpoch: number;
}

/** EndQuorumEpochRequest v1: a resigning leader names its successors, best first. */
export interface EndQuorumEpochRequest {
  readonly clusterId: string;
  readonly leaderId: number;
  readonly leaderEpoch: number;
  readonly preferredCandidates: readonly number[];
}

export interface EndQuorumEpochResponse {
  readonly errorCode: number;
  readonly leaderId: number;
  readonly leaderEpoch: number;
}

/** The one topic and the one partition around what a quorum message says of the metadata log. */
function nested(partition: number): number {
  return countSize(1) + textSize(METADATA_TOPIC) + countSize(1) + INT32 + partition + 2 * NO_TAGS;
}

export function voteRequestSize(body: VoteRequest): number {
  const partition = 3 * INT32 + 2 * UUID + INT64 + INT8;
  return REQUEST_OVERHEAD + textSize(body.clusterId) + INT32 + nested(partition) + NO_TAGS;
}

export function voteResponseSize(): number {
  return RESPONSE_OVERHEAD + INT16 + nested(INT16 + 2 * INT32 + INT8) + NO_TAGS;
}

export function beginQuorumEpochRequestSize(body: BeginQuorumEpochRequest): number {
  const partition = UUID + 2 * INT32;
  return REQUEST_OVERHEAD + textSize(body.clusterId) + INT32 + nested(partition) + EMPTY + NO_TAGS;
}

export function beginQuorumEpochResponseSize(): number {
  return RESPONSE_OVERHEAD + INT16 + nested(INT16 + 2 * INT32) + NO_TAGS;
}

export function endQuorumEpochRequestSize(body: EndQuorumEpochRequest): number {
  const candidates = uniformSize(body.preferredCandidates, INT32 + UUID + NO_TAGS);
  const partition = 2 * INT32 + candidates;
  return REQUEST_OVERHEAD + textSize(body.clusterId) + nested(partition) + EMPTY + NO_TAGS;
}

export function endQuorumEpochResponseSize(): number {
  return RESPONSE_OVERHEAD + INT16 + nested(INT16 + 2 * INT32) + NO_TAGS;
}
