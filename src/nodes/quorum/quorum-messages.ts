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
import { NOTHING_FORGOTTEN } from "../../kafka/protocol/fetch.ts";

/** `KafkaRaftClient.MAX_FETCH_WAIT_MS`. */
const MAX_FETCH_WAIT_MS = 500;
/** `KafkaRaftClient.MAX_FETCH_SIZE`. */
export const MAX_FETCH_BYTES: number = 1024 * 1024;

/** A fetch of the metadata log. `partition` tells where the asker's own log ends. */
export function metadataFetch(
  clusterId: string,
  replicaId: BrokerId,
  replicaEpoch: BrokerEpoch,
  partition: FetchPartition,
): FetchRequest {
  return {
    clusterId,
    replicaId,
    replicaEpoch,
    maxWaitMs: MAX_FETCH_WAIT_MS,
    minBytes: 0,
    maxBytes: MAX_FETCH_BYTES,
    isolationLevel: 0,
    sessionId: 0,
    sessionEpoch: -1,
    topics: [{ topicId: METADATA_TOPIC_ID, partitions: [partition] }],
    forgottenTopicsData: NOTHING_FORGOTTEN,
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
            abortedTransactions: undefined,
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
