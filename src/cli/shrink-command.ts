import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Violation } from "../checkers/guarantee.ts";
import type { RunResult } from "../cluster/run-result.ts";
import { Simulation } from "../cluster/simulation.ts";
import { explicitScenario } from "../fuzz/explicit-scenario.ts";
import { fallOf } from "../fuzz/shrink/fall.ts";
import { regression, regressionName } from "../fuzz/shrink/regression.ts";
import { shrink } from "../fuzz/shrink/shrink.ts";
import { fingerprintOf } from "../replay/fingerprint.ts";
import type { Recording } from "../replay/recording.ts";
import { encodeToken } from "../replay/recording.ts";
import { shellWords } from "../report/shell-words.ts";
import { shrinkText } from "../report/shrink-text.ts";
import { Mistake, parseDuration } from "../scenario/duration.ts";
import { readScenario } from "../scenario/read-scenario.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { advance } from "./advance.ts";
import { systemCode, UsageError } from "./complain.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { Interrupt } from "./interrupt.ts";
import { loadScenario, pickVariant, reportComplaints } from "./load-scenario.ts";
import { pickViolation } from "./pick-violation.ts";
import { Progress } from "./progress.ts";
import { isRecording, recordingFrom } from "./recording-source.ts";
import { seedOf } from "./seed.ts";
import { VERSION } from "./version.ts";

export interface ShrinkFlags {
  readonly seed?: string;
  readonly variant?: string;
  readonly violation?: string;
  readonly time?: string;
  readonly out?: string;
}

interface Source {
  readonly text: string;
  readonly scenario: Scenario;
  readonly seed: string;
}

/** `sim shrink FILE`. Throws `UsageError` before anything is on stdout. */
export async function shrinkCommand(what: string, flags: ShrinkFlags): Promise<ExitCode> {
  const source = isRecording(what) ? recorded(what) : read(what, flags);
  if (source === undefined) return EXIT.usage;
  const { text, scenario, seed } = source;
  const deadline = deadlineOf(flags.time);
  const interrupt = new Interrupt();
  const simulation = new Simulation(scenario, { seed });
  await advance(simulation, scenario.name, interrupt);
  if (interrupt.happened) return EXIT.interrupted;
  const violation = violationOf(simulation.finish(undefined), flags);
  const { guarantee, kind, partition } = violation;
  const found = [kind, partition].filter((part) => part !== "").join(" ");
  process.stdout.write(`sim ${VERSION}  ${scenario.name}  seed ${seed}  looking for ${found}\n\n`);
  const progress = new Progress(scenario.name);
  const shrunk = shrink(explicitScenario(text, scenario, seed), {
    seed,
    fall: fallOf(violation),
    isEnough(runs, events) {
      progress.show(`${runs} runs, ${events} events`);
      return Date.now() > deadline;
    },
  });
  progress.clear();
  if (shrunk === undefined) throw new Error(`written out, it does not break ${guarantee}`);
  const path = flags.out ?? join("reports", `${regressionName(scenario.name, seed)}.yaml`);
  const small = regression(shrunk, violation, scenario, seed);
  write(path, small);
  process.stdout.write(
    `${[
      shrinkText(shrunk),
      "",
      `wrote ${path}: faults are written out, and none is drawn`,
      `  again  ${shellWords(["sim", "run", path])}`,
      `  token  ${encodeToken(recordingOf(small, path, shrunk.seed))}`,
    ].join("\n")}\n`,
  );
  return EXIT.ok;
}

function read(file: string, { seed, variant }: ShrinkFlags): Source | undefined {
  const loaded = loadScenario(file);
  if (!reportComplaints(loaded) || loaded.scenario === undefined) return undefined;
  const scenario = pickVariant(loaded.scenario, variant);
  return { text: loaded.text, scenario, seed: seedOf(seed, scenario) };
}

function recorded(what: string): Source | undefined {
  const { text, file, variant, seed } = recordingFrom(what);
  const { scenario, complaints, warnings } = readScenario(text, file);
  if (!reportComplaints({ text, scenario, complaints, warnings }) || scenario === undefined) {
    return undefined;
  }
  return { text, scenario: pickVariant(scenario, variant), seed };
}

/** The one that is asked for; else the first bug, or what comes nearest to one. */
function violationOf({ violations, seed }: RunResult, { violation }: ShrinkFlags): Violation {
  const firsts = violations.filter(({ follows }) => follows === undefined);
  return pickViolation(firsts, violation, seed, "shrink");
}

function deadlineOf(time: string | undefined): number {
  if (time === undefined) return Number.POSITIVE_INFINITY;
  const duration = parseDuration(time, "--time");
  if (duration instanceof Mistake) throw new UsageError(duration.message);
  return Date.now() + duration / 1000;
}

/** Of what was just written; a token has no events. */
function recordingOf(text: string, file: string, seed: string): Recording {
  const { scenario } = readScenario(text, file);
  if (scenario === undefined) throw new Error("what was written cannot be read");
  const { digest, events } = fingerprintOf(scenario, seed);
  return { engine: VERSION, file, text, variant: undefined, seed, digest, events, stretches: [] };
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } catch (problem) {
    throw new UsageError(`--out: ${path} cannot be written (${systemCode(problem)})`);
  }
}
