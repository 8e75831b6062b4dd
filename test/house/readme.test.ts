import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const readme = readFileSync("README.md", "utf8");

/** A directory as a newcomer has it, with the command and what the README has them write. */
const place = mkdtempSync(join(tmpdir(), "kafka-sim-readme-"));
for (const folder of ["scenarios", "schema", "test", "node_modules"])
  symlinkSync(resolve(folder), join(place, folder));
mkdirSync(join(place, "reports"));
execFileSync("node", ["build.mjs", "command", join(place, "sim.cjs")]);
const [, file = "", text = ""] =
  /Save this as `([a-z-]+\.yaml)`:\n\n```yaml\n(.*?)```/s.exec(readme) ?? [];
writeFileSync(join(place, file), text);

/** Every `sim` command that the README shows, with the exit code that its comment tells, or 0. */
const commands = [...readme.matchAll(/^```sh\n(.*?)^```/gms)]
  .flatMap(([, block = ""]) => block.split("\n"))
  .filter((line) => line.includes("npx sim"))
  .map((line): [command: string, code: number] => [
    line.replace("npm ci && ", "").replace(/ *#.*/, ""),
    Number(/# exit code (\d+)/.exec(line)?.[1] ?? 0),
  ]);

function run(command: string): { status: number | null; stdout: string; stderr: string } {
  const words = command.replace("npx sim", "node sim.cjs");
  return spawnSync("sh", ["-c", words], { cwd: place, encoding: "utf8", maxBuffer: 1 << 26 });
}

test.each(commands)(
  "the README's `%s` ends with %i",
  (command, code) => {
    const { status, stdout, stderr } = run(command);

    expect(status, `${stdout}\n${stderr}`).toBe(code);
  },
  // Forty runs of chaos on a machine that has other work to do.
  300_000,
);

// To renew: npx vitest run test/house/readme.test.ts --update
test("the README shows what its first command prints", async () => {
  const [first] = commands[0] ?? [""];
  const { stdout } = run(first);

  const page = readme.replace(/^```text\n.*?^```/ms, () => `\`\`\`text\n${stdout}\`\`\``);

  expect(stdout).toContain("PASS");
  await expect(page).toMatchFileSnapshot("../../README.md");
});

test("the README has a line for every shipped scenario", () => {
  for (const scenario of readdirSync("scenarios")) {
    expect(readme).toContain(`\n| ${scenario.replace(".yaml", "")} | `);
  }
});
