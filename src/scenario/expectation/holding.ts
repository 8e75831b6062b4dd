import type { Duration, Instant } from "../../base/time.ts";
import type { PartitionName } from "../../kafka/ids.ts";
import type { BooleanExpression, NodesExpression } from "../expression.ts";
import type { PredicateWatcher } from "../predicate-board.ts";

/** Keeps account of when a predicate held, from time zero on. */
export class Holding implements PredicateWatcher {
  readonly #start: Instant;
  /** Does it hold now, and since when is that so? */
  isHolding = false;
  since: Instant;
  /** When it first held, and first did not. */
  firstHeld: Instant | undefined;
  firstBroken: Instant | undefined;
  #longestBroken: Duration = 0;

  constructor(start: Instant) {
    this.#start = start;
    this.since = start;
  }

  changed(isHolding: boolean, at: Instant): void {
    // A watch begins as not holding. If the first evaluation says otherwise, that was never so.
    if (isHolding) {
      this.firstHeld ??= at;
      if (at > this.#start) {
        this.firstBroken ??= this.since;
        this.#longestBroken = Math.max(this.#longestBroken, at - this.since);
      }
    } else this.firstBroken ??= at;
    this.isHolding = isHolding;
    this.since = at;
  }

  /** The longest time for which it did not hold. */
  longestBroken(end: Instant): Duration {
    return this.isHolding ? this.#longestBroken : Math.max(this.#longestBroken, end - this.since);
  }
}

/** A leader is registered, and its broker runs. */
export function hasLeader(partition: PartitionName): BooleanExpression {
  const leader = related("leader", partition);
  return {
    kind: "compare-nodes",
    operator: "!=",
    left: { kind: "alive", of: leader },
    right: { kind: "group", group: "none" },
  };
}

/** All replicas are in sync, and their brokers run. */
export function hasFullIsr(partition: PartitionName): BooleanExpression {
  const replicas = related("replicas", partition);
  return {
    kind: "and",
    left: same(related("isr", partition), replicas),
    right: same({ kind: "alive", of: replicas }, replicas),
  };
}

function related(
  relation: "leader" | "isr" | "replicas",
  partition: PartitionName,
): NodesExpression {
  return { kind: "relation", relation, partitions: { kind: "partition", partition } };
}

function same(left: NodesExpression, right: NodesExpression): BooleanExpression {
  return { kind: "compare-nodes", operator: "==", left, right };
}
