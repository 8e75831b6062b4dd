import type { Duration } from "../base/time.ts";
import { HOUR, MICROSECOND, MILLISECOND, MINUTE, SECOND } from "../base/time.ts";

const UNITS: Readonly<Record<string, Duration>> = {
  us: MICROSECOND,
  ms: MILLISECOND,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
};

/** Longer durations are taken for mistakes: a year. */
export const LONGEST_DURATION: Duration = 8760 * HOUR;

/** The form of a duration, for schemas: `250ms`, `1m30s`, `0`. */
export const DURATION_PATTERN = "^(0|([0-9]+([.][0-9]+)?(us|ms|s|m|h))+)$";

/** What a duration in text is, or what is wrong with it. `label` names it in the message. */
export function parseDuration(text: string, label: string): Duration | Mistake {
  const trimmed = text.trim();
  if (trimmed === "0") return 0;
  if (/^[0-9]+([.][0-9]+)?$/.test(trimmed)) {
    return new Mistake(`\`${label}: ${trimmed}\` has no unit; write ${trimmed}s or ${trimmed}ms`);
  }
  const steps = [...trimmed.matchAll(/([0-9]+(?:[.][0-9]+)?)(us|ms|s|m|h)/g)];
  if (steps.length === 0 || steps.map(([step]) => step).join("") !== trimmed) {
    return new Mistake(`\`${label}\` takes a duration such as 250ms or 1m30s, not \`${trimmed}\``);
  }
  let total = 0;
  for (const [, amount, unit] of steps) total += Number(amount) * (UNITS[unit ?? ""] ?? 0);
  if (total > LONGEST_DURATION) return new Mistake(`\`${label}\` is longer than a year`);
  const rounded = Math.round(total);
  if (Math.abs(total - rounded) > 1e-6) {
    return new Mistake(`\`${label}\` is not a whole number of microseconds`);
  }
  return rounded;
}

/** Why a text is not what was expected, as the message of a complaint. */
export class Mistake {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** `1m30s`, `250ms`, `0s`: the shortest exact form. */
export function formatDuration(duration: Duration): string {
  if (duration === 0) return "0s";
  const sign = duration < 0 ? "-" : "";
  let rest = Math.abs(duration);
  let text = "";
  for (const [unit, size] of [
    ["h", HOUR],
    ["m", MINUTE],
    ["s", SECOND],
    ["ms", MILLISECOND],
    ["us", MICROSECOND],
  ] as const) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return sign + text;
}

/** Seconds with two decimals, rounded down, as measurements are shown: `9.19s`. */
export function formatMeasured(duration: Duration): string {
  const hundredths = Math.floor(Math.max(0, duration) / (10 * MILLISECOND));
  return `${Math.floor(hundredths / 100)}.${String(hundredths % 100).padStart(2, "0")}s`;
}
