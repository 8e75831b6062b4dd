import type { Instant } from "../base/time.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import type { Polled } from "../trace/fact.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import type { BatchNode } from "./batch-tree.ts";
import { NO_NODE } from "./batch-tree.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLogs } from "./replica-logs.ts";

/** One batch of which an application was given records. */
export type ReadListener = (
  partition: PartitionGhost,
  client: string,
  batch: RecordBatch,
  /** Where it stands, or once stood; NO_NODE if it never stood in any log. */
  node: BatchNode,
  at: Instant,
  event: number,
  /** What it is a part of: records outside its range were not handed over. */
  fact: Polled,
) => void;

/** Tells which batches in the logs are those that consumers were given. O(1) for a batch read in order. */
export class ConsumerReads {
  readonly #logs: ReplicaLogs;
  readonly #listeners: ReadListener[] = [];

  constructor(recorder: FactRecorder, logs: ReplicaLogs) {
    this.#logs = logs;
    recorder.on("polled", (fact, at, event) => this.#polled(fact, at, event));
  }

  onRead(listener: ReadListener): void {
    this.#listeners.push(listener);
  }

  #polled(fact: Polled, at: Instant, event: number): void {
    const partition = this.#logs.partition(fact.partition);
    for (const batch of fact.batches) {
      if (batch.lastOffset < fact.firstOffset || batch.baseOffset > fact.lastOffset) continue;
      const node = locate(partition, batch);
      for (const listener of this.#listeners) {
        listener(partition, fact.client, batch, node, at, event, fact);
      }
    }
  }
}

function locate(partition: PartitionGhost, batch: RecordBatch): BatchNode {
  const { tree, canon } = partition;
  const node = canon.nodeAt(batch.lastOffset);
  if (node !== NO_NODE && tree.holds(node, batch)) return node;
  return tree.find(batch);
}
