import { defineGuarantee, defineScenario, simulate } from "kafka-sim";
import "kafka-sim/vitest";
import { expect, test } from "vitest";

const SECOND = 1_000_000;

/** A promise that Kafka does not make, and that an application may need: nobody is ever kept waiting for long. */
const READ_SOON = defineGuarantee({
  name: "read-soon",
  sentence: "A record is read within three seconds of its acknowledgement.",
  begin: () => new Map<string, number>(),
  on: {
    "send-ended"(acked, { partition, outcome, baseOffset, values }, { at }) {
      if (outcome !== "acked" || baseOffset < 0) return;
      for (let i = 0; i < values.length; i++) acked.set(`${partition}:${baseOffset + i}`, at);
    },
    polled(acked, { client, partition, firstOffset, lastOffset }, moment) {
      for (let offset = firstOffset; offset <= lastOffset; offset++) {
        const waited = moment.at - (acked.get(`${partition}:${offset}`) ?? moment.at);
        if (waited <= 3 * SECOND) moment.held();
        else {
          const text = `${client} was given ${partition}:${offset} after ${waited / SECOND} s.`;
          moment.broken({ text, client, partition, offsets: [offset, offset] });
          return;
        }
      }
    },
  },
});

const scenario = defineScenario({
  version: 1,
  name: "read-soon",
  kafka: "4.3",
  cluster: { brokers: 3, controllers: 1 },
  topics: { orders: { partitions: 1, "replication.factor": 3 } },
  clients: {
    p1: { produce: "orders", rate: "50/s", records: 500 },
    c1: { consume: "orders", config: { "auto.offset.reset": "earliest" } },
  },
  faults: [{ at: "3s", pause: "c1", for: "1s" }],
  variants: { "long-pause": { set: { "faults/0/for": "30s" } } },
});

test("a reader that is held up for a second is not late", () => {
  const run = simulate(scenario, { seed: 7, guarantees: [READ_SOON] });

  expect(run).toHoldGuarantees("read-soon", "no-acked-loss");
});

test("one that is held up for long is, and no record is lost by it", () => {
  const run = simulate(scenario, { seed: 7, variant: "long-pause", guarantees: [READ_SOON] });

  expect(run).toViolate("read-soon");
  expect(run).not.toViolate("no-acked-loss");
});
