import { readFileSync, statSync } from "node:fs";
import type { Complaint } from "../scenario/complaint.ts";
import { formatComplaint } from "../scenario/complaint.ts";
import { nearestName } from "../scenario/nearest-name.ts";
import { readScenario } from "../scenario/read-scenario.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { UsageError } from "./complain.ts";

/** Larger files are not read at all. */
const MAX_BYTES = 1024 * 1024;

export interface LoadedScenario {
  readonly text: string;
  /** Undefined if there are complaints. */
  readonly scenario: Scenario | undefined;
  readonly complaints: readonly Complaint[];
  readonly warnings: readonly Complaint[];
}

/** Reads and checks a scenario file. Throws `UsageError` for what is not a readable file. */
export function loadScenario(file: string): LoadedScenario {
  const text = readText(file);
  const { scenario, complaints, warnings } = readScenario(text, file);
  return { text, scenario, complaints, warnings };
}

function readText(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > MAX_BYTES) {
      throw new UsageError(
        `${file} has ${size} bytes; a scenario may have ${MAX_BYTES} at the most`,
      );
    }
    return readFileSync(file, "utf8");
  } catch (problem) {
    if (problem instanceof UsageError) throw problem;
    throw new UsageError(whyUnreadable(file, problem));
  }
}

function whyUnreadable(file: string, problem: unknown): string {
  const code = problem instanceof Error && "code" in problem ? problem.code : undefined;
  if (code === "ENOENT") return `${file}: no such file; \`sim list\` shows what there is`;
  if (code === "EISDIR") return `${file} is a directory; name a scenario in it`;
  if (code === "EACCES") return `${file} may not be read`;
  return `${file} cannot be read${typeof code === "string" ? ` (${code})` : ""}`;
}

/** Writes complaints and warnings to stderr, each in its place; true if there is no complaint. */
export function reportComplaints(loaded: LoadedScenario): boolean {
  const blocks = [
    ...loaded.complaints.map((one) => formatComplaint(one, loaded.text, "error")),
    ...loaded.warnings.map((one) => formatComplaint(one, loaded.text, "warning")),
  ];
  for (const block of blocks) process.stderr.write(`${block}\n`);
  return loaded.complaints.length === 0;
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
      ? `; did you mean \`${nearest}\`?`
      : names.length === 0
        ? "; it has none"
        : `; it has ${names.join(", ")}`;
  throw new UsageError(`${scenario.file} has no variant \`${name}\`${hint}`);
}
