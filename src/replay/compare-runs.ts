import { CHECKPOINT_INTERVAL } from "../sim/digest.ts";

/** What a run was, in little: two runs with the same did the same. */
export interface Fingerprint {
  /** 16 hexadecimal digits, over every event. */
  readonly digest: string;
  readonly events: number;
  /** The digest as it stood every so many events. */
  readonly checkpoints: readonly { readonly event: number; readonly digest: string }[];
}

/** A run that can be asked about, as often as need be. */
export interface Witness {
  readonly fingerprint: Fingerprint;
  /** The events numbered [from, to] in words, one text each. */
  events(from: number, to: number): readonly string[];
}

/** Where two runs part. */
export interface Difference {
  /** The number of the first event that differs. */
  readonly event: number;
  /** That event in each of them; undefined where the run had already ended. */
  readonly one: string | undefined;
  readonly other: string | undefined;
}

/**
 * Undefined if the runs are the same; the first event that differs if not. `nowhere` if the fingerprints
 * differ and the events do not: then a run that was asked twice did not do the same twice.
 */
export function compareRuns(one: Witness, other: Witness): Difference | "nowhere" | undefined {
  const { fingerprint: left } = one;
  const { fingerprint: right } = other;
  if (left.digest === right.digest && left.events === right.events) return undefined;
  const last = Math.max(left.events, right.events);
  const from = firstDoubtful(left, right);
  // Between two checkpoints they part, or after the last one.
  const to = Math.min(last, from + CHECKPOINT_INTERVAL - 1);
  const [before, after] = [one.events(from, to), other.events(from, to)];
  for (let i = 0; i < Math.max(before.length, after.length); i++) {
    if (before[i] !== after[i]) return { event: from + i, one: before[i], other: after[i] };
  }
  return "nowhere";
}

/** The first event that is not covered by a checkpoint on which both agree. */
function firstDoubtful(one: Fingerprint, other: Fingerprint): number {
  let event = 1;
  for (const [i, checkpoint] of one.checkpoints.entries()) {
    if (other.checkpoints[i]?.digest !== checkpoint.digest) break;
    event = checkpoint.event + 1;
  }
  return event;
}

/** In words, for people; the runs by the names given. */
export function tellDifference(
  difference: Difference | "nowhere",
  names: readonly [one: string, other: string],
): string {
  if (difference === "nowhere") {
    return "DIVERGED  but when the runs are repeated, their events agree";
  }
  const { event, one, other } = difference;
  const width = Math.max(...names.map(({ length }) => length));
  const line = (name: string, text: string | undefined): string =>
    `  ${name.padEnd(width)}  ${text ?? "(had ended)"}`;
  return [
    `DIVERGED  at event ${event}`,
    line(names[0], one),
    line(names[1], other),
    // The digest is the last word; it covers what the event before it noted.
    ...(isSameEvent(one, other)
      ? [`  the event is the same; what event ${event - 1} did is not`]
      : []),
  ].join("\n");
}

function isSameEvent(one: string | undefined, other: string | undefined): boolean {
  const withoutDigest = (text: string | undefined): string | undefined =>
    text?.slice(0, text.lastIndexOf(" "));
  return withoutDigest(one) === withoutDigest(other);
}
