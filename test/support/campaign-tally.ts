import { setImmediate } from "node:timers/promises";
import type { RunResult } from "../../src/cluster/run-result.ts";

/** The violations of one run, in words. */
export interface Findings {
  readonly bugs: readonly string[];
  readonly permitted: readonly string[];
  /** Guarantees of which it put something to the test. */
  readonly tested: readonly string[];
}

export function findingsOf({ guarantees, violations }: RunResult): Findings {
  const bugs: string[] = [];
  const permitted: string[] = [];
  for (const violation of violations) {
    const { kind, partition, text } = violation;
    if (violation.permitted === undefined) bugs.push(`${kind} ${partition}: ${text.join(" ")}`);
    else permitted.push(`${kind}: ${violation.permitted}${partition && `, in ${partition}`}`);
  }
  const tested = guarantees.filter(({ interesting }) => interesting > 0).map(({ name }) => name);
  return { bugs, permitted, tested };
}

/** What a campaign has come upon in all its runs. */
export class CampaignTally {
  readonly bugs: string[] = [];
  /** What was permitted, for a reason that Kafka is known for, and for another. */
  readonly knownGaps: string[] = [];
  readonly unknownGaps: string[] = [];
  /** By probe: in how many runs it was reached. */
  readonly reached = new Map<string, number>();
  /** By guarantee: in how many it was put to the test. */
  readonly tested = new Map<string, number>();
  readonly #isKnown: (permitted: string) => boolean;

  constructor(isKnown: (permitted: string) => boolean) {
    this.#isKnown = isKnown;
  }

  add(name: string, run: Findings & { readonly reached: Iterable<string> }): void {
    this.bugs.push(...run.bugs.map((text) => `${name}: ${text}`));
    for (const text of run.permitted) {
      const gaps = this.#isKnown(text) ? this.knownGaps : this.unknownGaps;
      gaps.push(`${name}: ${text}`);
    }
    for (const probe of run.reached) count(probe, this.reached);
    for (const guarantee of run.tested) count(guarantee, this.tested);
  }
}

function count(name: string, counts: Map<string, number>): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** So many, from 1 on; or just these. */
export type Seeds = number | readonly number[];

/** Plays the seeds; the test runner hears of it now and then. */
export async function playSeeds(seeds: Seeds, play: (seed: number) => void): Promise<void> {
  const all = typeof seeds === "number" ? Array.from({ length: seeds }, (_, i) => i + 1) : seeds;
  for (const seed of all) {
    play(seed);
    if (seed % 20 === 0) await setImmediate();
  }
}
