import { isUtf8 } from "node:buffer";
import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Complaint } from "../scenario/complaint.ts";
import { complaintAt, formatComplaint } from "../scenario/complaint.ts";
import { nearestName } from "../scenario/nearest-name.ts";
import { SCENARIO_SIZE_LIMIT } from "../scenario/parse-yaml.ts";
import { readScenario } from "../scenario/read-scenario.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { systemCode, UsageError } from "./complain.ts";
import { annotateComplaint } from "./github-actions.ts";

const MEBIBYTE = 1024 * 1024;
const EXTENSION = ".yaml";
/** What decoding puts in the place of bytes that are not UTF-8. */
const REPLACEMENT = "\ufffd";

export interface LoadedScenario {
  readonly text: string;
  /** Undefined if there are complaints. */
  readonly scenario: Scenario | undefined;
  readonly complaints: readonly Complaint[];
  readonly warnings: readonly Complaint[];
}

/** Reads and checks a scenario file. Throws `UsageError` for what is not a readable file. */
export function loadScenario(file: string): LoadedScenario {
  const bytes = readBytes(file);
  const text = bytes.toString("utf8");
  if (!isUtf8(bytes)) return notUtf8(file, text);
  const { scenario, complaints, warnings } = readScenario(text, file);
  return { text, scenario, complaints, warnings };
}

function notUtf8(file: string, text: string): LoadedScenario {
  const lines = text.slice(0, text.indexOf(REPLACEMENT)).split("\n");
  const place = { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1, length: 1 };
  const message = "this byte is not UTF-8; a scenario is UTF-8 text";
  return {
    // The line would be of no use if this is no text at all.
    text: text.includes("\0") ? "" : text,
    scenario: undefined,
    complaints: [complaintAt(file, place, message, undefined)],
    warnings: [],
  };
}

/** What is too large is not read to its end: it may have none, as a device. */
function readBytes(file: string): Buffer {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, "r");
    const { size } = fstatSync(descriptor);
    if (size > SCENARIO_SIZE_LIMIT) throw tooLarge(file, `${(size / MEBIBYTE).toFixed(1)} MiB`);
    const bytes = Buffer.alloc(SCENARIO_SIZE_LIMIT + 1);
    let end = 0;
    for (;;) {
      const count = readSync(descriptor, bytes, end, bytes.length - end, null);
      if (count === 0) return bytes.subarray(0, end);
      end += count;
      if (end > SCENARIO_SIZE_LIMIT) throw tooLarge(file, "more than 1 MiB");
    }
  } catch (problem) {
    if (problem instanceof UsageError) throw problem;
    throw new UsageError(whyUnreadable(file, problem));
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function tooLarge(file: string, size: string): UsageError {
  return new UsageError(`${file} has ${size}; a scenario may have 1 MiB`);
}

function whyUnreadable(file: string, problem: unknown): string {
  const code = systemCode(problem);
  if (code === "ENOENT" || code === "ENOTDIR") {
    const nearest = nearestFile(file);
    const hint = nearest === undefined ? "`sim list` shows what there is" : didYouMean(nearest);
    return `${file}: no such file; ${hint}`;
  }
  if (code === "EISDIR") return `${file} is a directory; name a scenario in it`;
  if (code === "EACCES") return `${file} may not be read: permission denied`;
  return `${file} cannot be read (${code ?? String(problem)})`;
}

/** The scenario that may have been meant: beside what was named, or in `scenarios`. */
function nearestFile(file: string): string | undefined {
  const wanted = basename(file, EXTENSION);
  for (const directory of [dirname(file), "scenarios"]) {
    const nearest = nearestName(wanted, stemsIn(directory));
    if (nearest !== undefined) return join(directory, nearest + EXTENSION);
  }
  return undefined;
}

function stemsIn(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(EXTENSION))
      .map((name) => basename(name, EXTENSION))
      .sort();
  } catch {
    return [];
  }
}

/** Writes complaints to stderr, each in its place; true if there is none. */
export function reportComplaints({ complaints, text }: LoadedScenario): boolean {
  for (const complaint of complaints) {
    process.stderr.write(`${formatComplaint(complaint, text, "error")}\n`);
    annotateComplaint("error", complaint);
  }
  return complaints.length === 0;
}

/** Writes warnings to stderr, each in its place. */
export function reportWarnings({ warnings, text }: LoadedScenario): void {
  for (const warning of warnings) {
    process.stderr.write(`${formatComplaint(warning, text, "warning")}\n`);
    annotateComplaint("warning", warning);
  }
}

/** The scenario itself, or one of its variants by name. Throws `UsageError` for a name it does not have. */
export function pickVariant(scenario: Scenario, name: string | undefined): Scenario {
  if (name === undefined) return scenario;
  const found = scenario.variants.find(({ variant }) => variant === name);
  if (found !== undefined) return found;
  const names = scenario.variants.map(({ variant }) => variant ?? "");
  const nearest = nearestName(name, names);
  const hint =
    nearest !== undefined
      ? didYouMean(nearest)
      : names.length === 0
        ? "it has none"
        : `it has ${names.map((one) => `\`${one}\``).join(", ")}`;
  throw new UsageError(`${scenario.file} has no variant \`${name}\`; ${hint}`);
}

function didYouMean(name: string): string {
  return `did you mean \`${name}\`?`;
}
