import { existsSync, readFileSync } from "node:fs";

const SCHEDSTAT = `/proc/self/task/${process.pid}/schedstat`;
const hasSchedstat = existsSync(SCHEDSTAT);

/** What one run of a contender did. */
export interface Outcome {
  readonly operations: number;
  readonly nanoseconds: number;
}

export interface Contender {
  readonly name: string;
  /** Does the work once, its preparation untimed. */
  run(): Outcome;
}

/** Our code against the textbook's in the same run, and what the ratio and the rate ought to be. */
export interface Duel {
  readonly title: string;
  readonly ours: Contender;
  readonly textbook: Contender;
  /** The least that is accepted: times the textbook's speed, and millions of operations a second. */
  readonly floor: { readonly ratio: number; readonly rate: number };
  readonly goal: { readonly rate: number };
}

/** Nanoseconds an operation: the median of the rounds, and the least and the most. */
export interface Measured {
  readonly name: string;
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Runs the contenders in turn, round after round, so that a machine that slows down slows all of
 * them. One round before the first is not counted: in it code is compiled.
 */
export function measure(contenders: readonly Contender[], rounds: number): Measured[] {
  const costs = contenders.map((): number[] => []);
  for (let round = -1; round < rounds; round++) {
    for (const [i, contender] of contenders.entries()) {
      collectGarbage();
      const outcome = contender.run();
      if (round >= 0) costs[i]?.push(outcome.nanoseconds / outcome.operations);
    }
  }
  return contenders.map(({ name }, i) => summarize(name, costs[i] ?? []));
}

/** Fights the duels, one table row each. The ratios count: absolute figures drift with the machine. */
export function fight(duels: readonly Duel[], rounds: number): string {
  const heading = ["", "ours", "rate", "textbook", "ratio", "floor", "floor", "goal"];
  const rows = duels.map(({ title, ours, textbook, floor, goal }) => {
    const [mine, theirs] = measure([ours, textbook], rounds);
    if (mine === undefined || theirs === undefined) return [title];
    const ratio = theirs.median / mine.median;
    return [
      title,
      formatCost(mine),
      formatRate(mine),
      formatCost(theirs),
      `${ratio.toFixed(1)}x`,
      `${floor.ratio}x${ratio < floor.ratio ? " MISSED" : ""}`,
      `${floor.rate} M/s`,
      `${goal.rate} M/s`,
    ];
  });
  return formatTable([heading, ...rows]);
}

/** Times a piece of work. */
export function timed(operations: number, work: () => void): Outcome {
  const begin = threadTime();
  work();
  return { operations, nanoseconds: threadTime() - begin };
}

/**
 * Nanoseconds that the main thread has had a processor, so that a busy machine disturbs less; where
 * that is not told (outside Linux), the time of the clock on the wall.
 */
export function threadTime(): number {
  if (!hasSchedstat) return performance.now() * 1e6;
  return Number(readFileSync(SCHEDSTAT, "utf8").split(" ")[0]);
}

/** `92 ns [90-97]`. */
export function formatCost(measured: Measured): string {
  return `${measured.median.toFixed(0)} ns [${measured.low.toFixed(0)}-${measured.high.toFixed(0)}]`;
}

/** `10.9 M/s`. */
export function formatRate(measured: Measured): string {
  return `${(1000 / measured.median).toFixed(1)} M/s`;
}

/** Rows of text as columns; the first row is the heading, the first column is flush left. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Only under `node --expose-gc`; without it a round may pay for the garbage of the one before. */
export function collectGarbage(): void {
  (globalThis as { gc?: () => void }).gc?.();
}

function summarize(name: string, costs: readonly number[]): Measured {
  const sorted = [...costs].sort((left, right) => left - right);
  const median = sorted[sorted.length >> 1] ?? Number.NaN;
  return { name, median, low: sorted[0] ?? median, high: sorted.at(-1) ?? median };
}
