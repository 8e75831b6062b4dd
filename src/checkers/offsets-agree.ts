import type { ClientHistory, Oddity } from "./client-history.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { OddityFindings } from "./oddity-findings.ts";
import type { RecordId } from "./record-id.ts";
import { valueOfRecord } from "./record-id.ts";
import { vanishedRecord } from "./waivers/vanished-record.ts";

export const OFFSETS_AGREE: Guarantee = {
  name: "offsets-agree",
  sentence:
    "At one offset all clients see one record: who was told that it is written there, and who reads there.",
  source: "Jepsen's inconsistent-offsets",
  kinds: ["record-changed"],
  condition:
    "By what clients saw alone. Permitted: if one of the two records is gone from the newest leader's log, as for no-acked-loss.",
  testedBy: "sightings of a record that had been seen before",
  example: [
    "record-changed   orders-0   at 55.031s, event 31402",
    "  c1 read p1's record 431 at offset 412, where p1's record 419 had been seen.",
  ],
  create: (context) => new OffsetsAgree(context),
};

class OffsetsAgree implements Checker {
  readonly #history: ClientHistory;
  readonly #findings = new OddityFindings(OFFSETS_AGREE, "record-changed");

  constructor(context: CheckContext) {
    this.#history = context.history;
    context.history.on("changed", (oddity) => {
      const { partition, id, otherId, offset, event } = oddity;
      const sightings = [[otherId, offset] as const, [id, offset] as const];
      this.#findings.add(oddity, vanishedRecord(context, partition.ghost, sightings, event));
    });
  }

  get evaluations(): number {
    return this.#history.sightings;
  }

  get interesting(): number {
    return this.#history.repeated;
  }

  get violations(): readonly Violation[] {
    return this.#findings.violations((oddity) => this.#describe(oddity));
  }

  #describe({ client, id, otherId, offset, wasRead }: Oddity): string {
    const did = wasRead ? `${client} read` : `${client} was told of`;
    return `${did} ${this.#named(id)} at offset ${offset}, where ${this.#named(otherId)} had been seen`;
  }

  #named(id: RecordId): string {
    return recordText(this.#history, id);
  }
}

/** `p1's record 412`. */
export function recordText(history: ClientHistory, id: RecordId): string {
  return `${history.writerOf(id)?.name ?? "somebody"}'s record ${valueOfRecord(id)}`;
}
