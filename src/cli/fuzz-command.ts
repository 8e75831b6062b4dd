import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { mixText } from "../base/mix.ts";
import { toMillis } from "../base/time.ts";
import type { FailureKind, HuntCase } from "../fuzz/hunt.ts";
import { Hunt } from "../fuzz/hunt.ts";
import { huntingGround } from "../fuzz/hunting-ground.ts";
import type { CaseOutcome } from "../fuzz/play-case.ts";
import { EVENT_BUDGET } from "../fuzz/play-case.ts";
import type { FuzzReport } from "../report/fuzz-text.ts";
import { fuzzJson, fuzzText, letterOf } from "../report/fuzz-text.ts";
import { shellWords } from "../report/shell-words.ts";
import { Mistake, parseDuration } from "../scenario/duration.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { paintFor } from "./colour.ts";
import { UsageError } from "./complain.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { corpusFiles, readState, statePath, writeState, writeToCorpus } from "./fuzz-files.ts";
import { Interrupt } from "./interrupt.ts";
import { loadScenario, pickVariant, reportComplaints, reportWarnings } from "./load-scenario.ts";
import { playHunt } from "./play-hunt.ts";
import { Progress } from "./progress.ts";
import { RunPool } from "./run-pool.ts";
import { seedOf } from "./seed.ts";
import { VERSION } from "./version.ts";

export interface FuzzFlags {
  readonly runs?: string;
  readonly time?: string;
  readonly seed?: string;
  readonly variant?: string;
  readonly workers?: string;
  readonly bail?: string;
  readonly shard?: string;
  readonly resume?: boolean;
  /** False with `--no-guidance`. */
  readonly guidance: boolean;
  readonly unlimited?: boolean;
  readonly json?: boolean;
  readonly color: string;
}

/** What the flags come to. */
interface Campaign {
  readonly runs: number;
  readonly deadline: number;
  readonly workers: number;
  readonly bail: number;
  readonly shard: { readonly index: number; readonly count: number };
}

const USUAL_RUNS = 1000;

/** `sim fuzz FILE`. Throws `UsageError` before anything is on stdout. */
export async function fuzzCommand(file: string, flags: FuzzFlags): Promise<ExitCode> {
  const loaded = loadScenario(file);
  if (!reportComplaints(loaded) || loaded.scenario === undefined) return EXIT.usage;
  const scenario = pickVariant(loaded.scenario, flags.variant);
  const seed = seedOf(flags.seed, scenario);
  const campaign = campaignOf(flags);
  reportWarnings(loaded);
  const ground = huntingGround(loaded.text, scenario, flags.unlimited === true);
  const { index, count } = campaign.shard;
  const { text, variant } = ground;
  const hunt = new Hunt({
    file,
    text,
    variant,
    seed: Number(seed),
    isGuided: flags.guidance,
    shard: campaign.shard,
  });
  const path = statePath(scenario.name, count === 1 ? seed : `${seed}-${index + 1}-of-${count}`);
  // Whoever resumes must get the same cases: what they come from is in here.
  const options = [mixText(1, text), variant, seed, flags.guidance, index, count].join("/");
  const known = flags.resume === true ? readState(path, options).outcomes : [];
  if (flags.json !== true) process.stdout.write(`${headline(scenario, seed, campaign)}\n\n`);

  const interrupt = new Interrupt();
  const pool = await RunPool.open(campaign.workers, EVENT_BUDGET);
  const progress = new FuzzProgress(scenario.name, campaign, hunt);
  const outcomes: CaseOutcome[] = [];
  const corpus: FuzzReport["corpus"][number][] = [];
  try {
    for (const each of corpusFiles(scenario.name)) {
      const found = await replayed(each, pool);
      if (found !== undefined) corpus.push(found);
    }
    await playHunt(hunt, {
      runs: campaign.runs,
      play: (one) => {
        const before = known[one.number - 1];
        return before === undefined ? pool.play(one) : Promise.resolve(before);
      },
      taken: (_one, outcome) => {
        outcomes.push(outcome);
        progress.show();
        return (
          interrupt.happened || hunt.kinds.size >= campaign.bail || Date.now() > campaign.deadline
        );
      },
    });
  } finally {
    progress.clear();
    interrupt.release();
    await pool.close();
  }
  writeState(path, { options, outcomes });
  const again = ground.isChanged ? undefined : { file, variant: flags.variant };
  const report: FuzzReport = {
    hunt,
    scenario,
    corpus,
    kinds: hunt.findings().map((kind, i) => ({
      kind,
      letter: letterOf(i),
      again: againOf(kind, writeToCorpus(scenario.name, kind), again),
    })),
    goOn: interrupt.happened ? shellWords(resumeWords(file, flags, seed)) : undefined,
  };
  const head = { version: VERSION, scenario: scenario.name, variant: flags.variant, seed };
  const shown =
    flags.json === true
      ? fuzzJson(report, head)
      : fuzzText(report, paintFor(flags.color, process.stdout.isTTY));
  process.stdout.write(`${shown}\n`);
  if (interrupt.happened) return EXIT.interrupted;
  return report.kinds.length > 0 || corpus.some(({ failures }) => failures.length > 0)
    ? EXIT.failed
    : EXIT.ok;
}

function headline({ name, variant }: Scenario, seed: string, { runs, shard }: Campaign): string {
  const parts = [
    `sim ${VERSION}`,
    variant === undefined ? name : `${name}/${variant}`,
    `base seed ${seed}`,
    ...(Number.isFinite(runs) ? [`${runs} runs`] : []),
    ...(shard.count === 1 ? [] : [`shard ${shard.index + 1}/${shard.count}`]),
  ];
  return parts.join("  ");
}

/** A case of the corpus, made again; one that this version cannot read fails. Undefined if the pool was closed. */
async function replayed(
  file: string,
  pool: RunPool,
): Promise<FuzzReport["corpus"][number] | undefined> {
  const text = readFileSync(file, "utf8");
  const seed = /^seed: ([0-9]+)$/m.exec(text)?.[1] ?? "1";
  const outcome = await pool.play({ text, file, variant: undefined, seed });
  return outcome === undefined ? undefined : { file, failures: outcome.failures };
}

/** The command that makes the smallest run of a kind again. */
function againOf(
  { smallest }: FailureKind,
  corpusFile: string,
  source: { readonly file: string; readonly variant: string | undefined } | undefined,
): string {
  if (source === undefined || isMutant(smallest)) return shellWords(["sim", "run", corpusFile]);
  const variant = source.variant === undefined ? [] : ["--variant", source.variant];
  return shellWords(["sim", "run", source.file, ...variant, "--seed", smallest.seed]);
}

function isMutant({ parent }: HuntCase): boolean {
  return parent !== undefined;
}

function resumeWords(file: string, flags: FuzzFlags, seed: string): string[] {
  const words = ["sim", "fuzz", file, "--seed", seed];
  for (const name of ["runs", "time", "variant", "workers", "bail", "shard"] as const) {
    const value = flags[name];
    if (value !== undefined) words.push(`--${name}`, value);
  }
  if (flags.unlimited === true) words.push("--unlimited");
  if (!flags.guidance) words.push("--no-guidance");
  return [...words, "--resume"];
}

function campaignOf(flags: FuzzFlags): Campaign {
  const time = flags.time === undefined ? undefined : parseDuration(flags.time, "--time");
  if (time instanceof Mistake) throw new UsageError(time.message);
  const runs = flags.runs === undefined ? undefined : wholeNumber("--runs", flags.runs);
  const shard = /^([0-9]+)\/([0-9]+)$/.exec(flags.shard ?? "1/1");
  const [part, parts] = [Number(shard?.[1]), Number(shard?.[2])];
  if (shard === null || part < 1 || part > parts) {
    throw new UsageError(`--shard takes a part such as 1/4, not \`${flags.shard}\``);
  }
  return {
    runs: runs ?? (time === undefined ? USUAL_RUNS : Number.POSITIVE_INFINITY),
    deadline: time === undefined ? Number.POSITIVE_INFINITY : Date.now() + toMillis(time),
    workers:
      flags.workers === undefined
        ? availableParallelism()
        : wholeNumber("--workers", flags.workers),
    bail: flags.bail === undefined ? Number.POSITIVE_INFINITY : wholeNumber("--bail", flags.bail),
    shard: { index: part - 1, count: parts },
  };
}

function wholeNumber(option: string, given: string): number {
  const number = Number(given);
  if (!/^[0-9]+$/.test(given) || number < 1 || !Number.isSafeInteger(number)) {
    throw new UsageError(`${option} takes a whole number from 1 on, not \`${given}\``);
  }
  return number;
}

/** How far a campaign is. */
class FuzzProgress {
  readonly #progress: Progress;
  readonly #campaign: Campaign;
  readonly #hunt: Hunt;
  readonly #started = Date.now();

  constructor(name: string, campaign: Campaign, hunt: Hunt) {
    this.#progress = new Progress(name);
    this.#campaign = campaign;
    this.#hunt = hunt;
  }

  show(): void {
    const { runs, deadline } = this.#campaign;
    const { runs: done, kinds } = this.#hunt;
    const seconds = Math.max(1, Date.now() - this.#started) / 1000;
    const rate = done / seconds;
    const left = Math.min((runs - done) / rate, (deadline - Date.now()) / 1000);
    const of = Number.isFinite(runs) ? `/${runs}` : "";
    const minutes = `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`;
    this.#progress.show(
      `${done}${of} runs, ${kinds.size} kinds failing, ${rate.toFixed(1)} runs/s, ${minutes} left`,
    );
  }

  clear(): void {
    this.#progress.clear();
  }
}
