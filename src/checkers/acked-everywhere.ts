import type { Instant } from "../base/time.ts";
import type { BrokerId } from "../kafka/ids.ts";
import { ACKED_ALL, ACKED_ONE } from "./batch-tree.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { RecordRun } from "./record-run.ts";
import type { ReplicaLog } from "./replica-log.ts";
import { isLed, whyBehind } from "./stuck-replica.ts";
import { stuckWaiver } from "./waivers/stuck-waiver.ts";

export const ACKED_EVERYWHERE: Guarantee = {
  name: "acked-everywhere",
  sentence:
    "When nothing is left to heal, what was acknowledged, and the leader has, is on every replica.",
  source: "LV9",
  kinds: ["acked-record-not-everywhere"],
  condition:
    "At the end, as for replicas-converge; what the leader lacks is for no-acked-loss to tell. Permitted: as for isr-refills.",
  testedBy: "replicas of acknowledged records in a cluster that faults have struck",
  example: [
    "acked-record-not-everywhere   orders-0   at 120.000s, event 81220",
    "  7 records, at offsets 412..418, were acknowledged, and are not on broker-3: it is fenced.",
  ],
  create: (context) => new AckedEverywhere(context),
};

class AckedEverywhere implements Checker {
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
      const { leaderLog, leader } = partition;
      if (!isLed(this.#context, partition) || leaderLog === undefined) continue;
      if (!hasAcked(leaderLog, 0)) continue;
      for (const replica of partition.registration?.replicas ?? []) {
        if (replica === leader || !liveness.isWell(replica) || brokers.isFenced(replica)) continue;
        this.evaluations++;
        if (liveness.wasDisturbed) this.interesting++;
        this.#look(partition, leaderLog, replica, at, event);
      }
    }
  }

  #look(
    partition: PartitionGhost,
    leaderLog: ReplicaLog,
    replica: BrokerId,
    at: Instant,
    event: number,
  ): void {
    const { liveness } = this.#context;
    const log = partition.log(replica);
    const common = log.commonCount(leaderLog);
    if (!hasAcked(leaderLog, common)) return;
    const last = Math.max(
      liveness.steppedAt,
      liveness.movedAt(partition, replica),
      liveness.movedAt(partition, partition.leader),
    );
    if (!liveness.isQuiet(last, at)) return;
    const { tree } = partition;
    const run = new RecordRun();
    for (let i = common; i < leaderLog.count; i++) {
      const node = leaderLog.nodes[i] as number;
      const first = Math.max(tree.baseOffset(node), log.start);
      const end = tree.lastOffset[node] as number;
      const isAcked = tree.has(node, ACKED_ALL) || tree.has(node, ACKED_ONE);
      if (isAcked && first <= end) run.add(first, end, end - first + 1);
    }
    if (run.count === 0) return;
    const waiver = stuckWaiver(this.#context, partition, [replica, partition.leader]);
    const are = run.count === 1 ? "was acknowledged, and is" : "were acknowledged, and are";
    const why = whyBehind(this.#context, partition, replica, at);
    this.violations.push(
      violationOf(ACKED_EVERYWHERE, {
        partition: partition.name,
        at,
        event,
        text: [`${run.size}, at ${run.text}, ${are} not on ${brokerName(replica)}: it ${why}.`],
        offsets: run.offsets,
        count: run.count,
        permitted: waiver?.text,
        cause: waiver?.cause ?? liveness.settledIn,
      }),
    );
  }
}

/** Does the log hold anything that was acknowledged, from its batch number `from` on? */
function hasAcked({ tree, nodes, count }: ReplicaLog, from: number): boolean {
  for (let i = count - 1; i >= from; i--) {
    const node = nodes[i] as number;
    if (tree.has(node, ACKED_ALL) || tree.has(node, ACKED_ONE)) return true;
  }
  return false;
}
