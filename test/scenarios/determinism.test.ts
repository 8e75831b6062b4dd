import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import vm from "node:vm";
import { build } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { complaintAbout, run, scenarioOf, shipped } from "../support/run-scenario.ts";

const RUNS = [
  { file: "scenarios/leader-failover.yaml", seeds: 20 },
  // Every codec, of producers and of topics.
  { file: "test/conformance/scenarios/codecs.yaml", seeds: 2 },
];

/** The core and nothing else, as a page would load it. */
async function bundle(platform: "browser" | "node"): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `
        import { Simulation } from "./src/cluster/simulation.ts";
        import { readScenario } from "./src/scenario/read-scenario.ts";
        globalThis.digests = (text, seeds) => seeds.map((seed) => {
          const { scenario } = readScenario(text, "test.yaml");
          const simulation = new Simulation(scenario, { seed: String(seed) });
          while (simulation.advance(100000));
          return simulation.finish(undefined).digest;
        });`,
      resolveDir: process.cwd(),
      loader: "ts",
    },
    bundle: true,
    platform,
    format: "iife",
    target: "es2023",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

describe.each(RUNS)("the same seed and version are the same run of $file", ({ file, seeds }) => {
  const SEEDS = Array.from({ length: seeds }, (_, i) => i + 1);
  let here: readonly string[] = [];
  const text = readFileSync(file, "utf8");

  beforeAll(() => {
    const results = SEEDS.map((seed) => run(scenarioOf(text), seed));
    expect(results.map(complaintAbout)).toEqual(SEEDS.map(() => ""));
    here = results.map(({ digest }) => digest);
  });

  test("in another process", async () => {
    const script = `${await bundle("node")}
      console.log(JSON.stringify(digests(${JSON.stringify(text)}, ${JSON.stringify(SEEDS)})));`;

    const { stdout } = spawnSync(process.execPath, ["-"], { input: script, encoding: "utf8" });

    expect(JSON.parse(stdout)).toEqual(here);
  });

  test("in a browser's bare language, without Node, timers or a clock", async () => {
    const context = vm.createContext({}, { codeGeneration: { strings: false, wasm: false } });
    const missing = vm.runInContext(
      "['process', 'Buffer', 'setTimeout', 'performance', 'TextEncoder', 'console']" +
        ".filter((name) => typeof globalThis[name] !== 'undefined' && name !== 'console')",
      context,
    );
    expect([...missing]).toEqual([]);

    vm.runInContext(await bundle("browser"), context);
    const there = vm.runInContext(
      `JSON.stringify(digests(${JSON.stringify(text)}, ${JSON.stringify(SEEDS)}))`,
      context,
    );

    expect(JSON.parse(there)).toEqual(here);
  });

  test("after other runs in the same process", () => {
    run(shipped("power-loss"), 3);
    run(shipped("unclean-election"), 5);

    expect(run(scenarioOf(text), SEEDS[0] ?? 1).digest).toBe(here[0]);
  });
});
