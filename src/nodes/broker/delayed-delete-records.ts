import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { Offset } from "../../kafka/ids.ts";
import { DELETE_RECORDS } from "../../kafka/protocol/apis.ts";
import type { DeleteRecordsPartitionResult } from "../../kafka/protocol/delete-records.ts";
import type { TimerHandle } from "../../ports/node.ts";
import { NO_TIMER } from "../../ports/node.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";
import type { Partition } from "./partition.ts";

/** One partition's part of a DeleteRecords. */
export class DeleteRecordsStatus {
  readonly index: number;
  readonly partition: Partition | undefined;
  /** All live replicas must have let go what is below. */
  readonly requiredOffset: Offset;
  lowWatermark: Offset = -1;
  error: ErrorCode;
  pending: boolean;

  constructor(
    index: number,
    partition: Partition | undefined,
    requiredOffset: Offset,
    error: ErrorCode,
  ) {
    this.index = index;
    this.partition = partition;
    this.requiredOffset = requiredOffset;
    this.error = error;
    this.pending = error === ERRORS.NONE;
  }

  result(): DeleteRecordsPartitionResult {
    const { index: partitionIndex, lowWatermark, error } = this;
    return { partitionIndex, lowWatermark, errorCode: error.code };
  }
}

export interface DeleteRecordsTopicStatus {
  readonly name: string;
  readonly statuses: readonly DeleteRecordsStatus[];
}

/**
 * A DeleteRecords in purgatory: answered when the logs of all live replicas begin where they should, or
 * the request's time is up. The leader has moved its own log's start before.
 */
export class DelayedDeleteRecords {
  readonly #context: BrokerContext;
  readonly #request: IncomingRequest;
  readonly #topics: readonly DeleteRecordsTopicStatus[];
  #done = false;
  timer: TimerHandle = NO_TIMER;

  constructor(
    context: BrokerContext,
    request: IncomingRequest,
    topics: readonly DeleteRecordsTopicStatus[],
  ) {
    this.#context = context;
    this.#request = request;
    this.#topics = topics;
  }

  /** Registers with the partitions it waits for. */
  watch(): void {
    for (const status of this.#pending()) status.partition?.deletions.add(this);
  }

  /** True if it is answered now. */
  tryComplete(): boolean {
    if (this.#done) return true;
    for (const status of this.#pending()) this.#check(status);
    if (this.#pending().length > 0) return false;
    this.#answer();
    return true;
  }

  /** `timeout.ms` of the request is over. */
  expire(): void {
    if (this.#done) return;
    for (const status of this.#pending()) this.#settle(status, ERRORS.REQUEST_TIMED_OUT);
    this.#answer();
  }

  #check(status: DeleteRecordsStatus): void {
    const { partition } = status;
    if (partition?.offline === true) {
      this.#settle(status, ERRORS.KAFKA_STORAGE_ERROR, -1);
    } else if (partition?.isLeader !== true) {
      this.#settle(status, ERRORS.NOT_LEADER_OR_FOLLOWER, -1);
    } else {
      const lowWatermark = partition.lowWatermark();
      if (lowWatermark >= status.requiredOffset) this.#settle(status, ERRORS.NONE, lowWatermark);
      else if (status.lowWatermark < 0) status.lowWatermark = lowWatermark;
    }
  }

  #settle(status: DeleteRecordsStatus, error: ErrorCode, lowWatermark?: Offset): void {
    status.pending = false;
    status.error = error;
    if (lowWatermark !== undefined) status.lowWatermark = lowWatermark;
    status.partition?.deletions.delete(this);
  }

  #pending(): DeleteRecordsStatus[] {
    return this.#topics.flatMap(({ statuses }) => statuses.filter(({ pending }) => pending));
  }

  #answer(): void {
    this.#done = true;
    this.#context.world.timers.cancel(this.timer);
    this.#request.reply(DELETE_RECORDS, {
      throttleTimeMs: 0,
      topics: this.#topics.map(({ name, statuses }) => ({
        name,
        partitions: statuses.map((status) => status.result()),
      })),
    });
  }
}
