import type { Instant } from "../../base/time.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { BrokerEpoch, BrokerId, Offset, TopicId } from "../../kafka/ids.ts";
import type { RecordBatch } from "../../kafka/log/record-batch.ts";
import type {
  EpochEndOffset,
  FetchPartition,
  FetchPartitionResponse,
} from "../../kafka/protocol/fetch.ts";
import { DiskError } from "../../ports/disk.ts";
import type { BrokerContext } from "./broker-context.ts";
import type { Partition } from "./partition.ts";

/** Who asks, and how much. */
export interface FetchParams {
  /** -1 for consumers. */
  readonly replicaId: BrokerId;
  readonly replicaEpoch: BrokerEpoch;
}

const NO_RECORDS: readonly RecordBatch[] = [];

/**
 * Reads one partition for one fetch (`Partition.fetchRecords`): epoch and leadership first, then
 * whether the histories part, then the log, and last what the fetch tells of the follower. With
 * `updateState` false (a parked fetch that completes) nothing is learned from it.
 */
export function readForFetch(
  context: BrokerContext,
  params: FetchParams,
  topicId: TopicId,
  fetch: FetchPartition,
  maxBytes: number,
  minOneMessage: boolean,
  updateState: boolean,
  now: Instant,
): FetchPartitionResponse {
  const partition = context.partition(topicId, fetch.partition);
  if (partition === undefined) {
    return refusal(fetch.partition, whyAbsent(context, topicId, fetch.partition), undefined);
  }
  const refused = partition.checkLeader(fetch.currentLeaderEpoch);
  if (refused !== ERRORS.NONE) return refusal(fetch.partition, refused, partition);
  const isFollower = params.replicaId >= 0;
  const replica = isFollower ? partition.remote(params.replicaId) : undefined;
  if (isFollower && replica === undefined) {
    // Not in the assignment as known here: one of the two has older metadata (KAFKA-9723).
    return refusal(fetch.partition, ERRORS.UNKNOWN_LEADER_EPOCH, partition);
  }
  const { log, highWatermark } = partition;
  const { logStartOffset, logEndOffset } = log;
  const { fetchOffset, lastFetchedEpoch } = fetch;
  let diverging: EpochEndOffset | undefined;
  if (lastFetchedEpoch >= 0) {
    const end = log.endOffsetForEpoch(lastFetchedEpoch);
    if (end.endOffset < 0 || fetchOffset < logStartOffset) {
      return refusal(fetch.partition, ERRORS.OFFSET_OUT_OF_RANGE, partition);
    }
    if (context.rules.historiesPart(end, lastFetchedEpoch, fetchOffset)) diverging = end;
  }
  let records = NO_RECORDS;
  if (diverging === undefined) {
    if (fetchOffset < logStartOffset || fetchOffset > logEndOffset) {
      return refusal(fetch.partition, ERRORS.OFFSET_OUT_OF_RANGE, partition);
    }
    const upTo = isFollower ? logEndOffset : highWatermark;
    if (fetchOffset < upTo && (maxBytes > 0 || minOneMessage)) {
      const read = readLog(context, partition, fetchOffset, maxBytes, upTo, minOneMessage);
      if (typeof read === "object" && "code" in read) {
        return refusal(fetch.partition, read, partition);
      }
      records = read;
    }
  }
  const learns =
    diverging === undefined || context.rules.switches["leader.update-state-on-diverging-fetch"];
  if (replica !== undefined && updateState && learns) {
    const error = partition.followerFetched(replica, fetch, logEndOffset, params.replicaEpoch, now);
    if (error !== ERRORS.NONE) return refusal(fetch.partition, error, partition);
  }
  return {
    partitionIndex: fetch.partition,
    errorCode: 0,
    highWatermark,
    // Simplified: there are no transactions, so all that is committed is stable.
    lastStableOffset: highWatermark,
    logStartOffset,
    divergingEpoch: diverging,
    currentLeader: undefined,
    snapshotId: undefined,
    preferredReadReplica: -1,
    records,
  };
}

function readLog(
  context: BrokerContext,
  partition: Partition,
  from: Offset,
  maxBytes: number,
  upTo: Offset,
  minOneMessage: boolean,
): readonly RecordBatch[] | ErrorCode {
  try {
    const read = partition.log.read(from, maxBytes, upTo, minOneMessage);
    return read.error === ERRORS.NONE ? read.batches : read.error;
  } catch (problem) {
    if (!(problem instanceof DiskError)) throw problem;
    context.diskFailed(partition);
    return ERRORS.KAFKA_STORAGE_ERROR;
  }
}

export function whyAbsent(context: BrokerContext, topicId: TopicId, index: number): ErrorCode {
  const topic = context.image.topicById(topicId);
  if (topic === undefined) return ERRORS.UNKNOWN_TOPIC_ID;
  return topic.partitions[index] === undefined
    ? ERRORS.UNKNOWN_TOPIC_OR_PARTITION
    : ERRORS.NOT_LEADER_OR_FOLLOWER;
}

function refusal(
  index: number,
  error: ErrorCode,
  partition: Partition | undefined,
): FetchPartitionResponse {
  const tellsLeader =
    error === ERRORS.NOT_LEADER_OR_FOLLOWER || error === ERRORS.FENCED_LEADER_EPOCH;
  return {
    partitionIndex: index,
    errorCode: error.code,
    highWatermark: -1,
    lastStableOffset: -1,
    logStartOffset: -1,
    divergingEpoch: undefined,
    currentLeader: tellsLeader && partition !== undefined ? partition.leader : undefined,
    snapshotId: undefined,
    preferredReadReplica: -1,
    records: NO_RECORDS,
  };
}
