import type { Instant } from "../../base/time.ts";
import { fromMillis } from "../../base/time.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import type { BrokerId, Offset } from "../../kafka/ids.ts";
import { NO_LEADER, partitionName } from "../../kafka/ids.ts";
import { DELETE_RECORDS, METADATA } from "../../kafka/protocol/apis.ts";
import type { DeleteRecordsResponse } from "../../kafka/protocol/delete-records.ts";
import type { MetadataResponse } from "../../kafka/protocol/metadata.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { World } from "../../ports/node.ts";
import type { ResponseHandler, RpcClient } from "../rpc/rpc-client.ts";

/** Kafka's defaults of `default.api.timeout.ms`, `request.timeout.ms` and `retry.backoff.ms`. */
const API_TIMEOUT_MS = 60_000;
const REQUEST_TIMEOUT_MS = 30_000;
const RETRY_BACKOFF_MS = 100;

export interface RecordDeletionOptions {
  readonly world: World;
  readonly rpc: RpcClient;
  readonly brokers: readonly NodeAddress[];
  /** A timer of this kind, with the deletion as its payload, is to be passed on to `onTimer`. */
  readonly timerKind: number;
  readonly topic: string;
  readonly partition: number;
  /** Where the log is to begin, or UP_TO_HIGH_WATERMARK. */
  readonly before: Offset;
}

/**
 * One `Admin.deleteRecords`: asks any broker who leads the partition, then that leader; both again after
 * an error that may pass, until a minute is over. A failure is noted.
 */
export class RecordDeletion
  implements
    ResponseHandler<MetadataResponse, undefined>,
    ResponseHandler<DeleteRecordsResponse, undefined>
{
  readonly #options: RecordDeletionOptions;
  readonly #deadline: Instant;
  #attempt = 0;
  #leader: BrokerId = NO_LEADER;

  constructor(options: RecordDeletionOptions) {
    this.#options = options;
    this.#deadline = options.world.clock.now() + fromMillis(API_TIMEOUT_MS);
  }

  /** Its beginning, and the end of each pause. */
  onTimer(): void {
    const { rpc, brokers, topic } = this.#options;
    const broker = brokers[this.#attempt++ % brokers.length];
    if (broker === undefined) return;
    this.#leader = NO_LEADER;
    const body = { topics: [{ topicId: undefined, name: topic }], allowAutoTopicCreation: false };
    rpc.send(broker, "admin", METADATA, body, fromMillis(REQUEST_TIMEOUT_MS), this, undefined);
  }

  onResponse(response: MetadataResponse | DeleteRecordsResponse): void {
    if ("brokers" in response) this.#ask(response);
    else this.#take(response);
  }

  onDisconnect(): void {
    this.#failed(ERRORS.NETWORK_EXCEPTION);
  }

  #ask({ topics, brokers }: MetadataResponse): void {
    const { rpc, topic: name, partition: partitionIndex, before: offset } = this.#options;
    const known = topics[0]?.partitions.find((one) => one.partitionIndex === partitionIndex);
    const leader = brokers.find(({ nodeId }) => nodeId === known?.leaderId);
    if (leader === undefined) {
      this.#failed(ERRORS.LEADER_NOT_AVAILABLE);
      return;
    }
    this.#leader = leader.nodeId;
    const topic = { name, partitions: [{ partitionIndex, offset }] };
    const body = { topics: [topic], timeoutMs: API_TIMEOUT_MS };
    const timeout = fromMillis(REQUEST_TIMEOUT_MS);
    rpc.send(leader.port, "admin", DELETE_RECORDS, body, timeout, this, undefined);
  }

  #take({ topics }: DeleteRecordsResponse): void {
    const error = errorOf(topics[0]?.partitions[0]?.errorCode ?? -1);
    if (error !== ERRORS.NONE) this.#failed(error);
  }

  #failed(error: ErrorCode): void {
    const { world, timerKind, topic, partition } = this.#options;
    const retried = error.retriable && world.clock.now() < this.#deadline;
    world.facts.note({
      kind: "request-failed",
      client: "admin",
      api: DELETE_RECORDS.name,
      broker: this.#leader,
      partition: partitionName(topic, partition),
      error: error.name,
      retried,
    });
    if (retried) world.timers.start(fromMillis(RETRY_BACKOFF_MS), timerKind, this);
  }
}
