import type { Instant } from "../base/time.ts";
import type { HighWatermarkMoved } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { LogWatch } from "./log-watch.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLog } from "./replica-log.ts";
import { earlierRule } from "./waivers/earlier-rule.ts";

export const LOG_IN_BOUNDS: Guarantee = {
  name: "log-in-bounds",
  sentence:
    "A replica's high watermark is neither below its log's start nor beyond its end, and leader epochs never fall along a log.",
  source: "UnifiedLog, LeaderEpochFileCache; L1 and L2",
  kinds: ["log-out-of-bounds"],
  condition: "Always. Permitted: an earlier rule of the protocol.",
  testedBy: "high watermarks, and batches of another epoch than the one before",
  example: [
    "log-out-of-bounds   orders-0   at 45.030s, event 22810",
    "  broker-2's high watermark is 418, but its log ends at 412.",
  ],
  create: (context) => new LogInBounds(context),
};

class LogInBounds implements Checker {
  readonly violations: Violation[] = [];
  readonly #watch: LogWatch;
  /** Logs that were found out: each is told once. */
  readonly #told = new Set<ReplicaLog>();

  readonly #context: CheckContext;

  constructor(context: CheckContext) {
    const { logs } = context;
    this.#context = context;
    this.#watch = logs.watch;
    logs.watch.onOutOfBounds((partition, log, _index, fact, at, event) =>
      this.#reportMark(partition, log, fact, at, event),
    );
    logs.watch.onEpochFallen((partition, log, node, _fact, at, event) => {
      const { parent, leaderEpoch } = partition.tree;
      const below = parent[node] as number;
      const epochs = `leader epoch ${leaderEpoch[node]} above one of leader epoch ${leaderEpoch[below]}`;
      const text = `${brokerName(log.broker)} appended a batch of ${epochs}.`;
      this.#report(partition, log, text, at, event);
    });
  }

  get evaluations(): number {
    return this.#watch.moves + this.#watch.newBatches;
  }

  get interesting(): number {
    return this.#watch.moves;
  }

  #reportMark(
    partition: PartitionGhost,
    log: ReplicaLog,
    { highWatermark }: HighWatermarkMoved,
    at: Instant,
    event: number,
  ): void {
    if (this.#told.has(log)) return;
    this.#told.add(log);
    const bound = highWatermark < log.start ? `begins at ${log.start}` : `ends at ${log.end}`;
    const text = `${brokerName(log.broker)}'s high watermark is ${highWatermark}, but its log ${bound}.`;
    this.#report(partition, log, text, at, event);
  }

  #report(
    partition: PartitionGhost,
    log: ReplicaLog,
    text: string,
    at: Instant,
    event: number,
  ): void {
    // A cut within a batch, where a leader of before KIP-279 says, leaves an end without a record.
    const waiver = earlierRule(partition, this.#context.setup, event);
    this.violations.push(
      violationOf(LOG_IN_BOUNDS, {
        partition: partition.name,
        at,
        event,
        text: [text],
        offsets: [log.start, log.end],
        permitted: waiver?.text,
        cause: waiver?.cause,
      }),
    );
  }
}
