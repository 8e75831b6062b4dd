import type { Offset } from "../ids.ts";
import { NO_PRODUCER_ID } from "../ids.ts";
import type { OffsetAndMetadata, OffsetCommitRecord } from "./group-record.ts";

/** An offset, and where its record lies in the coordinator's log: the later of two is in force. */
export interface StoredOffset extends OffsetAndMetadata {
  readonly recordOffset: Offset;
}

/** An offset that a group has committed. */
export interface NamedOffset {
  readonly topic: string;
  readonly partition: number;
  readonly stored: StoredOffset;
}

/** One transaction's offsets that have come into force. */
export interface EndedOffsets {
  readonly group: string;
  readonly offsets: readonly NamedOffset[];
}

/** Offsets by group, topic and partition. */
class OffsetTable {
  readonly #byGroup = new Map<string, Map<string, Map<number, StoredOffset>>>();

  get(group: string, topic: string, partition: number): StoredOffset | undefined {
    return this.#byGroup.get(group)?.get(topic)?.get(partition);
  }

  groups(): string[] {
    return [...this.#byGroup.keys()];
  }

  /** Of one group: topics and partitions in the order in which they were first committed. */
  all(group: string): NamedOffset[] {
    const all: NamedOffset[] = [];
    for (const [topic, partitions] of this.#byGroup.get(group) ?? []) {
      for (const [partition, stored] of partitions) all.push({ topic, partition, stored });
    }
    return all;
  }

  put(group: string, topic: string, partition: number, stored: StoredOffset): void {
    const topics = child(this.#byGroup, group, () => new Map<string, Map<number, StoredOffset>>());
    child(topics, topic, () => new Map<number, StoredOffset>()).set(partition, stored);
  }

  remove(group: string, topic: string, partition: number): void {
    const topics = this.#byGroup.get(group);
    const partitions = topics?.get(topic);
    if (topics === undefined || partitions === undefined) return;
    partitions.delete(partition);
    if (partitions.size === 0) topics.delete(topic);
    if (topics.size === 0) this.#byGroup.delete(group);
  }
}

/**
 * The offsets of all groups that one partition keeps: those that count, and those that transactions have
 * written and not ended (Kafka's `OffsetMetadataManager`). A fold of the log: `replay` and `endTransaction` are the
 * only ways in which it changes.
 */
export class OffsetBook {
  readonly #committed = new OffsetTable();
  /** By producer id. */
  readonly #pending = new Map<number, OffsetTable>();

  get(group: string, topic: string, partition: number): StoredOffset | undefined {
    return this.#committed.get(group, topic, partition);
  }

  all(group: string): NamedOffset[] {
    return this.#committed.all(group);
  }

  /** Has an open transaction written an offset of this partition? */
  isPending(group: string, topic: string, partition: number): boolean {
    for (const table of this.#pending.values()) {
      if (table.get(group, topic, partition) !== undefined) return true;
    }
    return false;
  }

  /** Has an open transaction written any offset of the group? */
  hasOpenTransaction(group: string): boolean {
    for (const table of this.#pending.values()) if (table.groups().includes(group)) return true;
    return false;
  }

  replay(record: OffsetCommitRecord, recordOffset: Offset, producerId: number): void {
    const { group, topic, partition, value } = record;
    if (value === undefined) {
      this.#committed.remove(group, topic, partition);
      for (const table of this.#pending.values()) table.remove(group, topic, partition);
      return;
    }
    const table =
      producerId === NO_PRODUCER_ID
        ? this.#committed
        : child(this.#pending, producerId, () => new OffsetTable());
    table.put(group, topic, partition, { ...value, recordOffset });
  }

  /** A marker ends a producer's transaction. Returns what has come into force by it. */
  endTransaction(producerId: number, isCommit: boolean): readonly EndedOffsets[] {
    const table = this.#pending.get(producerId);
    if (table === undefined) return [];
    this.#pending.delete(producerId);
    if (!isCommit) return [];
    return table.groups().map((group) => {
      const offsets = table.all(group).filter(({ topic, partition, stored }) => {
        // What was committed outside of it since then is later.
        const known = this.#committed.get(group, topic, partition);
        if (known !== undefined && known.recordOffset >= stored.recordOffset) return false;
        this.#committed.put(group, topic, partition, stored);
        return true;
      });
      return { group, offsets };
    });
  }
}

function child<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
