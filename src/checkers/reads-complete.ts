import type { Instant } from "../base/time.ts";
import type { Offset } from "../kafka/ids.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import type { Polled } from "../trace/fact.ts";
import type { BatchNode, BatchTree } from "./batch-tree.ts";
import { NO_NODE, NO_VALUE } from "./batch-tree.ts";
import { readsCommitted } from "./check-setup.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { RecordRun } from "./record-run.ts";

export const READS_COMPLETE: Guarantee = {
  name: "reads-complete",
  sentence:
    "A consumer that reads on from its position is given every record that stands there in the log it reads, but for those of aborted transactions if it reads committed records only.",
  source: "KIP-98, FetchResponse's aborted transactions; V3",
  kinds: ["record-passed-over"],
  condition:
    "By the logs, whoever else has read there. What a cleaning has taken from any replica may be missing; of topics that are not compacted, records without a value are not looked for. A position that is set anew is not read up to.",
  testedBy: "batches that consumers were given after their first",
  example: [
    "record-passed-over   orders-0   at 55.031s, event 31402",
    "  c1 read on from offset 412 at 419, past offsets 412..418: 7 records.",
  ],
  create: (context) => new ReadsComplete(context),
};

/** How far one consumer has read one partition. */
interface Reader {
  readonly client: string;
  readonly readsCommitted: boolean;
  /** Of the next record; -1 if it has none. */
  position: Offset;
}

class ReadsComplete implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** By the partition's index. */
  readonly #readers: Reader[][] = [];

  constructor(context: CheckContext) {
    this.#context = context;
    const { facts, logs, reads } = context;
    reads.onRead((partition, client, batch, node, at, event, fact) => {
      this.#read(partition, client, batch, node, at, event, fact);
    });
    facts.on("position-reset", ({ partition, client, to }) => {
      this.#reader(logs.partition(partition), client).position = to;
    });
    facts.on("node-stopped", ({ node }) => {
      for (const readers of this.#readers) {
        for (const reader of readers ?? []) if (reader.client === node) reader.position = -1;
      }
    });
  }

  #reader({ index }: PartitionGhost, client: string): Reader {
    this.#readers[index] ??= [];
    const readers = this.#readers[index];
    // A handful: a walk is cheaper than hashing.
    for (const reader of readers) if (reader.client === client) return reader;
    const isCommittedOnly = readsCommitted(this.#context.setup, client);
    const made = { client, readsCommitted: isCommittedOnly, position: -1 };
    readers.push(made);
    return made;
  }

  #read(
    partition: PartitionGhost,
    client: string,
    batch: RecordBatch,
    node: BatchNode,
    at: Instant,
    event: number,
    { firstOffset, lastOffset }: Polled,
  ): void {
    const reader = this.#reader(partition, client);
    const { position } = reader;
    const first = Math.max(batch.baseOffset, firstOffset);
    reader.position = Math.min(batch.lastOffset, lastOffset) + 1;
    this.evaluations++;
    if (position < 0) return;
    this.interesting++;
    // What never stood in any log is no-dirty-read's affair.
    if (first <= position || node === NO_NODE) return;
    const run = this.#passedOver(partition, reader, node, position, first);
    if (run.count === 0) return;
    this.violations.push(
      violationOf(READS_COMPLETE, {
        partition: partition.name,
        client,
        at,
        event,
        text: [
          `${client} read on from offset ${position} at ${first}, past ${run.text}: ${run.size}.`,
        ],
        offsets: run.offsets,
        count: run.count,
      }),
    );
  }

  /** Whoever served the batch has all that is below it, so that this is exact whichever replica it was. */
  #passedOver(
    partition: PartitionGhost,
    { readsCommitted }: Reader,
    node: BatchNode,
    from: Offset,
    to: Offset,
  ): RecordRun {
    const run = new RecordRun();
    const { tree } = partition;
    const parts = this.#context.transactions?.parts;
    for (let at = node; at !== NO_NODE; at = tree.parent[at] as number) {
      const last = Math.min(to - 1, tree.lastOffset[at] as number);
      if (last < from) break;
      if (parts?.isHidden(partition, at, readsCommitted) === true) continue;
      for (let offset = Math.max(from, tree.baseOffset(at)); offset <= last; offset++) {
        if (isRecord(tree, at, offset)) run.add(offset, offset, 1);
      }
    }
    return run;
  }
}

/** Is there a record at the offset, which no cleaning has taken? */
function isRecord(tree: BatchTree, node: BatchNode, offset: Offset): boolean {
  const { keys } = tree;
  if (keys === undefined) return tree.valueAt(node, offset) !== NO_VALUE;
  const place = tree.placeOf(node, offset);
  if (keys.isRemoved(place)) return false;
  return keys.isTombstone(place) || tree.valueAt(node, offset) !== NO_VALUE;
}
