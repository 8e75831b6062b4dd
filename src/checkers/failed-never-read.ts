import { ACKED, FAILED, PENDING } from "./client-sends.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { OddityFindings } from "./oddity-findings.ts";
import { recordText } from "./offsets-agree.ts";

export const FAILED_NEVER_READ: Guarantee = {
  name: "failed-never-read",
  sentence: "A record that its client was told is not written is never read.",
  source: "Jepsen's G1a; KAFKA-13574 (a send that may have been written has not failed)",
  kinds: ["failed-record-read"],
  condition: "Always, by what clients saw alone.",
  testedBy: "sends that failed, while others of the client were read",
  example: [
    "failed-record-read   orders-0   at 12.480s, event 9120",
    "  c1 read p1's record 118 at offset 123, of which p1 had been told that it is not written.",
  ],
  create: (context) => new FailedNeverRead(context),
};

class FailedNeverRead implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly #context: CheckContext;
  readonly #findings = new OddityFindings(FAILED_NEVER_READ, "failed-record-read");

  constructor(context: CheckContext) {
    this.#context = context;
    context.history.on("failed", (oddity) => this.#findings.add(oddity, undefined));
  }

  get violations(): readonly Violation[] {
    return this.#findings.violations(({ client, id, offset, wasRead }) => {
      const { history } = this.#context;
      const record = recordText(history, id);
      const writer = history.writerOf(id)?.name ?? "its client";
      return wasRead
        ? `${client} read ${record} at offset ${offset}, of which ${writer} had been told that it is not written`
        : `${writer} was told that its record at offset ${offset} is not written, when ${record} had been read there`;
    });
  }

  atEnd(): void {
    for (const client of this.#context.history.clients.values()) {
      let failed = 0;
      let acked = 0;
      for (const part of client.parts()) {
        for (let i = 0; i < part.count; i++) {
          const outcome = part.outcomes[i] as number;
          if (outcome === FAILED) failed++;
          else if (outcome === ACKED) acked++;
          if (outcome !== PENDING) this.evaluations++;
        }
      }
      if (acked > 0) this.interesting += failed;
    }
  }
}
