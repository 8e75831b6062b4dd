import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import { LIST_OFFSETS, OFFSET_FOR_LEADER_EPOCH } from "../../kafka/protocol/apis.ts";
import type {
  ListOffsetsPartition,
  ListOffsetsPartitionResponse,
  ListOffsetsRequest,
} from "../../kafka/protocol/list-offsets.ts";
import {
  EARLIEST_LOCAL_TIMESTAMP,
  EARLIEST_PENDING_UPLOAD_TIMESTAMP,
  EARLIEST_TIMESTAMP,
  LATEST_TIERED_TIMESTAMP,
  LATEST_TIMESTAMP,
  MAX_TIMESTAMP,
} from "../../kafka/protocol/list-offsets.ts";
import type {
  OffsetForLeaderEpochRequest,
  OffsetForLeaderPartition,
  OffsetForLeaderPartitionResult,
} from "../../kafka/protocol/offset-for-leader-epoch.ts";
import { DiskError } from "../../ports/disk.ts";
import type { PartitionLog } from "../../storage/partition-log.ts";
import type { TimestampAndOffset } from "../../storage/segment.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";
import { clientEndOf, whyAbsent } from "./fetch-read.ts";
import type { Partition } from "./partition.ts";

/** Tells where logs and leader epochs begin and end. */
export class OffsetsHandler {
  readonly #context: BrokerContext;

  constructor(context: BrokerContext) {
    this.#context = context;
  }

  listOffsets(request: IncomingRequest, body: ListOffsetsRequest): void {
    request.reply(LIST_OFFSETS, {
      throttleTimeMs: 0,
      topics: body.topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map((one) => this.#list(name, one, body)),
      })),
    });
  }

  /** `Partition.fetchOffsetForTimestamp`. */
  #list(
    topic: string,
    asked: ListOffsetsPartition,
    { replicaId, isolationLevel }: ListOffsetsRequest,
  ): ListOffsetsPartitionResponse {
    const index = asked.partitionIndex;
    const found = this.#find(topic, index, asked.currentLeaderEpoch);
    if ("code" in found) return refusal(index, found);
    const { log, highWatermark, leaderEpoch } = found;
    const isClient = replicaId < 0;
    const visibleEnd = isClient ? clientEndOf(found, isolationLevel) : log.logEndOffset;
    // A new leader does not know yet how far the old one's promises went (KIP-207).
    const mayBeMore = isClient && highWatermark < found.epochStartOffset;
    if (asked.timestamp === LATEST_TIMESTAMP) {
      if (mayBeMore) return refusal(index, ERRORS.OFFSET_NOT_AVAILABLE);
      return answer(index, -1, visibleEnd, leaderEpoch);
    }
    if (asked.timestamp === EARLIEST_TIMESTAMP || asked.timestamp === EARLIEST_LOCAL_TIMESTAMP) {
      const earliest = log.epochs.entries[0];
      const isKnown = earliest !== undefined && earliest.startOffset <= log.logStartOffset;
      return answer(index, -1, log.logStartOffset, isKnown ? earliest.epoch : -1);
    }
    try {
      const record = search(log, asked.timestamp);
      if (record !== undefined && record.offset < visibleEnd) {
        return answer(index, record.timestamp, record.offset, record.leaderEpoch);
      }
      return mayBeMore ? refusal(index, ERRORS.OFFSET_NOT_AVAILABLE) : answer(index, -1, -1, -1);
    } catch (problem) {
      if (!(problem instanceof DiskError)) throw problem;
      this.#context.diskFailed(problem);
      return refusal(index, ERRORS.KAFKA_STORAGE_ERROR);
    }
  }

  offsetForLeaderEpoch(request: IncomingRequest, body: OffsetForLeaderEpochRequest): void {
    request.reply(OFFSET_FOR_LEADER_EPOCH, {
      throttleTimeMs: 0,
      topics: body.topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map((one) => this.#epochEnd(topic, one)),
      })),
    });
  }

  #epochEnd(topic: string, asked: OffsetForLeaderPartition): OffsetForLeaderPartitionResult {
    const { partition } = asked;
    const found = this.#find(topic, partition, asked.currentLeaderEpoch);
    if ("code" in found) {
      return { errorCode: found.code, partition, leaderEpoch: -1, endOffset: -1 };
    }
    const end =
      this.#context.rules.switches.truncation === "kip-101"
        ? found.log.epochs.kip101EndOffset(asked.leaderEpoch, found.log.logEndOffset)
        : found.log.endOffsetForEpoch(asked.leaderEpoch);
    return { errorCode: 0, partition, leaderEpoch: end.epoch, endOffset: end.endOffset };
  }

  #find(topic: string, index: number, epoch: number): Partition | ErrorCode {
    const image = this.#context.image.topicByName(topic);
    if (image === undefined) return ERRORS.UNKNOWN_TOPIC_OR_PARTITION;
    const partition = this.#context.partition(image.topicId, index);
    if (partition === undefined) return whyAbsent(this.#context, image.topicId, index);
    const refused = partition.checkLeader(epoch);
    return refused === ERRORS.NONE ? partition : refused;
  }
}

/** `UnifiedLog.fetchOffsetByTimestamp`, without tiered storage. */
function search(log: PartitionLog, timestamp: number): TimestampAndOffset | undefined {
  switch (timestamp) {
    case MAX_TIMESTAMP:
      return log.findMaxTimestamp();
    case LATEST_TIERED_TIMESTAMP:
    case EARLIEST_PENDING_UPLOAD_TIMESTAMP:
      return undefined;
    default:
      return log.findByTimestamp(timestamp);
  }
}

function refusal(partitionIndex: number, { code }: ErrorCode): ListOffsetsPartitionResponse {
  return { partitionIndex, errorCode: code, timestamp: -1, offset: -1, leaderEpoch: -1 };
}

function answer(
  partitionIndex: number,
  timestamp: number,
  offset: number,
  leaderEpoch: number,
): ListOffsetsPartitionResponse {
  return { partitionIndex, errorCode: 0, timestamp, offset, leaderEpoch };
}
