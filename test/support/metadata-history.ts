import type { CheckerSet } from "../../src/checkers/checker-set.ts";
import { createCheckers } from "../../src/checkers/checker-set.ts";
import type { Guarantee, Violation } from "../../src/checkers/guarantee.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../src/kafka/log/record-batch.ts";
import { encodeMetadataRecord } from "../../src/kafka/metadata/record-codec.ts";
import type { Fact } from "../../src/trace/fact.ts";
import { FactRecorder } from "../../src/trace/recorder.ts";
import { setupOf } from "./fact-builders.ts";

/** The three voters, and an observer. */
export const VOTERS = [3001, 3002, 3003] as const;
export const OBSERVER = 1;

/**
 * A history of facts about the metadata log of three controllers, or others, and a broker, written by hand. Each
 * fact is an event of its own, but for those of one `inOneEvent`.
 */
export class MetadataHistory {
  readonly checkers: CheckerSet;
  readonly #recorder: FactRecorder;
  readonly #logs = new Map<number, RecordBatch[]>();
  #event = 0;
  #isOneEvent = false;

  constructor(guarantees: readonly Guarantee[], voters: readonly number[] = VOTERS) {
    const history = this;
    this.#recorder = new FactRecorder({
      get now() {
        return history.#event * 1_000_000;
      },
      get event() {
        return history.#event;
      },
      mixFact: () => undefined,
    });
    this.checkers = createCheckers(this.#recorder, setupOf({}), guarantees);
    for (const node of [...voters, OBSERVER]) this.load(node, 0);
  }

  note(fact: Fact): this {
    if (!this.#isOneEvent) this.#event++;
    this.#recorder.note(fact);
    return this;
  }

  /** All that `notes` does is one step of a node. */
  inOneEvent(notes: () => void): this {
    this.#event++;
    this.#isOneEvent = true;
    notes();
    this.#isOneEvent = false;
    return this;
  }

  load(node: number, logEndOffset: number): this {
    this.#cut(node, logEndOffset);
    const isVoter = node !== OBSERVER;
    return this.note({ kind: "metadata-loaded", node, isVoter, logEndOffset, lastEpoch: 0 });
  }

  /** The leader writes one record at the end of its log. */
  write(node: number, epoch: number, content = 0): RecordBatch {
    const baseOffset = this.#log(node).at(-1)?.nextOffset ?? 0;
    const value = encodeMetadataRecord({
      type: "FeatureLevelRecord",
      name: "test.version",
      featureLevel: content,
    });
    const records = [{ timestamp: 0, value }];
    const batch = buildBatch(records, { baseOffset, partitionLeaderEpoch: epoch });
    this.append(node, batch, true);
    return batch;
  }

  append(node: number, batch: RecordBatch, asLeader = false): this {
    this.#log(node).push(batch);
    return this.note({ kind: "metadata-appended", node, batch, asLeader });
  }

  apply(batch: RecordBatch, nodes: readonly number[]): this {
    for (const node of nodes) this.note({ kind: "metadata-applied", node, batch });
    return this;
  }

  /** Written by the first of the nodes, copied and applied by all. */
  commit(nodes: readonly number[], epoch: number, content = 0): RecordBatch {
    const [leader, ...others] = nodes;
    const batch = this.write(leader ?? 0, epoch, content);
    for (const node of others) this.append(node, batch);
    this.apply(batch, nodes);
    return batch;
  }

  truncate(node: number, to: number): this {
    const from = this.#log(node).at(-1)?.nextOffset ?? 0;
    this.#cut(node, to);
    return this.note({ kind: "metadata-truncated", node, from, to });
  }

  told(): string[] {
    return this.violations().map(({ text }) => text.join(" "));
  }

  violations(): readonly Violation[] {
    return this.checkers.violations();
  }

  #log(node: number): RecordBatch[] {
    const known = this.#logs.get(node);
    if (known !== undefined) return known;
    const made: RecordBatch[] = [];
    this.#logs.set(node, made);
    return made;
  }

  #cut(node: number, to: number): void {
    this.#logs.set(
      node,
      this.#log(node).filter(({ lastOffset }) => lastOffset < to),
    );
  }
}
