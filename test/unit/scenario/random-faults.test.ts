import { expect, test } from "vitest";
import { complaintsOf, scenarioOf, withText } from "../../support/scenario-text.ts";

/** The good scenario, with `random-faults` before its `settle`. */
function withRandomFaults(lines: string): string {
  return withText("settle: 30s", `random-faults:\n${lines}\nsettle: 30s`);
}

test("every form of a generator is read", () => {
  const { randomFaults } = scenarioOf(
    withRandomFaults(`  quiet-after: 20s
  swarm: false
  keep: alive(isr(orders-0)) >= 1
  generators:
    - swizzle
    - { shape: pause, every: 5s, for: uniform(1s..2s) }
    - { crash: any(brokers), every: exponential(20s), for: uniform(1s..15s) }
    - { drop: 0.05, links: all, every: exponential(90s), for: 10s }
    - partition: { from: broker-1, to: controllers }
      every: one-of(1s|9s)`),
  );

  expect(randomFaults).toMatchObject({
    quietAfter: 20_000_000,
    swarm: false,
    unlimited: false,
    keep: { text: "alive(isr(orders-0)) >= 1" },
    generators: [
      { kind: "shape", shape: "swizzle", every: undefined, for: undefined },
      { kind: "shape", shape: "pause", every: { kind: "fixed", value: 5_000_000 } },
      {
        kind: "fault",
        every: { kind: "exponential", mean: 20_000_000 },
        action: { text: "crash: any(brokers)", for: { kind: "uniform" }, optional: true },
      },
      { kind: "fault", action: { text: "drop: 0.05", for: { kind: "fixed" } } },
      { kind: "fault", action: { text: "partition: { from: broker-1, to: controllers }" } },
    ],
  });
});

test("nothing but the key is needed", () => {
  expect(
    scenarioOf(withText("settle: 30s", "random-faults: {}\nsettle: 30s")).randomFaults,
  ).toMatchObject({
    generators: [],
    swarm: true,
    quietAfter: undefined,
    keep: undefined,
    unlimited: false,
  });
});

test.each([
  [
    "  generators: [ swizle ]",
    /^43:17:6 `generators` cannot be `swizle`; did you mean `swizzle`\?/,
  ],
  ["  generators: [ damage ]", /^43:17:6 `damage` is more than Kafka .*needs `unlimited: true`/],
  ["  generators: [ { shape: pause, often: 5s } ]", /unknown key of a generator `often`/],
  ["  generators: [ { crash: brokers } ]", /a generator needs the key `every`/],
  ["  generators: [ { every: 5s } ]", /a generator needs a fault/],
  [
    "  generators: [ { krash: brokers, every: 5s } ]",
    /unknown fault `krash`; did you mean `crash`/,
  ],
  ["  generators: [ { crash: brokers, every: 5s, at: 3s } ]", /unknown key of a generator `at`/],
  ["  generators: [ { crash: brokers, pause: brokers, every: 5s } ]", /a generator has one fault/],
  ["  generators: [ { crash: broker-9, every: 5s } ]", /unknown name `broker-9`/],
  ["  generators: [ { reset: brokers, every: 5s, for: 1s } ]", /`for` means nothing to it/],
  ["  generators: [ { crash: brokers, every: 10ms } ]", /^43:42:4 `every` is too often/],
  ["  generators: [ { shape: pause, every: exponential(1ms) } ]", /`every` is too often/],
  ["  generators: [ [ crash ] ]", /a generator is a shape or a fault, not a list/],
  ["  keep: hw(orders-0)", /a condition such as/],
  ["  keep: alive(any(brokers)) >= 1", /draws by chance; only targets can/],
  ["  quiet: 5s", /unknown key of `random-faults` `quiet`/],
  ["  quiet-after: 2h", /`quiet-after` comes after the `limit` of the run/],
])("%s is complained about", (lines, message) => {
  const complaints = complaintsOf(withRandomFaults(lines));

  expect(complaints).toHaveLength(1);
  expect(complaints[0]).toMatch(message);
});

test("a scenario with random faults says how long it lasts", () => {
  const endless = withText("    records: 1000\n", "").replace(/faults:\n[\s\S]*settle/, "settle");

  expect(complaintsOf(endless).join()).toMatch(/nothing says how long this lasts/);
  expect(complaintsOf(`${endless}random-faults: {}\n`).join()).not.toMatch(/how long/);
});
