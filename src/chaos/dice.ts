import { fail } from "../base/invariant.ts";
import type { Random } from "../ports/random.ts";

/** Chance in the words in which faults are drawn. */
export class Dice {
  readonly random: Random;

  constructor(random: Random) {
    this.random = random;
  }

  /** One of some things; there is at least one. */
  of<Item>(items: readonly Item[]): Item {
    return items[this.random.below(items.length)] ?? fail("nothing to draw from");
  }

  percent(chance: number): boolean {
    return this.random.below(100) < chance;
  }

  /** In an order of chance. */
  shuffled<Item>(items: readonly Item[]): Item[] {
    const left = [...items];
    const drawn: Item[] = [];
    while (left.length > 0) drawn.push(...left.splice(this.random.below(left.length), 1));
    return drawn;
  }

  /** So many of them, in their own order; all, if there are not more. */
  some<Item>(count: number, items: readonly Item[]): Item[] {
    const chosen = new Set(this.shuffled(items.map((_, i) => i)).slice(0, count));
    return items.filter((_, i) => chosen.has(i));
  }
}
