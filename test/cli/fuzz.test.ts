import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { baseWith } from "../support/base-scenario.ts";
import type { Ended } from "../support/command.ts";
import { sim } from "../support/command.ts";

const CHAOS = "random-faults: { generators: [crash, power-cut], swarm: false, quiet-after: 4s }\n";

/** Truncation by high watermark loses what was committed, in some of the first seeds. */
const BROKEN = baseWith(
  ["name: base", "name: broken"],
  ["controllers: 1", "controllers: 1\n  protocol: { truncation: high-watermark }"],
  ["records: 100 }", "}"],
  ["rate: 100/s,", "rate: 100/s"],
  ["faults:\n  - name: kill\n    at: 1s\n    crash: leader(orders-0)\n", CHAOS],
  ["variants:\n  five-brokers: { set: { cluster/brokers: 5 } }\n", ""],
  ["- no-divergence", "- committed-prefix-kept"],
);
const FINE = BROKEN.replace("high-watermark", "on-fetch").replace("name: broken", "name: fine");

/** A directory of its own, with both scenarios. */
function newPlace(): (words: string) => Ended & { readonly cwd: string } {
  const cwd = mkdtempSync(join(tmpdir(), "sim-fuzz-"));
  writeFileSync(join(cwd, "broken.yaml"), BROKEN);
  writeFileSync(join(cwd, "fine.yaml"), FINE);
  return (words) => ({ ...sim(words.split(" "), { cwd }), cwd });
}

test("fuzz finds the seed in which a guarantee breaks, and says how to see it again", () => {
  const run = newPlace();
  const { status, stdout } = run("fuzz broken.yaml --runs 40 --bail 1 --workers 2");

  expect(status).toBe(1);
  expect(stdout).toMatch(
    /^ {2}A {3}committed-record-truncated {2}committed-prefix-kept {2}orders-0$/m,
  );
  expect(stdout).toMatch(/^FAIL {2}1 kind of failure in \d+ runs?/m);
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  const [, again = ""] = /^ {2}A {2}sim (.*)$/m.exec(stdout) ?? [];
  expect(run(again)).toMatchObject({ status: 1 });
  // What was found is kept, and played first the next time.
  expect(run("fuzz broken.yaml --runs 1 --workers 1").stdout).toContain(
    "corpus: 1 case played first, 1 of them failing",
  );
});

test("the number of workers changes nothing of what is found", () => {
  const one = newPlace()("fuzz fine.yaml --runs 34 --workers 1");
  const two = newPlace()("fuzz fine.yaml --runs 34 --workers 2");

  expect(one.status).toBe(0);
  expect(one.stdout).toMatch(/^PASS {2}no failure in 34 runs/m);
  expect(two.stdout).toBe(one.stdout);
});

test("a campaign goes on where it ended, and comes to the same", () => {
  const whole = newPlace()("fuzz fine.yaml --runs 34 --workers 2");
  const run = newPlace();
  run("fuzz fine.yaml --runs 5 --workers 1");

  const resumed = run("fuzz fine.yaml --runs 34 --workers 1 --resume");

  expect(resumed.stdout).toBe(whole.stdout);
  expect(run("fuzz broken.yaml --runs 10 --resume")).toMatchObject({
    status: 2,
    stdout: "",
    stderr: expect.stringMatching(/^error: --resume: reports\/fuzz\/broken-1\.json: no such file/),
  });
});

test("what is no number of runs, workers or shard is refused before anything runs", () => {
  const run = newPlace();

  for (const [words, message] of [
    ["--runs none", "--runs takes a whole number from 1 on, not `none`"],
    ["--workers 0", "--workers takes a whole number from 1 on, not `0`"],
    ["--shard 3/2", "--shard takes a part such as 1/4, not `3/2`"],
    ["--time 10", "`--time: 10` has no unit; write 10s or 10ms"],
  ]) {
    expect(run(`fuzz fine.yaml ${words}`)).toMatchObject({
      status: 2,
      stdout: "",
      stderr: `error: ${message}\n`,
    });
  }
});

test("shrink writes the smallest run down, which fails in the same way, as its token does", () => {
  const run = newPlace();
  const { stdout: found } = run("fuzz broken.yaml --runs 40 --bail 1 --workers 2");
  const [, file, seed] = /sim run (\S+)(?: --seed (\d+))?$/m.exec(found) ?? [];
  const words = `shrink ${file}${seed === undefined ? "" : ` --seed ${seed}`} --out small.yaml`;

  const { status, stdout } = run(words);

  expect(status).toBe(0);
  expect(stdout).toMatch(/every remaining part is needed$/m);
  const [, before, after] = /events {2}(\d+) -> (\d+)/.exec(stdout) ?? [];
  expect(Number(after)).toBeLessThan(Number(before) / 4);
  expect(run("check small.yaml").status).toBe(0);
  const smallest = run("run small.yaml --seed 1");
  expect(run("run small.yaml").stdout).toContain("committed-record-truncated");
  expect(smallest.status).toBeLessThan(4);
  const [, token = ""] = /^ {2}token {2}(\S+)$/m.exec(stdout) ?? [];
  expect(run(`replay ${token}`).stderr).toMatch(/^replayed: the same \d+ events as recorded$/m);
  expect(readdirSync(smallest.cwd)).toContain("small.yaml");
});

test("shrink says so where nothing fails", () => {
  expect(newPlace()("shrink fine.yaml")).toMatchObject({
    status: 2,
    stdout: "",
    stderr: "error: with seed 1 every guarantee holds: there is nothing to shrink\n",
  });
});

test("selftest finds out the engines that are known to be broken, and no other", () => {
  const { status, stdout } = sim(["selftest", "--quick"]);

  expect(stdout).toMatch(/^ {2}ok {2}the engine as it is .* nothing found$/m);
  expect(stdout).toMatch(/^ {2}ok {2}truncation by high watermark .* committed-prefix-kept$/m);
  expect(stdout.match(/^ {2}ok {2}/gm)?.length).toBeGreaterThanOrEqual(4);
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(status).toBe(0);
}, 300_000);
