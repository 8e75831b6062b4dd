import type { ClientHistory, Oddity } from "./client-history.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { OddityFindings } from "./oddity-findings.ts";
import { recordText } from "./offsets-agree.ts";
import { waiveSeenTwice } from "./waivers/duplicate-waiver.ts";
import { vanishedRecord } from "./waivers/vanished-record.ts";
import type { Judgement } from "./waivers/waiver.ts";

export const SEEN_ONCE: Guarantee = {
  name: "seen-once",
  sentence: "A record is seen at one offset: nobody reads it, or is told of it, at another.",
  source: "Jepsen's duplicate (reading a record again where it stands is none)",
  kinds: ["record-seen-twice"],
  condition:
    "By what clients saw alone. Permitted: as for no-duplicates; or if the first copy is gone, as for no-acked-loss.",
  testedBy: "sightings of a record that had been seen before",
  example: [
    "record-seen-twice   orders-0   at 12.480s, event 9120",
    "  c1 read p1's record 118 at offset 123, which had been seen at offset 118.",
  ],
  create: (context) => new SeenOnce(context),
};

class SeenOnce implements Checker {
  readonly #context: CheckContext;
  readonly #findings = new OddityFindings(SEEN_ONCE, "record-seen-twice");

  constructor(context: CheckContext) {
    this.#context = context;
    context.history.on("twice", (oddity) => this.#findings.add(oddity, this.#judge(oddity)));
  }

  get #history(): ClientHistory {
    return this.#context.history;
  }

  get evaluations(): number {
    return this.#history.sightings;
  }

  get interesting(): number {
    return this.#history.repeated;
  }

  get violations(): readonly Violation[] {
    return this.#findings.violations(({ client, id, offset, otherOffset, wasRead }) => {
      const did = wasRead ? `${client} read` : `${client} was told of`;
      const record = recordText(this.#history, id);
      return `${did} ${record} at offset ${offset}, which had been seen at offset ${otherOffset}`;
    });
  }

  #judge({ partition, id, offset, otherOffset, event }: Oddity): Judgement | undefined {
    const { ghost } = partition;
    const gone = vanishedRecord(this.#context, ghost, [[id, otherOffset]], event);
    if (gone?.waiver !== undefined) return gone;
    const text = waiveSeenTwice(this.#context, ghost, id, otherOffset, offset);
    return text === undefined ? gone : { waiver: { text, cause: event }, cause: event };
  }
}
