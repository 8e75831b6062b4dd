import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { beforeAll, expect, test } from "vitest";

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly files: readonly string[];
}

const manifest: Manifest = JSON.parse(readFileSync("package.json", "utf8"));

/** A project that has the package and what it depends on, and nothing else of this one. */
const project = mkdtempSync(join(tmpdir(), "kafka-sim-user-"));
const installed = join(project, "node_modules", "kafka-sim");

beforeAll(() => {
  mkdirSync(installed, { recursive: true });
  execFileSync("node", ["build.mjs", "library", join(installed, "dist", "library")]);
  writeFileSync(join(installed, "package.json"), readFileSync("package.json"));
  for (const name of ["fast-check", "fflate", "pure-rand", "seedrandom", "yaml"]) {
    symlinkSync(resolve("node_modules", name), join(project, "node_modules", name));
  }
  writeFileSync(join(project, "package.json"), '{ "type": "module" }\n');
});

const USER = `import fc from "fast-check";
import type { ScenarioValue, SimulatedRun } from "kafka-sim";
import { defineGuarantee, defineScenario, expectGuarantees, simulate } from "kafka-sim";
import { faultPlanArbitrary, scenarioArbitrary } from "kafka-sim/property";
import "kafka-sim/vitest";

const value: ScenarioValue = {
  version: 1,
  name: "mine",
  kafka: "4.3",
  cluster: { brokers: 1, controllers: 1 },
  topics: { orders: { partitions: 1, "replication.factor": 1 } },
  clients: { p1: { produce: "orders", records: 10, config: { acks: "all" } } },
};
const nothing = defineGuarantee({ name: "nothing", sentence: "Nothing.", begin: () => 0, on: {} });
const run: SimulatedRun = simulate(defineScenario(value), { seed: 1, guarantees: [nothing] });
expectGuarantees(run);
export const drawn: fc.Arbitrary<unknown> = fc.tuple(
  scenarioArbitrary(),
  faultPlanArbitrary({ brokers: ["broker-1"], controllers: [], minInSync: 1 }),
);
`;

test("every entry point that package.json names is in the package, with its types", () => {
  const targets = Object.values(manifest.exports).flatMap((one) =>
    typeof one === "string" ? [one] : Object.values(one),
  );

  for (const target of targets) expect(readFileSync(join(installed, target), "utf8")).not.toBe("");
  expect(targets.length).toBe(7);
  expect(manifest.files).toContain("dist/library");
});

test("a project that has only the package runs a scenario, and loads no fast-check for that", () => {
  writeFileSync(
    join(project, "run.js"),
    `import { defineScenario, simulate } from "kafka-sim";
    const { verdict, clients } = simulate(defineScenario({
      version: 1, name: "mine", kafka: "4.3",
      cluster: { brokers: 1, controllers: 1 },
      topics: { orders: { "replication.factor": 1 } },
      clients: { p1: { produce: "orders", records: 10 } },
    }));
    console.log(verdict, clients[0].acked);`,
  );
  const main = readFileSync(join(installed, "dist/library/kafka-sim.js"), "utf8");
  const imported = [...main.matchAll(/from "(\.[^"]*|[a-z-]+)"/g)].map(([, name]) => name);
  const chunks = imported.filter((name) => name?.startsWith("."));
  const texts = chunks.map((name) => readFileSync(join(installed, "dist/library", name ?? "")));

  const printed = execFileSync("node", ["run.js"], { cwd: project, encoding: "utf8" });

  expect(printed).toBe("pass 10\n");
  expect(chunks.length).toBeGreaterThan(0);
  for (const text of [main, ...texts]) expect(String(text)).not.toContain('"fast-check"');
});

test.each([
  ["nodenext", "nodenext"],
  ["bundler", "esnext"],
])("its types suit a strict project with moduleResolution %s", (moduleResolution, module) => {
  const vitest = join(project, "node_modules", "vitest");
  mkdirSync(vitest, { recursive: true });
  // The peer that a user of the matchers brings along, as far as they need it.
  writeFileSync(join(vitest, "package.json"), '{ "name": "vitest", "types": "index.d.ts" }\n');
  writeFileSync(
    join(vitest, "index.d.ts"),
    "// biome-ignore lint: as vitest has it\nexport interface Matchers<T = any> {}\n",
  );
  writeFileSync(join(project, "user.ts"), USER);
  writeFileSync(join(project, "wrong.ts"), USER.replace("acks:", "ack:"));
  const options = [
    "--strict",
    "--noEmit",
    "--target",
    "es2023",
    "--lib",
    "es2023",
    "--pretty",
    "false",
  ];
  const modules = ["--module", module, "--moduleResolution", moduleResolution];
  const words = [resolve("node_modules/typescript/bin/tsc"), ...options, ...modules];

  const { stdout } = spawnSync("node", [...words, "user.ts", "wrong.ts"], {
    cwd: project,
    encoding: "utf8",
  });

  // The wrong one alone, and only where it is wrong.
  expect(stdout.split("\n").filter((line) => /^\S/.test(line))).toEqual([
    expect.stringMatching(/^wrong\.ts\(13,62\): error TS2(?:353|561): .*'ack' does not exist/),
  ]);
});
