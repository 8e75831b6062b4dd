import type { ErrorCode } from "../../kafka/error-code.ts";
import type { BrokerEpoch, BrokerId, Offset, QuorumEpoch } from "../../kafka/ids.ts";
import { METADATA_TOPIC_ID } from "../../kafka/ids.ts";
import type { RecordBatch } from "../../kafka/log/record-batch.ts";
import type {
  EpochEndOffset,
  FetchPartition,
  FetchPartitionResponse,
  FetchRequest,
  FetchResponse,
} from "../../kafka/protocol/fetch.ts";
import type { LogEnd } from "../../kafka/quorum/quorum-rules.ts";

/** `KafkaRaftClient.MAX_FETCH_WAIT_MS`. */
const MAX_FETCH_WAIT_MS = 500;
/** `KafkaRaftClient.MAX_FETCH_SIZE`. */
const MAX_FETCH_BYTES = 1024 * 1024;

export interface FetchPosition {
  readonly clusterId: string;
  readonly replicaId: BrokerId;
  readonly brokerEpoch: BrokerEpoch;
  readonly epoch: QuorumEpoch;
  readonly end: LogEnd;
  readonly startOffset: Offset;
  readonly highWatermark: Offset;
}

/** A fetch of the metadata log from where the asker's own log ends. */
export function metadataFetch(position: FetchPosition): FetchRequest {
  return {
    clusterId: position.clusterId,
    replicaId: position.replicaId,
    replicaEpoch: position.brokerEpoch,
    maxWaitMs: MAX_FETCH_WAIT_MS,
    minBytes: 0,
    maxBytes: MAX_FETCH_BYTES,
    isolationLevel: 0,
    sessionId: 0,
    sessionEpoch: -1,
    topics: [
      {
        topicId: METADATA_TOPIC_ID,
        partitions: [
          {
            partition: 0,
            currentLeaderEpoch: position.epoch,
            fetchOffset: position.end.offset,
            lastFetchedEpoch: position.end.epoch,
            logStartOffset: position.startOffset,
            partitionMaxBytes: MAX_FETCH_BYTES,
            highWatermark: position.highWatermark,
          },
        ],
      },
    ],
  };
}

/** The one partition that a fetch of the metadata log asks for; undefined if it is another fetch. */
export function metadataPartition(request: FetchRequest): FetchPartition | undefined {
  const topic = request.topics[0];
  if (topic === undefined || request.topics.length !== 1) return undefined;
  return topic.topicId === METADATA_TOPIC_ID ? topic.partitions[0] : undefined;
}

export interface FetchAnswer {
  readonly error: ErrorCode;
  readonly leaderId: BrokerId;
  readonly epoch: QuorumEpoch;
  readonly highWatermark: Offset;
  readonly logStartOffset: Offset;
  readonly diverging: EpochEndOffset | undefined;
  readonly records: readonly RecordBatch[];
}

export function metadataFetchResponse(answer: FetchAnswer): FetchResponse {
  return {
    throttleTimeMs: 0,
    errorCode: 0,
    sessionId: 0,
    responses: [
      {
        topicId: METADATA_TOPIC_ID,
        partitions: [
          {
            partitionIndex: 0,
            errorCode: answer.error.code,
            highWatermark: answer.highWatermark,
            lastStableOffset: -1,
            logStartOffset: answer.logStartOffset,
            divergingEpoch: answer.diverging,
            currentLeader: { leaderId: answer.leaderId, leaderEpoch: answer.epoch },
            snapshotId: undefined,
            preferredReadReplica: -1,
            records: answer.records,
          },
        ],
      },
    ],
  };
}

/** The answer for the whole request, when it is not about this log or this cluster. */
export function failedFetchResponse(error: ErrorCode): FetchResponse {
  return { throttleTimeMs: 0, errorCode: error.code, sessionId: 0, responses: [] };
}

/** What a fetch response says about the metadata log. */
export function metadataAnswer(response: FetchResponse): FetchPartitionResponse | undefined {
  return response.responses[0]?.partitions[0];
}
