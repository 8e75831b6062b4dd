import type { RunResult } from "../cluster/run-result.ts";
import { Simulation } from "../cluster/simulation.ts";
import { livesOf } from "../explain/record-life.ts";
import { Recording } from "../explain/recording.ts";
import { explanationJson } from "../report/json.ts";
import { counted } from "../report/layout.ts";
import type { Paint } from "../report/paint.ts";
import { recordLifeLines } from "../report/record-life-text.ts";
import { headline, violationBlock } from "../report/text.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { advance } from "./advance.ts";
import { paintFor } from "./colour.ts";
import { UsageError } from "./complain.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { explainShown } from "./explain-shown.ts";
import { Interrupt } from "./interrupt.ts";
import { loadScenario, pickVariant, reportComplaints, reportWarnings } from "./load-scenario.ts";
import { pickViolation } from "./pick-violation.ts";
import { seedOf } from "./seed.ts";
import { VERSION } from "./version.ts";

export interface ExplainFlags {
  readonly seed?: string;
  readonly variant?: string;
  readonly record?: string;
  readonly violation?: string;
  readonly json?: boolean;
  readonly color: string;
}

/** `sim explain FILE`: the story of a violation, or the life of a record. Throws `UsageError`. */
export async function explainCommand(file: string, flags: ExplainFlags): Promise<ExitCode> {
  if (flags.record !== undefined && flags.violation !== undefined) {
    throw new UsageError("--record and --violation: only one of them is explained at a time");
  }
  const record = flags.record === undefined ? undefined : parseRecord(flags.record);
  const loaded = loadScenario(file);
  if (!reportComplaints(loaded) || loaded.scenario === undefined) return EXIT.usage;
  const scenario = pickVariant(loaded.scenario, flags.variant);
  const seed = seedOf(flags.seed, scenario);
  reportWarnings(loaded);
  const interrupt = new Interrupt();
  const simulation = new Simulation(scenario, { seed, records: record !== undefined });
  const recording = new Recording(simulation.causes);
  if (record !== undefined) {
    simulation.onFact((fact, at, event) => recording.note(fact, at, event));
  }
  await advance(simulation, scenario.name, interrupt);
  if (interrupt.happened) return EXIT.interrupted;
  const result = simulation.finish(undefined);
  if (record === undefined) explainViolation(scenario, result, simulation.size, flags);
  else tellRecord(simulation, recording, result, record, flags);
  return EXIT.ok;
}

interface RecordAddress {
  /** `orders-0` */
  readonly partition: string;
  readonly offset: number;
}

/** `orders-0:415` */
function parseRecord(text: string): RecordAddress {
  const [, partition, digits] = /^(.+-\d+):(\d+)$/.exec(text) ?? [];
  const offset = Number(digits);
  if (partition === undefined || !Number.isSafeInteger(offset)) {
    throw new UsageError(`--record takes a partition and an offset, orders-0:415, not \`${text}\``);
  }
  return { partition, offset };
}

function explainViolation(
  scenario: Scenario,
  result: RunResult,
  size: Simulation["size"],
  flags: ExplainFlags,
): void {
  const { violations, seed } = result;
  const firsts = violations.filter(({ follows }) => follows === undefined);
  const violation = pickViolation(firsts, flags.violation, seed, "explain but a record (--record)");
  const explanation = explainShown(scenario, violation, seed, true);
  if (flags.json === true) {
    process.stdout.write(`${JSON.stringify(explanationJson(explanation), undefined, 2)}\n`);
    return;
  }
  const paint: Paint = paintFor(flags.color, process.stdout.isTTY);
  const at = violations.indexOf(violation);
  const following = violations.filter(({ follows }) => follows === at);
  const block = violationBlock(violation, following, { paint, explanation });
  print(result, size, block);
  const others = firsts.length - 1;
  if (others > 0) {
    const numbers = `--violation 1 to ${firsts.length}`;
    process.stdout.write(`\n${counted(others, "other violation")} in this run: ${numbers}\n`);
  }
}

function tellRecord(
  { cluster, size }: Simulation,
  recording: Recording,
  result: RunResult,
  { partition, offset }: RecordAddress,
  flags: ExplainFlags,
): void {
  const known = result.partitions.map((row) => `${row.topic}-${row.partition}`);
  if (!known.includes(partition)) {
    throw new UsageError(`there is no partition ${partition}; there is ${known.join(", ")}`);
  }
  const names = new Map(cluster.table.clients.map(({ name, address }) => [address, name]));
  const lives = livesOf(recording.facts, partition, offset, names);
  if (lives.length === 0) {
    throw new UsageError(`no record was ever written at offset ${offset} of ${partition}`);
  }
  if (flags.json === true) {
    process.stdout.write(`${JSON.stringify(lives, hexadecimal, 2)}\n`);
    return;
  }
  const blocks = lives.map((life) => recordLifeLines(life).join("\n"));
  print(result, size, [blocks.join("\n\n")]);
}

function hexadecimal(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
}

function print(result: RunResult, size: Simulation["size"], lines: readonly string[]): void {
  process.stdout.write(`${headline({ ...result, version: VERSION, size })}\n\n`);
  process.stdout.write(`${lines.join("\n")}\n`);
}
