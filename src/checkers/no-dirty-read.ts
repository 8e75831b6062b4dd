import type { Instant } from "../base/time.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import type { BatchNode } from "./batch-tree.ts";
import { NO_NODE, VISIBLE } from "./batch-tree.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { RecordRun } from "./record-run.ts";

export const NO_DIRTY_READ: Guarantee = {
  name: "no-dirty-read",
  sentence: "A consumer is only given records that are below the high watermark of a leader.",
  source: "KIP-207, KIP-392; V1",
  kinds: ["uncommitted-record-read"],
  condition:
    "Always. A leader that was replaced, even by an unclean election, still counts as one until it knows: what it takes back later is consistent-read's affair.",
  testedBy: "reads while the leader's log held more than was committed",
  example: [
    "uncommitted-record-read   orders-0   at 8.010s, event 5131",
    "  c1 was given offsets 412..418, of which none had ever been below a high watermark (412): 7 records.",
  ],
  create: (context) => new NoDirtyRead(context),
};

class NoDirtyRead implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly #findings: DirtyRead[] = [];

  constructor({ reads }: CheckContext) {
    reads.onRead((partition, client, batch, node, at, event) =>
      this.#read(partition, client, batch, node, at, event),
    );
  }

  get violations(): readonly Violation[] {
    return this.#findings.map((finding) => finding.toViolation());
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
    const { leaderLog } = partition;
    if (leaderLog !== undefined && leaderLog.end > partition.trueHighWatermark) this.interesting++;
    if (node !== NO_NODE && partition.tree.has(node, VISIBLE)) return;
    const { leaderEpoch } = partition;
    let finding = this.#findings.find(
      (known) =>
        known.partition === partition &&
        known.client === client &&
        known.leaderEpoch === leaderEpoch,
    );
    if (finding === undefined) {
      finding = new DirtyRead(partition, client, at, event);
      this.#findings.push(finding);
    }
    finding.run.add(batch.baseOffset, batch.lastOffset, batch.recordCount);
  }
}

/** What one consumer was given too early under one leader. */
class DirtyRead {
  readonly partition: PartitionGhost;
  readonly client: string;
  readonly leaderEpoch: number;
  readonly run = new RecordRun();
  readonly #highWatermark: number;
  readonly #at: Instant;
  readonly #event: number;

  constructor(partition: PartitionGhost, client: string, at: Instant, event: number) {
    this.partition = partition;
    this.client = client;
    this.leaderEpoch = partition.leaderEpoch;
    this.#highWatermark = partition.trueHighWatermark;
    this.#at = at;
    this.#event = event;
  }

  toViolation(): Violation {
    const { run, client } = this;
    return {
      guarantee: NO_DIRTY_READ.name,
      kind: "uncommitted-record-read",
      partition: this.partition.name,
      client,
      at: this.#at,
      event: this.#event,
      text: [
        `${client} was given ${run.text}, of which none had ever been below a high watermark (${this.#highWatermark}): ${run.size}.`,
      ],
      offsets: run.offsets,
      count: run.count,
      permitted: undefined,
      cause: this.#event,
      follows: undefined,
    };
  }
}
