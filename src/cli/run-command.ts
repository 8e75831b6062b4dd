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
import { EventFile } from "./event-file.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { explainShown } from "./explain-shown.ts";
import { annotateRun } from "./github-actions.ts";
import { Interrupt } from "./interrupt.ts";
import { loadScenario, pickVariant, reportComplaints, reportWarnings } from "./load-scenario.ts";
import { seedOf } from "./seed.ts";
import { printFingerprint, verify } from "./verify.ts";
import { VERSION } from "./version.ts";

export interface RunFlags {
  readonly seed?: string;
  readonly variant?: string;
  readonly json?: boolean;
  readonly events?: string;
  readonly verify?: boolean;
  readonly verbose?: boolean;
  readonly color: string;
  /** Hidden: prints the fingerprint that `--verify` compares. */
  readonly fingerprint?: string;
}

/** `sim run FILE`. Throws `UsageError` before anything is on stdout. */
export async function runCommand(file: string, flags: RunFlags): Promise<ExitCode> {
  const loaded = loadScenario(file);
  if (!reportComplaints(loaded) || loaded.scenario === undefined) return EXIT.usage;
  const scenario = pickVariant(loaded.scenario, flags.variant);
  const seed = seedOf(flags.seed, scenario);
  if (flags.fingerprint !== undefined) return printFingerprint(scenario, seed, flags.fingerprint);
  reportWarnings(loaded);
  const events = flags.events === undefined ? undefined : EventFile.open(flags.events, file);
  const interrupt = new Interrupt();
  let simulation: Simulation | undefined;
  let result: RunResult;
  let explanation: Explanation | undefined;
  try {
    simulation = begin(scenario, seed, flags);
    const { clock } = simulation.cluster;
    if (events !== undefined) {
      simulation.onFact((fact, at, event) => events.write(fact, at, event, clock.zero));
    }
    await advance(simulation, scenario.name, interrupt);
    result = simulation.finish(interrupt.happened ? "interrupted" : undefined);
    events?.close(clock.zero);
    if (!interrupt.happened) explanation = explainFirst(scenario, result);
  } catch (problem) {
    if (problem instanceof UsageError) throw problem;
    return breakDown(problem, scenario, seed, simulation ?? { now: 0, events: 0 }, flags);
  }
  print(result, explanation, flags, triesOf(loaded.scenario, flags));
  if (interrupt.happened) return EXIT.interrupted;
  if (flags.verify === true && !verify(result)) return EXIT.bug;
  return exitCode(result);
}

/** The headline comes first, so that the seed is known whatever happens then. */
function begin(scenario: Scenario, seed: string, flags: RunFlags): Simulation {
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

function print(
  result: RunResult,
  explanation: Explanation | undefined,
  flags: RunFlags,
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

/** The variants of what was run, with the same seed. */
function triesOf({ file, variants }: Scenario, { seed, variant }: RunFlags): string[][] {
  if (variant !== undefined) return [];
  const seeded = seed === undefined ? [] : ["--seed", seed];
  return variants.map((one) => ["sim", "run", file, ...seeded, "--variant", one.variant ?? ""]);
}

/** The simulator broke one of its own rules in the middle of a run. */
function breakDown(
  problem: unknown,
  { name, file, variant, kafka }: Scenario,
  seed: string,
  { now, events }: Pick<Simulation, "now" | "events">,
  flags: RunFlags,
): ExitCode {
  const run = { scenario: name, file, variant, seed, kafka };
  if (flags.json === true) {
    const broken = { ...run, at: now, event: events, message: messageOf(problem) };
    process.stdout.write(`${brokenJson(broken, VERSION)}\n`);
  }
  const where = `at ${formatSeconds(now)}, event ${events}`;
  return reportBug(problem, where, shellWords(commandOf(run)));
}

function exitCode(result: RunResult): ExitCode {
  if (result.verdict === "fail") return EXIT.failed;
  return result.verdict === "pass" ? EXIT.ok : EXIT.inconclusive;
}
