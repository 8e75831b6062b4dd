import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { BASE } from "../support/base-scenario.ts";
import { node, place, written } from "../support/command.ts";

/** The command, built from a source in which something that cannot happen happens. */
async function buildBroken(file: string, from: string, to: string): Promise<string> {
  const outfile = join(place, "broken.cjs");
  const text = readFileSync(file, "utf8");
  expect(text).toContain(from);
  const contents = text.replace(from, to);
  await build({
    bundle: true,
    platform: "node",
    format: "cjs",
    define: { __SIM_VERSION__: '"1.2.3"' },
    entryPoints: ["src/cli/main.ts"],
    outfile,
    plugins: [
      {
        name: "broken",
        setup: ({ onLoad }) =>
          onLoad({ filter: new RegExp(`${file}$`) }, () => ({ contents, loader: "ts" })),
      },
    ],
  });
  return outfile;
}

const CLOCK = "src/cluster/run-clock.ts";
const PLAN = "src/cluster/plan.ts";
const scenario = written("base.yaml", BASE);

test("a bug in the middle of a run is called one, with the seed and the event, and no stack", async () => {
  const command = await buildBroken(
    CLOCK,
    "this.#zero = this.#scheduler.now;",
    'throw new Error("time stands still");',
  );

  const { status, stdout, stderr } = node([command, "run", scenario, "--seed", "7"]);

  expect(stdout).toMatch(/^sim 1\.2\.3 {2}base {2}seed 7 /);
  expect(stderr).toMatch(/^bug: the simulator broke one of its own rules, at 0\.000s, event \d+\n/);
  expect(stderr).toContain("\n  Error: time stands still\n");
  expect(stderr).toContain(`\n    sim run ${scenario} --seed 7\n`);
  expect(stderr).not.toMatch(/^ +at /m);
  expect(status).toBe(70);

  const json = node([command, "run", scenario, "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    schema: "sim-result/1",
    verdict: "bug",
    reasons: ["Error: time stands still"],
    again: ["sim", "run", scenario, "--seed", "1"],
  });
  expect(json.status).toBe(70);

  const withStack = node([command, "run", scenario], { env: { SIM_STACK: "1" } });
  expect(withStack.stderr).toMatch(/^ +at /m);
});

test("the seed is told even if the cluster cannot be laid out", async () => {
  const command = await buildBroken(
    PLAN,
    "export function makePlan(",
    'export function makePlan(): never { throw new Error("no plan"); }\nexport function unused(',
  );

  const { status, stdout, stderr } = node([command, "run", scenario, "--seed", "7"]);

  expect(stdout).toBe("sim 1.2.3  base  seed 7  kafka 4.3\n\n");
  expect(stderr).toMatch(/^bug: .* rules, at 0\.000s, event 0\n {2}Error: no plan\n/);
  expect(stderr).toContain(`\n    sim run ${scenario} --seed 7\n`);
  expect(status).toBe(70);
});
