import { readFileSync, writeFileSync } from "node:fs";
import { CANARIES } from "../../src/fuzz/canaries.ts";
import { Hunt } from "../../src/fuzz/hunt.ts";
import { changed } from "../../src/fuzz/plain-path.ts";
import { writeYaml } from "../../src/scenario/parse-yaml.ts";
import { plainScenario } from "../../src/scenario/plain.ts";
import type { Engine } from "./mutations/mutant-engines.ts";
import { MutantEngines } from "./mutations/mutant-engines.ts";
import type { Mutation } from "./mutations/mutation.ts";
import { MUTATIONS } from "./mutations/mutations.ts";

/**
 * How long `sim fuzz` takes to name each planted bug, in one general scenario: writes
 * docs/finding-bugs.md.
 *
 *     npm run planted-bugs -- [CPU seconds a bug] [the number of bugs]
 *
 * One thread, one bug after the other, guided and from seed to seed. A bug that is not named within its
 * budget says so.
 */
const [budget = 600, most = Number.POSITIVE_INFINITY] = process.argv.slice(2).map(Number);
const SCENARIO = "scenarios/chaos.yaml";

interface Search {
  readonly runs: number;
  readonly seconds: number;
  /** The guarantee that named it; undefined: none did. */
  readonly named: string | undefined;
}

interface Bug {
  readonly name: string;
  readonly breaks: string;
  readonly caughtBy: readonly string[];
  readonly text: string;
  readonly mutation: Mutation | undefined;
}

function bugs(): Bug[] {
  const general = readFileSync(SCENARIO, "utf8");
  const planted = MUTATIONS.map((mutation) => {
    const { name, breaks, caughtBy } = mutation;
    return { name, breaks, caughtBy: [caughtBy], text: general, mutation };
  });
  const switches = CANARIES.map(({ name, breaks, caughtBy, protocol }) => {
    const broken = changed(plainScenario(general, undefined), ["cluster", "protocol"], protocol);
    const text = writeYaml({ ...broken, expect: [...caughtBy] });
    return { name, breaks, caughtBy, text, mutation: undefined };
  });
  return [...switches, ...planted].slice(0, most);
}

/** Until one of the guarantees that should name the bug is named first, or the budget is spent. */
function search(engine: Engine, { text, caughtBy }: Bug, isGuided: boolean): Search {
  const where = { file: SCENARIO, text, variant: undefined };
  const hunt = new Hunt({ ...where, seed: 1, isGuided, shard: { index: 0, count: 1 } });
  const start = process.cpuUsage();
  const seconds = (): number => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1e6;
  };
  for (;;) {
    for (const one of hunt.nextRound()) {
      const outcome = engine.playCase(one);
      hunt.take(one, outcome);
      const named = outcome.failures[0]?.guarantee;
      if (named !== undefined && caughtBy.includes(named)) {
        return { runs: hunt.runs, seconds: seconds(), named };
      }
      if (seconds() > budget) return { runs: hunt.runs, seconds: seconds(), named: undefined };
    }
  }
}

async function main(): Promise<void> {
  const engines = await MutantEngines.of(MUTATIONS);
  const rows: (readonly [Bug, Search, Search])[] = [];
  for (const bug of bugs()) {
    const engine = await engines.load(bug.mutation);
    const row = [bug, search(engine, bug, true), search(engine, bug, false)] as const;
    rows.push(row);
    process.stderr.write(`${bug.name}: ${cells(row[1])} | ${cells(row[2])}\n`);
  }
  await engines.dispose();
  writeFileSync("docs/finding-bugs.md", page(rows));
}

function cells({ runs, seconds, named }: Search): string {
  const time = seconds.toFixed(1);
  return named === undefined ? `not in ${runs} | ${time} |` : `${runs} | ${time} | ${named}`;
}

function page(rows: readonly (readonly [Bug, Search, Search])[]): string {
  const found = rows.filter(([, guided]) => guided.named !== undefined);
  const median = (values: readonly number[]): string => {
    const sorted = [...values].sort((left, right) => left - right);
    return (sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(1);
  };
  const byTime = [...rows].sort(([, left], [, right]) => left.seconds - right.seconds);
  const hard = byTime.slice(Math.floor((byTime.length * 2) / 3));
  const ratio = median(hard.map(([, guided, plain]) => plain.seconds / guided.seconds));
  return `# Finding bugs

<!-- Written by test/support/planted-bugs.ts. To renew: npm run planted-bugs -- ${budget} -->

How long a search like \`sim fuzz ${SCENARIO}\` takes, on one core, to name a planted bug: rules that
Kafka once had (\`protocol:\`), and rules of the implementation broken in its source, one at a time
(test/support/mutations). A bug counts as found when the guarantee that should name it is named first.
The search for each ends after ${budget} s of CPU; \`not in N\`: none of N runs had named it then.

Found: ${found.length} of ${rows.length}; median ${median(found.map(([, guided]) => guided.seconds))} s. In the hard third, the
median of plain against guided time is ${ratio}.

| bug | what is wrong | runs | CPU s | named | runs, seed by seed | CPU s | named |
|---|---|---|---|---|---|---|---|
${rows
  .map(
    ([bug, guided, plain]) =>
      `| ${bug.name} | ${bug.breaks} | ${cells(guided)} | ${cells(plain)} |`,
  )
  .join("\n")}
`;
}

await main();
