import { unreachable } from "../base/invariant.ts";
import type { Instant } from "../base/time.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import type { BatchNode } from "./batch-tree.ts";
import { HANDED, NO_NODE, TOLD } from "./batch-tree.ts";
import { brokerName } from "./broker-name.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { RecordRun } from "./record-run.ts";
import { ReplicaLog } from "./replica-log.ts";
import type { Election } from "./replica-logs.ts";
import { waiveLoss } from "./waivers/loss-waiver.ts";
import type { Judgement, Waiver } from "./waivers/waiver.ts";
import { listed } from "./wording.ts";

export const CONSISTENT_READ: Guarantee = {
  name: "consistent-read",
  sentence:
    "What a consumer was given stays in the log of every later leader, and whoever reads it again gets the same.",
  source: "KIP-101, KIP-320; V2; Jepsen's inconsistent-offsets, poll against poll",
  kinds: ["consumed-record-lost"],
  condition: "Permitted: as for no-acked-loss, acks aside.",
  testedBy: "elections after something was read, and records read a second time",
  judges: true,
  example: [
    "consumed-record-lost   orders-0   at 55.031s, event 31402",
    "  c1 was given offsets 412..418: 7 records.",
    "  The elected leader broker-3 does not have them.",
  ],
  create: (context) => new ConsistentRead(context),
};

/** What consumers were given of one partition. */
class Handed {
  /** The path to the furthest batch given; those given have the flag HANDED. */
  readonly path: ReplicaLog;
  /** How far each client has read: the furthest batch. */
  readonly furthest = new Map<string, BatchNode>();
  /** The last election, or cut of a leader in office, and the epoch of the leader before it. */
  cause = 0;
  keptInEpoch = -1;

  constructor(partition: PartitionGhost) {
    this.path = new ReplicaLog(partition.tree, -1);
  }
}

class ConsistentRead implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly #context: CheckContext;
  readonly #handed: Handed[] = [];
  readonly #findings: ReadLoss[] = [];

  constructor(context: CheckContext) {
    this.#context = context;
    const { logs, reads } = context;
    reads.onRead((partition, client, batch, node, at, event) =>
      this.#read(partition, client, batch, node, at, event),
    );
    logs.onElected((election) => this.#elect(election));
    logs.onCut((cut) => {
      const { partition, log, at, event } = cut;
      if (!partition.leading || partition.leader !== log.broker) return;
      const handed = this.#of(partition);
      handed.cause = event;
      handed.keptInEpoch = partition.leaderEpoch;
      this.#compare(partition, handed, log, "cut", at, event);
    });
  }

  get violations(): readonly Violation[] {
    return this.#findings.map((finding) => finding.toViolation());
  }

  #of(partition: PartitionGhost): Handed {
    const known = this.#handed[partition.index];
    if (known !== undefined) return known;
    const made = new Handed(partition);
    this.#handed[partition.index] = made;
    return made;
  }

  #elect({ partition, log, previousEpoch, at, event }: Election): void {
    const handed = this.#of(partition);
    handed.cause = event;
    handed.keptInEpoch = previousEpoch;
    if (handed.path.count > 0) this.interesting++;
    this.evaluations++;
    this.#compare(partition, handed, log, "election", at, event);
  }

  #read(
    partition: PartitionGhost,
    client: string,
    batch: RecordBatch,
    node: BatchNode,
    at: Instant,
    event: number,
  ): void {
    this.evaluations++;
    // A batch that never stood in any log is no-dirty-read's affair.
    if (node === NO_NODE) return;
    const { tree } = partition;
    const handed = this.#of(partition);
    if (tree.has(node, HANDED)) this.interesting++;
    else tree.set(node, HANDED);

    const { path } = handed;
    const parent = tree.parent[node] as number;
    if (path.tip === parent) path.push(node);
    else if (!path.contains(node))
      this.#readElsewhere(partition, handed, client, batch, node, at, event);
    this.#noteFurthest(partition, handed, client, node);

    const { leaderLog } = partition;
    if (!partition.leading || leaderLog === undefined || leaderLog.contains(node)) return;
    this.#compare(partition, handed, leaderLog, "read", at, event);
  }

  /** The batch is not the next, nor one that was given: further up, or on another branch. */
  #readElsewhere(
    partition: PartitionGhost,
    handed: Handed,
    client: string,
    batch: RecordBatch,
    node: BatchNode,
    at: Instant,
    event: number,
  ): void {
    const { path } = handed;
    const { tree } = partition;
    if (path.count === 0 || tree.isBelow(path.tip, node)) {
      path.follow(node);
      return;
    }
    const before = path.nodeAt(batch.baseOffset);
    if (before === NO_NODE || !tree.has(before, HANDED)) {
      // Given where nothing was given before, but on another branch: the newer one stands.
      path.follow(node);
      return;
    }
    const finding = this.#findingOf(partition, handed, before, "changed", at, event);
    finding.clients.add(client);
    finding.run.add(batch.baseOffset, batch.lastOffset, batch.recordCount);
    path.follow(node);
  }

  #noteFurthest(partition: PartitionGhost, handed: Handed, client: string, node: BatchNode): void {
    const { depth } = partition.tree;
    const known = handed.furthest.get(client);
    if (known === undefined || (depth[node] as number) > (depth[known] as number)) {
      handed.furthest.set(client, node);
    }
  }

  /** Is all that was given in this leader's log? What is not is told, and forgotten. */
  #compare(
    partition: PartitionGhost,
    handed: Handed,
    log: ReplicaLog,
    by: ReadLoss["by"],
    at: Instant,
    event: number,
  ): void {
    const { path } = handed;
    const { tree } = partition;
    if (path.count === 0 || log.contains(path.tip)) return;
    const common = path.commonCount(log);
    let finding: ReadLoss | undefined;
    for (let i = common; i < path.count; i++) {
      const node = path.nodes[i] as number;
      if (!tree.has(node, HANDED) || tree.has(node, TOLD)) continue;
      tree.set(node, TOLD);
      finding ??= this.#findingOf(partition, handed, node, by, at, event);
      if (!partition.judged.has(node)) partition.judged.set(node, finding.judgement);
      const first = tree.baseOffset(node);
      const last = tree.lastOffset[node] as number;
      finding.run.add(first, last, last - first + 1);
    }
    for (const [client, node] of handed.furthest) {
      if (log.contains(node)) continue;
      finding?.clients.add(client);
      handed.furthest.delete(client);
    }
    path.count = common;
  }

  #findingOf(
    partition: PartitionGhost,
    handed: Handed,
    node: BatchNode,
    by: ReadLoss["by"],
    at: Instant,
    event: number,
  ): ReadLoss {
    const { cause } = handed;
    const known = this.#findings.find(
      (finding) => finding.partition === partition && finding.blame === cause,
    );
    if (known !== undefined) return known;
    const epoch = partition.tree.leaderEpoch[node] as number;
    const waiver = waiveLoss(
      partition,
      {
        node,
        broker: partition.leader,
        keptInEpoch: by === "read" ? epoch : handed.keptInEpoch,
        goneInEpoch: partition.leaderEpoch,
        acks: undefined,
      },
      this.#context.setup,
      cause,
    );
    const made = new ReadLoss(partition, by, cause, waiver, at, event);
    this.#findings.push(made);
    return made;
  }
}

/** What one election, or cut, did to what consumers had been given. */
class ReadLoss {
  readonly partition: PartitionGhost;
  readonly by: "election" | "cut" | "read" | "changed";
  readonly blame: number;
  readonly run = new RecordRun();
  readonly clients = new Set<string>();
  readonly #waiver: Waiver | undefined;
  readonly #leader: string;
  readonly #at: Instant;
  readonly #event: number;

  constructor(
    partition: PartitionGhost,
    by: ReadLoss["by"],
    blame: number,
    waiver: Waiver | undefined,
    at: Instant,
    event: number,
  ) {
    this.partition = partition;
    this.by = by;
    this.blame = blame;
    this.#waiver = waiver;
    this.#leader = brokerName(partition.leader);
    this.#at = at;
    this.#event = event;
  }

  get judgement(): Judgement {
    const waiver = this.#waiver;
    return { waiver, cause: waiver?.cause ?? this.blame };
  }

  toViolation(): Violation {
    const { run } = this;
    const names = [...this.clients];
    const given = `${listed(names)} ${names.length > 1 ? "were" : "was"} given ${run.text}: ${run.size}.`;
    return {
      guarantee: CONSISTENT_READ.name,
      kind: "consumed-record-lost",
      partition: this.partition.name,
      client: names.length === 1 ? (names[0] as string) : "",
      at: this.#at,
      event: this.#event,
      text: [given, this.#gone()],
      offsets: run.offsets,
      count: run.count,
      permitted: this.#waiver?.text,
      cause: this.#waiver?.cause ?? this.blame,
      follows: undefined,
    };
  }

  #gone(): string {
    const them = this.run.count === 1 ? "it" : "them";
    switch (this.by) {
      case "election":
        return `The elected leader ${this.#leader} does not have ${them}.`;
      case "cut":
        return `The leader ${this.#leader} cut ${them} off its log.`;
      case "read":
        return `The leader ${this.#leader} does not have ${them}.`;
      case "changed":
        return "Whoever had read there before was given something else.";
      default:
        return unreachable(this.by);
    }
  }
}
