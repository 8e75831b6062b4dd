import type { FailureKind, Hunt } from "../fuzz/hunt.ts";
import type { Failure } from "../fuzz/play-case.ts";
import type { Probe } from "../fuzz/probes.ts";
import { PROBES } from "../fuzz/probes.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { counted, flowed, wrapped } from "./layout.ts";
import type { Paint } from "./paint.ts";

/** What came of a campaign. */
export interface FuzzReport {
  readonly hunt: Hunt;
  readonly scenario: Scenario;
  /** Runs of earlier campaigns that were made again, and what still fails of them. */
  readonly corpus: readonly { readonly file: string; readonly failures: readonly Failure[] }[];
  readonly kinds: readonly ShownKind[];
  /** The command that goes on, if it was interrupted. */
  readonly goOn: string | undefined;
}

/** A kind of failure, with the command that makes its smallest run again. */
export interface ShownKind {
  readonly kind: FailureKind;
  /** `A`, `B`, ... */
  readonly letter: string;
  readonly again: string;
}

/** `A` to `Z`, then `AA`. */
export function letterOf(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : letterOf(Math.floor(index / 26) - 1) + last;
}

/** What `sim fuzz` prints below its headline. */
export function fuzzText(report: FuzzReport, paint: Paint): string {
  const { hunt, corpus, kinds, goOn } = report;
  const lines: string[] = [];
  for (const { kind, letter } of kinds) lines.push(...kindLines(kind, letter, paint), "");
  const stillFailing = corpus.filter(({ failures }) => failures.length > 0);
  if (corpus.length > 0) {
    const cases = counted(corpus.length, "case");
    lines.push(`  corpus: ${cases} played first, ${stillFailing.length} of them failing`);
    for (const { file, failures } of stillFailing)
      lines.push(`    ${file}  ${failures[0]?.guarantee}`);
    lines.push("");
  }
  lines.push(...reachedLines(report), "");
  const isFine = kinds.length === 0 && stillFailing.length === 0;
  const what = kinds.length === 0 ? "no failure" : `${counted(kinds.length, "kind")} of failure`;
  const parts = [
    `${isFine ? paint.good("PASS") : paint.bad("FAIL")}  ${what} in ${counted(hunt.runs, "run")}`,
    `${hunt.events} events`,
    `${hunt.shapes} shapes of state`,
  ];
  lines.push(...flowed(parts, "   ", 2));
  if (hunt.inconclusive > 0) {
    const silent = counted(hunt.inconclusive, "run");
    lines.push(`  ${silent} said nothing: a step never fired, or nothing was acknowledged`);
  }
  for (const { letter, again } of kinds) lines.push(`  ${letter.padEnd(2)} ${again}`);
  if (goOn !== undefined) lines.push(...wrapped(`interrupted; to go on: ${goOn}`, 2));
  return lines.join("\n");
}

/** The same for a program. */
export function fuzzJson(
  { hunt, scenario, corpus, kinds, goOn }: FuzzReport,
  head: { readonly version: string; readonly scenario: string; readonly seed: string },
): string {
  const { runs, events, shapes, inconclusive, reached } = hunt;
  return JSON.stringify(
    {
      schema: "sim-fuzz/1",
      ...head,
      runs,
      events,
      shapes,
      inconclusive,
      reached: Object.fromEntries(
        probesOf(scenario).map(({ name, number }) => [name, reached[number] ?? 0]),
      ),
      kinds: kinds.map(({ kind, again }) => {
        const { smallest, ...rest } = kind;
        return { ...rest, smallest: { seed: smallest.seed, events: smallest.events }, again };
      }),
      corpus,
      goOn,
    },
    undefined,
    2,
  );
}

function kindLines(
  { kind, guarantee, text, partition, runs, seeds, smallest }: FailureKind,
  letter: string,
  paint: Paint,
): string[] {
  const [name, shape] = kind.split(": ");
  const found =
    seeds.length > 0 ? `${counted(seeds.length, "seed")}: ${seeds.join(" ")}` : "no seed";
  return [
    `  ${paint.bad(letter.padEnd(2))}  ${[name, guarantee, partition].filter((one) => one !== "").join("  ")}`,
    ...wrapped(text, 6),
    ...(shape === undefined || shape === "" ? [] : wrapped(`by way of: ${shape}`, 6)),
    `      ${counted(runs, "run")}, ${found}   smallest ${smallest.events} events`,
  ];
}

/** Those that are about something that the scenario has, with their numbers. */
function probesOf(scenario: Scenario): (Probe & { readonly number: number })[] {
  return PROBES.map((probe, number) => ({ ...probe, number })).filter(
    ({ isOf }) => isOf?.(scenario) ?? true,
  );
}

/** Two columns, and a warning for each that was never reached. */
function reachedLines({ hunt: { reached, runs }, scenario }: FuzzReport): string[] {
  const probes = probesOf(scenario);
  const rows = probes.map(({ name, number }) => {
    const count = reached[number] ?? 0;
    return `${name.padEnd(29)} ${String(count).padStart(6)}`;
  });
  const half = Math.ceil(rows.length / 2);
  const lines = [
    `  ${"reached in".padEnd(29)} ${"runs".padStart(6)}   reached in${" ".repeat(19)}   runs`,
  ];
  for (let i = 0; i < half; i++) lines.push(`  ${rows[i]}   ${rows[half + i] ?? ""}`.trimEnd());
  const never = probes.filter(({ number }) => (reached[number] ?? 0) === 0);
  if (runs > 0 && never.length > 0) {
    lines.push("");
    for (const { name, needs } of never) {
      lines.push(...wrapped(`WARN  \`${name}\` was never reached: it takes ${needs}`, 2));
    }
  }
  return lines;
}
