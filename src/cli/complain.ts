import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";

/** Something that the person at the terminal can mend: shown as it is, without a stack. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Writes `error: ...` to stderr. */
export function complain(message: string): void {
  process.stderr.write(`error: ${message}\n`);
}

/** Turns what a command threw into words and an exit code; never a stack trace. */
export function reportFailure(problem: unknown, again: string): ExitCode {
  if (problem instanceof UsageError) {
    complain(problem.message);
    return EXIT.usage;
  }
  const message =
    problem instanceof Error ? `${problem.name}: ${problem.message}` : String(problem);
  process.stderr.write(
    [
      `bug: the simulator broke one of its own rules`,
      `  ${message}`,
      `  This is a fault of sim, not of your scenario. To repeat it:`,
      `    ${again}`,
      "",
    ].join("\n"),
  );
  if (process.env["SIM_STACK"] !== undefined && problem instanceof Error) {
    process.stderr.write(`${problem.stack ?? ""}\n`);
  }
  return EXIT.bug;
}
