/** A point in time: integer microseconds since the clock's zero. 2^53 of them are 285 years. */
export type Instant = number;

/** A length of time in integer microseconds. */
export type Duration = number;

export const MICROSECOND: Duration = 1;
export const MILLISECOND: Duration = 1_000;
export const SECOND: Duration = 1_000_000;
export const MINUTE: Duration = 60 * SECOND;
export const HOUR: Duration = 60 * MINUTE;
export const DAY: Duration = 24 * HOUR;

/** Kafka's configs are milliseconds; everything inside is microseconds. */
export function fromMillis(milliseconds: number): Duration {
  return milliseconds * MILLISECOND;
}

/** Whole milliseconds, rounded down: what a Kafka timestamp shows. */
export function toMillis(time: Duration): number {
  return Math.floor(time / MILLISECOND);
}

/** Seconds with three decimals and a unit, the one form in which output shows an instant: `10.391s`. */
export function formatSeconds(time: Duration): string {
  const sign = time < 0 ? "-" : "";
  const milliseconds = Math.floor(Math.abs(time) / MILLISECOND);
  const fraction = String(milliseconds % 1000).padStart(3, "0");
  return `${sign}${Math.floor(milliseconds / 1000)}.${fraction}s`;
}
