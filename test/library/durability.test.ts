import fc from "fast-check";
import { expectGuarantees, simulate } from "kafka-sim";
import { clusterArbitrary, scenarioArbitrary, workloadArbitrary } from "kafka-sim/property";
import { expect, test } from "vitest";

/** Three replicas, and at least two in sync: one broker at a time may lose all that it has not flushed. */
const scenarios = scenarioArbitrary({
  cluster: clusterArbitrary({ brokers: { min: 3, max: 3 } }),
  workload: workloadArbitrary({ producerConfig: { acks: "all" } }),
  faults: { kinds: ["crash", "power-off"], steps: 4, within: 10_000, longest: 6_000 },
  more: { settle: "20s" },
});

test("with acks=all no record is lost, whichever minority of the brokers dies, and when", () => {
  let acked = 0;

  fc.assert(
    fc.property(scenarios, (scenario) => {
      const run = simulate(scenario);
      expectGuarantees(run, "no-acked-loss");
      for (const client of run.clients) acked += client.kind === "producer" ? client.acked : 0;
    }),
    { seed: 42, numRuns: 8 },
  );

  expect(acked).toBeGreaterThan(1_000);
});
