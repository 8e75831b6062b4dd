import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RunPool } from "../../src/cli/run-pool.ts";
import type { Case } from "../../src/fuzz/play-case.ts";

/** Stands in for what a worker loads: it dies of the seeds that say so, in two ways. */
const WORKER = `exports.play = ({ one }) => {
  if (one.seed.startsWith("exit")) process.exit(7);
  if (one.seed.startsWith("throw")) setImmediate(() => { throw new Error("no memory left"); });
  if (one.seed.startsWith("throw")) return new Promise(() => {});
  return { failures: [], verdict: "pass", digest: one.seed, events: 1, probes: 0, shapes: [] };
};`;

const command = process.argv[1] ?? "";
let pool: RunPool;

beforeEach(async () => {
  const place = mkdtempSync(join(tmpdir(), "run-pool-"));
  writeFileSync(join(place, "fuzz-worker.cjs"), WORKER);
  writeFileSync(join(place, "sim.cjs"), "");
  process.argv[1] = join(place, "sim.cjs");
  pool = await RunPool.open(2, 1_000);
});

afterEach(async () => {
  process.argv[1] = command;
  await pool.close();
});

function caseOf(seed: string): Case {
  return { file: "", text: "", variant: undefined, seed };
}

test("workers that end or throw are failures of their runs, however many, and the other runs go on", async () => {
  const seeds = ["1", "exit-1", "2", "exit-2", "exit-3", "throw-1", "3", "exit-4", "4"];

  const outcomes = await Promise.all(seeds.map((seed) => pool.play(caseOf(seed))));

  expect(outcomes.map((outcome) => outcome?.failures[0]?.text ?? outcome?.digest)).toEqual([
    "1",
    "The worker of this run died: it ended with exit code 7",
    "2",
    "The worker of this run died: it ended with exit code 7",
    "The worker of this run died: it ended with exit code 7",
    "The worker of this run died: no memory left",
    "3",
    "The worker of this run died: it ended with exit code 7",
    "4",
  ]);
});
