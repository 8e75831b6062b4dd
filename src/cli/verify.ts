import { spawnSync } from "node:child_process";
import type { RunResult } from "../cluster/run-result.ts";
import type { Fingerprint, Witness } from "../replay/compare-runs.ts";
import { compareRuns, tellDifference } from "../replay/compare-runs.ts";
import { eventsOf, fingerprintOf } from "../replay/fingerprint.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";

/**
 * Runs the scenario again in a process of its own and compares. Says on stderr what came out, and names
 * the first event that differs, if one does.
 */
export function verify(first: RunResult): boolean {
  const events: Witness["events"] = (from, to) => ask(first, `${from}:${to}`);
  const second: Fingerprint = ask(first, "all");
  const difference = compareRuns({ fingerprint: first, events }, { fingerprint: second, events });
  const verdict =
    difference === undefined
      ? `verified: the same ${first.events} events in a second process`
      : tellDifference(difference, ["one", "other"]);
  process.stderr.write(`${verdict}\n`);
  return difference === undefined;
}

/** What another process says of the same run. */
function ask<Answer>({ file, seed, variant }: RunResult, what: string): Answer {
  const command = process.argv[1] ?? "";
  const words = [command, "run", file, "--seed", seed, "--fingerprint", what];
  if (variant !== undefined) words.push("--variant", variant);
  const { stdout, status, signal, error } = spawnSync(process.execPath, words, {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== EXIT.ok) {
    throw new Error(`the second process ended with ${error?.message ?? signal ?? status}`);
  }
  return JSON.parse(stdout);
}

/** The hidden other side: `all` prints the fingerprint, `FROM:TO` the events of that range as text. */
export function printFingerprint(scenario: Scenario, seed: string, what: string): ExitCode {
  const range = /^([0-9]+):([0-9]+)$/.exec(what);
  const answer =
    range === null
      ? fingerprintOf(scenario, seed)
      : eventsOf(scenario, seed, Number(range[1]), Number(range[2]));
  process.stdout.write(JSON.stringify(answer));
  return EXIT.ok;
}
