import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EventQueue } from "../../../src/sim/event-queue.ts";
import type { TextbookEvent } from "../../support/textbook-heap.ts";
import { byTimeAndSequence, TextbookHeap } from "../../support/textbook-heap.ts";

/** The queue and its simple twin, driven alike; every pop compares all that they say. */
class Twins {
  readonly queue: EventQueue;
  readonly textbook = new TextbookHeap<TextbookEvent>(byTimeAndSequence);
  now = 0;
  sequence = 0;
  popped = 0;

  constructor(queue: EventQueue) {
    this.queue = queue;
  }

  push(delay: number): void {
    const sequence = this.sequence++;
    const time = this.now + delay;
    const kind = sequence % 7;
    const subject = (sequence % 11) - 5;
    const payload = sequence % 3 === 0 ? undefined : { sequence };
    this.queue.push(time, sequence, kind, subject, payload);
    this.textbook.push({ time, sequence, kind, subject, payload });
  }

  pop(): void {
    const expected = this.textbook.pop();
    if (expected === undefined) return;
    const queue = this.queue;
    const time = queue.peekTime();
    const sequence = queue.peekSequence();
    queue.pop();
    const same =
      time === expected.time &&
      sequence === expected.sequence &&
      queue.out.time === expected.time &&
      queue.out.kind === expected.kind &&
      queue.out.subject === expected.subject &&
      queue.out.payload === expected.payload &&
      queue.size === this.textbook.size;
    // Only then, since an `expect` costs more than a hundred pops.
    if (!same) {
      const got = { ...queue.out, sequence, size: queue.size };
      expect(got).toEqual({ ...expected, size: this.textbook.size });
      expect.fail(`peekTime said ${time} and pop ${queue.out.time}`);
    }
    this.now = expected.time;
    this.popped++;
  }

  drain(): void {
    while (this.textbook.size > 0) this.pop();
    expect(this.queue.size).toBe(0);
    expect(this.queue.peekTime()).toBe(Number.POSITIVE_INFINITY);
  }
}

/** A delay of one of the kinds that occur: none, ties, near, far, and beyond any run. */
const delay = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 0, max: 3 }),
  fc.integer({ min: 0, max: 5_000 }).map((n) => n - (n % 1_000)),
  fc.integer({ min: 0, max: 100_000 }),
  fc.integer({ min: 29_990_000, max: 30_010_000 }),
  fc.integer({ min: 0, max: 2 ** 46 }),
);

/** A number of pops, or the delays of pushes. */
const action = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  fc.array(delay, { maxLength: 20, size: "max" }),
  fc.tuple(delay, fc.integer({ min: 1, max: 300 })).map(([d, n]) => new Array<number>(n).fill(d)),
);

const thresholds = fc.constantFrom([128, 48], [8, 3], [1, 1], [0, 0], [254, 200]);

describe("event queue", () => {
  test("it pops in the order of the textbook heap, for any pushes and pops and in both bodies", () => {
    const property = fc.property(
      thresholds,
      fc.array(action, { minLength: 1, maxLength: 60, size: "max" }),
      ([ladderAbove, heapBelow], actions) => {
        const twins = new Twins(new EventQueue(ladderAbove, heapBelow));

        for (const next of actions) {
          if (typeof next === "number") for (let i = 0; i < next; i++) twins.pop();
          else for (const d of next) twins.push(d);
        }

        twins.drain();
      },
    );

    fc.assert(property, { seed: 42, numRuns: 400 });
  });

  test.each([1, 2, 5, 30, 100, 128, 129, 300, 1_000, 30_000])(
    "it pops in the order of the textbook heap while %i events are held",
    (size) => {
      const twins = new Twins(new EventQueue());
      const random = lcg(size);
      const mixed = (): number => {
        const choice = random() % 10;
        if (choice === 0) return 0;
        if (choice === 1) return random() % 4;
        if (choice === 2) return 30_000_000;
        return random() % 2_000;
      };

      for (let i = 0; i < size; i++) twins.push(mixed());
      for (let i = 0; i < 20_000; i++) {
        twins.pop();
        twins.push(mixed());
      }

      twins.drain();
      expect(twins.popped).toBe(size + 20_000);
    },
  );

  test("a burst of one instant is popped in the order of its pushes, with urgent events in front", () => {
    const twins = new Twins(new EventQueue());
    for (let i = 0; i < 5_000; i++) twins.push(10);
    for (let i = 0; i < 300; i++) twins.push(4);

    for (let i = 0; i < 300; i++) {
      twins.pop();
      twins.push(1);
      twins.push(6);
    }

    twins.drain();
    expect(twins.popped).toBe(5_900);
  });

  test("times of scales too many for the ladder's rungs are popped in order", () => {
    const twins = new Twins(new EventQueue(0, 0));
    // Each rung tells 32 times as fine as the one above; after eight the near events still share a bucket.
    twins.push(2 ** 52);
    for (let i = 0; i < 60; i++) twins.push((i * 37) % 64);

    for (let i = 0; i < 20; i++) twins.pop();
    for (let i = 0; i < 40; i++) twins.push((i * 37) % 64);

    twins.drain();
    expect(twins.popped).toBe(101);
  });

  test("it keeps its order across the switch between its bodies, to and fro", () => {
    const twins = new Twins(new EventQueue(20, 10));

    for (let round = 0; round < 200; round++) {
      for (let i = 0; i < 30; i++) twins.push((i * 7) % 13);
      for (let i = 0; i < 28; i++) twins.pop();
    }

    twins.drain();
  });

  test("sequence numbers beyond 2^32 still break ties", () => {
    const twins = new Twins(new EventQueue(20, 10));
    twins.sequence = 2 ** 40 + 1;

    for (let i = 0; i < 60; i++) twins.push(i % 2);

    twins.drain();
    expect(twins.popped).toBe(60);
  });

  test("an event without a payload has none, even where an earlier one left its own", () => {
    const queue = new EventQueue(4, 2);
    for (let i = 0; i < 40; i++) queue.push(i, i, 0, 0, { i });
    while (queue.size > 0) queue.pop();

    for (let i = 0; i < 40; i++) queue.push(50, 50 + i, 0, 0, undefined);

    for (let i = 0; i < 40; i++) {
      queue.pop();
      expect(queue.out.payload).toBeUndefined();
    }
  });
});

function lcg(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state >>> 8;
  };
}
