import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvariantViolation } from "../../../src/base/invariant.ts";
import { NO_TIMER } from "../../../src/ports/node.ts";
import type { EventHandler, EventRecord } from "../../../src/sim/scheduler.ts";
import { Scheduler } from "../../../src/sim/scheduler.ts";
import type { TextbookEvent } from "../../support/textbook-heap.ts";
import { byTimeAndSequence, TextbookHeap } from "../../support/textbook-heap.ts";

/** Notes what it handles as `instant kind subject`. */
class Notebook implements EventHandler {
  readonly lines: string[] = [];
  readonly scheduler: Scheduler;
  readonly kind: number;

  constructor(scheduler: Scheduler, name: string) {
    this.scheduler = scheduler;
    this.kind = scheduler.register(name, this);
  }

  handle(subject: number, payload: unknown): void {
    this.lines.push(`${this.scheduler.now} ${subject} ${String(payload)}`);
  }

  describe(subject: number, payload: unknown): string {
    return `page ${subject}, ${String(payload)}`;
  }
}

function run(scheduler: Scheduler): void {
  while (scheduler.step());
}

describe("scheduler", () => {
  test("events and timers of one instant are handled in the order in which they were scheduled", () => {
    const scheduler = new Scheduler();
    const notebook = new Notebook(scheduler, "note");
    scheduler.at(5, notebook.kind, 0, "event");
    scheduler.startTimer(5, notebook.kind, 1, "timer");
    scheduler.at(5, notebook.kind, 2, "event");
    scheduler.startTimer(3, notebook.kind, 3, "early timer");
    scheduler.startTimer(5, notebook.kind, 4, "timer");

    run(scheduler);

    expect(notebook.lines).toEqual([
      "3 3 early timer",
      "5 0 event",
      "5 1 timer",
      "5 2 event",
      "5 4 timer",
    ]);
  });

  test("an event that its own instant schedules is handled within that instant, after what was there", () => {
    const scheduler = new Scheduler();
    const notebook = new Notebook(scheduler, "note");
    const relay = scheduler.register("relay", {
      handle: () => scheduler.at(scheduler.now, notebook.kind, 9, "relayed"),
    });
    scheduler.at(7, relay, 0, undefined);
    scheduler.at(7, notebook.kind, 1, "direct");

    run(scheduler);

    expect(notebook.lines).toEqual(["7 1 direct", "7 9 relayed"]);
    expect(scheduler.now).toBe(7);
    expect(scheduler.event).toBe(3);
  });

  test("a cancelled timer never fires, and stale handles are ignored", () => {
    const scheduler = new Scheduler();
    const notebook = new Notebook(scheduler, "note");
    const cancelled = scheduler.startTimer(10, notebook.kind, 0, "cancelled");
    const fired = scheduler.startTimer(5, notebook.kind, 1, "fired");
    scheduler.cancelTimer(cancelled);
    scheduler.step();

    const heir = scheduler.startTimer(10, notebook.kind, 2, "heir of a slot");
    scheduler.cancelTimer(cancelled);
    scheduler.cancelTimer(fired);
    scheduler.cancelTimer(NO_TIMER);
    scheduler.cancelTimer(Number.NaN);
    run(scheduler);

    expect(heir).not.toBe(cancelled);
    expect(notebook.lines).toEqual(["5 1 fired", "15 2 heir of a slot"]);
  });

  test("cancelling the timers of one kind leaves the others", () => {
    const scheduler = new Scheduler();
    const dying = new Notebook(scheduler, "dying");
    const living = new Notebook(scheduler, "living");
    for (let i = 0; i < 10; i++) scheduler.startTimer(10, (i % 2 ? dying : living).kind, i, "");
    for (let i = 0; i < 10; i++) scheduler.startTimer(i, (i % 2 ? dying : living).kind, i, "");

    scheduler.cancelTimers(dying.kind);
    run(scheduler);

    expect(dying.lines).toEqual([]);
    expect(living.lines).toHaveLength(10);
  });

  test("any mix of events, timers and cancellations is handled in the order of the textbook heap", () => {
    // Few durations come again and again, and many come once and find no free lane.
    const duration = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(0, 1, 500, 30_000_000, 2 ** 40) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 5_000 }) },
    );
    const action = fc.oneof(
      fc.record({ verb: fc.constant("at" as const), n: duration }),
      { weight: 3, arbitrary: fc.record({ verb: fc.constant("timer" as const), n: duration }) },
      fc.record({ verb: fc.constant("cancel" as const), n: fc.nat() }),
      {
        weight: 3,
        arbitrary: fc.record({ verb: fc.constant("cancel late" as const), n: fc.nat(9) }),
      },
      fc.record({ verb: fc.constant("burst" as const), n: fc.nat(1_000) }),
      fc.record({ verb: fc.constant("steps" as const), n: fc.nat(30) }),
    );
    const property = fc.property(
      fc.array(action, { minLength: 1, maxLength: 150, size: "max" }),
      (actions) => {
        const scheduler = new Scheduler();
        const textbook = new TextbookHeap<TextbookEvent>(byTimeAndSequence);
        const cancelled = new Set<number>();
        const handles: number[] = [];
        let sequence = 0;
        let last = -1;
        const kind = scheduler.register("note", {
          handle: (subject) => {
            last = subject;
          },
        });
        const expectPush = (delay: number): void => {
          const subject = sequence++;
          const time = scheduler.now + delay;
          textbook.push({ time, sequence: subject, kind, subject, payload: undefined });
        };
        const timer = (delay: number): void => {
          handles[sequence] = scheduler.startTimer(delay, kind, sequence, undefined);
          expectPush(delay);
        };
        const step = (): boolean => {
          let next = textbook.pop();
          while (next !== undefined && cancelled.has(next.sequence)) next = textbook.pop();
          if (next === undefined) {
            expect(scheduler.step()).toBe(false);
            return false;
          }
          if (!scheduler.step() || last !== next.sequence || scheduler.now !== next.time)
            expect({ last, now: scheduler.now }).toEqual({ last: next.sequence, now: next.time });
          return true;
        };

        for (const { verb, n } of actions) {
          if (verb === "at") {
            scheduler.at(scheduler.now + n, kind, sequence, undefined);
            expectPush(n);
          } else if (verb === "timer") timer(n);
          else if (verb === "burst") for (let i = 0; i < 40; i++) timer((n * (i + 1)) % 1_009);
          else if (verb === "steps") for (let i = 0; i < n; i++) step();
          else {
            const victim = verb === "cancel" ? n % (handles.length + 1) : handles.length - 1 - n;
            scheduler.cancelTimer(handles[victim] ?? NO_TIMER);
            if (handles[victim] !== undefined) cancelled.add(victim);
          }
        }

        while (step());
      },
    );

    fc.assert(property, { seed: 42, numRuns: 300 });
  });

  test("timers that are cancelled leave nothing behind", () => {
    const scheduler = new Scheduler();
    const notebook = new Notebook(scheduler, "note");

    for (let i = 0; i < 100_000; i++)
      scheduler.cancelTimer(scheduler.startTimer(i % 1_000, notebook.kind, i, ""));

    expect(scheduler.nextTime()).toBe(Number.POSITIVE_INFINITY);
    expect(scheduler.step()).toBe(false);
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "a time that cannot come, now plus %d, is a bug of whoever asks",
    (delay) => {
      const scheduler = new Scheduler();
      const notebook = new Notebook(scheduler, "note");

      expect(() => scheduler.at(delay, notebook.kind, 0, "")).toThrow(InvariantViolation);
      expect(() => scheduler.startTimer(delay, notebook.kind, 0, "")).toThrow(InvariantViolation);
    },
  );

  test("every event moves the digest, and a checkpoint is kept every 4096 events", () => {
    const digests = new Set<string>();
    const scheduler = new Scheduler();
    const kind = scheduler.register("tick", {
      handle: (subject) => scheduler.at(scheduler.now, kind, subject, undefined),
    });
    scheduler.at(0, kind, 0, undefined);

    for (let i = 0; i < 10_000; i++) {
      scheduler.step();
      digests.add(scheduler.digest.value());
    }

    expect(digests.size).toBe(10_000);
    expect(scheduler.digest.checkpoints.map((checkpoint) => checkpoint.event)).toEqual([
      4096, 8192,
    ]);
  });

  test("the events of a window can be listed as text, and the listing changes nothing", () => {
    const story = (sink: ((record: EventRecord) => void) | undefined): string => {
      const scheduler = new Scheduler();
      const notebook = new Notebook(scheduler, "note");
      for (let i = 1; i <= 6; i++) scheduler.at(i * 10, notebook.kind, i, "text");
      if (sink !== undefined) scheduler.recordEvents(3, 4, sink);
      run(scheduler);
      return scheduler.digest.value();
    };
    const records: EventRecord[] = [];

    const listed = story((record) => records.push(record));

    expect(listed).toBe(story(undefined));
    expect(records.map(({ digest: _, ...rest }) => rest)).toEqual([
      { event: 3, at: 30, kind: "note", subject: 3, detail: "page 3, text" },
      { event: 4, at: 40, kind: "note", subject: 4, detail: "page 4, text" },
    ]);
    expect(new Set(records.map((record) => record.digest)).size).toBe(2);
  });
});
