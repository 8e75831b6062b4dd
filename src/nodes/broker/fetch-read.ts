import type { Instant } from "../../base/time.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { BrokerEpoch, BrokerId, Offset, TopicId } from "../../kafka/ids.ts";
import type { EpochEndOffset, FetchedAbort, FetchPartition } from "../../kafka/protocol/fetch.ts";
import { DiskError } from "../../ports/disk.ts";
import type { ReadResult } from "../../storage/segment.ts";
import type { BrokerContext } from "./broker-context.ts";
import type { PartitionReading } from "./fetch-answer.ts";
import { NO_RECORDS } from "./fetch-answer.ts";
import type { Partition } from "./partition.ts";

/** Who asks, and how much. */
export interface FetchParams {
  /** -1 for consumers. */
  readonly replicaId: BrokerId;
  readonly replicaEpoch: BrokerEpoch;
  readonly isolationLevel: number;
}

/**
 * Reads one partition for one fetch into `reading` (`Partition.fetchRecords`): epoch and leadership first, then
 * whether the histories part, then the log, and last what the fetch tells of the follower. With
 * `updateState` false (a parked fetch that completes) nothing is learned from it.
 */
export function readForFetch(
  reading: PartitionReading,
  context: BrokerContext,
  params: FetchParams,
  topicId: TopicId,
  fetch: FetchPartition,
  maxBytes: number,
  minOneMessage: boolean,
  updateState: boolean,
  now: Instant,
): void {
  const partition = context.partition(topicId, fetch.partition);
  if (partition === undefined) {
    refuse(reading, whyAbsent(context, topicId, fetch.partition), undefined);
    return;
  }
  const refused = partition.checkLeader(fetch.currentLeaderEpoch);
  if (refused !== ERRORS.NONE) {
    refuse(reading, refused, partition);
    return;
  }
  const isFollower = params.replicaId >= 0;
  const replica = isFollower ? partition.remote(params.replicaId) : undefined;
  if (isFollower && replica === undefined) {
    // Not in the assignment as known here: one of the two has older metadata (KAFKA-9723).
    refuse(reading, ERRORS.UNKNOWN_LEADER_EPOCH, partition);
    return;
  }
  const { log, highWatermark } = partition;
  const { logStartOffset, logEndOffset } = log;
  const lastStableOffset = log.lastStableOffset(highWatermark);
  const isCommitted = !isFollower && params.isolationLevel === READ_COMMITTED;
  const { fetchOffset, lastFetchedEpoch } = fetch;
  let diverging: EpochEndOffset | undefined;
  if (lastFetchedEpoch >= 0) {
    const end = log.endOffsetForEpoch(lastFetchedEpoch);
    if (end.endOffset < 0 || fetchOffset < logStartOffset) {
      refuse(reading, ERRORS.OFFSET_OUT_OF_RANGE, partition);
      return;
    }
    if (context.rules.historiesPart(end, lastFetchedEpoch, fetchOffset)) diverging = end;
  }
  let records = NO_RECORDS;
  let aborted: readonly FetchedAbort[] | undefined = isCommitted ? NONE_ABORTED : undefined;
  if (diverging === undefined) {
    if (fetchOffset < logStartOffset || fetchOffset > logEndOffset) {
      refuse(reading, ERRORS.OFFSET_OUT_OF_RANGE, partition);
      return;
    }
    const clientEnd = isCommitted ? lastStableOffset : highWatermark;
    const upTo = isFollower ? logEndOffset : clientEnd;
    if (fetchOffset < upTo && (maxBytes > 0 || minOneMessage)) {
      const read = readLog(context, partition, fetchOffset, maxBytes, upTo, minOneMessage);
      if (read.error !== ERRORS.NONE) {
        refuse(reading, read.error, partition);
        return;
      }
      records = read.batches;
      if (isCommitted) aborted = log.abortedWithin(fetchOffset, read);
      if (isCommitted && aborted === undefined) {
        refuse(reading, ERRORS.UNKNOWN_SERVER_ERROR, partition);
        return;
      }
    }
  }
  const learns =
    diverging === undefined || context.rules.switches["leader.update-state-on-diverging-fetch"];
  if (replica !== undefined && updateState && learns) {
    const error = partition.followerFetched(replica, fetch, logEndOffset, params.replicaEpoch, now);
    if (error !== ERRORS.NONE) {
      refuse(reading, error, partition);
      return;
    }
  }
  reading.errorCode = 0;
  reading.highWatermark = highWatermark;
  reading.lastStableOffset = lastStableOffset;
  reading.logStartOffset = logStartOffset;
  reading.divergingEpoch = diverging;
  reading.currentLeader = undefined;
  reading.abortedTransactions = aborted;
  reading.records = records;
}

function readLog(
  context: BrokerContext,
  partition: Partition,
  from: Offset,
  maxBytes: number,
  upTo: Offset,
  minOneMessage: boolean,
): ReadResult {
  try {
    return partition.log.read(from, maxBytes, upTo, minOneMessage);
  } catch (problem) {
    if (!(problem instanceof DiskError)) throw problem;
    context.diskFailed(problem);
    return DISK_FAILED;
  }
}

/** The end of what a client may read, by its isolation level. */
export function clientEndOf(partition: Partition, isolationLevel: number): Offset {
  return isolationLevel === READ_COMMITTED ? partition.lastStableOffset : partition.highWatermark;
}

/** `isolation.level` as requests say it. */
const READ_COMMITTED = 1;
const NONE_ABORTED: readonly FetchedAbort[] = [];
const DISK_FAILED: ReadResult = {
  error: ERRORS.KAFKA_STORAGE_ERROR,
  batches: NO_RECORDS,
  sizeInBytes: 0,
};

export function whyAbsent(context: BrokerContext, topicId: TopicId, index: number): ErrorCode {
  const topic = context.image.topicById(topicId);
  if (topic === undefined) return ERRORS.UNKNOWN_TOPIC_ID;
  return topic.partitions[index] === undefined
    ? ERRORS.UNKNOWN_TOPIC_OR_PARTITION
    : ERRORS.NOT_LEADER_OR_FOLLOWER;
}

function refuse(
  reading: PartitionReading,
  error: ErrorCode,
  partition: Partition | undefined,
): void {
  const tellsLeader =
    error === ERRORS.NOT_LEADER_OR_FOLLOWER || error === ERRORS.FENCED_LEADER_EPOCH;
  reading.errorCode = error.code;
  reading.highWatermark = -1;
  reading.lastStableOffset = -1;
  reading.logStartOffset = -1;
  reading.divergingEpoch = undefined;
  reading.currentLeader = tellsLeader && partition !== undefined ? partition.leader : undefined;
  reading.abortedTransactions = undefined;
  reading.records = NO_RECORDS;
}
