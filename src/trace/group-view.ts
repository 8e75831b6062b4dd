import type { BrokerId, Offset, PartitionName } from "../kafka/ids.ts";
import { OwnershipView } from "./ownership-view.ts";

/** What the members of a group have done in one partition. */
class GroupPartition {
  /** By offset: how often it was worked on. */
  readonly times: number[] = [];
  /** Where the first of them began; Infinity while nobody has. */
  start: Offset = Number.POSITIVE_INFINITY;
  /** What is committed. */
  committed: Offset = 0;
}

/** A group of consumers, as facts tell of it. */
export class GroupView {
  readonly name: string;
  /** Who has told of it last. */
  coordinator: BrokerId | undefined = undefined;
  /** How often it has begun a generation with members; without a coordinator, how often a member has taken its share. */
  rebalances = 0;
  /** Different records that its members have worked on. */
  processed = 0;
  /** How often one of them worked on a record that had been worked on before. */
  reprocessed = 0;
  readonly ownership: OwnershipView = new OwnershipView();
  readonly #partitions = new Map<PartitionName, GroupPartition>();

  constructor(name: string) {
    this.name = name;
  }

  /** Records before what is committed, from where the first member began, that nobody has worked on. */
  get skipped(): number {
    let skipped = 0;
    for (const { committed, start, times } of this.#partitions.values()) {
      for (let offset = start; offset < committed; offset++) {
        if ((times[offset] ?? 0) === 0) skipped++;
      }
    }
    return skipped;
  }

  /** Records that were worked on and lie behind what is committed: a restart would bring them again. */
  get uncommitted(): number {
    let uncommitted = 0;
    for (const { committed, times } of this.#partitions.values()) {
      for (let offset = committed; offset < times.length; offset++) {
        if ((times[offset] ?? 0) > 0) uncommitted++;
      }
    }
    return uncommitted;
  }

  noteStart(name: PartitionName, offset: Offset): void {
    const partition = this.#partition(name);
    partition.start = Math.min(partition.start, offset);
  }

  noteCommitted(name: PartitionName, offset: Offset): void {
    this.#partition(name).committed = offset;
  }

  noteProcessed(name: PartitionName, first: Offset, last: Offset): void {
    const { times } = this.#partition(name);
    for (let offset = first; offset <= last; offset++) {
      const before = times[offset] ?? 0;
      times[offset] = before + 1;
      if (before === 0) this.processed++;
      else this.reprocessed++;
    }
  }

  #partition(name: PartitionName): GroupPartition {
    let partition = this.#partitions.get(name);
    if (partition === undefined) {
      partition = new GroupPartition();
      this.#partitions.set(name, partition);
    }
    return partition;
  }
}
