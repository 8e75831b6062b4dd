import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import { Simulation } from "../cluster/simulation.ts";
import type { DiskMoment } from "../report/disk-listing.ts";
import { diskListing, diskListingJson } from "../report/disk-listing.ts";
import { counted } from "../report/layout.ts";
import { Mistake, parseDuration } from "../scenario/duration.ts";
import { nearestName } from "../scenario/nearest-name.ts";
import { systemCode, UsageError } from "./complain.ts";
import type { DumpFlags } from "./dump-paths.ts";
import { dumpPaths } from "./dump-paths.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { Interrupt } from "./interrupt.ts";
import { loadScenario, pickVariant, reportComplaints, reportWarnings } from "./load-scenario.ts";
import { Progress } from "./progress.ts";
import { seedOf } from "./seed.ts";
import { SimulatedFiles } from "./simulated-files.ts";

export interface DiskFlags extends DumpFlags {
  readonly seed?: string;
  readonly variant?: string;
  readonly at?: string;
  readonly broker?: string;
  readonly controller?: string;
}

const ACTIONS = ["ls", "cat", "dump", "export"] as const;

/** How many paths each takes. */
const OPERANDS = {
  ls: { least: 0, most: 1 },
  cat: { least: 1, most: 1 },
  dump: { least: 1, most: Number.POSITIVE_INFINITY },
  export: { least: 1, most: 1 },
};

/** Events between two looks at the clock and at Ctrl-C. */
const SLICE = 20_000;

/** `sim disk FILE [ls | cat PATH | dump PATH... | export DIR]`. Throws `UsageError` before anything is on stdout. */
export async function diskCommand(
  file: string,
  words: readonly string[],
  flags: DiskFlags,
): Promise<ExitCode> {
  const [action = "ls", ...operands] = words;
  checkAction(file, action, operands);
  const until = instantOf(flags.at);
  const loaded = loadScenario(file);
  if (!reportComplaints(loaded) || loaded.scenario === undefined) return EXIT.usage;
  const scenario = pickVariant(loaded.scenario, flags.variant);
  const seed = seedOf(flags.seed, scenario);
  const simulation = new Simulation(scenario, { seed });
  const node = nodeOf(simulation, flags);
  reportWarnings(loaded);
  if (!(await runTo(simulation, scenario.name, until))) return EXIT.interrupted;
  checkReached(simulation, until);
  const view = simulation.diskOf(node);
  if (view === undefined) throw new UsageError(`${node} has no disk`);
  const at = until ?? simulation.now;
  const moment = { scenario: scenario.name, variant: scenario.variant, seed, node, at };
  const files = new SimulatedFiles(view, node);
  switch (action) {
    case "cat":
      return show(files, operands[0] ?? "");
    case "dump":
      return await dumpPaths(files, operands.map(plainPath), flags);
    case "export":
      return exportTo(files, operands[0] ?? "", moment);
    default:
      return list(files, plainPath(operands[0] ?? "."), moment, flags.json === true);
  }
}

/** What follows the scenario must be an action with what it takes. */
function checkAction(file: string, action: string, operands: readonly string[]): void {
  if (!isAction(action)) {
    const nearest = nearestName(action, ACTIONS);
    const hint =
      nearest === undefined ? `it can ${ACTIONS.join(", ")}` : `did you mean \`${nearest}\`?`;
    const swapped = isAction(file) ? `; the scenario comes first: sim disk ${action} ${file}` : "";
    throw new UsageError(`sim disk cannot \`${action}\`; ${hint}${swapped}`);
  }
  const { least, most } = OPERANDS[action];
  if (operands.length < least) {
    throw new UsageError(`\`${action}\` needs ${action === "export" ? "a directory" : "a path"}`);
  }
  if (operands.length > most) {
    throw new UsageError(`\`${action}\` takes one path, not ${operands.length}`);
  }
}

function isAction(word: string): word is (typeof ACTIONS)[number] {
  return (ACTIONS as readonly string[]).includes(word);
}

/** Undefined for the end of the run. */
function instantOf(text: string | undefined): Instant | undefined {
  if (text === undefined) return undefined;
  const parsed = parseDuration(text, "--at");
  if (parsed instanceof Mistake) throw new UsageError(parsed.message);
  return parsed;
}

function nodeOf({ cluster }: Simulation, { broker, controller }: DiskFlags): string {
  if (broker !== undefined && controller !== undefined) {
    throw new UsageError("--broker and --controller: only one disk is shown at a time");
  }
  const { table } = cluster;
  const names = (nodes: readonly { readonly address: number }[]): string[] =>
    nodes.map(({ address }) => table.names[address] ?? "");
  if (controller !== undefined) return named("controller", controller, names(table.controllers));
  const brokers = names(table.brokers);
  if (broker !== undefined) return named("broker", broker, brokers);
  throw new UsageError(`--broker says whose disk; there is ${listed(brokers)}`);
}

/** `2` or `broker-2`. */
function named(role: string, text: string, names: readonly string[]): string {
  const name = text.startsWith(`${role}-`) ? text : `${role}-${text}`;
  if (names.includes(name)) return name;
  throw new UsageError(`there is no ${name}; there is ${listed(names)}`);
}

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "none";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

/** Runs to the instant, or to the end. False after Ctrl-C. */
async function runTo(
  simulation: Simulation,
  name: string,
  until: Instant | undefined,
): Promise<boolean> {
  const interrupt = new Interrupt();
  const progress = new Progress(name);
  try {
    while (!interrupt.happened && simulation.advanceTo(until ?? Number.POSITIVE_INFINITY, SLICE)) {
      progress.showRun(simulation.now, simulation.events);
      // A moment in which a signal can arrive.
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    progress.clear();
    interrupt.release();
  }
  return !interrupt.happened;
}

/** A run that ended before has no such instant. */
function checkReached(simulation: Simulation, until: Instant | undefined): void {
  const { now, isOver, stopped } = simulation;
  if (until === undefined || !isOver || now >= until) return;
  const reason = stopped === undefined ? "" : `: ${stopped}`;
  throw new UsageError(
    `--at ${formatSeconds(until)}: the run ends at ${formatSeconds(now)}${reason}`,
  );
}

function list(files: SimulatedFiles, path: string, moment: DiskMoment, isJson: boolean): ExitCode {
  const found = files.at(path);
  const { scenario, variant, seed, node, at } = moment;
  const what = variant === undefined ? scenario : `${scenario}/${variant}`;
  const text = isJson
    ? diskListingJson(moment, found)
    : [`${node}  ${what}  seed ${seed}  at ${formatSeconds(at)}`, "", ...diskListing(found)].join(
        "\n",
      );
  process.stdout.write(`${text}\n`);
  return EXIT.ok;
}

/** The bytes as they are. */
function show(files: SimulatedFiles, path: string): ExitCode {
  const plain = plainPath(path);
  if (files.isDirectory(plain))
    throw new UsageError(`${plain} is a directory; \`ls\` shows what is in it`);
  const source = files.open(plain);
  process.stdout.write(source.read(0, source.size));
  return EXIT.ok;
}

/** Writes every file. Refuses a directory that has anything in it: nothing is ever overwritten. */
function exportTo(files: SimulatedFiles, directory: string, moment: DiskMoment): ExitCode {
  const found = files.at(".");
  try {
    mkdirSync(directory, { recursive: true });
    if (readdirSync(directory).length > 0)
      throw new UsageError(`${directory} is not empty; name a new directory`);
    let bytes = 0;
    for (const { path } of found) {
      const source = files.open(path);
      const target = join(directory, path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, source.read(0, source.size), { flag: "wx" });
      bytes += source.size;
    }
    const { node, at } = moment;
    const what = `${counted(found.length, "file")}, ${counted(bytes, "byte")}`;
    process.stdout.write(`wrote ${directory}  ${what}: ${node} at ${formatSeconds(at)}\n`);
    return EXIT.ok;
  } catch (problem) {
    if (problem instanceof UsageError) throw problem;
    const code = systemCode(problem);
    if (code === undefined) throw problem;
    throw new UsageError(`${directory} cannot be written to: ${WHY[code] ?? code}`);
  }
}

const WHY: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EROFS: "it is read-only",
  ENOSPC: "no space is left",
  ENOTDIR: "part of the path is a file",
  EEXIST: "it is a file",
};

/** Paths on a simulated disk begin at its root and have no slash at either end. */
function plainPath(path: string): string {
  const plain = path.replace(/^(\.?\/)+/, "").replace(/\/+$/, "");
  return plain === "" ? "." : plain;
}
