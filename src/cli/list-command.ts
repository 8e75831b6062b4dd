import { readdirSync } from "node:fs";
import { byText } from "../base/order.ts";
import { UsageError } from "./complain.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { loadScenario } from "./load-scenario.ts";

/** `sim list [DIR]`: the scenarios of a directory, each with its sentence and its variants. */
export function listCommand(directory: string): ExitCode {
  const files = scenarioFiles(directory);
  if (files.length === 0) throw new UsageError(`${directory} has no .yaml file`);
  for (const file of files) {
    const { scenario, complaints } = loadScenario(file);
    if (scenario === undefined) {
      process.stdout.write(`${file}\n  cannot be read: ${complaints[0]?.message ?? ""}\n`);
      continue;
    }
    process.stdout.write(`${file}\n  ${scenario.summary}\n`);
    for (const { variant, summary } of scenario.variants) {
      const text = summary === scenario.summary ? "" : `  ${summary}`;
      process.stdout.write(`  --variant ${variant}${text}\n`);
    }
  }
  return EXIT.ok;
}

function scenarioFiles(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(".yaml"))
      .sort(byText)
      .map((name) => `${directory}/${name}`);
  } catch {
    throw new UsageError(`${directory}: no such directory`);
  }
}
