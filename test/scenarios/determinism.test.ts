import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import vm from "node:vm";
import { build } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { run, shipped } from "../support/run-scenario.ts";

const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1);
const FILE = "scenarios/leader-failover.yaml";

/** The core and nothing else, as a page would load it. */
async function bundle(platform: "browser" | "node"): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `
        import { Simulation } from "./src/cluster/simulation.ts";
        import { readScenario } from "./src/scenario/read-scenario.ts";
        globalThis.digests = (text, seeds) => seeds.map((seed) => {
          const { scenario } = readScenario(text, "${FILE}");
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

describe("the same scenario, seed and version are the same run", () => {
  let here: readonly string[] = [];
  const text = readFileSync(FILE, "utf8");

  beforeAll(() => {
    const scenario = shipped("leader-failover");
    here = SEEDS.map((seed) => run(scenario, seed).digest);
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
    const scenario = shipped("leader-failover");
    run(shipped("power-loss"), 3);
    run(shipped("unclean-election"), 5);

    expect(run(scenario, SEEDS[0] ?? 1).digest).toBe(here[0]);
  });
});
