import { expect, test } from "vitest";
import { Hunt } from "../../../src/fuzz/hunt.ts";
import { fuzzText } from "../../../src/report/fuzz-text.ts";
import { PLAIN } from "../../../src/report/paint.ts";
import { scenarioOf } from "../../support/scenario-text.ts";

function tableOf(clients: string): string {
  const text = `version: 1
name: small
kafka: "4.3"
cluster: { brokers: 1, controllers: 1 }
topics: { orders: {}, bills: {} }
clients:
  p1: { produce: orders }
  ${clients}
random-faults: {}
`;
  const shard = { index: 0, count: 1 };
  const hunt = new Hunt({ file: "", text, variant: undefined, seed: 1, isGuided: true, shard });
  const failure = { failures: [], verdict: "pass", digest: "", events: 1, shapes: [] } as const;
  for (const one of hunt.nextRound()) hunt.take(one, { ...failure, probes: 1 });
  const scenario = scenarioOf(text);
  return fuzzText({ hunt, scenario, corpus: [], kinds: [], goOn: undefined }, PLAIN);
}

test("the table of what was reached is about what the scenario has", () => {
  const plain = tableOf("c1: { consume: orders }");
  const grouped = tableOf("c1: { consume: orders, group: workers }");
  const whole = tableOf(
    "a1: { process: { from: orders, to: bills, group: billing, guarantee: exactly-once } }",
  );

  expect(plain).toMatch(/leader change +32/);
  expect(plain).toMatch(/WARN {2}`truncation` was never reached/);
  expect(plain).not.toMatch(/rebalance|coordinator|transaction/);
  expect(grouped).toMatch(/WARN {2}`rebalance` was never reached/);
  expect(grouped).not.toMatch(/transaction (aborted|timed)/);
  expect(whole).toMatch(/rebalance[\s\S]*transaction timed out/);
});
