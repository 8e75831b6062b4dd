import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WaitList } from "../../../../src/nodes/broker/wait-list.ts";

/** What a waiter does when it looks: answers (and leaves), takes another out, lets another in. */
interface Plan {
  readonly leaves: boolean;
  readonly removes: number;
  readonly adds: boolean;
  readonly walksAgain: boolean;
}

interface List {
  add(waiter: Waiter): void;
  delete(waiter: Waiter): void;
  completeAll(): void;
}

/** The simple twin: a set, walked as it is. */
class SetList implements List {
  readonly waiters = new Set<Waiter>();

  add(waiter: Waiter): void {
    this.waiters.add(waiter);
  }

  delete(waiter: Waiter): void {
    this.waiters.delete(waiter);
  }

  completeAll(): void {
    for (const waiter of this.waiters) waiter.tryComplete();
  }
}

class Waiter {
  readonly id: number;
  readonly story: Story;

  constructor(id: number, story: Story) {
    this.id = id;
    this.story = story;
  }

  tryComplete(): boolean {
    return this.story.look(this);
  }
}

/** One history of a list: who looked, in order. */
class Story {
  readonly seen: number[] = [];
  readonly list: List;
  readonly #plans: readonly Plan[];
  readonly #made: Waiter[] = [];
  #depth = 0;
  #next = 0;

  constructor(list: List, plans: readonly Plan[]) {
    this.list = list;
    this.#plans = plans;
  }

  add(): void {
    const waiter = new Waiter(this.#made.length, this);
    this.#made.push(waiter);
    this.list.add(waiter);
  }

  look(waiter: Waiter): boolean {
    this.seen.push(waiter.id);
    const plan = this.#plans[this.#next++];
    if (plan === undefined) return false;
    if (plan.leaves) this.list.delete(waiter);
    const other = this.#made[plan.removes];
    if (other !== undefined) this.list.delete(other);
    if (plan.adds) this.add();
    if (plan.walksAgain && this.#depth < 2) this.walk();
    return plan.leaves;
  }

  walk(): void {
    this.#depth++;
    this.list.completeAll();
    this.#depth--;
  }
}

describe("requests that wait for a partition", () => {
  test("look in the same order as if they were in a set, whatever their looking does", () => {
    const plan = fc.record({
      leaves: fc.boolean(),
      removes: fc.nat(8),
      adds: fc.boolean(),
      walksAgain: fc.boolean(),
    });
    const property = fc.property(fc.array(plan, { maxLength: 40 }), fc.nat(5), (plans, count) => {
      const list = new WaitList<Waiter>();
      const set = new SetList();
      const ours = new Story(list, plans);
      const twin = new Story(set, plans);
      for (const story of [ours, twin]) {
        for (let i = 0; i < count; i++) story.add();
        for (let i = 0; i < 3; i++) story.walk();
      }

      expect(ours.seen).toEqual(twin.seen);
      expect(list.size).toBe(set.waiters.size);
    });
    fc.assert(property, { seed: 42, numRuns: 500 });
  });
});
