import { RunPool } from "../src/cli/run-pool.ts";
import type { Case } from "../src/fuzz/play-case.ts";
import { EVENT_BUDGET, playCase } from "../src/fuzz/play-case.ts";
import { chaosOfLength } from "../test/support/chaos-of-length.ts";
import { collectGarbage, formatTable, threadTime } from "./measure.ts";

const FILE = "scenarios/chaos.yaml";

/** The general scenario of `sim fuzz`, with a story of another length. */
function chaos(story: number, settle: number, controllers = 3): (seed: number) => Case {
  const quiet = Math.ceil(story * 0.9);
  const text = chaosOfLength({ from: 1, quiet, story, settle }).replace(
    /controllers: 3/,
    `controllers: ${controllers}`,
  );
  return (seed) => ({ file: FILE, text, variant: undefined, seed: String(seed) });
}

/** A search's runs on one core: 3 brokers, 60 s of faults and 45 s to recover. */
export function benchFuzz(rounds: number): string {
  const caseOf = chaos(60, 45);
  const perRound = 30;
  const rates: number[] = [];
  const nanoseconds: number[] = [];
  // One round before the first is not counted: in it code is compiled.
  for (let round = -1; round < rounds; round++) {
    collectGarbage();
    const begin = threadTime();
    let events = 0;
    for (let i = 0; i < perRound; i++) events += playCase(caseOf(1000 + i)).events;
    const took = threadTime() - begin;
    if (round < 0) continue;
    rates.push((perRound * 1e9) / took);
    nanoseconds.push(took / events);
  }
  return formatTable([
    ["60 s of chaos, 3 brokers, guarantees on", "median", "least", "most"],
    ["seeds a second of CPU", ...spread(rates, 1)],
    [
      "simulated seconds a second of CPU",
      ...spread(
        rates.map((rate) => rate * 105),
        0,
      ),
    ],
    ["ns an event", ...spread(nanoseconds, 0)],
  ]);
}

/**
 * Two worker threads against one, on the wall's clock, in turn: each pair of rounds has the same seeds. On a machine
 * with other work the second worker is given less of a core than it would have: the best pair tells most.
 */
export async function benchWorkers(pairs: number): Promise<string> {
  const caseOf = chaos(60, 45);
  const runs = 40;
  const one = await RunPool.open(1, EVENT_BUDGET);
  const two = await RunPool.open(2, EVENT_BUDGET);
  const ratios: number[] = [];
  try {
    for (let pair = -1; pair < pairs; pair++) {
      const alone = await timed(one, caseOf, runs);
      const together = await timed(two, caseOf, runs);
      if (pair >= 0) ratios.push(alone / together);
    }
  } finally {
    await one.close();
    await two.close();
  }
  return formatTable([
    ["two workers against one", "median", "least", "most"],
    ["times as many runs a second, at least 1.6", ...spread(ratios, 2)],
  ]);
}

async function timed(pool: RunPool, caseOf: (seed: number) => Case, runs: number): Promise<number> {
  const begin = performance.now();
  await Promise.all(Array.from({ length: runs }, (_, i) => pool.play(caseOf(2000 + i))));
  return performance.now() - begin;
}

/**
 * Memory in use, after collection, in the course of many runs in one thread: of a short story, as they are many, and
 * with one controller, as three talk most until they have a leader.
 */
export function benchFuzzMemory(runs: number): string {
  const caseOf = chaos(3, 2, 1);
  const rows = [["runs of a story of 5 s", "in use, MB"]];
  for (let run = 0; run <= runs; run++) {
    if (run % Math.ceil(runs / 10) === 0 && run > 0) {
      collectGarbage();
      rows.push([String(run), (process.memoryUsage().heapUsed / 1e6).toFixed(1)]);
    }
    playCase(caseOf(run));
  }
  return formatTable(rows);
}

function spread(values: readonly number[], digits: number): string[] {
  const sorted = [...values].sort((left, right) => left - right);
  const [median = 0, least = 0, most = 0] = [sorted[sorted.length >> 1], sorted[0], sorted.at(-1)];
  return [median, least, most].map((value) => value.toFixed(digits));
}
