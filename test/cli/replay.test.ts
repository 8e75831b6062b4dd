import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sim } from "../support/command.ts";

const FILE = "scenarios/leader-failover.yaml";

function place(name: string): string {
  return join(mkdtempSync(join(tmpdir(), "sim-replay-")), name);
}

test("a recorded run is replayed with the same output, and found to be the same", () => {
  const path = place("run.kfs");
  const first = sim(["run", FILE, "--seed", "7", "--record", path]);

  const again = sim(["replay", path]);

  expect(first.status).toBe(0);
  expect(again.stdout).toBe(first.stdout);
  expect(again.stderr).toMatch(/^replayed: the same \d+ events as recorded\n$/);
  expect(again.status).toBe(0);
});

test("a token carries the run without a file", () => {
  const path = place("run.kfs");
  const { stdout } = sim(["run", FILE, "--record", path]);
  const token = sim(["replay", path, "--token"]).stdout.trim();

  expect(sim(["replay", token])).toMatchObject({ status: 0, stdout });
  expect(sim(["replay", token.slice(0, -9)])).toEqual({
    status: 2,
    stdout: "",
    stderr: "error: the token is damaged: a part is missing, or a letter was changed\n",
  });
});

test("a run that is not the one recorded ends with 4, and both sides of the first difference", () => {
  const path = place("run.kfs");
  sim(["run", FILE, "--record", path]);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace('"seed":"42"', '"seed":"43"'));

  const { status, stdout } = sim(["replay", path]);

  expect(status).toBe(4);
  expect(stdout).toMatch(/\nDIVERGED {2}at event \d+\n {2}recorded {2}.+\n {2}now {7}.+\n/);
});

test("what is no recording is refused, with a hint", () => {
  expect(sim(["replay", FILE])).toEqual({
    status: 2,
    stdout: "",
    stderr: `error: ${FILE} is no recording, or a damaged one; a scenario is run with \`sim run\`\n`,
  });
  expect(sim(["replay", "no-such.kfs"]).stderr).toBe(
    "error: no-such.kfs: no such file; `sim run --record FILE` makes recordings\n",
  );
});
