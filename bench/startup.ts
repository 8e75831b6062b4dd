import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { formatTable } from "./measure.ts";

const SIM = "dist/sim.cjs";
const EMPTY = "dist/empty.cjs";
const PROCESS_STAT = "/proc/self/stat";
/** Of a clock tick, the unit of `/proc`: Linux shows 100 a second, whatever it counts in. */
const TICK_MS = 10;

interface Start {
  readonly title: string;
  readonly words: readonly string[];
  readonly wall: number[];
  /** Milliseconds of processor time, all rounds together; NaN where it is not told. */
  processor: number;
}

/**
 * Starts Node for nothing, for `sim --help` and for a whole run, in turn: the first says what Node itself
 * takes. On a busy machine the processor time is the one to look at.
 */
export function benchStartup(rounds: number): string {
  spawnSync(process.execPath, ["build.mjs", "command", SIM], { stdio: "inherit" });
  writeFileSync(EMPTY, "");
  const starts = [
    start("node, an empty script", [EMPTY]),
    start("sim --help", [SIM, "--help"]),
    start("sim run leader-failover", [SIM, "run", "scenarios/leader-failover.yaml"]),
  ];
  for (let round = -1; round < rounds; round++) {
    for (const one of starts) launch(one, round >= 0);
  }
  const [empty] = starts;
  const rows = starts.map(({ title, wall, processor }) => [
    title,
    `${quantile(wall, 0.5).toFixed(0)} ms [${quantile(wall, 0).toFixed(0)}-${quantile(wall, 1).toFixed(0)}]`,
    `${(quantile(wall, 0.5) / quantile(empty?.wall ?? [], 0.5)).toFixed(2)}x`,
    Number.isNaN(processor) ? "-" : `${(processor / rounds).toFixed(0)} ms`,
    Number.isNaN(processor) ? "-" : `${(processor / (empty?.processor ?? 1)).toFixed(2)}x`,
  ]);
  const heading = ["start-up, floor: 1.3x for --help, 1 s for a run", "wall", "", "processor", ""];
  return formatTable([heading, ...rows]);
}

function start(title: string, words: readonly string[]): Start {
  return { title, words, wall: [], processor: 0 };
}

function launch(one: Start, counts: boolean): void {
  const begin = performance.now();
  const before = childrensTime();
  const { status } = spawnSync(process.execPath, one.words, { stdio: "ignore" });
  if (status !== 0) throw new Error(`${one.title} ended with ${status}`);
  if (!counts) return;
  one.wall.push(performance.now() - begin);
  one.processor += childrensTime() - before;
}

/** Milliseconds that children which have ended had a processor. */
function childrensTime(): number {
  if (!existsSync(PROCESS_STAT)) return Number.NaN;
  const text = readFileSync(PROCESS_STAT, "utf8");
  // The fields after the name, which may have blanks in it: cutime and cstime are the 14th and 15th.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.round((sorted.length - 1) * q)] ?? Number.NaN;
}
