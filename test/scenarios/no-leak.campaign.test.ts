import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { compileFunction } from "node:vm";
import { buildSync } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { Dice } from "../../src/chaos/dice.ts";
import { Rng } from "../../src/sim/rng.ts";
import { runsOf } from "../support/campaign-runs.ts";
import { chaosOfLength } from "../support/chaos-of-length.ts";

/** Half a second of CPU to load an engine for each of them: that is where the time goes. */
const SEEDS = Array.from({ length: runsOf(12, 2_000) }, (_, i) => String(i + 1));

/** Another Node to run the same seeds, as `OTHER_NODE="$(npx -y -p node@22 which node)"`. */
const OTHER_NODE = process.env["OTHER_NODE"];

/** What a search does with a seed, on one line. */
type Play = (seed: string) => string;

/** The general scenario with everything but its length, so that thousands of runs are minutes. */
const TEXT = chaosOfLength({ from: 2, quiet: 8, story: 10, settle: 10 });

const BUNDLE = bundle();

function bundle(): string {
  const { outputFiles } = buildSync({
    stdin: {
      contents: `
        import { playCase } from "./src/fuzz/play-case.ts";
        export function play(seed) {
          const outcome = playCase({ file: "chaos.yaml", text: ${JSON.stringify(TEXT)}, variant: undefined, seed });
          const { digest, events, probes, verdict, failures } = outcome;
          return [seed, digest, events, probes, verdict, ...failures.map(({ kind }) => kind)].join(" ");
        }`,
      resolveDir: process.cwd(),
      loader: "ts",
    },
    bundle: true,
    platform: "node",
    format: "cjs",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

/** An engine of its own: it shares no module, and so no state, with any other. */
function newEngine(): Play {
  const module: { exports: { play?: Play } } = { exports: {} };
  const body = compileFunction(BUNDLE, ["module", "exports", "require"]);
  body(module, module.exports, createRequire(import.meta.url));
  if (module.exports.play === undefined) throw new Error("the bundle exports nothing");
  return module.exports.play;
}

let alone: readonly string[] = [];

beforeAll(() => {
  alone = SEEDS.map((seed) => newEngine()(seed));
}, 7_200_000);

test("seeds are different runs", () => {
  expect(new Set(alone.map((line) => line.split(" ")[1])).size).toBe(SEEDS.length);
});

test("a run after others, as a worker of a search makes them, is the run that is made alone", () => {
  const engine = newEngine();

  expect(SEEDS.map(engine)).toEqual(alone);
}, 3_600_000);

test("the order of runs makes no difference", () => {
  const engine = newEngine();
  const shuffled = new Dice(new Rng("order")).shuffled(SEEDS);

  const found = new Map(shuffled.map((seed) => [seed, engine(seed)]));

  expect(SEEDS.map((seed) => found.get(seed))).toEqual(alone);
}, 3_600_000);

test.runIf(OTHER_NODE !== undefined)(
  "another version of Node makes the same runs",
  () => {
    const script = `${BUNDLE}
    console.log(JSON.stringify(${JSON.stringify(SEEDS)}.map(module.exports.play)));`;

    const { stdout } = spawnSync(OTHER_NODE ?? "", ["-"], {
      input: script,
      encoding: "utf8",
      maxBuffer: 1e9,
    });

    expect(JSON.parse(stdout)).toEqual(alone);
  },
  3_600_000,
);
