import { readdirSync } from "node:fs";
import { join } from "node:path";
import { byText } from "../base/order.ts";
import { wrapped } from "../report/layout.ts";
import { systemCode, UsageError } from "./complain.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { loadScenario, reportComplaints } from "./load-scenario.ts";

/**
 * `sim list [DIR]`: the scenarios of a directory, each with its sentence and its variants. One that has
 * mistakes is named, and they are told on stderr.
 */
export function listCommand(directory: string): ExitCode {
  const files = scenarioFiles(directory);
  if (files.length === 0)
    throw new UsageError(`${directory} has no scenario: no file in it is .yaml`);
  let code: ExitCode = EXIT.ok;
  for (const file of files) {
    const loaded = loadScenario(file);
    const lines = [file];
    if (!reportComplaints(loaded)) code = EXIT.usage;
    if (loaded.scenario === undefined) {
      lines.push("  cannot be run: it has mistakes");
    } else {
      const { summary, variants } = loaded.scenario;
      if (summary !== "") lines.push(...wrapped(summary, 2));
      for (const { variant } of variants) lines.push(`  --variant ${variant}`);
    }
    process.stdout.write(`${lines.join("\n")}\n`);
  }
  return code;
}

/** In the order of their names, whatever order the file system has. */
function scenarioFiles(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.name.endsWith(".yaml") && !entry.isDirectory())
      .map((entry) => entry.name)
      .sort(byText)
      .map((name) => join(directory, name));
  } catch (problem) {
    const isFile = systemCode(problem) === "ENOTDIR";
    throw new UsageError(
      isFile ? `${directory} is not a directory` : `${directory}: no such directory`,
    );
  }
}
