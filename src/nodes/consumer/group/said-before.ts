import type { ConsumerGroupHeartbeatRequest } from "../../../kafka/protocol/consumer-group-heartbeat.ts";
import type { LocalAssignment } from "./local-assignment.ts";

/**
 * What a member has told of itself: a heartbeat says only what is another since then
 * (`ConsumerHeartbeatRequestManager.HeartbeatState`).
 */
export class SaidBefore {
  #rebalanceTimeoutMs = -1;
  #topics: string | undefined = undefined;
  #assignor: string | undefined = undefined;
  #assignment: LocalAssignment | undefined = undefined;

  /** A request failed: nobody knows what has been heard. */
  forget(): void {
    this.#rebalanceTimeoutMs = -1;
    this.#topics = undefined;
    this.#assignor = undefined;
    this.#assignment = undefined;
  }

  /** The heartbeat, of which `all` tells everything; and so it is sent if `isFull`. */
  request(
    all: ConsumerGroupHeartbeatRequest,
    isFull: boolean,
    assignment?: LocalAssignment,
  ): ConsumerGroupHeartbeatRequest {
    const { rebalanceTimeoutMs, serverAssignor, subscribedTopicNames } = all;
    const topics = subscribedTopicNames?.join();
    const isAssignmentNew = assignment === undefined || assignment !== this.#assignment;
    const request = {
      ...all,
      rebalanceTimeoutMs:
        isFull || rebalanceTimeoutMs !== this.#rebalanceTimeoutMs ? rebalanceTimeoutMs : -1,
      subscribedTopicNames: isFull || topics !== this.#topics ? subscribedTopicNames : undefined,
      serverAssignor: isFull || serverAssignor !== this.#assignor ? serverAssignor : undefined,
      topicPartitions: isFull || isAssignmentNew ? all.topicPartitions : undefined,
    };
    this.#rebalanceTimeoutMs = rebalanceTimeoutMs;
    this.#topics = topics;
    this.#assignor = serverAssignor;
    this.#assignment = assignment;
    return request;
  }
}
