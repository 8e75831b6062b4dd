import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import { LIST_OFFSETS, OFFSET_FOR_LEADER_EPOCH } from "../../kafka/protocol/apis.ts";
import type {
  ListOffsetsPartition,
  ListOffsetsPartitionResponse,
  ListOffsetsRequest,
} from "../../kafka/protocol/list-offsets.ts";
import { EARLIEST_TIMESTAMP, LATEST_TIMESTAMP } from "../../kafka/protocol/list-offsets.ts";
import type {
  OffsetForLeaderEpochRequest,
  OffsetForLeaderPartition,
  OffsetForLeaderPartitionResult,
} from "../../kafka/protocol/offset-for-leader-epoch.ts";
import { DiskError } from "../../ports/disk.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";
import { whyAbsent } from "./fetch-read.ts";
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
        partitions: partitions.map((one) => this.#list(name, one, body.replicaId)),
      })),
    });
  }

  /** `Partition.fetchOffsetForTimestamp`. */
  #list(
    topic: string,
    asked: ListOffsetsPartition,
    replicaId: number,
  ): ListOffsetsPartitionResponse {
    const found = this.#find(topic, asked.partitionIndex, asked.currentLeaderEpoch);
    if ("code" in found) return answer(asked.partitionIndex, found, -1, -1, -1);
    const { log, highWatermark, leaderEpoch } = found;
    const isClient = replicaId < 0;
    // A new leader does not know yet how far the old one's promises went (KIP-207).
    if (
      isClient &&
      asked.timestamp === LATEST_TIMESTAMP &&
      highWatermark < found.epochStartOffset
    ) {
      return answer(asked.partitionIndex, ERRORS.OFFSET_NOT_AVAILABLE, -1, -1, -1);
    }
    const visibleEnd = isClient ? highWatermark : log.logEndOffset;
    if (asked.timestamp === LATEST_TIMESTAMP) {
      return answer(asked.partitionIndex, ERRORS.NONE, -1, visibleEnd, leaderEpoch);
    }
    if (asked.timestamp === EARLIEST_TIMESTAMP) {
      const start = log.logStartOffset;
      const epoch = log.epochs.epochAt(start) ?? -1;
      return answer(asked.partitionIndex, ERRORS.NONE, -1, start, epoch);
    }
    try {
      return this.#search(found, asked, visibleEnd);
    } catch (problem) {
      if (!(problem instanceof DiskError)) throw problem;
      this.#context.diskFailed(problem);
      return answer(asked.partitionIndex, ERRORS.KAFKA_STORAGE_ERROR, -1, -1, -1);
    }
  }

  /** The first visible record of at least that timestamp. Simplified: by a scan, no index. */
  #search(
    partition: Partition,
    asked: ListOffsetsPartition,
    visibleEnd: number,
  ): ListOffsetsPartitionResponse {
    let at = partition.log.logStartOffset;
    while (at < visibleEnd) {
      const { batches } = partition.log.read(at, 1_048_576, visibleEnd, true);
      if (batches.length === 0) break;
      for (const batch of batches) {
        at = batch.nextOffset;
        if (batch.maxTimestamp < asked.timestamp) continue;
        const record = batch.records().find(({ timestamp }) => timestamp >= asked.timestamp);
        if (record === undefined || record.offset >= visibleEnd) continue;
        return answer(
          asked.partitionIndex,
          ERRORS.NONE,
          record.timestamp,
          record.offset,
          batch.partitionLeaderEpoch,
        );
      }
    }
    return answer(asked.partitionIndex, ERRORS.NONE, -1, -1, -1);
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

function answer(
  partitionIndex: number,
  error: ErrorCode,
  timestamp: number,
  offset: number,
  leaderEpoch: number,
): ListOffsetsPartitionResponse {
  return { partitionIndex, errorCode: error.code, timestamp, offset, leaderEpoch };
}
