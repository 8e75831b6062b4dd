import fc from "fast-check";
import type { StepValue } from "kafka-sim";
import { simulate } from "kafka-sim";
import {
  clusterArbitrary,
  faultPlanArbitrary,
  scenarioArbitrary,
  workloadArbitrary,
} from "kafka-sim/property";
import { expect, test } from "vitest";

const TARGETS = {
  brokers: ["broker-1", "broker-2", "broker-3"],
  controllers: ["controller-1"],
  minInSync: 2,
};

test("whatever is drawn is a scenario without mistakes and without doubts", () => {
  const scenarios = scenarioArbitrary({
    cluster: clusterArbitrary({ brokers: { min: 3, max: 6 }, controllers: [1, 3, 5] }),
    workload: workloadArbitrary({ topics: 5, consumers: 3, members: 3 }),
    faults: { consumers: true, steps: 9 },
  });

  fc.assert(
    fc.property(scenarios, ({ warnings }) => warnings.length === 0),
    { seed: 42, numRuns: 100 },
  );
});

test("a plan kills brokers beyond min.insync.replicas - 1 only if they keep their page caches", () => {
  const plans = faultPlanArbitrary(TARGETS, { steps: 8 });
  let losses = 0;

  fc.assert(
    fc.property(plans, (plan) => {
      const killed = new Set(plan.flatMap((step) => step.crash ?? step["power-off"] ?? []));
      const lossy = plan.filter((step) => step["power-off"] && step.unflushed !== "kept");
      const brokers = [...killed].filter((node) => node.startsWith("broker-"));
      if (lossy.length > 0) expect(brokers.length).toBeLessThanOrEqual(1);
      losses += lossy.length;
    }),
    { seed: 42, numRuns: 300 },
  );

  expect(losses).toBeGreaterThan(50);
});

/** The smallest plan that still has what was asked for, as fast-check finds it. */
function smallest(isFailure: (plan: readonly StepValue[]) => boolean): readonly StepValue[] {
  const plans = faultPlanArbitrary(TARGETS, { steps: 8 });
  const property = fc.property(plans, (plan) => !isFailure(plan));
  return fc.check(property, { seed: 42, numRuns: 500 }).counterexample?.[0] ?? [];
}

test("a plan shrinks to the one step that matters, as simple, early, short and round as it may be", () => {
  const plan = smallest((steps) => steps.some((step) => "pause" in step && late(step) > 3_210));

  expect(plan).toHaveLength(1);
  expect(plan[0]).toEqual({ at: "4s", pause: "broker-1", for: "100ms" });
});

function late({ at }: StepValue): number {
  const [, amount, unit] = /^([0-9]+)(ms|s)$/.exec(String(at)) ?? [];
  return Number(amount ?? 0) * (unit === "s" ? 1_000 : 1);
}

test("a scenario in which leaders change shrinks to a run that anybody can save and run again", () => {
  const scenarios = scenarioArbitrary({
    cluster: clusterArbitrary({ brokers: { min: 3, max: 3 }, controllers: [1] }),
    workload: workloadArbitrary({
      producers: 1,
      partitions: 1,
      consumers: 0,
    }),
    faults: { kinds: ["crash"], steps: 2, within: 2_000, longest: 2_000 },
    more: { settle: "3s" },
  });
  const keepsLeader = fc.property(scenarios, (scenario) =>
    simulate(scenario).partitions.every(({ leaderEpoch }) => leaderEpoch === 0),
  );

  const { failed, counterexample } = fc.check(keepsLeader, { seed: 42, numRuns: 20 });
  const [scenario] = counterexample ?? [];

  expect(failed).toBe(true);
  expect(fc.stringify(scenario)).toBe(`\n${scenario?.yaml}`);
  expect(scenario?.checked.faults).toHaveLength(1);
});

test("a cluster of a size that the seed decides is refused: nobody in it could be named", () => {
  const drawn = scenarioArbitrary({ cluster: fc.constant({ brokers: "one-of(3|5)" }) });

  expect(() => fc.sample(drawn, 1)).toThrow("fixed number of brokers");
});
