import type { Instant } from "../base/time.ts";
import { readsCommitted } from "./check-setup.ts";
import type { Leap } from "./client-history.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { OddityFindings } from "./oddity-findings.ts";
import { RecordRun } from "./record-run.ts";
import { vanishedRecord } from "./waivers/vanished-record.ts";
import type { Judgement } from "./waivers/waiver.ts";

export const POLLS_IN_ORDER: Guarantee = {
  name: "polls-in-order",
  sentence:
    "A consumer is given a partition's records in the order of their offsets, within a poll and from poll to poll, and none is left out.",
  source: "Jepsen's int- and ext- poll-skip and nonmonotonic-poll",
  kinds: ["poll-skipped", "poll-went-back"],
  condition:
    "By what clients saw alone: an offset was left out if another client knows what stands there. Not of compacted topics, nor of what had expired. With isolation.level=read_committed, not of what transactions brought: it may have been aborted. Permitted to skip: a position that was set anew; and what is gone, as for no-acked-loss.",
  testedBy: "records that consumers were given",
  example: [
    "poll-skipped   orders-0   at 55.031s, event 31402",
    "  c1 went from offset 412 to offset 419, past 7 records that others know.",
  ],
  create: (context) => new PollsInOrder(context),
};

class PollsInOrder implements Checker {
  readonly #context: CheckContext;
  readonly #back = new OddityFindings(POLLS_IN_ORDER, "poll-went-back");
  readonly #skips: Violation[] = [];

  constructor(context: CheckContext) {
    this.#context = context;
    context.history.on("back", (oddity) => this.#back.add(oddity, undefined));
  }

  get evaluations(): number {
    return this.#context.history.reads;
  }

  get interesting(): number {
    return this.#context.history.reads;
  }

  get violations(): readonly Violation[] {
    const back = this.#back.violations(
      ({ client, offset, otherOffset }) =>
        `${client} was given offset ${offset}, having come to ${otherOffset}`,
    );
    return [...back, ...this.#skips];
  }

  /** What others know of the offsets left out, they may have learned later. */
  atEnd(_at: Instant, event: number): void {
    for (const leap of this.#context.history.leaps) {
      for (const skip of this.#leftOut(leap, event)) this.#skips.push(describe(leap, skip));
    }
  }

  /** What was left out, by why that is permitted. */
  #leftOut({ partition, client, from, to, reset }: Leap, event: number): Iterable<Skip> {
    const skips = new Map<string, Skip>();
    const { ghost, seen } = partition;
    if (ghost.tree.keys !== undefined) return [];
    const isCommittedOnly = readsCommitted(this.#context.setup, client);
    const expired = this.#context.expiry.permitted(ghost);
    for (let offset = Math.max(from, expired); offset < to; offset++) {
      if ((seen[offset] ?? 0) === 0) continue;
      if (isCommittedOnly && ghost.isTransactionalAt(offset)) continue;
      // What others know may be gone, and where it stood be a marker, which nobody is given.
      const sighting = [partition.at(offset), offset] as const;
      const gone =
        reset === "" ? vanishedRecord(this.#context, ghost, [sighting], event) : undefined;
      const why = gone?.waiver?.text ?? "";
      const skip = skips.get(why) ?? { run: new RecordRun(), gone };
      skips.set(why, skip);
      skip.run.add(offset, offset, 1);
    }
    return skips.values();
  }
}

/** Records that one consumer left out, for one reason. */
interface Skip {
  readonly run: RecordRun;
  /** Undefined: they are still there. */
  readonly gone: Judgement | undefined;
}

function describe(leap: Leap, { run, gone }: Skip): Violation {
  const { partition, client, from, to, reset, at, event } = leap;
  return violationOf(POLLS_IN_ORDER, {
    kind: "poll-skipped",
    partition: partition.ghost.name,
    client,
    at,
    event,
    text: [
      `${client} went from offset ${from} to offset ${to}, past ${run.size} that others know.`,
    ],
    offsets: run.offsets,
    count: run.count,
    permitted: reset === "" ? gone?.waiver?.text : `${client}'s position was set anew (${reset})`,
    cause: gone?.cause,
  });
}
