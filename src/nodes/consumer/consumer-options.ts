import type { Duration } from "../../base/time.ts";
import { fromMillis } from "../../base/time.ts";
import type { ResetPolicy } from "../../kafka/client/reset-policy.ts";
import { resetPolicyOf } from "../../kafka/client/reset-policy.ts";
import type { ConsumerConfigs } from "../../kafka/config/consumer-configs.ts";
import type { ProtocolSwitches } from "../../kafka/protocol-switches.ts";
import { PRESENT_RULES } from "../../kafka/protocol-switches.ts";
import type { NodeAddress } from "../../ports/network.ts";

export interface ConsumerOptions {
  /** The scenario's name for the client. */
  readonly name: string;
  readonly topic: string;
  /** The partitions that the application assigns to itself; undefined: all of the topic. */
  readonly partitions: readonly number[] | undefined;
  /**
   * Where the application seeks before it reads: the beginning or the end. Undefined: it does not,
   * and auto.offset.reset decides; `none` then ends it at once.
   */
  readonly startAt: "earliest" | "latest" | undefined;
  readonly configs: ConsumerConfigs;
  /** Rules that Kafka once had; undefined: the present ones. */
  readonly switches?: ProtocolSwitches;
  /** Some brokers, to ask for the others. */
  readonly bootstrap: readonly NodeAddress[];
}

/** The consumer's configs as its parts use them: microseconds, bytes, counts. */
export interface ConsumerSettings {
  readonly resetPolicy: ResetPolicy;
  readonly fetchMinBytes: number;
  readonly fetchMaxWaitMs: number;
  readonly fetchMaxBytes: number;
  readonly partitionMaxBytes: number;
  /** The protocol switch fetch.min-one-batch. */
  readonly getsOneBatch: boolean;
  readonly maxPollRecords: number;
  /** 0 read_uncommitted, 1 read_committed. */
  readonly isolationLevel: 0 | 1;
  /** default.api.timeout.ms. */
  readonly apiTimeout: Duration;
  readonly apiTimeoutMs: number;
  readonly requestTimeout: Duration;
  readonly requestTimeoutMs: number;
  readonly retryBackoff: Duration;
  readonly retryBackoffMax: Duration;
  readonly metadataMaxAge: Duration;
  readonly reconnectBackoff: Duration;
  readonly reconnectBackoffMax: Duration;
}

export function consumerSettings(
  configs: ConsumerConfigs,
  switches: ProtocolSwitches = PRESENT_RULES,
): ConsumerSettings {
  return {
    resetPolicy: resetPolicyOf(configs["auto.offset.reset"]),
    fetchMinBytes: configs["fetch.min.bytes"],
    fetchMaxWaitMs: configs["fetch.max.wait.ms"],
    fetchMaxBytes: configs["fetch.max.bytes"],
    getsOneBatch: switches["fetch.min-one-batch"],
    partitionMaxBytes: configs["max.partition.fetch.bytes"],
    maxPollRecords: configs["max.poll.records"],
    isolationLevel: configs["isolation.level"] === "read_committed" ? 1 : 0,
    apiTimeout: fromMillis(configs["default.api.timeout.ms"]),
    apiTimeoutMs: configs["default.api.timeout.ms"],
    requestTimeout: fromMillis(configs["request.timeout.ms"]),
    requestTimeoutMs: configs["request.timeout.ms"],
    retryBackoff: fromMillis(configs["retry.backoff.ms"]),
    retryBackoffMax: fromMillis(configs["retry.backoff.max.ms"]),
    metadataMaxAge: fromMillis(configs["metadata.max.age.ms"]),
    reconnectBackoff: fromMillis(configs["reconnect.backoff.ms"]),
    reconnectBackoffMax: fromMillis(configs["reconnect.backoff.max.ms"]),
  };
}
