import { CODECS } from "../log/compression/codec.ts";
import { COMPRESSION_LEVELS } from "./compression-configs.ts";
import type { Configs } from "./config-table.ts";
import { boolean, number, text } from "./config-table.ts";

/** The producer configs that are modelled, with Kafka 4.3's defaults (`ProducerConfig`). */
export const PRODUCER_CONFIGS = {
  acks: text("all", ["all", "-1", "0", "1"]),
  "batch.size": number(16_384, 0),
  "linger.ms": number(5, 0),
  "compression.type": text("none", CODECS),
  ...COMPRESSION_LEVELS,
  "max.in.flight.requests.per.connection": number(5, 1),
  "enable.idempotence": boolean(true),
  retries: number(2_147_483_647, 0),
  "retry.backoff.ms": number(100, 0),
  "retry.backoff.max.ms": number(1_000, 0),
  "delivery.timeout.ms": number(120_000, 0),
  "request.timeout.ms": number(30_000, 0),
  "buffer.memory": number(33_554_432, 0),
  "max.block.ms": number(60_000, 0),
  "max.request.size": number(1_048_576, 0),
  "metadata.max.age.ms": number(300_000, 0),
  "reconnect.backoff.ms": number(50, 0),
  "reconnect.backoff.max.ms": number(1_000, 0),
  "partitioner.ignore.keys": boolean(false),
  // In Kafka there is none by default; an empty one is refused.
  "transactional.id": text(""),
  "transaction.timeout.ms": number(60_000),
} as const;

export type ProducerConfigs = Configs<typeof PRODUCER_CONFIGS>;
