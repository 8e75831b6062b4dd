import type { Instant } from "../base/time.ts";
import type { HighWatermarkMoved } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLog } from "./replica-log.ts";

export const LOG_IN_BOUNDS: Guarantee = {
  name: "log-in-bounds",
  sentence:
    "A replica's high watermark is neither below its log's start nor beyond its end, and leader epochs never fall along a log.",
  source: "UnifiedLog, LeaderEpochFileCache; L1 and L2",
  kinds: ["log-out-of-bounds"],
  condition: "Always.",
  testedBy: "high watermarks, and batches of another epoch than the one before",
  example: [
    "log-out-of-bounds   orders-0   at 45.030s, event 22810",
    "  broker-2's high watermark is 418, but its log ends at 412.",
  ],
  create: (context) => new LogInBounds(context),
};

class LogInBounds implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  /** Logs that were found out: each is told once until it is loaded anew. */
  readonly #told = new Set<ReplicaLog>();

  constructor({ logs }: CheckContext) {
    logs.onHighWatermark((partition, log, _index, fact, at, event) => {
      this.evaluations++;
      this.interesting++;
      const { highWatermark } = fact;
      if (highWatermark < log.start || highWatermark > log.end) {
        this.#reportMark(partition, log, fact, at, event);
      }
    });
    logs.onAppended((partition, log, node, isNew, at, event) => {
      if (!isNew) return;
      this.evaluations++;
      const { parent, leaderEpoch } = partition.tree;
      const below = parent[node] as number;
      if (below < 0 || (leaderEpoch[node] as number) >= (leaderEpoch[below] as number)) return;
      const epochs = `leader epoch ${leaderEpoch[node]} above one of leader epoch ${leaderEpoch[below]}`;
      this.#report(
        partition,
        log,
        `${brokerName(log.broker)} appended a batch of ${epochs}.`,
        at,
        event,
      );
    });
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
    this.violations.push(
      violationOf(LOG_IN_BOUNDS, {
        partition: partition.name,
        at,
        event,
        text: [text],
        offsets: [log.start, log.end],
      }),
    );
  }
}
