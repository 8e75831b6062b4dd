import { formatSeconds } from "../base/time.ts";
import type { EventRecord } from "../sim/scheduler.ts";

/** Digits of the digest in a line in brief: a difference is missed in one line of 256, not in two. */
const BRIEF_DIGITS = 2;

/** An event on one line; the last word is the digest, which covers what the events before it did. */
export function eventLine({ at, kind, subject, detail, digest }: EventRecord): string {
  return `${formatSeconds(at)}  ${kind} ${subject}  ${detail}  ${digest}`;
}

/** The same line with the digest's first digits only. */
export function briefLine(line: string): string {
  return line.slice(0, line.lastIndexOf(" ") + 1 + BRIEF_DIGITS);
}
