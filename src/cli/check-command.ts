import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { loadScenario, reportComplaints } from "./load-scenario.ts";

/** `sim check FILE...`: reads and checks, runs nothing. */
export function checkCommand(files: readonly string[]): ExitCode {
  let bad = 0;
  for (const file of files) {
    const loaded = loadScenario(file);
    const isGood = reportComplaints(loaded);
    const { scenario } = loaded;
    if (!isGood || scenario === undefined) {
      bad++;
      continue;
    }
    const variants = scenario.variants.length;
    const warned = loaded.warnings.length;
    process.stdout.write(
      `ok  ${file}  ${scenario.faults.length} faults, ${scenario.expect.length} expectations` +
        `${variants === 0 ? "" : `, ${variants} variants`}` +
        `${warned === 0 ? "" : `, ${warned} warnings`}\n`,
    );
  }
  return bad === 0 ? EXIT.ok : EXIT.usage;
}
