import { describe, expect, test } from "vitest";
import { SECOND } from "../../../../src/base/time.ts";
import { at, keysAt } from "../../../../src/fuzz/plain-path.ts";
import { REDUCTIONS } from "../../../../src/fuzz/shrink/reductions.ts";
import type { Shrinking } from "../../../../src/fuzz/shrink/shrinking.ts";
import { durationAt, stepsOf } from "../../../../src/fuzz/shrink/shrinking.ts";
import type { PlainMap } from "../../../../src/scenario/plain.ts";

/** A run that fails as long as `fails` says so, at an instant of it, in some number of events. */
interface Pretended {
  fails(plain: PlainMap): boolean;
  failsAt?(plain: PlainMap): number;
  eventsOf?(plain: PlainMap): number;
  partitionsOf?(plain: PlainMap): number;
  readonly round?: number;
}

/** What one reduction makes of a scenario. */
function reduced(name: string, from: PlainMap, pretended: Pretended): PlainMap {
  const {
    fails,
    failsAt = () => 0,
    eventsOf = () => 100,
    partitionsOf = () => 1,
    round = 1,
  } = pretended;
  let plain: PlainMap = { seed: 7, ...from };
  const fallenIn = (one: PlainMap) => ({
    at: failsAt(one),
    events: eventsOf(one),
    partitions: partitionsOf(one),
    simulated: 0,
    struck: new Map<number, readonly string[]>(),
  });
  const shrinking: Shrinking = {
    get plain() {
      return plain;
    },
    get fallen() {
      return fallenIn(plain);
    },
    round,
    tries(candidate, most = {}) {
      const { events, partitions } = fallenIn(candidate);
      if (!fails(candidate) || events > (most.events ?? events)) return false;
      if (partitions > (most.partitions ?? partitions)) return false;
      plain = candidate;
      return true;
    },
  };
  REDUCTIONS.find((one) => one.name === name)?.apply(shrinking);
  return plain;
}

const always = { fails: () => true };

describe("time", () => {
  const story = {
    duration: "35s",
    settle: "45s",
    faults: [
      { at: "3s", crash: "broker-1" },
      { at: "9s", crash: "broker-2" },
    ],
  };

  test("ends with the failure, without what would have come later", () => {
    const found = reduced("time", story, { ...always, failsAt: () => 4.21 * SECOND });

    expect(found).toMatchObject({ duration: "4s300ms", settle: "0s" });
    expect(stepsOf(found)).toEqual([{ at: "3s", crash: "broker-1" }]);
  });

  test("stays as long as it takes to fail at the end", () => {
    const found = reduced("time", story, {
      fails: (plain) => (durationAt(plain, ["settle"]) ?? 0) >= 8 * SECOND,
      failsAt: (plain) =>
        (durationAt(plain, ["duration"]) ?? 0) + (durationAt(plain, ["settle"]) ?? 0),
    });

    expect(found).toMatchObject({ duration: "0s", settle: "10s" });
  });

  test("ends with a failure that comes while the cluster recovers", () => {
    const found = reduced("time", story, {
      fails: (plain) =>
        durationAt(plain, ["duration"]) === 35 * SECOND &&
        (durationAt(plain, ["settle"]) ?? 0) >= 12.8 * SECOND,
      failsAt: () => 47.83 * SECOND,
    });

    expect(found).toMatchObject({ duration: "35s", settle: "12s900ms" });
  });
});

describe("gaps", () => {
  const story = {
    duration: "30s",
    faults: [
      { at: "10s", crash: "broker-1" },
      { at: "14s", crash: "broker-2" },
      { after: "x", delay: "2s", crash: "broker-3" },
    ],
  };
  const eventsOf = (plain: PlainMap): number => durationAt(plain, ["duration"]) ?? 0;

  test("are closed, and the end comes so much sooner", () => {
    expect(reduced("gaps", story, { ...always, eventsOf })).toMatchObject({
      duration: "16s",
      faults: [{ at: "0s" }, { at: "0s" }, { delay: "2s" }],
    });
  });

  test("stay as long as it takes", () => {
    const fails = (plain: PlainMap): boolean => {
      const [first, second] = stepsOf(plain).map((step) => durationAt(step, ["at"]) ?? 0);
      return (first ?? 0) >= SECOND && (second ?? 0) - (first ?? 0) >= SECOND / 2;
    };

    expect(reduced("gaps", story, { fails, eventsOf })).toMatchObject({
      faults: [{ at: "1s" }, { at: "2s" }, {}],
    });
  });

  test("stay if without them more happens", () => {
    const busier = (plain: PlainMap): number => -eventsOf(plain);

    expect(reduced("gaps", story, { ...always, eventsOf: busier })).toEqual({ seed: 7, ...story });
  });
});

test("what nothing needs any more is not expected", () => {
  expect(reduced("expectations", { expect: ["no-acked-loss"] }, always)).toEqual({ seed: 7 });
});

test("a client that others are cut off with goes out of their fault as well", () => {
  const story = {
    clients: { p1: { produce: "orders" }, c1: { consume: "orders" } },
    faults: [
      {
        partition: {
          groups: [
            ["broker-1", "c1"],
            ["p1", "broker-2"],
          ],
        },
      },
      { isolate: "c1 + broker-3" },
    ],
  };
  // A target that names nobody is a mistake.
  const isNamed = (plain: PlainMap, name: string): boolean =>
    JSON.stringify(plain["faults"]).includes(name);
  const fails = (plain: PlainMap): boolean =>
    at(plain, ["clients", "p1"]) !== undefined &&
    (at(plain, ["clients", "c1"]) !== undefined || !isNamed(plain, "c1"));

  const found = reduced("clients", story, { fails });

  expect(keysAt(found, ["clients"])).toEqual(["p1"]);
  expect(found["faults"]).toEqual([
    { partition: { groups: [["broker-1"], ["p1", "broker-2"]] } },
    { isolate: "broker-3" },
  ]);
});

test("clients that nothing needs go at once, and so does what befalls them alone", () => {
  const names = ["p1", "p2", "p3", "p4", "at", "c1", "c2", "c3"];
  const faults = [
    { at: "1s", crash: "c1" },
    { when: "acked(p1) >= 7", crash: "broker-1" },
    { when: "acked(p3) >= 7", crash: "broker-2" },
  ];
  let asked = 0;
  const fails = (plain: PlainMap): boolean => {
    asked++;
    return at(plain, ["clients", "p1"]) !== undefined;
  };
  const clients = Object.fromEntries(names.map((name) => [name, {}]));

  const found = reduced("clients", { clients, faults }, { fails });

  expect(found).toEqual({ seed: 7, clients: { p1: {} }, faults: [faults[1]] });
  expect(asked).toBeLessThan(names.length);
});

test("a smaller cluster may need another seed to fail", () => {
  const story = { cluster: { brokers: 3, controllers: 3 }, topics: {} };
  const fails = (plain: PlainMap): boolean =>
    at(plain, ["cluster", "brokers"]) === 3 &&
    (at(plain, ["cluster", "controllers"]) === 3 || plain["seed"] === 5);

  expect(reduced("cluster", story, { fails })).toEqual({
    seed: 5,
    cluster: { brokers: 3, controllers: 1 },
    topics: {},
  });
});

test("luck is tried while a run gets much smaller, and then no more", () => {
  const story = { cluster: { brokers: 3 }, topics: {} };
  const fails = ({ seed, cluster }: PlainMap): boolean =>
    at(cluster, ["brokers"]) === 3 || seed === 5;
  const brokersIn = (round: number): unknown =>
    at(reduced("cluster", story, { fails, round }), ["cluster", "brokers"]);

  expect([1, 2, 3, 9].map(brokersIn)).toEqual([1, 1, 3, 3]);
});

test("what befalls servers that are not there any more does not happen", () => {
  const story = {
    cluster: { controllers: 3, brokers: 2 },
    topics: {},
    faults: [
      { at: "1s", crash: "controller-2" },
      { at: "2s", pause: "controller-1 + controller-3" },
      { at: "3s", crash: "broker-2" },
    ],
  };
  const fails = (plain: PlainMap): boolean =>
    at(plain, ["cluster", "brokers"]) === 2 &&
    !(at(plain, ["cluster", "controllers"]) === 1 && /controller-[23]/.test(JSON.stringify(plain)));

  expect(reduced("cluster", story, { fails })).toMatchObject({
    cluster: { controllers: 1, brokers: 2 },
    faults: [
      { at: "2s", pause: "controller-1" },
      { at: "3s", crash: "broker-2" },
    ],
  });
});

test("coordinators' topics have no more replicas than there are brokers", () => {
  const fails = (plain: PlainMap): boolean =>
    at(plain, ["cluster", "brokers"]) === 3 ||
    at(plain, ["cluster", "config", "offsets.topic.replication.factor"]) === 1;

  const found = reduced("cluster", { cluster: { brokers: 3 }, topics: {} }, { fails });

  expect(at(found, ["cluster", "brokers"])).toBe(1);
});

test("configs go back to their defaults, but for what makes the cluster larger", () => {
  const config = { "offsets.topic.num.partitions": 1, "log.segment.bytes": 1000 };
  const partitionsOf = (plain: PlainMap): number =>
    Number(at(plain, ["cluster", "config", "offsets.topic.num.partitions"]) ?? 50);

  const found = reduced("configs", { cluster: { config } }, { ...always, partitionsOf });

  expect(found["cluster"]).toEqual({ config: { "offsets.topic.num.partitions": 1 } });
});

test("a producer without end sends as few records as it takes, if that is less", () => {
  const story = { clients: { p1: { produce: "orders", rate: "20/s" } } };
  const records = (plain: PlainMap): number =>
    Number(at(plain, ["clients", "p1", "records"]) ?? 90);
  const fails = (plain: PlainMap): boolean => records(plain) >= 8;

  const found = reduced("records", story, { fails, eventsOf: records });

  expect(at(found, ["clients", "p1"])).toEqual({ produce: "orders", rate: "1/s", records: 10 });
});

test("what a step waits for is as little as it takes", () => {
  const when = "acked(p1) >= 417 and leo(orders-1 at broker-3) > leo(orders-1 at broker-1) + 5";
  const fails = (plain: PlainMap): boolean => {
    const acked = /acked[(]p1[)] >= ([0-9]+)/.exec(String(at(plain, ["faults", 0, "when"])))?.[1];
    return Number(acked) >= 25;
  };

  const found = reduced("conditions", { faults: [{ when, crash: "broker-1" }] }, { fails });

  expect(at(found, ["faults", 0, "when"])).toBe(when.replace("417", "30"));
});

test("the seed is another where that takes clearly fewer events", () => {
  const eventsOf = ({ seed }: PlainMap): number => (seed === 3 ? 60 : seed === 9 ? 58 : 100);

  expect(reduced("seeds", {}, { ...always, eventsOf })).toEqual({ seed: 3 });
});
