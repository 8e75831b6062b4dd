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
  if (!(problem instanceof UsageError)) return reportBug(problem, undefined, again);
  complain(problem.message);
  return EXIT.usage;
}

/**
 * Says that the simulator is wrong, not the scenario. `where` is how far the run had come; `again` the
 * command that repeats it. Only SIM_STACK=1 shows the stack.
 */
export function reportBug(problem: unknown, where: string | undefined, again: string): ExitCode {
  process.stderr.write(
    [
      `bug: the simulator broke one of its own rules${where === undefined ? "" : `, ${where}`}`,
      `  ${messageOf(problem)}`,
      "  This is a fault of sim, not of your scenario. To repeat it:",
      `    ${again}`,
      "",
    ].join("\n"),
  );
  if (process.env["SIM_STACK"] !== undefined && problem instanceof Error) {
    process.stderr.write(`${problem.stack ?? ""}\n`);
  }
  return EXIT.bug;
}

/** `InvariantViolation: isr is empty`. */
export function messageOf(problem: unknown): string {
  return problem instanceof Error ? `${problem.name}: ${problem.message}` : String(problem);
}

/** `ENOENT` and the like, of what a file operation threw; undefined for anything else. */
export function systemCode(problem: unknown): string | undefined {
  const code = problem instanceof Error && "code" in problem ? problem.code : undefined;
  return typeof code === "string" ? code : undefined;
}
