import type { RunResult } from "../cluster/run-result.ts";
import { Simulation } from "../cluster/simulation.ts";
import { resultJson } from "../report/json.ts";
import { headline, resultText } from "../report/text.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { paintFor } from "./colour.ts";
import { UsageError } from "./complain.ts";
import { EventFile } from "./event-file.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { loadScenario, pickVariant, reportComplaints } from "./load-scenario.ts";
import { Progress } from "./progress.ts";
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

/** Events between two looks at the clock and at Ctrl-C. */
const SLICE = 20_000;

/** `sim run FILE`. */
export async function runCommand(file: string, flags: RunFlags): Promise<ExitCode> {
  const loaded = loadScenario(file);
  if (!reportComplaints(loaded) || loaded.scenario === undefined) return EXIT.usage;
  const scenario = pickVariant(loaded.scenario, flags.variant);
  const seed = seedOf(flags.seed, scenario);
  if (flags.fingerprint !== undefined) {
    const { printFingerprint } = await import("./verify.ts");
    return printFingerprint(scenario, seed, flags.fingerprint);
  }
  const simulation = new Simulation(scenario, { seed });
  if (flags.json !== true) {
    const { brokers, partitions } = simulation.size;
    process.stdout.write(
      `${headline(VERSION, scenario.name, scenario.variant, seed, scenario.kafka, brokers, partitions)}\n\n`,
    );
  }
  const events = flags.events === undefined ? undefined : EventFile.open(flags.events);
  if (events !== undefined) simulation.onFact((fact, at, event) => events.write(fact, at, event));
  const interrupted = await advance(simulation, scenario.name);
  const result = simulation.finish(interrupted ? "interrupted" : undefined);
  events?.close();
  print(result, flags);
  if (interrupted) return EXIT.interrupted;
  if (flags.verify === true) {
    const { verify } = await import("./verify.ts");
    const same = verify(file, seed, flags.variant, result);
    if (!same) return EXIT.bug;
  }
  return exitCode(result);
}

function print(result: RunResult, flags: RunFlags): void {
  const paint = paintFor(flags.color, process.stdout.isTTY);
  const text =
    flags.json === true
      ? resultJson(result, VERSION)
      : resultText(result, { version: VERSION, paint, verbose: flags.verbose === true });
  process.stdout.write(`${text}\n`);
}

export function exitCode(result: RunResult): ExitCode {
  if (result.verdict === "fail") return EXIT.failed;
  return result.verdict === "pass" ? EXIT.ok : EXIT.inconclusive;
}

/** Runs to the end, or until Ctrl-C: then true. Shows progress once it takes longer than a moment. */
async function advance(simulation: Simulation, name: string): Promise<boolean> {
  let interrupted = false;
  const stop = (): void => {
    interrupted = true;
  };
  process.once("SIGINT", stop);
  const progress = new Progress(name);
  try {
    while (!interrupted && simulation.advance(SLICE)) {
      progress.show(simulation.now, simulation.events);
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    progress.clear();
    process.removeListener("SIGINT", stop);
  }
  return interrupted;
}

/** The seed as given, else the scenario's own. */
function seedOf(given: string | undefined, scenario: Scenario): string {
  const text = given ?? String(scenario.seed ?? 1);
  if (!/^[0-9]{1,15}$/.test(text)) {
    throw new UsageError(`--seed takes a whole number of up to 15 digits, not \`${text}\``);
  }
  return String(Number(text));
}
