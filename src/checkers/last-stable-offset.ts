import type { Instant } from "../base/time.ts";
import type { LeaderEpoch, Offset } from "../kafka/ids.ts";
import type { LastStableOffsetMoved } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { Transactions } from "./transactions.ts";

export const LAST_STABLE_OFFSET: Guarantee = {
  name: "last-stable-offset",
  sentence:
    "A leader's last stable offset is where the first transaction begins that is open, or whose end is not replicated, and else its high watermark; while it leads it never goes back.",
  source: "KIP-98 (UnifiedLog.lastStableOffset); L3",
  kinds: ["last-stable-offset-wrong", "last-stable-offset-went-back"],
  condition: "Always.",
  testedBy: "last stable offsets below the high watermark",
  tellsDeed: true,
  example: [
    "last-stable-offset-wrong   orders-0   at 12.480s, event 9120",
    "  broker-1's last stable offset is 413; the first transaction that is open in its log begins at 412, and its high watermark is 420.",
  ],
  create: (context) => new LastStableOffset(context),
};

interface Known {
  readonly epoch: LeaderEpoch;
  readonly offset: Offset;
}

class LastStableOffset implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** By partition and broker. */
  readonly #known = new Map<string, Known>();

  constructor(context: CheckContext) {
    this.#context = context;
    const { transactions, facts } = context;
    if (transactions === undefined) return;
    facts.on("last-stable-offset-moved", (fact, at, event) =>
      this.#move(transactions, fact, at, event),
    );
  }

  #move({ parts }: Transactions, fact: LastStableOffsetMoved, at: Instant, event: number): void {
    const { broker, lastStableOffset: offset, leaderEpoch: epoch } = fact;
    const partition = this.#context.logs.partition(fact.partition);
    const log = partition.log(broker);
    const { highWatermark, start } = log;
    const first = parts.openAtLeader(partition, log)?.firstUnstable(highWatermark) ?? highWatermark;
    const right = Math.min(highWatermark, Math.max(first, start));
    this.evaluations++;
    if (offset < highWatermark) this.interesting++;
    const name = brokerName(broker);
    if (offset !== right) {
      const begins = first < highWatermark ? `begins at ${first}` : "is none";
      const text = `${name}'s last stable offset is ${offset}; the first transaction that is open in its log ${begins}, and its high watermark is ${highWatermark}.`;
      this.#tell("last-stable-offset-wrong", fact, text, [offset, right], at, event);
    }
    const key = `${fact.partition} ${broker}`;
    const known = this.#known.get(key);
    if (known?.epoch === epoch && offset < known.offset) {
      const text = `${name}'s last stable offset went back from ${known.offset} to ${offset}.`;
      this.#tell("last-stable-offset-went-back", fact, text, [offset, known.offset], at, event);
    }
    this.#known.set(key, { epoch, offset });
  }

  #tell(
    kind: string,
    { partition }: LastStableOffsetMoved,
    text: string,
    [one, other]: readonly [Offset, Offset],
    at: Instant,
    event: number,
  ): void {
    const offsets = [Math.min(one, other), Math.max(one, other)] as const;
    this.violations.push(
      violationOf(LAST_STABLE_OFFSET, { kind, partition, at, event, text: [text], offsets }),
    );
  }
}
