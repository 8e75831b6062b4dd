import { isReadCommitted } from "./check-setup.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { OddityFindings } from "./oddity-findings.ts";
import { vanishedRecord } from "./waivers/vanished-record.ts";

export const READERS_AGREE: Guarantee = {
  name: "readers-agree",
  sentence: "Whoever has read a record is given the same offset next as every other who has.",
  source: "redpanda/chaos, reads_writes: agreement of next pointers",
  kinds: ["readers-differ"],
  condition:
    "By what clients saw alone; not of compacted topics, nor of what transactions brought if only some have isolation.level=read_committed. Permitted: if one of the records is gone from the newest leader's log, as for no-acked-loss.",
  testedBy: "partitions that were read twice, by two consumers or by one",
  example: [
    "readers-differ   orders-0   at 55.031s, event 31402",
    "  c2 was given offset 420 after offset 411, others offset 412.",
  ],
  create: (context) => new ReadersAgree(context),
};

class ReadersAgree implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly #context: CheckContext;
  /** Does anybody? */
  readonly #readsCommitted: boolean;
  readonly #findings = new OddityFindings(READERS_AGREE, "readers-differ");

  constructor(context: CheckContext) {
    this.#context = context;
    this.#readsCommitted = isReadCommitted(context.setup);
    context.history.on("branch", (oddity) => {
      const { ghost } = oddity.partition;
      if (ghost.tree.keys !== undefined) return;
      const { id, offset, otherId, otherOffset, event } = oddity;
      // Who reads committed records only may pass over what a transaction has brought.
      const left = Math.min(offset, otherOffset);
      if (this.#readsCommitted && ghost.isTransactionalAt(left)) return;
      const sightings = [[otherId, otherOffset] as const, [id, offset] as const];
      this.#findings.add(oddity, vanishedRecord(context, ghost, sightings, event));
    });
  }

  get violations(): readonly Violation[] {
    return this.#findings.violations(
      ({ client, offset, otherOffset, after }) =>
        `${client} was given offset ${offset} after offset ${after}, others offset ${otherOffset}`,
    );
  }

  atEnd(): void {
    for (const { ghost, readers } of this.#context.history.partitions) {
      if (ghost.tree.keys !== undefined) continue;
      for (const { passed, position } of readers) {
        if (position >= 0 || passed.length > 0) this.evaluations++;
      }
      const times = readers.reduce(
        (sum, { passed, last }) => sum + passed.length + +(last >= 0),
        0,
      );
      if (times > 1) this.interesting++;
    }
  }
}
