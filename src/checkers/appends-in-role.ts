import type { Instant } from "../base/time.ts";
import type { LeaderEpoch } from "../kafka/ids.ts";
import type { Appended } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { LogWatch } from "./log-watch.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLog } from "./replica-log.ts";
import { earlyCoordinator } from "./waivers/early-coordinator.ts";

export const APPENDS_IN_ROLE: Guarantee = {
  name: "appends-in-role",
  sentence:
    "A leader writes in the leader epoch it leads in and copies from nobody; a follower copies, and nothing of a leader epoch above the one it follows in.",
  source: "KIP-320, KAFKA-18723, ReplicaManager.applyDelta; R14 and R15",
  kinds: ["append-out-of-role"],
  condition:
    "Of a broker as it told last what it is. Permitted: what a coordinator writes before its broker is let in after a start.",
  testedBy: "appends after a change of leader",
  example: [
    "append-out-of-role   orders-0   at 10.391s, event 8211",
    "  broker-1 leads in epoch 5, but copied offset 412 of leader epoch 5.",
  ],
  create: (context) => new AppendsInRole(context),
};

class AppendsInRole implements Checker {
  readonly violations: Violation[] = [];
  readonly #watch: LogWatch;
  /** Told once in each role. */
  readonly #told = new Map<ReplicaLog, LeaderEpoch>();

  constructor({ logs }: CheckContext) {
    this.#watch = logs.watch;
    logs.watch.onOutOfRole((partition, log, _node, fact, at, event) =>
      this.#report(partition, log, fact, at, event),
    );
  }

  get evaluations(): number {
    return this.#watch.appends;
  }

  get interesting(): number {
    return this.#watch.appendsLater;
  }

  #report(
    partition: PartitionGhost,
    log: ReplicaLog,
    fact: Appended,
    at: Instant,
    event: number,
  ): void {
    const { role, roleEpoch } = log;
    if (this.#told.get(log) === roleEpoch) return;
    this.#told.set(log, roleEpoch);
    const is = role === "leader" ? "leads" : "follows";
    const waiver = partition.earlyWrite?.event === event ? earlyCoordinator(partition) : undefined;
    const did = fact.asLeader ? "wrote" : "copied";
    const { baseOffset, lastOffset, partitionLeaderEpoch } = fact.batch;
    this.violations.push(
      violationOf(APPENDS_IN_ROLE, {
        partition: fact.partition,
        at,
        event,
        text: [
          `${brokerName(fact.broker)} ${is} in epoch ${roleEpoch}, but ${did} offset ${baseOffset} of leader epoch ${partitionLeaderEpoch}.`,
        ],
        offsets: [baseOffset, lastOffset],
        permitted: waiver?.text,
        cause: waiver?.cause,
      }),
    );
  }
}
