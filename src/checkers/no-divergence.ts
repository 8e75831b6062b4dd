import type { Instant } from "../base/time.ts";
import type { LeaderEpoch, Offset } from "../kafka/ids.ts";
import type { HighWatermarkMoved } from "../trace/fact.ts";
import type { BatchNode } from "./batch-tree.ts";
import { brokerName } from "./broker-name.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLog } from "./replica-log.ts";
import { earlierRule } from "./waivers/earlier-rule.ts";
import { counted } from "./wording.ts";

export const NO_DIVERGENCE: Guarantee = {
  name: "no-divergence",
  sentence:
    "Replicas that hold the same offset of the same leader epoch hold the same log up to there, and all hold the same below their high watermarks.",
  source: "KIP-101, KIP-279 (KAFKA-6361); R1 and R2; Jepsen's inconsistent-offsets",
  kinds: ["log-divergence"],
  condition:
    "The first half always; the second for epochs since the last unclean election. Permitted: an earlier rule of the protocol.",
  testedBy: "appends and high watermarks of replicas after a change of leader",
  example: [
    "log-divergence   orders-0   at 31.772s, event 18004",
    "  broker-1 and broker-3 both hold offset 412 of leader epoch 5, over different logs.",
    "  They part at offset 405.",
  ],
  create: (context) => new NoDivergence(context),
};

class NoDivergence implements Checker {
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** One finding for each partition and leader epoch. */
  readonly #found: Set<LeaderEpoch>[] = [];

  constructor(context: CheckContext) {
    this.#context = context;
    const { watch } = context.logs;
    watch.onConflict((partition, log, node, _fact, at, event) =>
      this.#conflict(partition, log, node, partition.tree.conflict, at, event),
    );
    watch.onParted((partition, log, _index, fact, at, event) =>
      this.#parted(partition, log, fact, at, event),
    );
  }

  get evaluations(): number {
    return this.#context.logs.watch.appends + this.#context.logs.watch.moves;
  }

  get interesting(): number {
    return this.#context.logs.watch.appendsLater + this.#context.logs.watch.movesLater;
  }

  #conflict(
    partition: PartitionGhost,
    log: ReplicaLog,
    node: BatchNode,
    other: BatchNode,
    at: Instant,
    event: number,
  ): void {
    const { tree } = partition;
    const epoch = tree.leaderEpoch[node] as number;
    if (!this.#isNews(partition, epoch)) return;
    const holder = [...partition.replicas.values()].find((replica) => replica.contains(other));
    const first = Math.max(tree.baseOffset(node), tree.baseOffset(other));
    const who =
      holder === undefined
        ? `${brokerName(log.broker)} holds offset ${first} of leader epoch ${epoch}, which another replica held,`
        : `${brokerName(holder.broker)} and ${brokerName(log.broker)} both hold offset ${first} of leader epoch ${epoch},`;
    const text = [`${who} over different logs.`];
    let parting = first;
    if (holder !== undefined) {
      parting = partingOffset(holder, log);
      text.push(`They part at offset ${parting}.`);
    }
    this.#report(partition, text, parting, log.end - 1, at, event);
  }

  #parted(
    partition: PartitionGhost,
    log: ReplicaLog,
    fact: HighWatermarkMoved,
    at: Instant,
    event: number,
  ): void {
    const { canon } = partition;
    if (!this.#isNews(partition, fact.leaderEpoch)) return;
    const parting = partingOffset(canon, log);
    const end = Math.min(fact.highWatermark, partition.trueHighWatermark);
    const text = [
      `${brokerName(log.broker)} has its high watermark at ${fact.highWatermark}, but what it holds from offset ${parting} on is not what was committed: ${counted(end - parting, "offset")}.`,
    ];
    this.#report(partition, text, parting, end - 1, at, event);
  }

  #isNews(partition: PartitionGhost, epoch: LeaderEpoch): boolean {
    let epochs = this.#found[partition.index];
    if (epochs === undefined) {
      epochs = new Set();
      this.#found[partition.index] = epochs;
    }
    if (epochs.has(epoch)) return false;
    epochs.add(epoch);
    return true;
  }

  #report(
    partition: PartitionGhost,
    text: readonly string[],
    first: Offset,
    last: Offset,
    at: Instant,
    event: number,
  ): void {
    const waiver = earlierRule(partition, this.#context.setup, event);
    this.violations.push({
      guarantee: NO_DIVERGENCE.name,
      kind: "log-divergence",
      partition: partition.name,
      client: "",
      at,
      event,
      text,
      offsets: [first, last],
      count: last - first + 1,
      permitted: waiver?.text,
      cause: event,
      follows: undefined,
    });
  }
}

/** The first offset at which the two hold different batches. */
function partingOffset(one: ReplicaLog, other: ReplicaLog): Offset {
  const common = one.commonCount(other);
  const node = common < one.count ? one.nodes[common] : other.nodes[common];
  return one.tree.baseOffset(node as number);
}
