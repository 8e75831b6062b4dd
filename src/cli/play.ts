import { formatSeconds } from "../base/time.ts";
import type { RunResult } from "../cluster/run-result.ts";
import { Simulation } from "../cluster/simulation.ts";
import type { Explanation } from "../explain/explain.ts";
import { brokenJson, resultJson } from "../report/json.ts";
import { PLAIN } from "../report/paint.ts";
import { shellWords } from "../report/shell-words.ts";
import { commandOf, headline, resultText } from "../report/text.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { advance } from "./advance.ts";
import { paintFor } from "./colour.ts";
import { messageOf, reportBug, UsageError } from "./complain.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { explainShown } from "./explain-shown.ts";
import { annotateRun } from "./github-actions.ts";
import { Interrupt } from "./interrupt.ts";
import { VERSION } from "./version.ts";

/** How what comes out is shown. */
export interface ShowFlags {
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly color: string;
}

/** A run that came to its end, or was interrupted. */
export interface Played {
  readonly result: RunResult;
  readonly explanation: Explanation | undefined;
  readonly isInterrupted: boolean;
}

/** What else is done with a run. */
export interface Company {
  begun(simulation: Simulation): void;
  /** May throw `UsageError`. */
  ended(simulation: Simulation, result: RunResult): void;
}

const ALONE: Company = { begun: () => {}, ended: () => {} };

/**
 * Plays a run to its end, the headline first; the exit code if the simulator broke a rule of its own.
 * Throws `UsageError`.
 */
export async function play(
  scenario: Scenario,
  seed: string,
  flags: ShowFlags,
  company: Company = ALONE,
): Promise<Played | ExitCode> {
  const interrupt = new Interrupt();
  let simulation: Simulation | undefined;
  try {
    simulation = begin(scenario, seed, flags);
    company.begun(simulation);
    await advance(simulation, scenario.name, interrupt);
    const isInterrupted = interrupt.happened;
    const result = simulation.finish(isInterrupted ? "interrupted" : undefined);
    company.ended(simulation, result);
    const explanation = isInterrupted ? undefined : explainFirst(scenario, result);
    return { result, explanation, isInterrupted };
  } catch (problem) {
    if (problem instanceof UsageError) throw problem;
    return breakDown(problem, scenario, seed, simulation ?? { now: 0, events: 0 }, flags);
  }
}

/** Shows what came out. `tries` are commands to try next if something was lost. */
export function show(
  { result, explanation }: Played,
  flags: ShowFlags,
  tries: readonly string[][],
): void {
  const paint = paintFor(flags.color, process.stdout.isTTY);
  const text =
    flags.json === true
      ? resultJson(result, explanation, VERSION)
      : resultText(result, { paint, verbose: flags.verbose === true, tries, explanation });
  process.stdout.write(`${text}\n`);
  annotateRun(result, () => {
    const size = { brokers: result.brokers, partitions: result.partitions.length };
    const plain = resultText(result, { paint: PLAIN, verbose: false, tries, explanation });
    return `${headline({ ...result, version: VERSION, size })}\n\n${plain}`;
  });
}

/** Of a run that came to its end. */
export function exitCode(result: RunResult): ExitCode {
  if (result.verdict === "fail") return EXIT.failed;
  return result.verdict === "pass" ? EXIT.ok : EXIT.inconclusive;
}

/** The headline comes first, so that the seed is known whatever happens then. */
function begin(scenario: Scenario, seed: string, flags: ShowFlags): Simulation {
  const announce = (size: Simulation["size"] | undefined): void => {
    const { name, variant, kafka } = scenario;
    const words = { version: VERSION, scenario: name, variant, seed, kafka, size };
    if (flags.json !== true) process.stdout.write(`${headline(words)}\n\n`);
  };
  try {
    const simulation = new Simulation(scenario, { seed });
    announce(simulation.size);
    return simulation;
  } catch (problem) {
    announce(undefined);
    throw problem;
  }
}

/** The first thing that went wrong. What the configuration permits is told, and nothing tried for it. */
function explainFirst(scenario: Scenario, result: RunResult): Explanation | undefined {
  const { violations, seed } = result;
  const firsts = violations.filter(({ follows }) => follows === undefined);
  const bug = firsts.find(({ permitted }) => permitted === undefined);
  const [first] = firsts;
  if (first === undefined) return undefined;
  return explainShown(scenario, bug ?? first, seed, bug !== undefined);
}

/** The simulator broke one of its own rules in the middle of a run. */
function breakDown(
  problem: unknown,
  { name, file, variant, kafka }: Scenario,
  seed: string,
  { now, events }: Pick<Simulation, "now" | "events">,
  flags: ShowFlags,
): ExitCode {
  const run = { scenario: name, file, variant, seed, kafka };
  if (flags.json === true) {
    const broken = { ...run, at: now, event: events, message: messageOf(problem) };
    process.stdout.write(`${brokenJson(broken, VERSION)}\n`);
  }
  const where = `at ${formatSeconds(now)}, event ${events}`;
  return reportBug(problem, where, shellWords(commandOf(run)));
}
