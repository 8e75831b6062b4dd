import { brokerName } from "./broker-name.ts";
import type { ForbiddenStart } from "./expiry.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { counted } from "./wording.ts";

export const EXPIRED_ONLY_BY_POLICY: Guarantee = {
  name: "expired-only-by-policy",
  sentence:
    "A log loses its beginning only to retention.ms, retention.bytes, DeleteRecords or the leader's own start, and only what is below the high watermark.",
  source: "UnifiedLog.deleteOldSegments, KIP-107; K5, and L1's log start",
  kinds: ["record-expired-early"],
  condition:
    "Of every replica. Permitted: retention.ms on a broker whose clock was set wrong, or whose time index a power cut tore.",
  testedBy: "log starts that moved on",
  tellsDeed: true,
  example: [
    "record-expired-early   orders-0   at 305.002s, event 90110",
    "  broker-1's log begins at 412 instead of 0 (retention-time), beyond its high watermark 405: 7 offsets.",
  ],
  create: (context) => new ExpiredOnlyByPolicy(context),
};

class ExpiredOnlyByPolicy implements Checker {
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;

  constructor(context: CheckContext) {
    this.#context = context;
    context.expiry.onForbidden((start) => this.#report(start));
  }

  get evaluations(): number {
    return this.#context.expiry.evaluations;
  }

  get interesting(): number {
    return this.#context.expiry.interesting;
  }

  #report({ partition, log, fact, why, first, waiver, at, event }: ForbiddenStart): void {
    const { from, to, reason } = fact;
    const last = Math.max(first, to - 1);
    const count = last - first + 1;
    const size = to > from ? `: ${counted(count, "offset")}` : "";
    this.violations.push(
      violationOf(EXPIRED_ONLY_BY_POLICY, {
        partition: partition.name,
        at,
        event,
        text: [
          `${brokerName(log.broker)}'s log begins at ${to} instead of ${from} (${reason}), ${why}${size}.`,
        ],
        offsets: [first, last],
        count,
        permitted: waiver?.text,
        cause: waiver?.cause,
      }),
    );
  }
}
