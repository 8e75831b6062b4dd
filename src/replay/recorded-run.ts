import type { Scenario } from "../scenario/scenario.ts";
import type { Difference, Fingerprint, Witness } from "./compare-runs.ts";
import { compareRuns } from "./compare-runs.ts";
import { briefLine } from "./event-line.ts";
import { eventsOf } from "./fingerprint.ts";
import type { Recording } from "./recording.ts";
import { unpackLines } from "./recording.ts";

/**
 * Where a run of the recorded scenario parts from the recording. A token has no events to compare, so
 * that only the fact that they part is known: `unknown`.
 */
export function compareWithRecording(
  recording: Recording,
  now: Fingerprint,
  scenario: Scenario,
): Difference | "nowhere" | "unknown" | undefined {
  if (recording.digest === now.digest && recording.events === now.events) return undefined;
  if (recording.stretches.length === 0) return "unknown";
  return compareRuns(witnessOf(recording), {
    fingerprint: now,
    events: (from, to) => eventsOf(scenario, recording.seed, from, to).map(briefLine),
  });
}

function witnessOf({ digest, events, stretches }: Recording): Witness {
  return {
    fingerprint: { digest, events, checkpoints: stretches },
    events: (from, to) => {
      const lines: string[] = [];
      let first = 1;
      for (const { event, packed } of stretches) {
        if (event >= from && first <= to) {
          const all = unpackLines(packed);
          lines.push(...all.slice(Math.max(0, from - first), to - first + 1));
        }
        first = event + 1;
      }
      return lines;
    },
  };
}
