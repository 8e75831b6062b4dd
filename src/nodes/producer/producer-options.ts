import type { Duration } from "../../base/time.ts";
import { fromMillis } from "../../base/time.ts";
import { acksOf } from "../../kafka/client/idempotence.ts";
import type { ProducerConfigs } from "../../kafka/config/producer-configs.ts";
import { codecNumber } from "../../kafka/log/compression/codec.ts";
import type { TransactionVersion } from "../../kafka/transaction/transaction-metadata.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { DurationSource, Ratio } from "../../ports/random.ts";

/** Which keys the application gives its records: none, 0 to count - 1 in turn, or by chance. */
export type KeyPlan =
  | { readonly kind: "none" }
  | { readonly kind: "cycle" | "random"; readonly count: number };

/** When the application ends its transactions, and how: whichever comes first. */
export interface TransactionPlan {
  readonly records: number | undefined;
  readonly time: Duration | DurationSource | undefined;
  /** How many it aborts of its own accord; undefined: none. */
  readonly abort: Ratio | undefined;
}

/** What Kafka's producer itself is told. */
export interface KafkaProducerOptions {
  /** The scenario's name for the client. */
  readonly name: string;
  readonly topic: string;
  readonly configs: ProducerConfigs;
  /** Is it idempotent? See `isIdempotent`, which knows when it is switched off silently. */
  readonly idempotence: boolean;
  /** The cluster's `transaction.version`. */
  readonly transactionVersion: TransactionVersion;
  /** Some brokers, to ask for the others. */
  readonly bootstrap: readonly NodeAddress[];
}

export interface ProducerOptions extends KafkaProducerOptions {
  /** What payloads name as their writer: the client's own address. */
  readonly address: NodeAddress;
  /** Microseconds from one record to the next: always the same, or drawn. */
  readonly arrival: Duration | DurationSource;
  /** How many records to send; undefined: until stopped. */
  readonly records: number | undefined;
  readonly keys: KeyPlan;
  /** How many of the records have no value, by which they delete their key; undefined: none. */
  readonly tombstones: Ratio | undefined;
  /** Bytes of a record's value, at least PAYLOAD_MIN_BYTES. */
  readonly recordSize: number;
  /** What its records are bound together by; undefined without `transactional.id`. */
  readonly transaction: TransactionPlan | undefined;
}

/** The producer's configs as its parts use them: microseconds, bytes, counts. */
export interface ProducerSettings {
  readonly acks: -1 | 0 | 1;
  readonly batchSize: number;
  readonly linger: Duration;
  /** The number of a codec. */
  readonly compression: number;
  /** Of gzip. */
  readonly compressionLevel: number;
  readonly maxInFlight: number;
  readonly retries: number;
  readonly retryBackoff: Duration;
  readonly retryBackoffMax: Duration;
  readonly deliveryTimeout: Duration;
  readonly requestTimeout: Duration;
  readonly requestTimeoutMs: number;
  readonly bufferMemory: number;
  readonly maxBlock: Duration;
  readonly maxRequestSize: number;
  readonly metadataMaxAge: Duration;
  readonly reconnectBackoff: Duration;
  readonly reconnectBackoffMax: Duration;
  readonly ignoresKeys: boolean;
  /** Empty without transactions. */
  readonly transactionalId: string;
  readonly transactionTimeoutMs: number;
}

export function producerSettings(configs: ProducerConfigs): ProducerSettings {
  const linger = fromMillis(configs["linger.ms"]);
  const requestTimeout = fromMillis(configs["request.timeout.ms"]);
  return {
    acks: acksOf(configs),
    batchSize: configs["batch.size"],
    linger,
    compression: codecNumber(configs["compression.type"]),
    compressionLevel: configs["compression.gzip.level"],
    maxInFlight: configs["max.in.flight.requests.per.connection"],
    retries: configs.retries,
    retryBackoff: fromMillis(configs["retry.backoff.ms"]),
    retryBackoffMax: fromMillis(configs["retry.backoff.max.ms"]),
    // Kafka raises its default to this, and refuses a smaller value that was asked for.
    deliveryTimeout: Math.max(fromMillis(configs["delivery.timeout.ms"]), linger + requestTimeout),
    requestTimeout,
    requestTimeoutMs: configs["request.timeout.ms"],
    bufferMemory: configs["buffer.memory"],
    maxBlock: fromMillis(configs["max.block.ms"]),
    maxRequestSize: configs["max.request.size"],
    metadataMaxAge: fromMillis(configs["metadata.max.age.ms"]),
    reconnectBackoff: fromMillis(configs["reconnect.backoff.ms"]),
    reconnectBackoffMax: fromMillis(configs["reconnect.backoff.max.ms"]),
    ignoresKeys: configs["partitioner.ignore.keys"],
    transactionalId: configs["transactional.id"],
    transactionTimeoutMs: configs["transaction.timeout.ms"],
  };
}
