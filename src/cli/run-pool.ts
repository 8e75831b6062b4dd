import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Tinypool } from "tinypool";
import type { Case, CaseOutcome } from "../fuzz/play-case.ts";

/** Worker threads that play runs, one at a time each. Nothing is shared between runs. */
export class RunPool {
  readonly #pool: Tinypool;
  readonly #budget: number;
  /** Threads whose end is heard. */
  readonly #watched = new WeakSet<object>();
  #isClosed = false;

  private constructor(pool: Tinypool, budget: number) {
    this.#pool = pool;
    this.#budget = budget;
  }

  /** `budget`: events after which a run counts as one that does not end. */
  static async open(workers: number, budget: number): Promise<RunPool> {
    const { Tinypool } = await import("tinypool");
    const pool = new Tinypool({
      // Built beside the command.
      filename: join(dirname(realpathSync(process.argv[1] ?? "")), "fuzz-worker.cjs"),
      name: "play",
      minThreads: workers,
      maxThreads: workers,
    });
    return new RunPool(pool, budget);
  }

  /** Undefined if the pool was closed meanwhile. A worker that dies is a failure of its run. */
  async play(one: Case): Promise<CaseOutcome | undefined> {
    this.#watch();
    try {
      return (await this.#pool.run({ one, budget: this.#budget })) as CaseOutcome;
    } catch (problem) {
      // Another has taken its place.
      this.#watch();
      return this.#isClosed ? undefined : diedOf(problem);
    }
  }

  /** A thread that ends without an error would leave its run without an answer for ever: the package hears errors only. */
  #watch(): void {
    for (const thread of this.#pool.threads) {
      if (this.#watched.has(thread)) continue;
      this.#watched.add(thread);
      let hasFailed = false;
      thread.once("error", () => {
        hasFailed = true;
      });
      thread.once("exit", (code) => {
        if (hasFailed || this.#isClosed) return;
        thread.emit("error", new Error(`it ended with exit code ${String(code)}`));
      });
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.destroy();
  }
}

function diedOf(problem: unknown): CaseOutcome {
  const message = problem instanceof Error ? problem.message : String(problem);
  const failure = {
    kind: `worker: ${message.replace(/[0-9]+/g, "N")}`,
    guarantee: "simulator",
    text: `The worker of this run died: ${message}`,
    partition: "",
  };
  return { failures: [failure], verdict: "fail", digest: "", events: 0, probes: 0, shapes: [] };
}
