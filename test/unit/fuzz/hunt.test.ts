import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { HuntCase } from "../../../src/fuzz/hunt.ts";
import { Hunt } from "../../../src/fuzz/hunt.ts";
import { huntingGround } from "../../../src/fuzz/hunting-ground.ts";
import type { CaseOutcome } from "../../../src/fuzz/play-case.ts";
import { playCase } from "../../../src/fuzz/play-case.ts";
import { PROBES } from "../../../src/fuzz/probes.ts";
import { writeYaml } from "../../../src/scenario/parse-yaml.ts";
import { plainScenario } from "../../../src/scenario/plain.ts";
import { readScenario } from "../../../src/scenario/read-scenario.ts";
import { scenarioOf } from "../../support/scenario-text.ts";

const TEXT = `version: 1
name: small
kafka: "4.3"
seed: 1
cluster:
  brokers: 3
  controllers: 1
topics:
  orders: { partitions: 1, replication.factor: 3, config: { min.insync.replicas: 2 } }
clients:
  p1: { produce: orders, rate: 20/s }
random-faults: { quiet-after: 8s }
settle: 15s
`;

function huntOf(isGuided: boolean, shard = { index: 0, count: 1 }): Hunt {
  const where = { file: "small.yaml", text: TEXT, variant: undefined };
  return new Hunt({ ...where, seed: 5, isGuided, shard });
}

function outcome(more: Partial<CaseOutcome> = {}): CaseOutcome {
  return {
    failures: [],
    verdict: "pass",
    digest: "",
    events: 100,
    probes: 0,
    shapes: [],
    ...more,
  };
}

function seeds(cases: readonly HuntCase[]): string[] {
  return cases.filter(({ parent }) => parent === undefined).map(({ seed }) => seed);
}

test("without guidance a hunt goes from seed to seed", () => {
  const hunt = huntOf(false);
  const first = hunt.nextRound();
  for (const one of first) hunt.take(one, outcome({ shapes: [one.number] }));

  const [next] = hunt.nextRound();

  expect(seeds(first).slice(0, 3)).toEqual(["5", "6", "7"]);
  expect(next).toMatchObject({ seed: String(5 + first.length), parent: undefined, text: TEXT });
});

test("shards share the seeds out, and leave none out", () => {
  const parts = [0, 1, 2].map((index) => seeds(huntOf(false, { index, count: 3 }).nextRound()));

  const all = parts
    .flat()
    .map(Number)
    .sort((a, b) => a - b);
  expect(all).toEqual(all.map((_, i) => 5 + i));
});

test("a run that shows something new has children, which are scenarios without mistakes", () => {
  const hunt = huntOf(true);
  const first = hunt.nextRound();
  for (const one of first) hunt.take(one, outcome({ shapes: one.number === 3 ? [1, 2, 3] : [] }));

  const children = hunt.nextRound().filter(({ parent }) => parent !== undefined);

  expect(children.length).toBeGreaterThan(3);
  expect(new Set(children.map(({ parent }) => parent))).toEqual(new Set([3]));
  expect(new Set(children.map(({ text }) => text)).size).toBeGreaterThan(2);
  for (const { text } of children) {
    const { scenario, complaints } = readScenario(text, "child.yaml");
    expect(complaints).toEqual([]);
    expect(scenario?.randomFaults).toBeUndefined();
  }
});

test("the same outcomes lead to the same cases", () => {
  const [left, right] = [huntOf(true), huntOf(true)];
  for (let round = 0; round < 3; round++) {
    const [ours, theirs] = [left.nextRound(), right.nextRound()];
    expect(ours).toEqual(theirs);
    for (const hunt of [left, right]) {
      for (const one of ours) hunt.take(one, outcome({ shapes: [one.number % 7] }));
    }
  }
});

test("failures of one kind are one finding, shown by its smallest run", () => {
  const hunt = huntOf(false);
  const [one, other, third] = hunt.nextRound() as [HuntCase, HuntCase, HuntCase];
  const lost = { kind: "lost: cut", guarantee: "no-acked-loss", text: "Lost.", partition: "o-0" };

  hunt.take(one, outcome({ failures: [lost], events: 300 }));
  hunt.take(other, outcome({ failures: [lost], events: 200 }));
  hunt.take(third, outcome({ failures: [{ ...lost, kind: "lost: crash" }], events: 900 }));

  const [first, second] = hunt.findings();
  expect(hunt.findings()).toHaveLength(2);
  expect(first).toMatchObject({ runs: 2, seeds: ["5", "6"], smallest: { seed: "6", events: 200 } });
  expect(second).toMatchObject({ runs: 1, kind: "lost: crash" });
});

test("a run tells which probes it reached, and makes no failure of what is fine", () => {
  const { failures, verdict, probes, shapes, digest } = playCase({
    text: TEXT.replace("random-faults: { quiet-after: 8s }", CRASH),
    file: "small.yaml",
    variant: undefined,
    seed: "1",
  });

  const reached = PROBES.filter((_, i) => (probes & (1 << i)) !== 0).map(({ name }) => name);
  expect(reached).toContain("leader change");
  expect(reached).not.toContain("unclean election");
  expect(shapes.length).toBeGreaterThan(3);
  expect(failures).toEqual([]);
  expect(verdict).toBe("pass");
  expect(digest).toMatch(/^[0-9a-f]{16}$/);
});

test("a run that does not end within its budget is a failure, and not waited for", () => {
  const one = { text: TEXT, file: "small.yaml", variant: undefined, seed: "1" };

  expect(playCase(one, 500).failures).toMatchObject([{ guarantee: "budget" }]);
});

test("a run in which the simulator breaks is a failure with its message", () => {
  const one = { text: "nonsense", file: "small.yaml", variant: undefined, seed: "1" };

  expect(playCase(one).failures).toMatchObject([{ guarantee: "simulator" }]);
});

test("what was expected to hold and did not is a failure, also where the configuration permits it", () => {
  const plain = plainScenario(readFileSync("scenarios/unclean-election.yaml", "utf8"), undefined);
  plain["expect"] = ["no-acked-loss"];
  delete plain["variants"];

  const one = { text: writeYaml(plain), file: "lossy.yaml", variant: undefined, seed: "7" };
  const { failures } = playCase(one);

  expect(failures).toMatchObject([{ guarantee: "no-acked-loss", partition: "orders-0" }]);
  expect(failures[0]?.kind).toMatch(/^acked-record-lost: .*elect/);
});

test("a scenario without random faults is hunted through the whole catalogue", () => {
  const text = TEXT.replace("random-faults: { quiet-after: 8s }", "duration: 8s");

  const ground = huntingGround(`${text}expect: [no-acked-loss]\n`, scenarioOf(text), false);

  const { scenario, complaints } = readScenario(ground.text, "ground.yaml");
  expect(complaints).toEqual([]);
  expect(ground.isChanged).toBe(true);
  expect(scenario?.randomFaults).toMatchObject({ generators: [], unlimited: false });
  expect(scenario?.expect).toEqual([]);
  expect(huntingGround(TEXT, scenarioOf(TEXT), false)).toMatchObject({
    text: TEXT,
    isChanged: false,
  });
  const unlimited = huntingGround(TEXT, scenarioOf(TEXT), true);
  expect(readScenario(unlimited.text, "ground.yaml").scenario?.randomFaults?.unlimited).toBe(true);
});

const CRASH = `faults:
  - at: 2s
    crash: leader(orders-0)
duration: 8s`;
