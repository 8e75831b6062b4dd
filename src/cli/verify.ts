import { spawnSync } from "node:child_process";
import { formatSeconds } from "../base/time.ts";
import type { RunResult } from "../cluster/run-result.ts";
import { Simulation } from "../cluster/simulation.ts";
import type { Scenario } from "../scenario/scenario.ts";

import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";

/** What a second process says of the same run. */
interface Fingerprint {
  readonly digest: string;
  readonly events: number;
  readonly checkpoints: RunResult["checkpoints"];
}

/**
 * Runs the scenario again in a process of its own and compares. Says on stderr what came out;
 * names the first event that differs, if one does.
 */
export function verify(
  file: string,
  seed: string,
  variant: string | undefined,
  first: RunResult,
): boolean {
  const again: Fingerprint = ask(file, seed, variant, "all");
  if (again.digest === first.digest && again.events === first.events) {
    process.stderr.write(`verified: the same ${first.events} events in a second process\n`);
    return true;
  }
  const from = lastEqual(first.checkpoints, again.checkpoints);
  const to = from + 2 * 4096;
  const left: string[] = ask(file, seed, variant, `${from}:${to}`);
  const right: string[] = ask(file, seed, variant, `${from}:${to}`);
  const at = left.findIndex((line, i) => line !== right[i]);
  process.stderr.write(
    at < 0
      ? `DIVERGED  between event ${from} and ${to}; a third and a fourth run agree there\n`
      : `DIVERGED  at event ${from + at}\n  one    ${left[at]}\n  other  ${right[at] ?? "(no event)"}\n`,
  );
  return false;
}

function lastEqual(one: RunResult["checkpoints"], other: RunResult["checkpoints"]): number {
  let event = 0;
  for (const [i, checkpoint] of one.entries()) {
    if (other[i]?.digest !== checkpoint.digest) break;
    event = checkpoint.event;
  }
  return event;
}

function ask<Answer>(
  file: string,
  seed: string,
  variant: string | undefined,
  what: string,
): Answer {
  const command = process.argv[1] ?? "";
  const args = [command, "run", file, "--seed", seed, "--fingerprint", what];
  if (variant !== undefined) args.push("--variant", variant);
  const { stdout } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(stdout);
}

/** The hidden other side: `all` prints the fingerprint, `FROM:TO` the events of that range as text. */
export function printFingerprint(scenario: Scenario, seed: string, what: string): ExitCode {
  const simulation = new Simulation(scenario, { seed });
  const lines: string[] = [];
  const range = /^([0-9]+):([0-9]+)$/.exec(what);
  if (range !== null) {
    simulation.listEvents(Number(range[1]), Number(range[2]), (record) => {
      const { at, kind, subject, detail, digest } = record;
      lines.push(`${formatSeconds(at)}  ${kind} ${subject}  ${detail}  ${digest}`);
    });
  }
  while (simulation.advance(100_000)) {}
  const { digest, events, checkpoints } = simulation.finish(undefined);
  const answer = range === null ? { digest, events, checkpoints } : lines;
  process.stdout.write(JSON.stringify(answer));
  return EXIT.ok;
}
