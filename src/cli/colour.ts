import { Chalk } from "chalk";
import type { Paint } from "../report/paint.ts";
import { PLAIN } from "../report/paint.ts";

/**
 * Colour if it is asked for, else on a terminal that has not said NO_COLOR. FORCE_COLOR overrides, as
 * elsewhere.
 */
export function paintFor(choice: string, isTerminal: boolean): Paint {
  const { env } = process;
  const forced = env["FORCE_COLOR"] !== undefined && env["FORCE_COLOR"] !== "0";
  const refused = (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb";
  const wanted = choice === "always" || (choice === "auto" && (forced || (isTerminal && !refused)));
  if (!wanted) return PLAIN;
  const chalk = new Chalk({ level: 1 });
  return {
    strong: (text) => chalk.bold(text),
    good: (text) => chalk.green(text),
    bad: (text) => chalk.red.bold(text),
    faint: (text) => chalk.dim(text),
  };
}
