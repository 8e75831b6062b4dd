import { availableParallelism } from "node:os";
import type { Canary } from "../fuzz/canaries.ts";
import { CANARIES, canaryScenario } from "../fuzz/canaries.ts";
import { Hunt } from "../fuzz/hunt.ts";
import type { Failure } from "../fuzz/play-case.ts";
import { EVENT_BUDGET } from "../fuzz/play-case.ts";
import { counted } from "../report/layout.ts";
import { paintFor } from "./colour.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { Interrupt } from "./interrupt.ts";
import { playHunt } from "./play-hunt.ts";
import { Progress } from "./progress.ts";
import { RunPool } from "./run-pool.ts";
import { VERSION } from "./version.ts";

export interface SelftestFlags {
  readonly quick?: boolean;
  readonly color: string;
}

/** Runs after which a broken engine counts as not found out. */
const MOST_RUNS = 3000;
/** Runs of the engine as it is, in which nothing may be found. */
const CONTROL_RUNS = 500;
const QUICK_CONTROL_RUNS = 32;

/**
 * `sim selftest`: does the search find what is known to be broken, and nothing where nothing is? What it
 * took stands on stdout in runs, which are the same everywhere, and on stderr in seconds.
 */
export async function selftestCommand({ quick, color }: SelftestFlags): Promise<ExitCode> {
  const isQuick = quick === true;
  const paint = paintFor(color, process.stdout.isTTY);
  const canaries = CANARIES.filter((canary) => canary.isQuick || !isQuick);
  process.stdout.write(
    `sim ${VERSION}  selftest  ${counted(canaries.length, "broken engine")}\n\n`,
  );
  const pool = await RunPool.open(availableParallelism(), EVENT_BUDGET);
  const interrupt = new Interrupt();
  let passed = 0;
  try {
    for (const canary of [undefined, ...canaries]) {
      const started = Date.now();
      const most = canary !== undefined ? MOST_RUNS : isQuick ? QUICK_CONTROL_RUNS : CONTROL_RUNS;
      const { runs, found } = await search(canary, most, pool, interrupt);
      if (interrupt.happened) return EXIT.interrupted;
      const isFine = (found === undefined) === (canary === undefined);
      if (isFine) passed++;
      const what = found === undefined ? "nothing found" : found.guarantee;
      const name = (canary?.name ?? "the engine as it is").padEnd(38);
      const mark = isFine ? paint.good("ok") : paint.bad("X ");
      process.stdout.write(`  ${mark}  ${name} ${counted(runs, "run").padStart(9)}  ${what}\n`);
      process.stderr.write(`      ${((Date.now() - started) / 1000).toFixed(1)}s\n`);
    }
  } finally {
    interrupt.release();
    await pool.close();
  }
  const all = canaries.length + 1;
  const verdict = passed === all ? paint.good("PASS") : paint.bad("FAIL");
  process.stdout.write(`\n${verdict}  ${passed}/${all} as they should be\n`);
  return passed === all ? EXIT.ok : EXIT.failed;
}

/** Looks for the guarantee that names the bug; in the engine as it is, for anything. */
async function search(
  canary: Canary | undefined,
  most: number,
  pool: RunPool,
  interrupt: Interrupt,
): Promise<{ readonly runs: number; readonly found: Failure | undefined }> {
  const hunt = new Hunt({
    file: "canary.yaml",
    text: canaryScenario(canary),
    variant: undefined,
    seed: 1,
    isGuided: true,
    shard: { index: 0, count: 1 },
  });
  const progress = new Progress(canary?.name ?? "the engine as it is");
  let found: Failure | undefined;
  await playHunt(hunt, {
    runs: most,
    play: (one) => pool.play(one),
    taken: (_one, { failures }) => {
      found = failures.find(
        ({ guarantee }) => canary === undefined || canary.caughtBy.includes(guarantee),
      );
      progress.show(counted(hunt.runs, "run"));
      return found !== undefined || interrupt.happened;
    },
  });
  progress.clear();
  return { runs: hunt.runs, found };
}
