import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { HuntCase } from "../../src/fuzz/hunt.ts";
import { ROUND } from "../../src/fuzz/hunt.ts";
import { writeYaml } from "../../src/scenario/parse-yaml.ts";
import { plainScenario } from "../../src/scenario/plain.ts";
import { findingBugsPage, searchCells } from "./finding/page.ts";
import type { PlantedBug } from "./finding/planted-bug.ts";
import { plantedBugs } from "./finding/planted-bug.ts";
import type { Row } from "./finding/row.ts";
import type { Search } from "./finding/search.ts";
import { search } from "./finding/search.ts";
import { shrinkFinding } from "./finding/shrink-finding.ts";
import type { Engine } from "./mutations/mutant-engines.ts";
import { MutantEngines } from "./mutations/mutant-engines.ts";
import { MUTATIONS } from "./mutations/mutations.ts";

/**
 * How long `sim fuzz` takes to name each planted bug, in one general scenario, and how small the run becomes in which
 * it did: writes docs/finding-bugs.md.
 *
 *     npm run planted-bugs -- [CPU seconds a bug] [--plain CPU seconds] [--only NAME,NAME]
 *         [--shrink CPU seconds] [--fresh]
 *
 * One thread, one bug after the other, guided and from seed to seed. A bug that is not named within its budget says
 * so. `--plain` is a budget for the search from seed to seed alone, which is there to compare. `--shrink 0` leaves the
 * runs as they are; a later call shrinks them. What is known stays in reports/planted-bugs.json and is not looked for
 * again, unless it was given up within a smaller budget: `--fresh` forgets it all, as a change of the engine or of the
 * scenario ought to.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    plain: { type: "string" },
    only: { type: "string" },
    shrink: { type: "string" },
    fresh: { type: "boolean" },
  },
});
const BUDGET = Number(positionals[0] ?? 600);
const PLAIN_BUDGET = Number(values.plain ?? BUDGET);
const SHRINK_BUDGET = Number(values.shrink ?? 120);
const STATE = "reports/planted-bugs.json";
const PAGE = "docs/finding-bugs.md";

async function main(): Promise<void> {
  const rows = new Map(known().map((row) => [row.name, row]));
  const engines = await MutantEngines.of(MUTATIONS);
  const sound = await engines.load(undefined);
  const bugs = plantedBugs();
  const wanted = values.only?.split(",");
  for (const bug of bugs.filter(({ name }) => wanted?.includes(name) ?? true)) {
    const before = rows.get(bug.name);
    if (before !== undefined && isComplete(before)) continue;
    const row = look(bug, await engines.load(bug.mutation), sound, before);
    rows.set(bug.name, row);
    process.stderr.write(`${bug.name}: ${searchCells(row.guided)} | ${searchCells(row.plain)}\n`);
    // After each: it takes hours.
    write(bugs, rows);
  }
  write(bugs, rows);
  await engines.dispose();
}

function write(bugs: readonly PlantedBug[], rows: ReadonlyMap<string, Row>): void {
  const inOrder = bugs.flatMap(({ name }) => rows.get(name) ?? []);
  mkdirSync("reports", { recursive: true });
  writeFileSync(STATE, JSON.stringify(inOrder, undefined, 1));
  writeFileSync(PAGE, findingBugsPage(inOrder));
}

function known(): Row[] {
  if (values.fresh === true || !existsSync(STATE)) return [];
  return JSON.parse(readFileSync(STATE, "utf8")) as Row[];
}

function isSettled(found: Search | undefined, budget: number): boolean {
  return found !== undefined && (found.named !== undefined || found.budget >= budget);
}

function isComplete({ guided, plain, found, shrunk }: Row): boolean {
  const isSmall = SHRINK_BUDGET === 0 || found === undefined || shrunk !== undefined;
  return isSettled(guided, BUDGET) && isSettled(plain, PLAIN_BUDGET) && isSmall;
}

function look(bug: PlantedBug, engine: Engine, sound: Engine, before: Row | undefined): Row {
  const isSound = (one: HuntCase): boolean => isFine(sound, one);
  const limits = { budget: BUDGET, isGuided: true };
  const { name, breaks } = bug;
  let { guided, found, shrunk } = before ?? {};
  if (guided === undefined || !isSettled(guided, BUDGET)) {
    const { search: spent, one } = search(bug, engine, isSound, limits);
    guided = spent;
    found = one;
    shrunk = undefined;
  }
  if (SHRINK_BUDGET > 0 && found !== undefined && guided.named !== undefined) {
    shrunk ??= shrinkFinding(engine, found, guided.named, SHRINK_BUDGET);
  }
  // Until the second round there is nothing to guide, and both are the same.
  const isSame = guided.named !== undefined && guided.runs <= ROUND;
  const plain = isSame
    ? guided
    : isSettled(before?.plain, PLAIN_BUDGET)
      ? before?.plain
      : search(bug, engine, isSound, { budget: PLAIN_BUDGET, isGuided: false }).search;
  return { name, breaks, guided, plain: plain ?? guided, found, shrunk };
}

/** Is nothing wrong with a run in the engine as it is, with the rules as they are? */
function isFine(sound: Engine, one: HuntCase): boolean {
  const plain = plainScenario(one.text, one.variant);
  const cluster = { ...(plain["cluster"] as Record<string, never>) };
  delete cluster["protocol"];
  delete plain["expect"];
  return sound.playCase({ ...one, text: writeYaml({ ...plain, cluster }) }).failures.length === 0;
}

await main();
