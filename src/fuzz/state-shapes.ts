import { mix, mixText } from "../base/mix.ts";
import type { Fact, PartitionChanged } from "../trace/fact.ts";

/** Numbers above this are alike: nothing new is learned from a tenth leader epoch. */
const ALIKE_FROM = 4;

/**
 * The shapes of a cluster's state that a run went through, and which followed which: partitions by their
 * ISR, ELR, epochs and elections, groups and transactions by how they changed, servers by how many are down,
 * controllers by their epoch. Runs that reach a shape or a step between shapes that no other has reached are
 * worth more runs like them.
 */
export class StateShapes {
  /** Hashes of shapes, and of pairs of them. */
  readonly seen: Set<number> = new Set();
  readonly #down = new Set<string>();
  readonly #last = new Map<string, number>();
  #controllers = 0;

  note(fact: Fact): void {
    switch (fact.kind) {
      case "node-stopped":
        this.#down.add(fact.node);
        break;
      case "node-started":
        this.#down.delete(fact.node);
        break;
      case "controller-elected":
        this.#controllers = Math.min(this.#controllers + 1, ALIKE_FROM);
        break;
      case "partition-changed":
        this.#step(fact.partition, shapeOf(fact));
        break;
      case "truncated":
        this.#step(fact.partition, mixText(1, `truncated ${fact.reason}`));
        break;
      case "group-state-changed":
        this.#step(fact.group, mixText(1, `group ${fact.from} ${fact.to}`));
        break;
      case "group-member-left":
        this.#step(fact.group, mixText(1, `left ${fact.reason}`));
        break;
      case "transaction-state-changed":
        this.#step(fact.transactionalId, mixText(1, `transaction ${fact.from} ${fact.to}`));
        break;
      case "producer-fenced":
        this.#step(fact.client, mixText(1, "fenced"));
        break;
      case "coordinator-loaded":
        this.#step(fact.partition, mixText(1, `loaded ${Math.min(fact.leaderEpoch, ALIKE_FROM)}`));
        break;
      case "log-start-moved":
        this.#step(fact.partition, mixText(1, `expired ${fact.reason}`));
        break;
      case "log-loaded":
        if (!fact.cleanShutdown) this.#step(fact.partition, fact.truncatedBytes > 0 ? 3 : 2);
        break;
      default:
    }
  }

  #step(subject: string, shape: number): void {
    const here = mix(mix(shape, Math.min(this.#down.size, ALIKE_FROM)), this.#controllers);
    this.seen.add(here);
    this.seen.add(mix(this.#last.get(subject) ?? 0, here));
    this.#last.set(subject, here);
  }
}

function shapeOf({
  isr,
  elr,
  leader,
  leaderEpoch,
  election,
  recovering,
}: PartitionChanged): number {
  const counts = (isr.length << 8) | (elr.length << 4) | Math.min(leaderEpoch, ALIKE_FROM);
  return mix(counts, mixText(leader < 0 ? 1 : 2, `${election} ${recovering}`));
}
