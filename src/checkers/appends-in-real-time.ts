import type { ClientHistory } from "./client-history.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { OddityFindings } from "./oddity-findings.ts";
import { recordText } from "./offsets-agree.ts";
import { NO_RECORD } from "./record-id.ts";
import { vanishedRecord } from "./waivers/vanished-record.ts";

export const APPENDS_IN_REAL_TIME: Guarantee = {
  name: "appends-in-real-time",
  sentence: "A record stands behind every offset that some client knew already when it was sent.",
  source: "redpanda/chaos, reads_writes; what Jepsen's G0-realtime lets pass",
  kinds: ["append-behind-known"],
  condition:
    "By what clients saw alone. Permitted: if what was known then, or the record itself, is gone from the newest leader's log, as for no-acked-loss.",
  testedBy: "records seen that were sent when something was known",
  example: [
    "append-behind-known   orders-0   at 55.031s, event 31402",
    "  p1 was told of p1's record 431 at offset 412, but when it was sent offset 418 was known.",
  ],
  create: (context) => new AppendsInRealTime(context),
};

class AppendsInRealTime implements Checker {
  readonly #history: ClientHistory;
  readonly #findings = new OddityFindings(APPENDS_IN_REAL_TIME, "append-behind-known");

  constructor(context: CheckContext) {
    this.#history = context.history;
    context.history.on("early", (oddity) => {
      const { partition, id, offset, otherOffset, event } = oddity;
      // What was known there may have been seen to be another since; or a leader of the past has told
      // where this record stands, in a log that is given up.
      const seen = [[NO_RECORD, otherOffset] as const, [id, offset] as const];
      this.#findings.add(oddity, vanishedRecord(context, partition.ghost, seen, event));
    });
  }

  get evaluations(): number {
    return this.#history.sightings;
  }

  get interesting(): number {
    return this.#history.sightings - this.#history.repeated;
  }

  get violations(): readonly Violation[] {
    return this.#findings.violations(({ client, id, offset, otherOffset, wasRead }) => {
      const did = wasRead ? `${client} read` : `${client} was told of`;
      const record = recordText(this.#history, id);
      return `${did} ${record} at offset ${offset}, but when it was sent offset ${otherOffset} was known`;
    });
  }
}
