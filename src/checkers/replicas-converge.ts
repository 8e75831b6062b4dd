import type { Instant } from "../base/time.ts";
import { NO_NODE } from "./batch-tree.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLog } from "./replica-log.ts";
import { isLed, whyBehind } from "./stuck-replica.ts";
import { stuckWaiver } from "./waivers/stuck-waiver.ts";

export const REPLICAS_CONVERGE: Guarantee = {
  name: "replicas-converge",
  sentence:
    "When nothing is left to heal, and nothing more is written, all replicas of a partition end alike, and their high watermarks are there.",
  source: "KIP-392 for the followers' high watermarks; LV2",
  kinds: ["replicas-differ"],
  condition:
    "At the end, if the cluster has settled, and neither replica has moved, for as long as a step may take by the configs; of brokers that run unfenced, and partitions with a leader. A follower that has all records may lack the last high watermark if that has not moved since it follows in its epoch: it does not believe an answer to what it asked before (KAFKA-18991), nor takes a high watermark from one that shows it where its log parts from the leader's, and a fetch session tells nothing twice. Permitted: as for isr-refills.",
  testedBy: "partitions in a cluster that faults have struck",
  example: [
    "replicas-differ   orders-0   at 120.000s, event 81220",
    "  The end is 415 at broker-1, the leader; but broker-3 has fetched nothing for 60.000s: its log ends at 310, its high watermark is 310; broker-1's are 415 and 415.",
  ],
  create: (context) => new ReplicasConverge(context),
};

class ReplicasConverge implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;

  constructor(context: CheckContext) {
    this.#context = context;
  }

  atEnd(at: Instant, event: number): void {
    const { liveness, logs, brokers } = this.#context;
    if (!liveness.isJudged(at)) return;
    for (const partition of logs.partitions) {
      if (!isLed(this.#context, partition)) continue;
      this.evaluations++;
      if (liveness.wasDisturbed) this.interesting++;
      for (const replica of partition.registration?.replicas ?? []) {
        if (!liveness.isWell(replica) || brokers.isFenced(replica)) continue;
        this.#look(partition, partition.log(replica), at, event);
      }
    }
  }

  #look(partition: PartitionGhost, log: ReplicaLog, at: Instant, event: number): void {
    const { liveness } = this.#context;
    const { leader, leaderLog } = partition;
    if (leaderLog === undefined) return;
    const { end } = leaderLog;
    if (log.end === end && (log.highWatermark === end || !this.#isTold(partition, log))) return;
    const last = Math.max(
      liveness.steppedAt,
      liveness.isrStepAt(partition),
      liveness.movedAt(partition, leader),
      liveness.movedAt(partition, log.broker),
    );
    if (!liveness.isQuiet(last, at)) return;
    const isr = partition.registration?.isr ?? [];
    const waiver = stuckWaiver(this.#context, partition, [log.broker, leader, ...isr]);
    const name = brokerName(log.broker);
    const why =
      log === leaderLog
        ? `its high watermark there, ${log.highWatermark}, does not follow; the ISR is {${isr.join(",")}}`
        : `${name} ${whyBehind(this.#context, partition, log.broker, at)}`;
    this.violations.push(
      violationOf(REPLICAS_CONVERGE, {
        partition: partition.name,
        at,
        event,
        text: [`The end is ${end} at ${brokerName(leader)}, the leader; but ${why}.`],
        offsets: [Math.min(log.highWatermark, log.end), Math.max(end, log.end)],
        permitted: waiver?.text,
        cause: waiver?.cause ?? liveness.settledIn,
      }),
    );
  }

  /** Must a follower that has all records know how far they are committed? */
  #isTold(partition: PartitionGhost, log: ReplicaLog): boolean {
    const { liveness } = this.#context;
    if (log.broker === partition.leader) return true;
    if (hasEpochOfItsOwn(partition, log)) return false;
    const since = liveness.followsSince(partition, log.broker);
    return liveness.movedAt(partition, partition.leader) >= since;
  }
}

/**
 * Has it led in an epoch of which no batch is in its log? Its epochs end in that one, which the leader does not
 * know: the first answer tells it no more than that.
 */
function hasEpochOfItsOwn({ leaders, tree }: PartitionGhost, { broker, tip }: ReplicaLog): boolean {
  const last = tip === NO_NODE ? -1 : (tree.leaderEpoch[tip] as number);
  for (const [epoch, leader] of leaders) if (leader === broker && epoch > last) return true;
  return false;
}
