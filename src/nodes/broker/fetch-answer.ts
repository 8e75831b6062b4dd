import type { Instant } from "../../base/time.ts";
import type { Offset } from "../../kafka/ids.ts";
import type { RecordBatch } from "../../kafka/log/record-batch.ts";
import { FETCH } from "../../kafka/protocol/apis.ts";
import type {
  EpochEndOffset,
  FetchPartition,
  FetchPartitionResponse,
  FetchRequest,
  FetchTopic,
  FetchTopicResponse,
} from "../../kafka/protocol/fetch.ts";
import type { LeaderIdAndEpoch } from "../../kafka/protocol/produce.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";

export const NO_RECORDS: readonly RecordBatch[] = [];

/** What the reading of one partition gave. */
export class PartitionReading {
  errorCode = 0;
  highWatermark: Offset = -1;
  logStartOffset: Offset = -1;
  divergingEpoch: EpochEndOffset | undefined = undefined;
  currentLeader: LeaderIdAndEpoch | undefined = undefined;
  records: readonly RecordBatch[] = NO_RECORDS;

  toResponse(partitionIndex: number): FetchPartitionResponse {
    return {
      partitionIndex,
      errorCode: this.errorCode,
      highWatermark: this.highWatermark,
      // Simplified: there are no transactions, so all that is committed is stable.
      lastStableOffset: this.highWatermark,
      logStartOffset: this.logStartOffset,
      divergingEpoch: this.divergingEpoch,
      currentLeader: this.currentLeader,
      snapshotId: undefined,
      preferredReadReplica: -1,
      records: this.records,
    };
  }
}

/**
 * What one reading of a fetch's partitions gave. Most fetches are parked after it, and so it is
 * used again and again: only an answer makes objects.
 */
export class FetchReading {
  /** In the order of the fetch; there may be more than it has partitions. */
  readonly parts: PartitionReading[] = [];
  bytes = 0;
  /** An error or a diverging epoch: it is told at once. */
  urgent = false;

  part(at: number): PartitionReading {
    const known = this.parts[at];
    if (known !== undefined) return known;
    const made = new PartitionReading();
    this.parts.push(made);
    return made;
  }

  toResponses(topics: readonly FetchTopic[]): FetchTopicResponse[] {
    const responses = new Array<FetchTopicResponse>(topics.length);
    let at = 0;
    for (let t = 0; t < topics.length; t++) {
      const { topicId, partitions: asked } = topics[t] as FetchTopic;
      const partitions = new Array<FetchPartitionResponse>(asked.length);
      for (let p = 0; p < asked.length; p++) {
        partitions[p] = this.part(at++).toResponse((asked[p] as FetchPartition).partition);
      }
      responses[t] = { topicId, partitions };
    }
    return responses;
  }
}

/** Reads all partitions of a fetch. */
export interface FetchReader {
  /** Answers a fetch with what there is now; nothing is learned of the follower from it. */
  answer(request: IncomingRequest, body: FetchRequest, now: Instant): void;
}

export function replyToFetch(
  request: IncomingRequest,
  responses: readonly FetchTopicResponse[],
): void {
  request.reply(FETCH, { throttleTimeMs: 0, errorCode: 0, sessionId: 0, responses });
}
