import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { sim, simWhile } from "../support/command.ts";

test.each([
  ["--help"],
  ["help"],
  ["run --help"],
  ["help run"],
  ["check -h"],
  ["list --help"],
  ["guarantees --help"],
  ["fuzz --help"],
  ["shrink --help"],
  ["replay --help"],
  ["selftest --help"],
  ["dump --help"],
  ["disk --help"],
])("sim %s helps on stdout, within 80 columns", (line) => {
  const { status, stdout, stderr } = sim(line.split(" "), { env: { COLUMNS: "200" } });

  expect(stdout).toMatch(/^Usage: sim /);
  expect(stdout.split("\n").filter((text) => text.length > 80)).toEqual([]);
  expect(stdout.endsWith("\n")).toBe(true);
  expect(stderr).toBe("");
  expect(status).toBe(0);
});

test("the help names every command and exit code", () => {
  const { stdout } = sim(["--help"]);

  for (const word of [
    "run",
    "explain",
    "fuzz",
    "shrink",
    "replay",
    "check",
    "list",
    "guarantees",
    "disk",
    "dump",
    "help",
  ])
    expect(stdout).toMatch(new RegExp(`^  ${word} `, "m"));
  for (const code of [0, 1, 2, 3, 4, 70, 130])
    expect(stdout).toMatch(new RegExp(`\\b${code} [a-z]`));
});

test("the version is the package's", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));

  expect(sim(["--version"])).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
});

test("list shows every shipped scenario with its variants, within 80 columns", () => {
  const { status, stdout, stderr } = sim(["list"]);

  const files = readdirSync("scenarios").filter((name) => name.endsWith(".yaml"));
  expect(stdout.match(/^scenarios\/.*/gm)).toEqual(files.sort().map((name) => `scenarios/${name}`));
  expect(stdout).toContain("\n  --variant min-isr-2\n");
  expect(stdout.split("\n").filter((text) => text.length > 80)).toEqual([]);
  expect(sim(["list", "scenarios/"]).stdout).toBe(stdout);
  expect(stderr).toBe("");
  expect(status).toBe(0);
});

test("guarantees shows every guarantee with its sentence, within 80 columns", () => {
  const { status, stdout, stderr } = sim(["guarantees"]);

  const names = [...readFileSync("docs/guarantees.md", "utf8").matchAll(/^## (\S+)$/gm)];
  expect(stdout.match(/^\S+$/gm)).toEqual(names.map(([, name]) => name));
  expect(stdout.split("\n").filter((text) => text.length > 80)).toEqual([]);
  expect(stderr).toBe("");
  expect(status).toBe(0);
});

test("guarantees tells of one that is named when it is demanded, and what tests it", () => {
  const { status, stdout } = sim(["guarantees", "no-acked-loss"]);

  expect(stdout).toMatch(/^no-acked-loss\n {2}\S/);
  expect(stdout).toContain("\n  Tested by: ");
  expect(stdout).toContain("\n  Source: ");
  expect(stdout.split("\n").filter((text) => text.length > 80)).toEqual([]);
  expect(JSON.parse(sim(["guarantees", "no-acked-loss", "--json"]).stdout)).toMatchObject({
    schema: "sim-guarantees/1",
    guarantees: [{ name: "no-acked-loss", kinds: ["acked-record-lost"] }],
  });
  expect(status).toBe(0);
});

test("guarantees says which name was meant", () => {
  const { status, stdout, stderr } = sim(["guarantees", "no-aked-loss"]);

  expect(stderr).toBe("error: unknown guarantee `no-aked-loss`; did you mean `no-acked-loss`?\n");
  expect(stdout).toBe("");
  expect(status).toBe(2);
});

test("check has a line for every file, in the order in which they were named", () => {
  const files = ["scenarios/power-loss.yaml", "scenarios/acks-1-gap.yaml"];

  const { status, stdout, stderr } = sim(["check", ...files]);

  expect(stdout.match(/(?<=^ok {2})\S+/gm)).toEqual(files);
  expect(stderr).toBe("");
  expect(status).toBe(0);
});

test
  .skipIf(process.platform !== "linux")
  .each([["--help"], ["list"], ["run scenarios/leader-failover.yaml"]])(
  "sim %s says that it cannot write, and does not call that a success",
  (line) => {
    const { status, stderr } = sim(line.split(" "), { stdout: "/dev/full" });

    expect(stderr).toBe("error: the output cannot be written (ENOSPC)\n");
    expect(status).toBe(2);
  },
);

test.each([["--help"], ["list"]])("sim %s does not mind if nobody reads on", async (line) => {
  const { status, stderr } = await simWhile(line.split(" "), ({ hangUp }) => hangUp());

  expect(stderr).toBe("");
  expect(status).toBe(0);
});
