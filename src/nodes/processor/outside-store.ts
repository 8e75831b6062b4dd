import type { Offset, PartitionName } from "../../kafka/ids.ts";

/**
 * A table outside of Kafka, as durable as can be: what `put` has returned for is there for ever. It outlives
 * the processes that write to it.
 *
 * Simplified: it is never down, it takes no time, and no answer of it is lost.
 */
export class OutsideStore {
  readonly name: string;
  /** Do its rows have a key, which is where the record stood that they were made of? */
  readonly isKeyUnique: boolean;
  /** Of a table with unique keys. */
  readonly #keys = new Set<string>();

  constructor(name: string, isKeyUnique: boolean) {
    this.name = name;
    this.isKeyUnique = isKeyUnique;
  }

  /** Writes a row; false if it took the place of the one that had its key. */
  put(partition: PartitionName, offset: Offset): boolean {
    if (!this.isKeyUnique) return true;
    const key = `${partition}/${offset}`;
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    return true;
  }
}
