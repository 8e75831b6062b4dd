import type { ErrorCode } from "../../kafka/error-code.ts";
import type { Offset } from "../../kafka/ids.ts";
import type { RecordBatch } from "../../kafka/log/record-batch.ts";
import { FETCH } from "../../kafka/protocol/apis.ts";
import type {
  EpochEndOffset,
  FetchedAbort,
  FetchPartitionResponse,
  FetchTopicResponse,
} from "../../kafka/protocol/fetch.ts";
import type { LeaderIdAndEpoch } from "../../kafka/protocol/produce.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";

export const NO_RECORDS: readonly RecordBatch[] = [];

/**
 * What the last reading of one partition gave. Most fetches are parked after it, and so it is
 * used again and again: only an answer makes objects.
 */
export class PartitionReading {
  errorCode = 0;
  highWatermark: Offset = -1;
  lastStableOffset: Offset = -1;
  logStartOffset: Offset = -1;
  divergingEpoch: EpochEndOffset | undefined = undefined;
  currentLeader: LeaderIdAndEpoch | undefined = undefined;
  abortedTransactions: readonly FetchedAbort[] | undefined = undefined;
  records: readonly RecordBatch[] = NO_RECORDS;

  toResponse(partitionIndex: number): FetchPartitionResponse {
    return {
      partitionIndex,
      errorCode: this.errorCode,
      highWatermark: this.highWatermark,
      lastStableOffset: this.lastStableOffset,
      logStartOffset: this.logStartOffset,
      divergingEpoch: this.divergingEpoch,
      currentLeader: this.currentLeader,
      snapshotId: undefined,
      abortedTransactions: this.abortedTransactions,
      preferredReadReplica: -1,
      records: this.records,
    };
  }
}

export function replyToFetch(
  request: IncomingRequest,
  error: ErrorCode,
  sessionId: number,
  responses: readonly FetchTopicResponse[],
): void {
  request.reply(FETCH, { throttleTimeMs: 0, errorCode: error.code, sessionId, responses });
}
