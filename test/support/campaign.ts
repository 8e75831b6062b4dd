import type { StoryClass } from "./random-story.ts";
import { randomStory, STORY_CLASSES } from "./random-story.ts";
import type { StoryRun } from "./story-run.ts";
import { playStory } from "./story-run.ts";

/**
 * The long version of test/guarantees/random-faults.test.ts, and what one seed of
 * no-false-alarm.campaign.test.ts is looked at with: plays random stories and prints those in which
 * something is wrong.
 *
 *     npx esbuild test/support/campaign.ts --bundle --platform=node --outfile=dist/campaign.cjs
 *     node dist/campaign.cjs <class | all> <first seed> <number of seeds> [twice]
 *     node dist/campaign.cjs story <class> <seed>
 *
 * `twice` plays each story again after the next one, and compares the digests. `story` prints the YAML.
 */
function main(arguments_: readonly string[]): void {
  const [first, second, third, fourth] = arguments_;
  if (first === "story") {
    process.stdout.write(randomStory(second as StoryClass, Number(third)));
    return;
  }
  const kinds = first === undefined || first === "all" ? STORY_CLASSES : [first as StoryClass];
  const from = Number(second ?? 1);
  const number = Number(third ?? 10);
  const tally = new Tally();
  let previous: StoryRun | undefined;
  for (let seed = from; seed < from + number; seed++) {
    for (const kind of kinds) {
      const run = playStory(kind, seed);
      tally.add(run);
      if (fourth !== "twice") continue;
      if (previous !== undefined) tally.compare(previous, playStory(previous.kind, previous.seed));
      previous = run;
    }
  }
  tally.print();
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

class Tally {
  readonly #start = process.cpuUsage();
  #runs = 0;
  #bad = 0;
  #events = 0;
  #simulated = 0;
  readonly #counts = new Map<string, number>();
  readonly #causes = new Map<string, number>();

  add(run: StoryRun): void {
    this.#runs++;
    this.#events += run.result?.events ?? 0;
    this.#simulated += run.result?.simulated ?? 0;
    for (const [name, times] of run.reached) {
      if (times > 0) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    }
    const lines: string[] = [];
    if (run.exception !== undefined)
      lines.push(run.exception.split("\n").slice(0, 6).join("\n    "));
    for (const violation of run.result?.violations ?? []) {
      const { kind, partition, permitted, text, at } = violation;
      if (permitted === undefined) {
        lines.push(`BUG ${kind} ${partition} at ${at / 1e6}s: ${text.join(" | ")}`);
      } else {
        const cause = `${run.kind}: ${kind}: ${permitted.replace(/[0-9]+/g, "N")}`;
        this.#causes.set(cause, (this.#causes.get(cause) ?? 0) + 1);
        if (run.kind === "safe")
          lines.push(`LOSS ${kind} ${partition} at ${at / 1e6}s: ${permitted}`);
      }
    }
    for (const reason of run.result?.reasons ?? []) lines.push(`inconclusive: ${reason}`);
    if (run.kind === "safe") lines.push(...run.unanswered);
    if (run.busiestSecond > 20_000) lines.push(`STORM ${run.busiestSecond} events in a second`);
    if (lines.length === 0) return;
    this.#bad++;
    say(`${run.kind} ${run.seed}`);
    for (const line of lines) say(`    ${line}`);
  }

  compare(first: StoryRun, second: StoryRun): void {
    if (first.result?.digest === second.result?.digest) return;
    say(`${first.kind} ${first.seed}\n    NOT DETERMINISTIC`);
    this.#bad++;
  }

  print(): void {
    const { user, system } = process.cpuUsage(this.#start);
    const cpu = (user + system) / 1e6;
    const seconds = this.#simulated / 1e6;
    say(
      `${this.#runs} runs, ${this.#bad} with something to look at; ${(this.#events / 1e6).toFixed(1)} M events; ` +
        `${cpu.toFixed(1)} s of CPU, ${(seconds / cpu).toFixed(0)} simulated seconds a second, ` +
        `${((cpu / this.#events) * 1e9).toFixed(0)} ns an event`,
    );
    say(
      `reached in runs: ${[...this.#counts].map(([name, runs]) => `${name} ${runs}`).join(", ")}`,
    );
    for (const [cause, times] of [...this.#causes].sort((a, b) => b[1] - a[1])) {
      say(`${String(times).padStart(6)} ${cause}`);
    }
  }
}

main(process.argv.slice(2));
