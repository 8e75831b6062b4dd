import type { Instant } from "../base/time.ts";
import type { Offset } from "../kafka/ids.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { TransactionPart } from "./transaction-parts.ts";
import type { Decision, KnownTransactionalId, TransactionRecord } from "./transaction-states.ts";
import type { Transactions } from "./transactions.ts";
import { sameEpochWaiver, unverifiedWaiver } from "./waivers/transaction-waiver.ts";

export const MARKERS_FOLLOW_DECISION: Guarantee = {
  name: "markers-follow-decision",
  sentence:
    "A transaction ends in all its partitions alike: each marker says what its coordinator has decided, none is written before, and when the transaction is complete none is missing.",
  source: "KIP-98, KIP-890; T2",
  kinds: ["marker-without-decision", "marker-of-another", "marker-missing"],
  condition:
    "Of what is committed, while no log has lost anything. A marker may come twice, if it then finds nothing to end; what hangs an administrator may have aborted (KIP-664). Permitted below transaction.version 2: a late marker of an earlier transaction that ends the next one, which has the same epoch; and with transaction.partition.verification.enable=false a record that comes behind its marker.",
  testedBy: "markers that end something, and partitions of complete transactions",
  tellsDeed: true,
  example: [
    "marker-without-decision   orders-0   at 12.480s, event 9120",
    "  The marker at offset 419 commits what producer 7 wrote from offset 412 on; no coordinator has decided that, under epoch 4.",
  ],
  create: (context) => new MarkersFollowDecision(context),
};

class MarkersFollowDecision implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** What is wrong with a marker, as of when it was written: told when it is committed. */
  readonly #wrong = new Map<TransactionPart, "marker-without-decision" | "marker-of-another">();
  /** What an administrator has found hanging, and wants aborted: from which offset on. */
  readonly #hanging = new Map<string, Offset>();

  constructor(context: CheckContext) {
    this.#context = context;
    const { transactions } = context;
    if (transactions === undefined) return;
    const { states, parts } = transactions;
    context.facts.on("hanging-transaction-found", (fact) => {
      const { partition, producerId, producerEpoch, firstOffset } = fact;
      this.#hanging.set(`${partition}/${producerId}/${producerEpoch}`, firstOffset);
    });
    parts.onAppended((part, open) => {
      if (part.marker !== undefined) this.#write(transactions, part, open);
    });
    parts.onCommitted((part, open, at, event) => {
      if (part.marker !== undefined) this.#end(part, open, at, event);
    });
    states.onCommitted((id, before, record, at, event) => {
      const isOver = record.state === "CompleteCommit" || record.state === "CompleteAbort";
      if (isOver && before !== undefined && !id.isUncertain) {
        this.#complete(transactions, id, before, at, event);
      }
    });
  }

  #write(
    { states }: Transactions,
    marker: TransactionPart,
    open: readonly TransactionPart[],
  ): void {
    this.evaluations++;
    if (open.length > 0) this.interesting++;
    const { producerId, producerEpoch } = marker;
    const isCommit = marker.marker === "COMMIT";
    const hanging = this.#hanging.get(`${marker.partition.name}/${producerId}/${producerEpoch}`);
    if (hanging !== undefined && !isCommit) {
      const first = open[0]?.baseOffset ?? hanging;
      if (first !== hanging) this.#wrong.set(marker, "marker-of-another");
      return;
    }
    const id = states.ofProducer(producerId);
    if (id?.isUncertain === true) return;
    // A coordinator carries out what it has read, be it committed or not.
    if (id !== undefined && isCarriedOut(id, marker, isCommit)) return;
    const decision = id?.decisions.findLast(
      (one) => one.producerId === producerId && one.producerEpoch === producerEpoch,
    );
    const wasTold = states.wasTold(producerId, producerEpoch, isCommit);
    if (decision === undefined || decision.isCommit !== isCommit) {
      if (!wasTold) this.#wrong.set(marker, "marker-without-decision");
      else if (decision !== undefined && open.length > 0) {
        this.#wrong.set(marker, "marker-of-another");
      }
      return;
    }
    if (open.length > 0 && this.#isOfAnother(id, decision, open)) {
      this.#wrong.set(marker, "marker-of-another");
    }
  }

  /** Did what the marker ends begin after the decision, with which it has nothing to do then? */
  #isOfAnother(
    id: KnownTransactionalId | undefined,
    decision: Decision,
    open: readonly TransactionPart[],
  ): boolean {
    const isNext = id?.record?.state === "Ongoing" && id.lastDecision === decision;
    return isNext && open.every(({ event }) => event > decision.event);
  }

  #end(
    marker: TransactionPart,
    open: readonly TransactionPart[],
    at: Instant,
    event: number,
  ): void {
    const kind = this.#wrong.get(marker);
    if (kind === undefined) return;
    const { partition, baseOffset, producerId, producerEpoch } = marker;
    const verb = marker.marker === "COMMIT" ? "commits" : "aborts";
    const first = open[0]?.baseOffset;
    const what =
      first === undefined
        ? `${verb} something of producer ${producerId}, and there is nothing`
        : `${verb} what producer ${producerId} wrote from offset ${first} on`;
    const why =
      kind === "marker-without-decision"
        ? `no coordinator has decided that, under epoch ${producerEpoch}`
        : `that is what was decided of an earlier transaction, under the same epoch ${producerEpoch}`;
    this.violations.push(
      violationOf(MARKERS_FOLLOW_DECISION, {
        kind,
        partition: partition.name,
        at,
        event,
        text: [`The marker at offset ${baseOffset} ${what}; ${why}.`],
        offsets: [first ?? baseOffset, baseOffset],
        permitted: kind === "marker-of-another" ? sameEpochWaiver(this.#context.setup) : undefined,
      }),
    );
  }

  /** All markers are said to be written. */
  #complete(
    { parts }: Transactions,
    id: KnownTransactionalId,
    { producerId, producerEpoch, partitions }: TransactionRecord,
    at: Instant,
    event: number,
  ): void {
    for (const name of partitions) {
      const partition = this.#context.logs.partition(name);
      this.evaluations++;
      if (partition.canonGeneration > 0) continue;
      this.interesting++;
      const open = parts
        .openIn(partition)
        ?.of(producerId)
        .filter((part) => part.producerEpoch <= producerEpoch);
      const first = open?.[0];
      if (first === undefined) continue;
      this.violations.push(
        violationOf(MARKERS_FOLLOW_DECISION, {
          kind: "marker-missing",
          partition: name,
          at,
          event,
          text: [
            `The transaction of ${id.name} (producer ${producerId}) is complete, but no marker follows what it wrote at offset ${first.baseOffset}.`,
          ],
          offsets: [first.baseOffset, open?.at(-1)?.lastOffset ?? first.lastOffset],
          permitted: unverifiedWaiver(this.#context.setup),
        }),
      );
    }
  }
}

/** Is it how the coordinator said last that a transaction ends? Below transaction.version 2 others end under the same epoch. */
function isCarriedOut(
  { told }: KnownTransactionalId,
  { producerId, producerEpoch }: TransactionPart,
  isCommit: boolean,
): boolean {
  if (told?.producerId !== producerId || told.producerEpoch !== producerEpoch) return false;
  return told.to === (isCommit ? "PrepareCommit" : "PrepareAbort");
}
