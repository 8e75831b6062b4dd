import type { Violation } from "../checkers/guarantee.ts";
import type { Fact } from "../trace/fact.ts";
import type { RecordedFact, Recording } from "./recording.ts";

/**
 * The facts that contradict each other: what broke the guarantee, what is to blame for it, and the
 * promise that was broken (an acknowledgement, a read, or the other record at the same offset).
 */
export function witnessesOf(violation: Violation, recording: Recording): ReadonlySet<number> {
  const { event, cause } = violation;
  const breach = lastOf(recording, event, violation);
  const blame = cause === event ? undefined : lastOf(recording, cause, violation);
  const promise = promiseOf(violation, recording, breach?.index ?? recording.facts.length);
  const witnesses = [promise, blame, breach].filter((one) => one !== undefined);
  return new Set(witnesses.map(({ index }) => index));
}

/** The last fact of an event that is about the partition, or at least the last. */
function lastOf(
  { facts }: Recording,
  event: number,
  { partition }: Violation,
): RecordedFact | undefined {
  const ofEvent = facts.filter((one) => one.event === event);
  const related = ofEvent.filter(({ fact }) => "partition" in fact && fact.partition === partition);
  return related.at(-1) ?? ofEvent.at(-1);
}

/** The last promise about the offsets before the guarantee broke; the strongest kind there is. */
function promiseOf(
  { partition, offsets, client }: Violation,
  { facts }: Recording,
  before: number,
): RecordedFact | undefined {
  if (offsets === undefined) return undefined;
  const [first, last] = offsets;
  const touching = facts.filter(({ fact, index }) => {
    if (index >= before || !("partition" in fact) || fact.partition !== partition) return false;
    if ("client" in fact && client !== "" && fact.client !== client) return false;
    const range = rangeOf(fact);
    return range !== undefined && range[0] <= last && range[1] >= first;
  });
  for (const kind of ["send-ended", "polled", "appended"] as const) {
    const found = touching.filter(({ fact }) => fact.kind === kind).at(-1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function rangeOf(fact: Fact): readonly [number, number] | undefined {
  switch (fact.kind) {
    case "send-ended": {
      const { outcome, baseOffset, values } = fact;
      if (outcome !== "acked" || baseOffset < 0) return undefined;
      return [baseOffset, baseOffset + values.length - 1];
    }
    case "polled":
      return [fact.firstOffset, fact.lastOffset];
    case "appended":
      return [fact.batch.baseOffset, fact.batch.lastOffset];
    default:
      return undefined;
  }
}
