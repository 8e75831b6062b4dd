import { describe, expect, test } from "vitest";
import type { Violation } from "../../../src/checkers/guarantee.ts";
import type { Fact } from "../../../src/trace/fact.ts";
import type { Story } from "../../support/story.ts";
import { moved, story } from "../../support/story.ts";

const FAULTS = `  - { name: kill, at: 5s, crash: broker-1, as: old }
  - { name: back, at: 20s, restart: broker-1 }`;

interface Ending {
  readonly violations?: readonly Partial<Violation>[];
  readonly isComplete?: boolean;
  readonly untested?: boolean;
}

/** Runs a story with one expectation, and says what came of it: `true leader-within 15s (9.19s)`. */
function judge(expectation: string, prepare: (told: Story) => void, ending: Ending = {}): string {
  const told = story(FAULTS, `expect:\n  - ${expectation}\n`);
  const watches = told.plan.scenario.expect.map((one) =>
    one.watch({
      facts: told.facts,
      board: told.director.board,
      world: told.director.world,
      start: 0,
    }),
  );
  prepare(told);
  told.run();
  const violations = (ending.violations ?? []).map((violation) => ({
    ...NO_VIOLATION,
    ...violation,
  }));
  const [result] = watches.map((watch) =>
    watch.result({
      at: told.scheduler.now,
      isComplete: ending.isComplete ?? true,
      violations,
      isTested: () => ending.untested !== true,
    }),
  );
  return `${result?.ok} ${result?.text}`;
}

const NO_VIOLATION: Violation = {
  guarantee: "no-acked-loss",
  kind: "acked-record-lost",
  partition: "orders-0",
  client: "p1",
  at: 0,
  event: 0,
  text: [],
  offsets: undefined,
  count: 1,
  permitted: undefined,
  cause: 0,
  follows: undefined,
};

function led(by: number, epoch: number, isr: readonly number[] = [1, 2, 3]): Partial<Fact> {
  return { partition: "orders-0", leader: by, leaderEpoch: epoch, isr };
}

function change(
  told: Story,
  seconds: number,
  by: number,
  epoch: number,
  isr?: readonly number[],
): void {
  const partition = { ...led(by, epoch, isr), partition: "orders-0" };
  told.do(seconds, () => told.register(partition as Parameters<Story["register"]>[0]));
}

describe("a guarantee", () => {
  test("is expected by its bare name, and fails with any violation of it", () => {
    const violations = [{}];

    expect(judge("no-acked-loss", () => {})).toBe("true no-acked-loss");
    expect(judge("no-acked-loss", () => {}, { violations })).toBe("false no-acked-loss");
    expect(judge("no-divergence", () => {}, { violations })).toBe("true no-divergence");
  });

  test("that was not exercised, or not to the end, says nothing", () => {
    expect(judge("no-acked-loss", () => {}, { untested: true })).toBe(
      "undefined no-acked-loss (untested)",
    );
    expect(judge("no-acked-loss", () => {}, { isComplete: false })).toBe("undefined no-acked-loss");
  });
});

describe("violation", () => {
  test("holds if the loss happens, where and as much as is said", () => {
    const violations = [{ count: 3 }, { count: 4, partition: "orders-1" }];

    expect(judge("violation: acked-record-lost", () => {}, { violations })).toBe(
      "true violation acked-record-lost (7)",
    );
    expect(
      judge("{ violation: acked-record-lost, partition: orders-0, at-least: 3 }", () => {}, {
        violations,
      }),
    ).toBe("true violation acked-record-lost orders-0 (3)");
    expect(
      judge("{ violation: acked-record-lost, partition: orders-0, at-least: 5 }", () => {}, {
        violations,
      }),
    ).toBe("false violation acked-record-lost orders-0 (3 of 5)");
    expect(judge("violation: duplicate-record", () => {}, { violations })).toBe(
      "false violation duplicate-record (it did not happen)",
    );
  });
});

describe("leader-within", () => {
  const EXPECTATION = "leader-within: { partition: orders-0, time: 10s, after: kill }";

  test("measures from the step to the next election of a broker that runs", () => {
    expect(judge(EXPECTATION, (told) => change(told, 14.19, 2, 1, [2, 3]))).toBe(
      "true leader-within 10s (9.19s)",
    );
    expect(judge(EXPECTATION, (told) => change(told, 16, 2, 1, [2, 3]))).toBe(
      "false leader-within 10s (11.00s)",
    );
  });

  test("is not content with a leader that is down, or none, or the old one", () => {
    expect(judge(EXPECTATION, (told) => change(told, 7, 1, 1))).toBe(
      "false leader-within 10s (15.00s)",
    );
    expect(judge(EXPECTATION, (told) => change(told, 7, -1, 1))).toBe(
      "false leader-within 10s (none in 25.00s)",
    );
    expect(judge(EXPECTATION, (told) => change(told, 7, 2, 0))).toBe(
      "false leader-within 10s (none in 25.00s)",
    );
  });

  test("without a step measures the longest gap", () => {
    const expectation = "leader-within: { partition: orders-0, time: 10s }";

    expect(judge(expectation, (told) => change(told, 8, 2, 1))).toBe(
      "true leader-within 10s (3.00s)",
    );
    expect(judge(expectation, () => {})).toBe("false leader-within 10s (15.00s)");
  });
});

describe("isr-restored-within", () => {
  const EXPECTATION = "isr-restored-within: { partition: orders-0, time: 10s, after: back }";

  test("measures from the step until all replicas run and are in sync", () => {
    const shrinks = (told: Story, again: number) => {
      change(told, 7, 2, 1, [2, 3]);
      change(told, again, 2, 1);
    };

    expect(judge(EXPECTATION, (told) => shrinks(told, 22.5))).toBe(
      "true isr-restored-within 10s (2.50s)",
    );
    expect(judge(EXPECTATION, (told) => change(told, 7, 2, 1, [2, 3]))).toBe(
      "false isr-restored-within 10s (not in 10.00s)",
    );
  });
});

describe("available and unavailable", () => {
  test("ask how long a partition is without a leader that runs", () => {
    const back = (told: Story) => change(told, 12, 2, 1);

    expect(judge("unavailable: orders-0", back)).toBe("true unavailable orders-0 (7.00s)");
    expect(judge("{ unavailable: orders-0, longer-than: 8s }", back)).toBe(
      "false unavailable orders-0 for more than 8s (7.00s)",
    );
    expect(judge("{ available: orders-0, longer-than: 8s }", back)).toBe(
      "true available orders-0, gaps up to 8s (7.00s)",
    );
    expect(judge("available: orders-0", back)).toBe("false available orders-0 (7.00s)");
    expect(judge("available: orders-1", back)).toBe("false available orders-1 (15.00s)");
  });
});

describe("conditions", () => {
  const rise = (told: Story) => told.at(2, moved(5)).at(25, moved(10));

  test.each([
    ["always: hw(orders-0) >= 0", "true always hw(orders-0) >= 0"],
    ["always: hw(orders-0) < 10", "false always hw(orders-0) < 10 (broken at 25.000s)"],
    ["always: hw(orders-0) >= 5", "false always hw(orders-0) >= 5 (broken at 0.000s)"],
    ["always: hw(orders-0) > 99", "false always hw(orders-0) > 99 (it never held)"],
    ["never: hw(orders-0) > 10", "true never hw(orders-0) > 10"],
    ["never: hw(orders-0) == 5", "false never hw(orders-0) == 5 (it held at 2.000s)"],
    ["at-end: hw(orders-0) == 10", "true at-end hw(orders-0) == 10"],
    ["at-end: hw(orders-0) == 5", "false at-end hw(orders-0) == 5"],
    ["eventually: hw(orders-0) == 10", "true eventually hw(orders-0) == 10 (25.000s)"],
    ["eventually: alive(brokers) == 3", "true eventually alive(brokers) == 3 (20.000s)"],
    ["eventually: hw(orders-0) < 5", "false eventually hw(orders-0) < 5"],
    ["sometimes: hw(orders-0) == 5", "true sometimes hw(orders-0) == 5 (2.000s)"],
    ["sometimes: hw(orders-0) == 7", "false sometimes hw(orders-0) == 7 (never)"],
  ])("%s: %s", (expectation, expected) => {
    expect(judge(expectation, rise)).toBe(expected);
  });

  test("that speak of the end say nothing if it was not reached", () => {
    const ending = { isComplete: false };

    expect(judge("at-end: hw(orders-0) == 10", rise, ending)).toBe(
      "undefined at-end hw(orders-0) == 10",
    );
    expect(judge("always: hw(orders-0) >= 0", rise, ending)).toBe(
      "undefined always hw(orders-0) >= 0",
    );
    expect(judge("sometimes: hw(orders-0) == 5", rise, ending)).toBe(
      "true sometimes hw(orders-0) == 5 (2.000s)",
    );
  });
});

describe("events", () => {
  const recovery = (truncatedBytes: number): Fact => ({
    kind: "log-loaded",
    broker: 2,
    partition: "orders-0",
    logStartOffset: 0,
    logEndOffset: 0,
    highWatermark: 0,
    cleanShutdown: false,
    truncatedBytes,
  });
  const cut = (broker: number): Fact => ({
    kind: "truncated",
    broker,
    partition: "orders-0",
    from: 9,
    to: 5,
    reason: "diverging-epoch",
  });

  test("are expected by the kind of fact, at some nodes, in a partition", () => {
    const torn = (told: Story) => told.at(3, recovery(7));

    expect(judge("{ event: log-recovery-truncated, broker: any(brokers) }", torn)).toBe(
      "true event log-recovery-truncated at any(brokers)",
    );
    expect(judge("{ event: log-recovery-truncated, broker: broker-1 }", torn)).toBe(
      "false event log-recovery-truncated at broker-1",
    );
    expect(judge("event: log-recovery-truncated", (told) => told.at(3, recovery(0)))).toBe(
      "false event log-recovery-truncated",
    );
    expect(judge("{ event: log-loaded, partition: orders-1 }", torn)).toBe(
      "false event log-loaded orders-1",
    );
    expect(judge("{ event: node-stopped, broker: broker-1 }", torn)).toBe(
      "true event node-stopped at broker-1",
    );
  });

  test("a truncation is expected at what a fault has bound", () => {
    const expectation = "truncation: { broker: $old, partition: orders-0 }";

    expect(judge(expectation, (told) => told.at(22, cut(1)))).toBe(
      "true truncation orders-0 at $old",
    );
    expect(judge(expectation, (told) => told.at(22, cut(2)))).toBe(
      "false truncation orders-0 at $old",
    );
  });

  test("a truncation at what no step has bound yet cannot be told", () => {
    const faults =
      "  - { name: never, when: hw(orders-0) > 9, timeout: 1s, crash: broker-1, as: gone }";
    const told = story(faults, "expect:\n  - truncation: { broker: $gone }\n");
    const [watch] = told.plan.scenario.expect.map((one) =>
      one.watch({
        facts: told.facts,
        board: told.director.board,
        world: told.director.world,
        start: 0,
      }),
    );
    told.at(0.5, cut(1)).run();

    const end = { at: 0, isComplete: true, violations: [], isTested: () => true };

    expect(watch?.result(end).ok).toBeUndefined();
  });

  test("an error is expected to a client, retried or not", () => {
    const refused: Fact = {
      kind: "request-failed",
      client: "p1",
      api: "Produce",
      broker: 1,
      partition: "orders-0",
      error: "NOT_ENOUGH_REPLICAS",
      retried: true,
    };

    expect(judge("{ error: NOT_ENOUGH_REPLICAS, to: p1 }", (told) => told.at(3, refused))).toBe(
      "true error NOT_ENOUGH_REPLICAS to p1",
    );
    expect(judge("{ error: NOT_ENOUGH_REPLICAS, to: c1 }", (told) => told.at(3, refused))).toBe(
      "false error NOT_ENOUGH_REPLICAS to c1",
    );
    expect(judge("error: CORRUPT_MESSAGE", (told) => told.at(3, refused))).toBe(
      "false error CORRUPT_MESSAGE",
    );
  });
});
