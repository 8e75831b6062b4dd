import type { Offset } from "../kafka/ids.ts";
import { NO_VALUE } from "./batch-tree.ts";
import type { PartitionGhost } from "./partition-ghost.ts";

/** A value that stands at two offsets. */
export interface Repetition {
  readonly value: number;
  readonly before: Offset;
  readonly offset: Offset;
}

/**
 * Notices values that are committed a second time, at O(1) a record: a client numbers its sends
 * upwards, so only one that is not above all before it needs to be looked up.
 */
export class CommittedValues {
  readonly #partition: PartitionGhost;
  /** By the client's address. */
  readonly #clients: ClientValues[] = [];
  #generation: number;

  constructor(partition: PartitionGhost) {
    this.#partition = partition;
    this.#generation = partition.canonGeneration;
  }

  /** Takes batch `index` of the committed prefix, in order; returns which values stand below already. */
  take(index: number): readonly Repetition[] {
    if (this.#generation !== this.#partition.canonGeneration) this.#rebuild(index);
    const { tree, canon } = this.#partition;
    const node = canon.nodes[index] as number;
    const client = tree.writerOf(node).client;
    if (client < 0) return NONE;
    let known = this.#clients[client];
    if (known === undefined) {
      known = new ClientValues();
      this.#clients[client] = known;
    }
    const { values } = tree;
    const first = tree.firstValue[node] as number;
    const base = tree.baseOffset(node);
    const count = (tree.lastOffset[node] as number) - base + 1;
    for (let i = 0; i < count; i++) {
      const value = values[first + i] as number;
      if (value === NO_VALUE) continue;
      if (value <= known.highest) return this.#takeSlowly(known, client, index, i);
      known.highest = value;
      known.offsets?.set(value, base + i);
    }
    return NONE;
  }

  /** From record `start` of the batch on. */
  #takeSlowly(
    known: ClientValues,
    client: number,
    index: number,
    start: number,
  ): readonly Repetition[] {
    const { tree, canon } = this.#partition;
    const node = canon.nodes[index] as number;
    const base = tree.baseOffset(node);
    const last = tree.lastOffset[node] as number;
    const offsets = known.offsets ?? this.#offsetsOf(client, base + start);
    known.offsets = offsets;
    const repetitions: Repetition[] = [];
    for (let offset = base + start; offset <= last; offset++) {
      const value = tree.valueAt(node, offset);
      if (value === NO_VALUE) continue;
      const before = offsets.get(value);
      if (before !== undefined) {
        repetitions.push({ value, before, offset });
        continue;
      }
      offsets.set(value, offset);
      if (value > known.highest) known.highest = value;
    }
    return repetitions;
  }

  /** Where the client's values below `end` stand, first occurrences. */
  #offsetsOf(client: number, end: Offset): Map<number, Offset> {
    const { tree, canon } = this.#partition;
    const offsets = new Map<number, Offset>();
    for (let i = 0; i < canon.count; i++) {
      const node = canon.nodes[i] as number;
      if (tree.writerOf(node).client !== client) continue;
      const last = Math.min(tree.lastOffset[node] as number, end - 1);
      for (let offset = tree.baseOffset(node); offset <= last; offset++) {
        const value = tree.valueAt(node, offset);
        if (value !== NO_VALUE && !offsets.has(value)) offsets.set(value, offset);
      }
    }
    return offsets;
  }

  /** The committed prefix was cut: takes what is left of it, below batch `index`, anew. */
  #rebuild(index: number): void {
    this.#generation = this.#partition.canonGeneration;
    this.#clients.length = 0;
    for (let i = 0; i < index; i++) this.take(i);
  }
}

/** One client's values in one partition's committed prefix. */
class ClientValues {
  /** The largest so far: a value above it is new, which is nearly always so. */
  highest = -1;
  /** Where each value stands; made when a value at or below the highest turns up. */
  offsets: Map<number, Offset> | undefined = undefined;
}

const NONE: readonly Repetition[] = [];
