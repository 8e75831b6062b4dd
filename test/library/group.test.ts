import fc from "fast-check";
import { defineGuarantee, expectGuarantees, simulate } from "kafka-sim";
import { clusterArbitrary, scenarioArbitrary, workloadArbitrary } from "kafka-sim/property";
import { expect, test } from "vitest";

/** What a member of the group was told is committed, by partition: a fold over what happens. */
const KEEPS_COMMITS = defineGuarantee({
  name: "group-keeps-commits",
  sentence: "Who takes a partition over begins no earlier than where the group has committed.",
  begin: () => new Map<string, number>(),
  on: {
    "commit-ended"(committed, { outcome, offsets }) {
      if (outcome !== "committed") return;
      for (const { partition, offset } of offsets) {
        committed.set(partition, Math.max(offset, committed.get(partition) ?? 0));
      }
    },
    "position-reset"(committed, { client, partition, to }, moment) {
      const least = committed.get(partition);
      if (!client.startsWith("w") || least === undefined) return;
      if (to >= least) moment.held();
      else {
        const text = `${client} begins ${partition} at ${to}, and ${least} was committed.`;
        moment.broken({ text, client, partition, offsets: [to, least - 1], count: least - to });
      }
    },
  },
});

const scenarios = scenarioArbitrary({
  cluster: clusterArbitrary({ brokers: { min: 3, max: 3 } }),
  workload: workloadArbitrary({
    producers: 1,
    consumers: 0,
    partitions: 4,
    members: 2,
    consumerConfig: { "auto.offset.reset": "earliest", "session.timeout.ms": 6_000 },
  }),
  faults: { kinds: ["crash", "pause"], consumers: true, steps: 4, within: 12_000, longest: 8_000 },
  more: { settle: "30s" },
});

test("a group never loses a commit, whoever of its members and of the brokers dies", () => {
  let tested = 0;

  fc.assert(
    fc.property(scenarios, (scenario) => {
      const run = simulate(scenario, { guarantees: [KEEPS_COMMITS] });
      expectGuarantees(run, "group-keeps-commits");
      tested += run.guarantees.find(({ name }) => name === KEEPS_COMMITS.name)?.interesting ?? 0;
    }),
    { seed: 42, numRuns: 8 },
  );

  expect(tested).toBeGreaterThan(0);
});
