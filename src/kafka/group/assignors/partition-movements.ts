/**
 * Which partitions went from whom to whom while the general algorithm balances, so that no two partitions
 * of a topic change places (`PartitionMovements`). Members and partitions are numbers.
 */
export class PartitionMovements {
  /** By partition: where it came from, and where it is. */
  readonly #moved = new Map<number, Movement>();

  /** The partition went from one member to another. */
  record(partition: number, topic: number, from: number, to: number): void {
    const former = this.#moved.get(partition);
    if (former === undefined) this.#moved.set(partition, { topic, from, to });
    else if (former.from === to) this.#moved.delete(partition);
    else this.#moved.set(partition, { topic, from: former.from, to });
  }

  /**
   * Which partition of the topic to move in place of this one: if another went the opposite way, that one goes
   * back. Of several Kafka takes the first of a hash set, which for partitions of one topic is as a rule the
   * highest; here it is always that.
   */
  inPlaceOf(partition: number, topic: number, from: number, to: number): number {
    const origin = this.#moved.get(partition)?.from ?? from;
    let best = -1;
    for (const [other, movement] of this.#moved) {
      const isReverse = movement.from === to && movement.to === origin;
      if (isReverse && movement.topic === topic && other > best) best = other;
    }
    return best < 0 ? partition : best;
  }
}

interface Movement {
  readonly topic: number;
  readonly from: number;
  readonly to: number;
}
