import type { Instant } from "../base/time.ts";
import type { BrokerId } from "../kafka/ids.ts";
import type { IsrProposed } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLog } from "./replica-log.ts";
import { earlierRule } from "./waivers/earlier-rule.ts";

export const ISR_JOIN_CAUGHT_UP: Guarantee = {
  name: "isr-join-caught-up",
  sentence:
    "A leader asks for a replica to join the ISR only when that has all up to the high watermark and up to where the leader's epoch began.",
  source: "Partition.isFollowerInSync, KAFKA-7128; R8",
  kinds: ["joined-behind"],
  condition:
    "Of a leader whose epoch is the current one, and of a replica that runs and has lost nothing in a restart meanwhile. Permitted: an earlier rule of the protocol.",
  testedBy: "requests for a larger ISR",
  example: [
    "joined-behind   orders-0   at 10.391s, event 8211",
    "  broker-1 asked for the ISR {1,2,3}, but broker-3 has its log only up to 405 of 412.",
  ],
  create: (context) => new IsrJoinCaughtUp(context),
};

class IsrJoinCaughtUp implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;

  constructor(context: CheckContext) {
    this.#context = context;
    context.facts.on("isr-proposed", (fact, at, event) => this.#propose(fact, at, event));
  }

  #propose(fact: IsrProposed, at: Instant, event: number): void {
    const { logs, views } = this.#context;
    const partition = logs.partition(fact.partition);
    const { registration } = partition;
    const view = views.of(partition);
    this.evaluations++;
    // Another may have been elected, and the replica follow that one.
    const isCurrent =
      view.leaderEpoch === fact.leaderEpoch && registration?.leaderEpoch === fact.leaderEpoch;
    if (!isCurrent) return;
    const leaderLog = partition.log(fact.broker);
    const needed = Math.max(leaderLog.highWatermark, view.epochStart);
    for (const member of fact.isr) {
      if (view.isr.includes(member)) continue;
      this.interesting++;
      const has = this.#heldBy(partition, leaderLog, member);
      if (has >= needed) continue;
      const waiver = earlierRule(partition, this.#context.setup, event);
      this.violations.push(
        violationOf(ISR_JOIN_CAUGHT_UP, {
          partition: partition.name,
          at,
          event,
          text: [
            `${brokerName(fact.broker)} asked for the ISR {${fact.isr.join(",")}}, but ${brokerName(member)} has its log only up to ${has} of ${needed}.`,
          ],
          offsets: [has, needed - 1],
          count: needed - has,
          permitted: waiver?.text,
          cause: waiver?.cause,
        }),
      );
    }
  }

  /** Up to where the replica has the leader's log; all of it if it cannot be asked now. */
  #heldBy(partition: PartitionGhost, leaderLog: ReplicaLog, member: BrokerId): number {
    const log = partition.log(member);
    if (!this.#context.logs.isUp(member) || log.lossySinceJoin) return leaderLog.end;
    const common = leaderLog.commonCount(log);
    if (common === log.count) return log.end;
    if (common === 0) return 0;
    return (log.tree.lastOffset[log.nodes[common - 1] as number] as number) + 1;
  }
}
