import type { Violation } from "../checkers/guarantee.ts";
import { UsageError } from "./complain.ts";

/**
 * Counted from 1; the first bug, or else the first of all, if nothing was said. Throws `UsageError`, which
 * says that there is nothing to `purpose`.
 */
export function pickViolation(
  firsts: readonly Violation[],
  wanted: string | undefined,
  seed: string,
  purpose: string,
): Violation {
  const bug = firsts.find(({ permitted }) => permitted === undefined);
  const found = wanted === undefined ? (bug ?? firsts[0]) : firsts[Number(wanted) - 1];
  if (found !== undefined) return found;
  if (firsts.length === 0) {
    throw new UsageError(`with seed ${seed} every guarantee holds: there is nothing to ${purpose}`);
  }
  throw new UsageError(`--violation takes a number from 1 to ${firsts.length}, not \`${wanted}\``);
}
