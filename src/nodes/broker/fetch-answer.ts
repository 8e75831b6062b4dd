import type { Instant } from "../../base/time.ts";
import { FETCH } from "../../kafka/protocol/apis.ts";
import type { FetchRequest, FetchTopicResponse } from "../../kafka/protocol/fetch.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";

/** What one reading of a fetch's partitions gave. */
export interface FetchAnswer {
  readonly responses: readonly FetchTopicResponse[];
  readonly bytes: number;
  /** An error or a diverging epoch: it is told at once. */
  readonly urgent: boolean;
}

/** Reads all partitions of a fetch. */
export interface FetchReader {
  read(body: FetchRequest, updateState: boolean, now: Instant): FetchAnswer;
}

export function replyToFetch(
  request: IncomingRequest,
  responses: readonly FetchTopicResponse[],
): void {
  request.reply(FETCH, { throttleTimeMs: 0, errorCode: 0, sessionId: 0, responses });
}
