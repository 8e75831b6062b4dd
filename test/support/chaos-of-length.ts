import { readFileSync } from "node:fs";

/** In seconds: the first faults that are drawn, the last, the end of the story, and how long the cluster may recover. */
export interface ChaosLength {
  readonly from: number;
  readonly quiet: number;
  readonly story: number;
  readonly settle: number;
}

/** The text of `scenarios/chaos.yaml` with everything but its length. */
export function chaosOfLength({ from, quiet, story, settle }: ChaosLength): string {
  return readFileSync("scenarios/chaos.yaml", "utf8")
    .replace(/at: uniform[(][0-9]+s..[0-9]+s[)]/g, `at: uniform(${from}s..${quiet}s)`)
    .replace(/quiet-after: \S+/, `quiet-after: ${quiet}s`)
    .replace(/^duration: \S+/m, `duration: ${story}s`)
    .replace(/^settle: \S+/m, `settle: ${settle}s`);
}
