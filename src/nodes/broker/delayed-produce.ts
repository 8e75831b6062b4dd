import type { Duration } from "../../base/time.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import { PRODUCE } from "../../kafka/protocol/apis.ts";
import type {
  ProducePartitionResponse,
  ProduceTopicResponse,
} from "../../kafka/protocol/produce.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";
import type { Partition } from "./partition.ts";

/** What waits in a partition's purgatory until the high watermark has passed it. */
export interface AwaitsReplication {
  /** True if it has been answered. */
  tryComplete(): boolean;
}

/** One partition's part of a produce with acks=all. */
export class ProduceStatus {
  readonly index: number;
  readonly partition: Partition | undefined;
  /** All below must be replicated; 0 if there is nothing to wait for. */
  readonly requiredOffset: number;
  readonly baseOffset: number;
  readonly logAppendTimeMs: number;
  /** Has the partition's log grown, so that others may be waiting for that? */
  readonly hasGrown: boolean;
  error: ErrorCode;
  pending: boolean;

  constructor(
    index: number,
    partition: Partition | undefined,
    requiredOffset: number,
    baseOffset: number,
    logAppendTimeMs: number,
    error: ErrorCode,
    hasGrown: boolean,
  ) {
    this.index = index;
    this.partition = partition;
    this.requiredOffset = requiredOffset;
    this.baseOffset = baseOffset;
    this.logAppendTimeMs = logAppendTimeMs;
    this.error = error;
    this.hasGrown = hasGrown;
    this.pending = error === ERRORS.NONE && requiredOffset > 0;
  }

  response(): ProducePartitionResponse {
    const { error, partition } = this;
    const failed = error !== ERRORS.NONE;
    return {
      index: this.index,
      errorCode: error.code,
      baseOffset: failed ? -1 : this.baseOffset,
      logAppendTimeMs: this.logAppendTimeMs,
      logStartOffset: partition === undefined ? -1 : partition.log.logStartOffset,
      currentLeader:
        error === ERRORS.NOT_LEADER_OR_FOLLOWER && partition !== undefined
          ? partition.leader
          : undefined,
    };
  }
}

export interface ProduceTopicStatus {
  readonly topicId: string;
  readonly statuses: readonly ProduceStatus[];
}

/**
 * A produce with acks=all in purgatory: answered when every partition's records are replicated, can
 * no longer be, or the request's time is up; the records stay in the log in each case.
 */
export class DelayedProduce {
  /** When `timeout.ms` is over, by the broker's clock that is never set. */
  readonly deadline: Duration;
  readonly #context: BrokerContext;
  readonly #request: IncomingRequest;
  readonly #topics: readonly ProduceTopicStatus[];
  #pending = 0;
  #done = false;

  constructor(
    context: BrokerContext,
    request: IncomingRequest,
    topics: readonly ProduceTopicStatus[],
    deadline: Duration,
  ) {
    this.deadline = deadline;
    this.#context = context;
    this.#request = request;
    this.#topics = topics;
    for (const topic of topics) {
      for (const status of topic.statuses) if (status.pending) this.#pending++;
    }
  }

  get isDone(): boolean {
    return this.#done;
  }

  /** Registers with the partitions it waits for. */
  watch(): void {
    for (const topic of this.#topics) {
      for (const status of topic.statuses) if (status.pending) status.partition?.produces.add(this);
    }
  }

  /** True if it is answered now. */
  tryComplete(): boolean {
    if (this.#done) return true;
    for (const topic of this.#topics) {
      for (const status of topic.statuses) if (status.pending) this.#check(status);
    }
    if (this.#pending > 0) return false;
    this.#end();
    return true;
  }

  /** `timeout.ms` of the request is over. */
  expire(): void {
    if (this.#done) return;
    for (const topic of this.#topics) {
      for (const status of topic.statuses) {
        if (status.pending) this.#settle(status, ERRORS.REQUEST_TIMED_OUT);
      }
    }
    this.#end();
  }

  #check(status: ProduceStatus): void {
    const { partition } = status;
    if (partition === undefined || !partition.isLeader) {
      this.#settle(status, ERRORS.NOT_LEADER_OR_FOLLOWER);
      return;
    }
    const outcome = partition.offline
      ? ERRORS.KAFKA_STORAGE_ERROR
      : this.#context.rules.produceOutcome(partition, status.requiredOffset);
    if (outcome !== undefined) this.#settle(status, outcome);
  }

  #settle(status: ProduceStatus, error: ErrorCode): void {
    status.pending = false;
    status.error = error;
    this.#pending--;
    status.partition?.produces.delete(this);
  }

  #end(): void {
    this.#done = true;
    this.answer(this.#topics);
  }

  /** Nothing is waited for any more. */
  protected answer(topics: readonly ProduceTopicStatus[]): void {
    replyToProduce(this.#request, topics);
  }
}

/** Answers a produce with what has become of each partition. */
export function replyToProduce(
  request: IncomingRequest,
  topics: readonly ProduceTopicStatus[],
): void {
  const responses = new Array<ProduceTopicResponse>(topics.length);
  for (let t = 0; t < topics.length; t++) {
    const { topicId, statuses } = topics[t] as ProduceTopicStatus;
    const partitionResponses = new Array<ProducePartitionResponse>(statuses.length);
    for (let i = 0; i < statuses.length; i++) {
      partitionResponses[i] = (statuses[i] as ProduceStatus).response();
    }
    responses[t] = { topicId, partitionResponses };
  }
  request.reply(PRODUCE, { responses, throttleTimeMs: 0 });
}
