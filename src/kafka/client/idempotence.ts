import type { ProducerConfigs } from "../config/producer-configs.ts";

/**
 * Is the producer idempotent? `asked` says whether enable.idempotence was given by the user: by
 * default it is on, and gives way silently to acks and retries that it cannot work with
 * (`ProducerConfig.postProcessAndValidateIdempotenceConfigs`).
 */
export function isIdempotent(configs: ProducerConfigs, asked: boolean): boolean {
  return configs["enable.idempotence"] && (asked || conflict(configs) === undefined);
}

/** Why a client with these configs refuses to start; undefined if it does not. */
export function complaintAboutIdempotence(
  configs: ProducerConfigs,
  asked: boolean,
): string | undefined {
  if (!isIdempotent(configs, asked)) {
    return configs["transactional.id"] === ""
      ? undefined
      : `transactional.id needs enable.idempotence${asked ? "" : `: ${conflict(configs) ?? ""}`}`;
  }
  const found = conflict(configs);
  if (found !== undefined) return found;
  // Since 4.0 this is an error even if idempotence is on by default only.
  return configs["max.in.flight.requests.per.connection"] > MAX_IN_FLIGHT
    ? `enable.idempotence needs max.in.flight.requests.per.connection of at most ${MAX_IN_FLIGHT}`
    : undefined;
}

/** The acks of a produce request: -1 is all. */
export function acksOf(configs: ProducerConfigs): -1 | 0 | 1 {
  switch (configs.acks) {
    case "0":
      return 0;
    case "1":
      return 1;
    default:
      return -1;
  }
}

function conflict(configs: ProducerConfigs): string | undefined {
  if (configs.retries === 0) return "enable.idempotence needs retries of at least 1";
  return acksOf(configs) === -1 ? undefined : "enable.idempotence needs acks=all";
}

/** A broker remembers the last five batches of a producer; a duplicate must be among them. */
const MAX_IN_FLIGHT = 5;
