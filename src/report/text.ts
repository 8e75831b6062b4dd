import { formatSeconds } from "../base/time.ts";
import type { Violation } from "../checkers/guarantee.ts";
import type {
  ClientRow,
  ExpectationOutcome,
  PartitionRow,
  RunResult,
} from "../cluster/run-result.ts";
import type { TimelineEntry } from "../trace/timeline.ts";
import type { Paint } from "./paint.ts";

export interface TextOptions {
  readonly version: string;
  readonly paint: Paint;
  /** Everything, not only what a first look needs. */
  readonly verbose: boolean;
}

/** Lines of the story that are shown unless all are asked for. */
const STORY_LINES = 40;
const WIDTH = 80;
/** Where the names of faults begin, if there is room. */
const NOTE_COLUMN = 66;

/** The first line of a run's output, printed before anything can go wrong. */
export function headline(
  version: string,
  scenario: string,
  variant: string | undefined,
  seed: string,
  kafka: string,
  brokers: number,
  partitions: number,
): string {
  const name = variant === undefined ? scenario : `${scenario}/${variant}`;
  return (
    `sim ${version}  ${name}  seed ${seed}  kafka ${kafka}  ` +
    `${counted(brokers, "broker")}, ${counted(partitions, "partition")}`
  );
}

/** What `sim run` prints below the headline; ends without a newline. */
export function resultText(result: RunResult, options: TextOptions): string {
  const { paint } = options;
  const blocks = [
    story(result.timeline, options),
    partitionTable(result.partitions),
    result.clients.map(clientLine),
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

function partitionTable(rows: readonly PartitionRow[]): string[] {
  if (rows.length === 0) return [];
  const cells = rows.map((row) => [
    row.topic,
    String(row.partition),
    row.leader < 0 ? "none" : String(row.leader),
    String(row.leaderEpoch),
    String(row.highWatermark),
    String(row.logEndOffset),
    row.isr.length === 0 ? "-" : row.isr.join(","),
    row.outOfSync.length === 0 ? "-" : row.outOfSync.join(","),
  ]);
  return table([
    ["Topic", "Partition", "Leader", "Epoch", "HW", "LEO", "Isr", "Out-of-sync"],
    ...cells,
  ]);
}

/** Left-aligned columns, two spaces apart, indented by two. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  return rows.map((row) =>
    `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}`.trimEnd(),
  );
}

function clientLine(client: ClientRow): string {
  const name = `  ${client.name.padEnd(7)}`;
  if (client.kind === "consumer") {
    return `${name} read ${client.read}   again ${client.again}   lag ${client.lag}`;
  }
  const { acked, failed, unknown, retries, longestStall } = client;
  return (
    `${name} acked ${acked}   failed ${failed}   unknown ${unknown}   ` +
    `retries ${retries}   stall ${formatSeconds(longestStall)}`
  );
}

/** One block a violation that no other brought with it. */
function violationBlocks(result: RunResult, options: TextOptions): string[][] {
  const first = result.violations.filter(({ follows }) => follows === undefined);
  return first.map((violation) => {
    const at = result.violations.indexOf(violation);
    const following = result.violations.filter(({ follows }) => follows === at);
    return violationBlock(violation, following, options);
  });
}

function violationBlock(
  violation: Violation,
  following: readonly Violation[],
  { paint }: TextOptions,
): string[] {
  const isBug = violation.permitted === undefined;
  const word = isBug ? paint.bad("BUG") : paint.strong("PERMITTED");
  const where = violation.partition === "" ? "" : `   ${violation.partition}`;
  const lines = [
    `${word}  ${violation.kind}${where}   at ${formatSeconds(violation.at)}, event ${violation.event}`,
    ...violation.text.flatMap((sentence) => wrapped(sentence, 2)),
  ];
  if (violation.permitted !== undefined) {
    lines.push(...wrapped(`permitted: ${violation.permitted}`, 2));
  }
  if (following.length > 0) {
    const kinds = [...new Set(following.map(({ kind }) => kind))];
    lines.push(...wrapped(`followed by: ${kinds.join(", ")}`, 2));
  }
  return lines;
}

/** A sentence broken at blanks to fit the terminal. */
function wrapped(text: string, indent: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent + line.length + 1 + word.length > WIDTH) {
      lines.push(" ".repeat(indent) + line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  lines.push(" ".repeat(indent) + line);
  return lines;
}

/** Two columns where both fit, one where not. */
function expectationLines(expectations: readonly ExpectationOutcome[], paint: Paint): string[] {
  const plain = expectations.map(({ ok, text }) => ({ mark: mark(ok), text, ok }));
  const lines: string[] = [];
  for (let i = 0; i < plain.length; i++) {
    const left = plain[i];
    const right = plain[i + 1];
    if (left === undefined) break;
    const cell = `  ${painted(left.mark, left.ok, paint)}  ${left.text}`;
    if (right !== undefined && left.text.length <= 32 && right.text.length <= 36) {
      const gap = " ".repeat(34 - left.text.length);
      lines.push(`${cell}${gap}${painted(right.mark, right.ok, paint)}  ${right.text}`);
      i++;
    } else {
      lines.push(cell);
    }
  }
  return lines;
}

function mark(ok: boolean | undefined): string {
  if (ok === undefined) return "--";
  return ok ? "ok" : "X ";
}

function painted(text: string, ok: boolean | undefined, paint: Paint): string {
  if (ok === undefined) return paint.faint(text);
  return ok ? paint.good(text) : paint.bad(text);
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
      (untested.length === 0 ? "" : `; untested ${untested.join(", ")}`),
    2,
  );
  return lines;
}

function verdictLines(result: RunResult, { paint }: TextOptions): string[] {
  const { expectations, verdict, reasons } = result;
  const met = expectations.filter(({ ok }) => ok === true).length;
  const violated = expectations.filter(({ ok }) => ok === false).length;
  const unreached = expectations.length - met - violated;
  const counts =
    `${met}/${expectations.length} expectations` +
    (violated === 0 ? "" : `, ${violated} not met`) +
    (unreached === 0 ? "" : `, ${unreached} not reached`);
  const lines: string[] = [];
  for (const reason of reasons) lines.push(...wrapped(`inconclusive: ${reason}`, 0));
  for (const { ok, text, line } of expectations) {
    if (ok === true || line === 0) continue;
    lines.push(`  ${mark(ok)}  ${text}   ${result.file}:${line}`);
  }
  const word = verdict.toUpperCase();
  const tone = verdict === "pass" ? paint.good(word) : paint.bad(word);
  lines.push(
    `${tone}  ${counts}   ${formatSeconds(result.simulated)} simulated, ` +
      `${result.events} events   trace ${result.digest}`,
  );
  if (verdict !== "pass") {
    const variant = result.variant === undefined ? "" : ` --variant ${result.variant}`;
    lines.push(`  again   sim run ${result.file} --seed ${result.seed}${variant}`);
  }
  return lines;
}

function counted(count: number, word: string): string {
  return count === 1 ? `1 ${word}` : `${count} ${word}s`;
}
