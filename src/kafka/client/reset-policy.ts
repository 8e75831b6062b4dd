import { fail } from "../../base/invariant.ts";
import type { Duration } from "../../base/time.ts";
import { DAY, HOUR, MICROSECOND, MINUTE, SECOND } from "../../base/time.ts";

/**
 * auto.offset.reset: where a consumer goes that has no position, or none that the log has (`AutoOffsetResetStrategy`).
 * A duration: to the first record that is not older (KIP-1106).
 */
export type ResetPolicy = "latest" | "earliest" | "none" | Duration;

/**
 * `by_duration:P1DT2H3M4.5S`, as `java.time.Duration` reads it: in any case, with at least one part, and one after a T.
 *
 * Simplified: no parts with signs of their own, which Java would add up.
 */
export const BY_DURATION_PATTERN: RegExp =
  /^by_duration:\+?[Pp](?=.*[0-9])(?:([0-9]+)[Dd])?(?:[Tt](?=[0-9])(?:([0-9]+)[Hh])?(?:([0-9]+)[Mm])?(?:([0-9]+)(?:[.,]([0-9]{0,9}))?[Ss])?)?$/;

/** Of a config's value that has been checked. */
export function resetPolicyOf(config: string): ResetPolicy {
  if (config === "earliest" || config === "none" || config === "latest") return config;
  const parts = BY_DURATION_PATTERN.exec(config) ?? fail(`auto.offset.reset cannot be ${config}`);
  const [, days = "0", hours = "0", minutes = "0", seconds = "0", fraction = ""] = parts;
  const micros = Number(fraction.slice(0, 6).padEnd(6, "0"));
  return (
    Number(days) * DAY +
    Number(hours) * HOUR +
    Number(minutes) * MINUTE +
    Number(seconds) * SECOND +
    micros * MICROSECOND
  );
}
