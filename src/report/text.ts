import { formatSeconds } from "../base/time.ts";
import type { Violation } from "../checkers/guarantee.ts";
import type { Choice } from "../cluster/choices.ts";
import type {
  ClientRow,
  ExpectationOutcome,
  GroupRow,
  PartitionRow,
  RunResult,
} from "../cluster/run-result.ts";
import type { Explanation } from "../explain/explain.ts";
import { meanOf } from "../trace/ownership-view.ts";
import type { TimelineEntry } from "../trace/timeline.ts";
import { explanationLines } from "./explanation-text.ts";
import { counted, flowed, table, WIDTH, wrapped } from "./layout.ts";
import type { Paint } from "./paint.ts";
import { shellWords } from "./shell-words.ts";

export interface TextOptions {
  readonly paint: Paint;
  /** Everything, not only what a first look needs. */
  readonly verbose: boolean;
  /** Commands to try next if something was lost, word by word. */
  readonly tries: readonly (readonly string[])[];
  /** Of one of the violations. */
  readonly explanation: Explanation | undefined;
}

export interface Headline {
  readonly version: string;
  readonly scenario: string;
  readonly variant: string | undefined;
  readonly seed: string;
  readonly kafka: string;
  /** Undefined if the cluster could not even be laid out. */
  readonly size: { readonly brokers: number; readonly partitions: number } | undefined;
}

/** Lines of the story that are shown unless all are asked for. */
const STORY_LINES = 40;
/** Partitions, and violations, that are shown unless all are asked for. */
const MOST_PARTITIONS = 20;
const MOST_VIOLATIONS = 10;
/** The path of the choice that sums up all random faults. */
const RANDOM_FAULTS = "random-faults";
/** Where the names of faults begin, if there is room. */
const NOTE_COLUMN = 66;

/** The first line of a run's output, printed before anything can go wrong. */
export function headline({ version, scenario, variant, seed, kafka, size }: Headline): string {
  const parts = [
    `sim ${version}`,
    variant === undefined ? scenario : `${scenario}/${variant}`,
    `seed ${seed}`,
    `kafka ${kafka}`,
  ];
  if (size !== undefined) {
    parts.push(`${counted(size.brokers, "broker")}, ${counted(size.partitions, "partition")}`);
  }
  return flowed(parts, "  ", 2).join("\n");
}

/** What `sim run` prints below the headline; ends without a newline. */
export function resultText(result: RunResult, options: TextOptions): string {
  const { paint } = options;
  const blocks = [
    drawnLines(result.drawn, options),
    story(result.timeline, options),
    partitionTable(result.partitions, options),
    [...clientLines(result), ...groupLines(result, options)],
    ...violationBlocks(result, options),
    expectationLines(result.expectations, paint),
    guaranteeLines(result, options),
    verdictLines(result, options),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/** What chance has decided beforehand: the character of random faults, or with -v all of it. */
function drawnLines(drawn: readonly Choice[], { verbose }: TextOptions): string[] {
  return drawn
    .filter(({ path }) => verbose || path === RANDOM_FAULTS)
    .flatMap(({ path, value }) => wrapped(`${path}: ${value}`, 2));
}

function story(timeline: readonly TimelineEntry[], options: TextOptions): string[] {
  const entries = timeline.map(storyLines);
  if (options.verbose || entries.length <= STORY_LINES) return entries.flat();
  const hidden = entries.length - STORY_LINES;
  const half = STORY_LINES / 2;
  const gap = options.paint.faint(`           ... ${hidden} more lines; -v shows them`);
  return [...entries.slice(0, half).flat(), gap, ...entries.slice(-half).flat()];
}

/** `  10.391s  elect    orders-0  broker-2 -> broker-1  epoch 0 -> 1`, the fault's name at the right. */
function storyLines({ at, verb, text, note }: TimelineEntry): string[] {
  const head = `${formatSeconds(at).padStart(9)}  ${verb.padEnd(9)} `;
  const lines = wrapped(text, head.length).map((line, i) => (i === 0 ? head + line.trim() : line));
  if (note === "") return lines;
  const name = `[${note}]`;
  const last = lines.pop() ?? "";
  const room = WIDTH - name.length;
  if (last.length + 2 > room) return [...lines, last, name.padStart(WIDTH)];
  return [...lines, last.padEnd(Math.min(room, NOTE_COLUMN)) + name];
}

function partitionTable(rows: readonly PartitionRow[], { verbose, paint }: TextOptions): string[] {
  if (rows.length === 0) return [];
  const shown = verbose ? rows : rows.slice(0, MOST_PARTITIONS);
  const cells = shown.map((row) => [
    row.topic,
    String(row.partition),
    row.leader < 0 ? "none" : String(row.leader),
    String(row.leaderEpoch),
    String(row.highWatermark),
    String(row.logEndOffset),
    row.isr.length === 0 ? "-" : row.isr.join(","),
    row.outOfSync.length === 0 ? "-" : row.outOfSync.join(","),
  ]);
  const lines = table([
    ["Topic", "Partition", "Leader", "Epoch", "HW", "LEO", "Isr", "Out-of-sync"],
    ...cells,
  ]);
  const hidden = rows.slice(shown.length);
  if (hidden.length === 0) return lines;
  const unwell = hidden.filter(({ leader, outOfSync }) => leader < 0 || outOfSync.length > 0);
  const how = unwell.length === 0 ? "all in sync" : `${unwell.length} not all in sync`;
  return [...lines, paint.faint(`  ... ${hidden.length} more, ${how}; -v shows them`)];
}

function clientLines({ clients, groups }: RunResult): string[] {
  const width = nameWidth({ clients, groups });
  return clients.flatMap((client) => {
    const [first, ...others] = countsOf(client);
    return flowed([`  ${client.name.padEnd(width)} ${first}`, ...others], "   ", width + 3);
  });
}

function countsOf(client: ClientRow): string[] {
  if (client.kind === "consumer") {
    const { read, again, lag, worstRealtimeLag, failedCalls } = client;
    const behind = `behind ${formatSeconds(worstRealtimeLag)}`;
    const threw = failedCalls > 0 ? [`failed calls ${failedCalls}`] : [];
    return [`read ${read}`, `again ${again}`, `lag ${lag}`, behind, ...threw];
  }
  if (client.kind === "processor") {
    const { read, again, lag, acked, committed, aborted, rows, failedCalls } = client;
    const wrote = [acked > 0 ? `acked ${acked}` : "", rows > 0 ? `rows ${rows}` : ""];
    const ends = committed + aborted > 0 ? [`committed ${committed}`, `aborted ${aborted}`] : [];
    const threw = failedCalls > 0 ? [`failed calls ${failedCalls}`] : [];
    const told = [`read ${read}`, `again ${again}`, `lag ${lag}`, ...wrote, ...ends, ...threw];
    return told.filter((text) => text !== "");
  }
  const { acked, failed, unknown, retries, longestStall } = client;
  return [
    `acked ${acked}`,
    `failed ${failed}`,
    `unknown ${unknown}`,
    `retries ${retries}`,
    `stall ${formatSeconds(longestStall)}`,
  ];
}

function nameWidth({ clients, groups }: Pick<RunResult, "clients" | "groups">): number {
  return Math.max(7, ...[...clients, ...groups].map(({ name }) => name.length));
}

/** Of each group, how long partitions had no owner; with -v, of each partition. */
function groupLines({ clients, groups }: RunResult, { verbose }: TextOptions): string[] {
  const width = nameWidth({ clients, groups });
  return groups.flatMap(({ name, rebalances, processed, reprocessed, unowned }) => {
    const counts = [
      `rebalances ${rebalances}`,
      `processed ${processed}`,
      `again ${reprocessed}`,
      ...unownedTexts(unowned, verbose),
    ];
    const [first, ...others] = counts;
    return flowed([`  ${name.padEnd(width)} ${first}`, ...others], "   ", width + 3);
  });
}

function unownedTexts(unowned: GroupRow["unowned"], verbose: boolean): string[] {
  if (unowned.length === 0) return [];
  if (verbose) {
    return unowned.map(({ partition, total }) => `${partition} unowned ${formatSeconds(total)}`);
  }
  const worst = unowned.reduce((most, { total }) => Math.max(most, total), 0);
  return [`unowned ${formatSeconds(meanOf(unowned))}, at worst ${formatSeconds(worst)}`];
}

/** One block a violation that no other brought with it; with -v, one for each. */
function violationBlocks(result: RunResult, options: TextOptions): string[][] {
  const { violations } = result;
  const wanted = options.verbose
    ? violations
    : violations.filter(({ follows }) => follows === undefined);
  const shown = options.verbose ? wanted : wanted.slice(0, MOST_VIOLATIONS);
  const blocks = shown.map((violation) => {
    const at = violations.indexOf(violation);
    const following = violations.filter(({ follows }) => follows === at);
    return violationBlock(violation, following, options);
  });
  const hidden = wanted.length - shown.length;
  if (hidden > 0) {
    blocks.push([options.paint.faint(`... ${counted(hidden, "more violation")}; -v shows them`)]);
  }
  return blocks;
}

/** What is said of one violation. */
export function violationBlock(
  violation: Violation,
  following: readonly Violation[],
  { paint, explanation }: Pick<TextOptions, "paint" | "explanation">,
): string[] {
  const isBug = violation.permitted === undefined;
  const word = isBug ? "BUG" : "PERMITTED";
  const where = violation.partition === "" ? [] : [violation.partition];
  const when = `at ${formatSeconds(violation.at)}, event ${violation.event}`;
  const head = flowed([`${word}  ${violation.kind}`, ...where, when], "   ", 2).join("\n");
  const lines = [
    (isBug ? paint.bad(word) : paint.strong(word)) + head.slice(word.length),
    ...violation.text.flatMap((sentence) => wrapped(sentence, 2)),
  ];
  if (violation.permitted !== undefined) {
    lines.push(...wrapped(`permitted: ${violation.permitted}`, 2));
  }
  if (following.length > 0) {
    const kinds = [...new Set(following.map(({ kind }) => kind))];
    lines.push(...wrapped(`followed by: ${kinds.join(", ")}`, 2));
  }
  if (explanation !== undefined && isSame(explanation.violation, violation)) {
    lines.push(...explanationLines(explanation));
  }
  return lines;
}

/** Of two runs that are the same. */
function isSame(one: Violation, other: Violation): boolean {
  return one.event === other.event && one.kind === other.kind && one.partition === other.partition;
}

/** Two columns where both fit, one where not. */
function expectationLines(expectations: readonly ExpectationOutcome[], paint: Paint): string[] {
  const lines: string[] = [];
  for (let i = 0; i < expectations.length; i++) {
    const left = expectations[i];
    const right = expectations[i + 1];
    if (left === undefined) break;
    const before = `  ${marked(left.ok, paint)}  `;
    if (right !== undefined && left.text.length <= 32 && right.text.length <= 36) {
      const gap = " ".repeat(34 - left.text.length);
      lines.push(`${before}${left.text}${gap}${marked(right.ok, paint)}  ${right.text}`);
      i++;
    } else {
      const [first, ...rest] = wrapped(left.text, 6);
      lines.push(before + (first ?? "").trimStart(), ...rest);
    }
  }
  return lines;
}

function mark(ok: boolean | undefined): string {
  if (ok === undefined) return "--";
  return ok ? "ok" : "X ";
}

function marked(ok: boolean | undefined, paint: Paint): string {
  if (ok === undefined) return paint.faint(mark(ok));
  return ok ? paint.good(mark(ok)) : paint.bad(mark(ok));
}

function guaranteeLines(result: RunResult, { verbose }: TextOptions): string[] {
  const { guarantees } = result;
  if (verbose) {
    return table([
      ["guarantee", "", "evaluated", "interesting"],
      ...guarantees.map(({ name, state, evaluations, interesting }) => [
        name,
        state,
        String(evaluations),
        String(interesting),
      ]),
    ]);
  }
  const named = (state: string): string[] =>
    guarantees.filter((one) => one.state === state).map(({ name }) => name);
  const violated = named("violated");
  const untested = named("untested");
  const lines = wrapped(
    `guarantees: ${named("held").length} held` +
      (violated.length === 0 ? "" : `; violated ${violated.join(", ")}`) +
      (untested.length === 0 ? "" : `; untested ${fewOf(untested)}`),
    2,
  );
  return lines;
}

/** Most runs put only some of the guarantees to the test: with -v each has its line. */
function fewOf(names: readonly string[]): string {
  return names.length > 3 ? `${names.length} (-v names them)` : names.join(", ");
}

function verdictLines(result: RunResult, options: TextOptions): string[] {
  const { verdict, reasons } = result;
  const lines: string[] = [];
  for (const reason of reasons) {
    lines.push(...flowed(`inconclusive: ${reason}`.split(" "), " ", 2));
  }
  for (const { ok, text, line } of result.expectations) {
    if (ok === true || line === 0) continue;
    lines.push(...flowed([`  ${mark(ok)}  ${text}`, `${result.file}:${line}`], "   ", 6));
  }
  const word = verdict.toUpperCase();
  const summary = flowed(
    [
      `${word}  ${expectationCounts(result)}`,
      `${formatSeconds(result.simulated)} simulated, ${result.events} events`,
      `trace ${result.digest}`,
    ],
    "   ",
    6,
  ).join("\n");
  const tone = verdict === "pass" ? options.paint.good : options.paint.bad;
  lines.push(tone(word) + summary.slice(word.length));
  return [...lines, ...nextCommands(result, options)];
}

function expectationCounts({ expectations, violations }: RunResult): string {
  const met = expectations.filter(({ ok }) => ok === true).length;
  const violated = expectations.filter(({ ok }) => ok === false).length;
  const unreached = expectations.length - met - violated;
  const bugs = violations.filter(({ permitted }) => permitted === undefined).length;
  return (
    `${met}/${expectations.length} expectations` +
    (violated === 0 ? "" : `, ${violated} not met`) +
    (unreached === 0 ? "" : `, ${unreached} not reached`) +
    (bugs === 0 ? "" : `, ${counted(bugs, "bug")}`)
  );
}

/** What to paste next: the same run again if it did not pass; if something was lost, what may keep it. */
function nextCommands(result: RunResult, { tries }: TextOptions): string[] {
  const explaining =
    result.violations.length === 0 ? [] : [`  explain ${shellWords(commandOf(result, "explain"))}`];
  if (result.verdict !== "pass") {
    return [`  again   ${shellWords(commandOf(result))}`, ...explaining];
  }
  if (result.violations.length === 0) return [];
  return [...tries.map((words) => `  try     ${shellWords(words)}`), ...explaining];
}

/** The command that makes this run, or explains it, word by word. */
export function commandOf(
  { file, seed, variant }: Pick<RunResult, "file" | "seed" | "variant">,
  command: "run" | "explain" = "run",
): string[] {
  const words = ["sim", command, file, "--seed", seed];
  return variant === undefined ? words : [...words, "--variant", variant];
}
