import type { BatchNode } from "./batch-tree.ts";
import { ACKED_ALL, ACKED_ONE, LOST } from "./batch-tree.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { Cut, PartitionGhost } from "./partition-ghost.ts";
import { RecordRun } from "./record-run.ts";
import { waiveLoss } from "./waivers/loss-waiver.ts";
import type { Waiver } from "./waivers/waiver.ts";

export const COPY_LEFT: Guarantee = {
  name: "copy-left",
  sentence:
    "A record that its client was told is written stays in the log of at least one replica, running or not.",
  source: "KIP-966, NoCommittedRecordLostGlobally; R12",
  kinds: ["last-copy-lost"],
  condition:
    "Looked at whenever a log comes to end earlier; what an elected leader turned out to lack is no-acked-loss's affair. Permitted: as for no-acked-loss.",
  testedBy: "logs cut, or come back shorter, of partitions in which something was acknowledged",
  example: [
    "last-copy-lost   orders-0   at 31.770s, event 18002",
    "  broker-2 came back without offsets 405..411, which were acknowledged and are in no other log: 7 records.",
  ],
  create: (context) => new CopyLeft(context),
};

class CopyLeft implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** By partition: batches that were told to be gone. */
  readonly #told: Set<BatchNode>[] = [];

  constructor(context: CheckContext) {
    this.#context = context;
    context.logs.onCut((cut) => this.#cut(cut));
  }

  #cut(cut: Cut): void {
    const { partition, log } = cut;
    this.evaluations++;
    if (this.#context.acked.of(partition).count === 0) return;
    this.interesting++;
    const { tree } = partition;
    const gone = new RecordRun();
    let first: BatchNode | undefined;
    // What was removed lies between what is left and the tip of before.
    for (let node = cut.tip; node >= 0 && !log.contains(node); node = tree.parent[node] as number) {
      if (!tree.has(node, ACKED_ALL | ACKED_ONE) || tree.has(node, LOST)) continue;
      if (isHeld(partition, node) || this.#isTold(partition, node)) continue;
      gone.add(tree.baseOffset(node), tree.lastOffset[node] as number, tree.length[node] as number);
      first = node;
    }
    if (first !== undefined) this.#report(cut, gone, this.#waive(cut, first));
  }

  #isTold(partition: PartitionGhost, node: BatchNode): boolean {
    let told = this.#told[partition.index];
    if (told === undefined) {
      told = new Set();
      this.#told[partition.index] = told;
    }
    if (told.has(node)) return true;
    told.add(node);
    return false;
  }

  #waive({ partition, log, event }: Cut, node: BatchNode): Waiver | undefined {
    const { tree, leaderEpoch } = partition;
    const gone = {
      node,
      broker: log.broker,
      keptInEpoch: tree.leaderEpoch[node] as number,
      goneInEpoch: leaderEpoch,
      acks: tree.has(node, ACKED_ALL) ? (-1 as const) : (1 as const),
    };
    return waiveLoss(partition, gone, this.#context.setup, event);
  }

  #report(
    { partition, log, how, at, event }: Cut,
    run: RecordRun,
    waiver: Waiver | undefined,
  ): void {
    const did = how === "loaded" ? "came back without" : "cut off its log";
    const were = run.count === 1 ? "was acknowledged and is" : "were acknowledged and are";
    this.violations.push(
      violationOf(COPY_LEFT, {
        partition: partition.name,
        at,
        event,
        text: [
          `${brokerName(log.broker)} ${did} ${run.text}, which ${were} in no other log: ${run.size}.`,
        ],
        offsets: run.offsets,
        count: run.count,
        permitted: waiver?.text,
        cause: waiver?.cause,
      }),
    );
  }
}

function isHeld(partition: PartitionGhost, node: BatchNode): boolean {
  for (const log of partition.replicas.values()) if (log.contains(node)) return true;
  return false;
}
