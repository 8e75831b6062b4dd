import type { Duration } from "../base/time.ts";
import { fromMillis } from "../base/time.ts";
import type { ConsumerConfigs } from "../kafka/config/consumer-configs.ts";
import { TICK_MS } from "../kafka/zookeeper/session-tracker.ts";
import type { MemberSetup } from "./check-setup.ts";
import { hasRegistries } from "./check-setup.ts";
import type { CheckContext } from "./guarantee.ts";
import { stallBound } from "./liveness-bounds.ts";

/**
 * How long a group may stand still in a cluster that has recovered, for such members: until one of them is missed, and
 * finds its coordinator again; and while an application works it polls only within max.poll.interval.ms.
 */
export function groupBound(
  { liveness, setup }: CheckContext,
  members: readonly (readonly [client: string, setup: MemberSetup])[],
): Duration {
  const served = setup.brokers.map(
    (configs) =>
      configs["group.consumer.session.timeout.ms"] +
      configs["group.consumer.heartbeat.interval.ms"],
  );
  const longest = members.map(([client, { configs }]) => {
    const missed = hasRegistries(setup)
      ? missedByZookeeper(configs)
      : configs["group.protocol"] === "consumer"
        ? Math.max(...served)
        : configs["session.timeout.ms"] + configs["heartbeat.interval.ms"];
    const away = setup.working.has(client) ? configs["max.poll.interval.ms"] : 0;
    return fromMillis(missed + away) + stallBound(configs, liveness.isPartial);
  });
  return Math.max(liveness.bounds.quiet, ...longest);
}

/** Until its session is over, tick by tick, and all others have tried again to take what was its own. */
function missedByZookeeper(configs: ConsumerConfigs): number {
  const tries = configs["rebalance.backoff.ms"] * configs["rebalance.max.retries"];
  return configs["zookeeper.session.timeout.ms"] + TICK_MS + tries;
}
