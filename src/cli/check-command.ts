import { counted } from "../report/layout.ts";
import { complain, UsageError } from "./complain.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { LoadedScenario } from "./load-scenario.ts";
import { loadScenario, reportComplaints, reportWarnings } from "./load-scenario.ts";

/** `sim check FILE...`: reads and checks all of them, runs none. */
export function checkCommand(files: readonly string[]): ExitCode {
  let bad = 0;
  for (const file of files) {
    const loaded = loadOrComplain(file);
    if (loaded === undefined || !reportComplaints(loaded)) bad++;
    if (loaded === undefined) continue;
    reportWarnings(loaded);
    if (loaded.scenario !== undefined) process.stdout.write(`${summaryOf(file, loaded)}\n`);
  }
  if (bad > 0 && files.length > 1) complain(`${bad} of ${files.length} files have mistakes`);
  return bad === 0 ? EXIT.ok : EXIT.usage;
}

/** A file that cannot be read does not keep the others from being checked. */
function loadOrComplain(file: string): LoadedScenario | undefined {
  try {
    return loadScenario(file);
  } catch (problem) {
    if (!(problem instanceof UsageError)) throw problem;
    complain(problem.message);
    return undefined;
  }
}

function summaryOf(file: string, { scenario, warnings }: LoadedScenario): string {
  const counts = [
    [scenario?.faults.length ?? 0, "fault"],
    [scenario?.expect.length ?? 0, "expectation"],
    [scenario?.variants.length ?? 0, "variant"],
    [warnings.length, "warning"],
  ] as const;
  const told = counts.filter(([count]) => count > 0).map(([count, word]) => counted(count, word));
  return `ok  ${file}  ${told.join(", ")}`.trimEnd();
}
