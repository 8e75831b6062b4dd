import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { mixText } from "../base/mix.ts";
import { byText } from "../base/order.ts";
import { explicitScenario } from "../fuzz/explicit-scenario.ts";
import type { FailureKind } from "../fuzz/hunt.ts";
import type { CaseOutcome } from "../fuzz/play-case.ts";
import { scenarioIn } from "../fuzz/scenario-in.ts";
import { writeYaml } from "../scenario/parse-yaml.ts";
import { systemCode, UsageError } from "./complain.ts";
import { VERSION } from "./version.ts";

const REPORTS = "reports";

/** The runs of earlier campaigns that failed, written out: what a campaign plays first. */
export function corpusFiles(scenario: string): string[] {
  const directory = join(REPORTS, "corpus", scenario);
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(".yaml"))
      .sort(byText)
      .map((name) => join(directory, name));
  } catch {
    return [];
  }
}

/** Writes the smallest run of a kind down, every choice in its place; returns the file's name. */
export function writeToCorpus(name: string, { kind, guarantee, smallest }: FailureKind): string {
  const { text, seed } = smallest;
  const explicit = explicitScenario(text, scenarioIn(smallest), seed);
  const mark = (mixText(1, kind) >>> 0).toString(16).padStart(8, "0");
  const path = join(REPORTS, "corpus", name, `${guarantee}-${mark}.yaml`);
  write(path, `# ${kind}\n# Found by sim ${VERSION}; seed ${seed}.\n${writeYaml(explicit)}`);
  return path;
}

/** What a campaign has done so far: its options in one text, and an outcome for each run, in order. */
export interface FuzzState {
  readonly options: string;
  readonly outcomes: readonly CaseOutcome[];
}

export function statePath(scenario: string, seed: string): string {
  return join(REPORTS, "fuzz", `${scenario}-${seed}.json`);
}

export function writeState(path: string, { options, outcomes }: FuzzState): void {
  write(path, JSON.stringify({ schema: "sim-fuzz-state/1", engine: VERSION, options, outcomes }));
}

/** Throws `UsageError` if there is none, or it is of another campaign. */
export function readState(path: string, options: string): FuzzState {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (problem) {
    const code = systemCode(problem);
    const why = code === "ENOENT" ? "no such file" : String(code);
    throw new UsageError(`--resume: ${path}: ${why}; without --resume it begins anew`);
  }
  try {
    const state = JSON.parse(text);
    if (state.engine === VERSION && state.options === options) return state as FuzzState;
  } catch {
    // As if it were of another campaign.
  }
  throw new UsageError(
    `--resume: ${path} is of another campaign, scenario or version; without --resume it begins anew`,
  );
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } catch (problem) {
    throw new UsageError(`${path} cannot be written (${systemCode(problem)})`);
  }
}
