import { expect, test } from "vitest";
import { sim } from "../support/command.ts";

const LOSS = "scenarios/acks-1-gap.yaml";
const CALM = "scenarios/leader-failover.yaml";
const told = sim(["explain", LOSS, "--seed", "42"]);

test("a violation is told with its logs, its steps, the faults it needs and what avoids it", () => {
  expect(told.status).toBe(0);
  // Nothing, but how far it has come if it takes long.
  expect(told.stderr).toMatch(/^(\S+ {2}explaining: run \d+ of \d+\n)*$/);
  expect(told.stdout).toMatch(/^sim \S+ {2}acks-1-gap {2}seed 42 /);
  expect(told.stdout).toMatch(/\n {2}offset( +\d+)+\n {2}broker-1 .*\n/);
  expect(told.stdout).toMatch(/\n {2}because\n {3}1 +\d+\.\d{3}s {2}ack /);
  expect(told.stdout).toContain("needed: 2 (each removed in turn");
  expect(told.stdout).toContain("avoided by: acks=all\n");
});

test("the same question has the same answer, byte for byte", () => {
  expect(sim(["explain", LOSS, "--seed", "42"]).stdout).toBe(told.stdout);
});

test("sim run tells the story of what went wrong first, and the command that tells more", () => {
  const { stdout } = sim(["run", LOSS, "--seed", "42"]);

  expect(stdout).toContain("\n  because\n");
  const command = /explain (sim explain .*)\n/.exec(stdout)?.[1] ?? "";
  expect(sim(command.split(" ").slice(1)).stdout).toBe(told.stdout);
});

test("--json has the steps as data", () => {
  const { stdout } = sim(["explain", LOSS, "--seed", "42", "--json"]);
  const { because, needed, avoidedBy } = JSON.parse(stdout);

  expect(because.map(({ verb }: { verb: string }) => verb)).toContain("elect");
  expect(needed).toEqual([1]);
  expect(avoidedBy).toEqual(["acks=all"]);
});

test("a record's life is told to its end", () => {
  const { stdout, status } = sim(["explain", CALM, "--record", "orders-0:10"]);

  expect(status).toBe(0);
  expect(stdout).toContain("record orders-0:10   epoch 0");
  for (const verb of ["sent", "appended", "committed", "acked", "read"]) {
    expect(stdout).toMatch(new RegExp(`\\n +\\d+\\.\\d{3}s {2}${verb} `));
  }
  expect(stdout).toContain("in the end it is on broker-1, broker-2, broker-3");
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
});

test.each([
  [[CALM], "every guarantee holds"],
  [[LOSS, "--violation", "99"], "--violation takes a number from 1 to"],
  [[LOSS, "--violation", "one"], "--violation takes a number from 1 to"],
  [[CALM, "--record", "orders-0"], "--record takes a partition and an offset, orders-0:415"],
  [[CALM, "--record", "order-0:1"], "there is no partition order-0; there is orders-0"],
  [[CALM, "--record", "orders-0:99999999"], "no record was ever written at offset 99999999"],
  [[CALM, "--record", "orders-0:1", "--violation", "1"], "only one of them"],
])("sim explain %j is refused in one line", (words, message) => {
  const { status, stdout, stderr } = sim(["explain", ...words]);

  expect(status).toBe(2);
  expect(stdout).toBe("");
  expect(stderr).toContain(message);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
});
