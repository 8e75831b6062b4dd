import { Chalk } from "chalk";
import type { Paint } from "../report/paint.ts";
import { PLAIN } from "../report/paint.ts";

/** Coloured, if `isColoured` says so. */
export function paintFor(choice: string, isTerminal: boolean): Paint {
  if (!isColoured(choice, isTerminal, process.env)) return PLAIN;
  const chalk = new Chalk({ level: 1 });
  return {
    strong: (text) => chalk.bold(text),
    good: (text) => chalk.green(text),
    bad: (text) => chalk.red.bold(text),
    faint: (text) => chalk.dim(text),
  };
}

/**
 * Whether to colour: what --color says; else what FORCE_COLOR says; else on a terminal that is not dumb,
 * unless NO_COLOR is set to anything.
 */
export function isColoured(
  choice: string,
  isTerminal: boolean,
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  if (choice !== "auto") return choice === "always";
  const forced = environment["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  const isRefused = (environment["NO_COLOR"] ?? "") !== "" || environment["TERM"] === "dumb";
  return isTerminal && !isRefused;
}
