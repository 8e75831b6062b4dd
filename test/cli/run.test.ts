import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BASE, baseWith } from "../support/base-scenario.ts";
import { place, sim, simWhile, written } from "../support/command.ts";

const FILE = "scenarios/leader-failover.yaml";
const LOSS = "scenarios/unclean-election.yaml";
/** Would go on for hours. */
const ENDLESS = written(
  "endless.yaml",
  baseWith([", records: 100", ""], ["settle: 5s", "duration: 8000h\nlimit: 8001h"]),
);

const BRIEF = written("brief.yaml", BASE);
/** Ends with a loss that it expects. */
const lost = sim(["run", LOSS]);

function json(words: readonly string[]): Record<string, unknown> {
  const { stdout } = sim(["run", ...words, "--json"]);
  expect(stdout.endsWith("}\n")).toBe(true);
  return JSON.parse(stdout);
}

test("a run says what it is in its first line, and in its last how it came out", () => {
  const { status, stdout, stderr } = sim(["run", FILE]);

  const lines = stdout.split("\n");
  expect(lines[0]).toMatch(
    /^sim \d+\.\d+\.\d+ {2}leader-failover {2}seed 42 {2}kafka 4\.3 {2}3 brokers, 1 partition$/,
  );
  expect(stdout).toMatch(/\nPASS {2}(\d+)\/\1 expectations .*\s+trace [0-9a-f]{16}\n$/);
  expect(stderr).toBe("");
  expect(status).toBe(0);
});

test("another seed is another run", () => {
  const traces = [[], ["--seed", "42"], ["--seed", "0042"], ["--seed", "43"]].map((words) => {
    const { stdout, status } = sim(["run", FILE, ...words]);
    expect(status).toBe(0);
    return /trace (\w+)/.exec(stdout)?.[1];
  });

  expect(traces[1]).toBe(traces[0]);
  expect(traces[2]).toBe(traces[0]);
  expect(traces[3]).not.toBe(traces[0]);
});

test("no line is wider than a terminal, whatever the run", () => {
  for (const words of [
    [LOSS, "-v"],
    [LOSS, "--variant", "clean-only"],
    ["scenarios/power-loss.yaml"],
  ]) {
    const { stdout } = sim(["run", ...words]);

    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  }
});

test("-v shows what else there is", () => {
  const verbose = sim(["run", LOSS, "-v"]).stdout;

  expect(lost.stdout).not.toMatch(/^PERMITTED {2}consumed-record-lost/m);
  expect(verbose).toMatch(/^PERMITTED {2}consumed-record-lost/m);
  expect(verbose).toMatch(/^ {2}guarantee +evaluated +interesting$/m);
});

test("a loss that was expected passes, and names the variants that may keep the records", () => {
  const { status, stdout } = lost;

  expect(stdout).toMatch(/^PERMITTED {2}acked-record-lost {3}orders-0 {3}at /m);
  expect(stdout).toContain(`  try     sim run ${LOSS} --variant clean-only\n`);
  expect(status).toBe(0);
});

test("an expectation that is not met fails the run, is shown with its line, and can be repeated", () => {
  const file = written("not met.yaml", baseWith(["- no-divergence", "- at-end: acked(p1) == 7"]));

  const { status, stdout, stderr } = sim(["run", file, "--seed", "5"]);

  expect(stdout).toMatch(/^ {2}X {3}at-end acked\(p1\) == 7\s+\S+not met\.yaml:25$/m);
  expect(stdout).toMatch(/^FAIL {2}0\/1 expectations, 1 not met {3}/m);
  expect(stdout.endsWith(`\n  again   sim run '${file}' --seed 5\n`)).toBe(true);
  expect(stderr).toBe("");
  expect(status).toBe(1);
});

describe("--json", () => {
  test("is one document with what the text says", () => {
    const result = json([LOSS, "--seed", "9"]);

    expect(result).toMatchObject({
      schema: "sim-result/1",
      scenario: "unclean-election",
      variant: null,
      seed: 9,
      kafka: "4.3",
      verdict: "pass",
      reasons: [],
      again: ["sim", "run", LOSS, "--seed", "9"],
    });
    expect(result["trace"]).toMatch(/^[0-9a-f]{16}$/);
    expect(result["simulatedUs"]).toBeGreaterThan(1_000_000);
    expect(result["events"]).toBeGreaterThan(1000);
    expect(result["expectations"]).toContainEqual({
      name: "truncation",
      text: "truncation orders-0 at $stale-leader",
      ok: true,
      line: 52,
    });
    const [violation] = result["violations"] as Record<string, unknown>[];
    expect(violation).toMatchObject({
      kind: "acked-record-lost",
      guarantee: "no-acked-loss",
      partition: "orders-0",
      client: "p1",
      atUs: expect.any(Number),
      event: expect.any(Number),
      offsets: [expect.any(Number), expect.any(Number)],
      permitted: expect.stringContaining("unclean election"),
    });
  });

  test("has the same trace as the text, and the variant's name", () => {
    const words = [LOSS, "--variant", "min-isr-2"];

    const result = json(words);

    expect(sim(["run", ...words]).stdout).toContain(`trace ${result["trace"]}`);
    expect(result["variant"]).toBe("min-isr-2");
    expect(result["again"]).toEqual(["sim", "run", LOSS, "--seed", "7", "--variant", "min-isr-2"]);
  });

  test("tells in it why a run says nothing", () => {
    const file = written("never.yaml", baseWith(["at: 1s", "when: hw(orders-0) >= 100000"]));

    const { status, stdout } = sim(["run", file, "--json"]);

    const { verdict, reasons } = JSON.parse(stdout);
    expect(verdict).toBe("inconclusive");
    expect(reasons).toEqual([expect.stringMatching(/^fault \[kill\] never fired: /)]);
    expect(status).toBe(3);
  });
});

test("--events writes each fact as a line of JSON, in order, from before time zero", () => {
  const file = join(place, "events.jsonl");
  const plain = sim(["run", FILE]);

  const ended = sim(["run", FILE, "--events", file]);

  expect(ended).toEqual(plain);
  const text = readFileSync(file, "utf8");
  expect(text.endsWith("}\n")).toBe(true);
  const facts: { atUs: number; event: number; kind: string }[] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const inOrder = [...facts].sort((a, b) => a.event - b.event || a.atUs - b.atUs);
  expect(facts).toEqual(inOrder);
  expect(facts[0]?.atUs).toBeLessThan(0);
  const kinds = new Set(facts.map(({ kind }) => kind));
  expect([...kinds]).toEqual(
    expect.arrayContaining(["partition-changed", "appended", "send-ended"]),
  );
});

describe("--verify", () => {
  test("runs again in a second process, and says so on stderr", () => {
    const ended = sim(["run", BRIEF, "--variant", "five-brokers", "--verify"]);

    expect(ended.stderr).toMatch(/^verified: the same \d+ events in a second process\n$/);
    expect(ended.stdout).toBe(sim(["run", BRIEF, "--variant", "five-brokers"]).stdout);
    expect(ended.status).toBe(0);
  });

  test("warns once, not once a process, and keeps the exit code", () => {
    const file = written(
      "warned.yaml",
      baseWith(
        ["    replica.lag", "    log.cleaner.threads: 2\n    replica.lag"],
        ["- no-divergence", "- no-divergence\n  - never: hw(orders-0) > 5"],
      ),
    );

    const ended = sim(["run", file, "--verify", "--json"]);

    expect(ended.stderr.match(/warning/g)).toHaveLength(1);
    expect(ended.stderr).toContain("verified: ");
    expect(JSON.parse(ended.stdout)).toMatchObject({ verdict: "fail" });
    expect(ended.status).toBe(1);
  });
});

describe("colour", () => {
  const marker = "\u001b[";

  test.each([
    ["none in a pipe", [], {}, false],
    ["if asked for, whatever the environment says", ["--color", "always"], { NO_COLOR: "1" }, true],
    ["if forced", [], { FORCE_COLOR: "1" }, true],
  ])("%s", (_what, words, env, expected) => {
    const { stdout } = sim(["run", BRIEF, ...words], { env });

    expect(stdout.includes(marker)).toBe(expected);
  });

  test("only doubles what the words say", () => {
    const coloured = sim(["run", LOSS, "--color", "always"]).stdout;

    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
    expect(coloured.replaceAll(/\u001b\[\d+m/g, "")).toBe(lost.stdout);
  });

  test("never gets into JSON", () => {
    const { stdout } = sim(["run", BRIEF, "--json", "--color", "always"]);

    expect(JSON.parse(stdout)).toMatchObject({ verdict: "pass" });
  });
});

test("Ctrl-C ends a run with what it has", async () => {
  const ended = await simWhile(["run", ENDLESS], ({ signal }) => signal("SIGINT"));

  expect(ended.stdout).toMatch(/^sim .* base {2}seed 1 /);
  expect(ended.stdout).toMatch(/\ninconclusive: interrupted\n/);
  expect(ended.stdout).toMatch(/\nINCONCLUSIVE .*\s.*trace [0-9a-f]{16}\n {2}again {3}sim run /);
  expect(ended.stderr).toBe("");
  expect(ended.status).toBe(130);
});

test("a reader that has heard enough is not met with a stack, and the exit code still tells", async () => {
  const file = written("fails.yaml", baseWith(["- no-divergence", "- at-end: acked(p1) == 7"]));

  const passed = await simWhile(["run", FILE], ({ hangUp }) => hangUp());
  const failed = await simWhile(["run", file], ({ hangUp }) => hangUp());

  expect(passed.stderr).toBe("");
  expect(passed.status).toBe(0);
  expect(failed.stderr).toBe("");
  expect(failed.status).toBe(1);
});

test("in a workflow of GitHub, what is wrong is shown beside its line, and the run on the job's page", () => {
  const failing = written(
    "workflow.yaml",
    baseWith(["- no-divergence", "- at-end: acked(p1) == 7"]),
  );
  const mistaken = written("mistaken.yaml", baseWith(["    crash:", "    krash:"]));
  const summary = join(place, "summary.md");
  const env = { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary };

  const failed = sim(["run", failing], { env });
  const refused = sim(["check", mistaken], { env });

  expect(failed.stderr).toBe(`::error file=${failing},line=25::not met: at-end acked(p1) == 7\n`);
  expect(failed.stdout).toBe(sim(["run", failing]).stdout);
  expect(readFileSync(summary, "utf8")).toBe(`\`\`\`text\n${failed.stdout}\`\`\`\n`);
  expect(refused.stderr).toContain(
    `\n::error file=${mistaken},line=22,col=5::unknown fault \`krash\`; did you mean \`crash\`?\n`,
  );
});
