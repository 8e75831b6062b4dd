import type { Duration } from "../base/time.ts";
import { fromMillis, SECOND } from "../base/time.ts";
import type { BrokerConfigs } from "../kafka/config/broker-configs.ts";
import type { ConsumerConfigs } from "../kafka/config/consumer-configs.ts";
import type { ProducerConfigs } from "../kafka/config/producer-configs.ts";

/**
 * How long a healthy cluster may stand still, by its configs. What it does is made of steps (a broker is
 * unfenced, an ISR grows, a log is copied), and before each somebody may have to wait in vain for an
 * answer that was lost with a fault: until a timeout, then for a backoff.
 */
export interface LivenessBounds {
  /** The longest such wait: who has made no step for so long is stuck. */
  readonly quiet: Duration;
  /** Whatever is still not so after so long will never be, however many steps were made: a livelock. */
  readonly total: Duration;
}

/** Kafka's default of `controller.socket.timeout.ms`, which is not among the configs here. */
const CONTROLLER_SOCKET_TIMEOUT_MS = 30_000;
/** Starting a process again, recovering its logs, and the way of metadata to whom they concern. */
const SLACK: Duration = 5 * SECOND;
/** From the election of a controller to a full ISR there are about so many steps one after the other. */
const STEPS = 4;

/**
 * Of a cluster of such brokers. `isPartial`: faults stay with some, so that leaders may first have to find
 * out that these no longer follow.
 */
export function boundsOf(brokers: readonly BrokerConfigs[], isPartial: boolean): LivenessBounds {
  const quiet = brokers.reduce(
    (longest, configs) => Math.max(longest, quietOf(configs, isPartial)),
    SLACK,
  );
  return { quiet, total: STEPS * quiet };
}

function quietOf(configs: BrokerConfigs, isPartial: boolean): Duration {
  const election =
    configs["controller.quorum.fetch.timeout.ms"] +
    // A vote may be split twice.
    2 * configs["controller.quorum.election.timeout.ms"] +
    2 * configs["controller.quorum.election.backoff.max.ms"];
  const wait = Math.max(
    CONTROLLER_SOCKET_TIMEOUT_MS,
    configs["replica.socket.timeout.ms"],
    // Leaders look twice within it.
    isPartial ? configs["replica.lag.time.max.ms"] * 1.5 : 0,
    election,
  );
  // A registration that is refused is tried again after up to broker.session.timeout.ms.
  const backoff = Math.max(
    configs["broker.session.timeout.ms"],
    configs["replica.fetch.backoff.ms"],
  );
  return fromMillis(wait + backoff) + SLACK;
}

/** How long a send may wait, however many others get through: `delivery.timeout.ms` is Kafka's word. */
export function deliveryBound(configs: ProducerConfigs): Duration {
  const least = configs["linger.ms"] + configs["request.timeout.ms"];
  return fromMillis(Math.max(configs["delivery.timeout.ms"], least)) + SLACK;
}

/**
 * How long a client's work may stand still in a cluster that has recovered: one request in vain to whoever
 * led before, and one to learn who leads now. `isPartial`: whoever led before may not have heard that it
 * leads no more, and answers a consumer without an error, until metadata are asked for again anyway.
 */
export function stallBound(
  configs: ProducerConfigs | ConsumerConfigs,
  isPartial: boolean,
): Duration {
  const backoff = configs["retry.backoff.max.ms"] + configs["reconnect.backoff.max.ms"];
  const age = isPartial ? configs["metadata.max.age.ms"] : 0;
  return fromMillis(2 * (configs["request.timeout.ms"] + backoff) + age) + SLACK;
}

/**
 * How long a transaction may stay open after the last that its producer did, in a healthy cluster: until its
 * timeout is over, and the coordinator looks. Starting to coordinate it may take one round more.
 */
export function abortBound(brokers: readonly BrokerConfigs[], timeout: Duration): Duration {
  const rounds = brokers.map(
    (one) => one["transaction.abort.timed.out.transaction.cleanup.interval.ms"],
  );
  const round = rounds.reduce((longest, one) => Math.max(longest, one), 0);
  return timeout + fromMillis(2 * round) + SLACK;
}
