import type { Instant } from "../base/time.ts";
import type { ClientTransaction } from "./client-transactions.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { TransactionPart } from "./transaction-parts.ts";
import type { Transactions } from "./transactions.ts";
import { sameEpochWaiver, unverifiedWaiver } from "./waivers/transaction-waiver.ts";
import { offsetsText } from "./wording.ts";

export const RECORDS_IN_OWN_TRANSACTION: Guarantee = {
  name: "records-in-own-transaction",
  sentence:
    "A record is in the transaction that its producer had open when it sent it, and in no other; a leader takes nothing of a transaction of which the coordinator does not know.",
  source: "KIP-890, KAFKA-14402, KAFKA-14884; T3",
  kinds: ["record-outside-transaction", "record-of-another"],
  condition:
    "Of what is committed, while no coordinator's log has lost anything. Permitted with transaction.partition.verification.enable=false, and below transaction.version 2 if a late request was taken for one of the next transaction.",
  testedBy: "transactions that begin in a partition, and transactions that end there",
  tellsDeed: true,
  example: [
    "record-outside-transaction   orders-0   at 12.480s, event 9120",
    "  The leader has taken offsets 412..418 of producer 7 epoch 3, which begin a transaction there; its coordinator says: CompleteAbort, epoch 4.",
  ],
  create: (context) => new RecordsInOwnTransaction(context),
};

class RecordsInOwnTransaction implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** What the coordinator said when they were written: told when they are committed. */
  readonly #outside = new Map<TransactionPart, string>();

  constructor(context: CheckContext) {
    this.#context = context;
    const { transactions } = context;
    if (transactions === undefined) return;
    const { parts } = transactions;
    parts.onAppended((part, open) => {
      if (part.marker === undefined && open.length === 0) this.#begin(transactions, part);
    });
    parts.onCommitted((part, open, at, event) => {
      if (part.marker === undefined) this.#commit(transactions, part, at, event);
      else this.#end(transactions, part, open, at, event);
    });
  }

  /** A transaction begins in a partition. */
  #begin({ states }: Transactions, part: TransactionPart): void {
    this.evaluations++;
    this.interesting++;
    const id = states.ofProducer(part.producerId);
    if (id === undefined) {
      this.#outside.set(part, "none knows of it");
      return;
    }
    const { record, toldBy } = id;
    if (id.isUncertain) return;
    if (record !== undefined && takesPart(part, record.state, record)) return;
    // It goes by what it has read from its log, be it committed or not, until it hears of another in its place.
    for (const said of toldBy.values()) if (takesPart(part, said.to, said)) return;
    const epoch = record === undefined ? "" : `, epoch ${record.producerEpoch}`;
    const isListed = record?.partitions.includes(part.partition.name) === true;
    const without =
      record?.state === "Ongoing" && !isListed ? `, without ${part.partition.name}` : "";
    this.#outside.set(
      part,
      `its coordinator says: ${record?.state ?? "nothing"}${epoch}${without}`,
    );
  }

  #commit({ clients }: Transactions, part: TransactionPart, at: Instant, event: number): void {
    const said = this.#outside.get(part);
    const { producerId, producerEpoch, partition } = part;
    const who = `producer ${producerId} epoch ${producerEpoch}`;
    if (said !== undefined) {
      const text = `The leader has taken ${where(part)} of ${who}, which begin a transaction there; ${said}.`;
      this.#tell("record-outside-transaction", part, text, at, event);
    }
    const { tree } = partition;
    const { client } = tree.writerOf(part.node);
    const meant = clients.find(client, tree.firstValueOf(part.node));
    if (meant === undefined) return;
    this.evaluations++;
    if (meant.producerId === producerId && meant.producerEpoch === producerEpoch) return;
    const text = `${where(part)} of ${meant.client} were written by ${who}; their transaction ${meant.number} had producer ${meant.producerId} epoch ${meant.producerEpoch}.`;
    this.#tell("record-of-another", part, capital(text), at, event);
  }

  /** All that a marker ends is of one transaction. */
  #end(
    { clients }: Transactions,
    marker: TransactionPart,
    open: readonly TransactionPart[],
    at: Instant,
    event: number,
  ): void {
    let one: ClientTransaction | undefined;
    for (const part of open) {
      const { tree } = part.partition;
      const meant = clients.find(tree.writerOf(part.node).client, tree.firstValueOf(part.node));
      if (meant === undefined) continue;
      this.evaluations++;
      if (one === undefined) one = meant;
      else if (meant !== one) {
        const verb = marker.marker === "COMMIT" ? "commits" : "aborts";
        const text = `The marker at offset ${marker.baseOffset} ${verb} what ${meant.client} sent in its transactions ${one.number} and ${meant.number}, at ${where(part)}.`;
        this.#tell("record-of-another", part, text, at, event);
        return;
      }
    }
  }

  #tell(kind: string, part: TransactionPart, text: string, at: Instant, event: number): void {
    const { setup } = this.#context;
    const { partition, baseOffset, lastOffset } = part;
    this.violations.push(
      violationOf(RECORDS_IN_OWN_TRANSACTION, {
        kind,
        partition: partition.name,
        at,
        event,
        text: [text],
        offsets: [baseOffset, lastOffset],
        count: lastOffset - baseOffset + 1,
        permitted: unverifiedWaiver(setup) ?? sameEpochWaiver(setup),
      }),
    );
  }
}

interface CoordinatorsWord {
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly partitions: readonly string[];
}

/** Is the partition part of a transaction that is open, or is being ended, as far as the coordinator says? */
function takesPart(part: TransactionPart, state: string, said: CoordinatorsWord): boolean {
  if (said.producerId !== part.producerId || !said.partitions.includes(part.partition.name)) {
    return false;
  }
  if (state === "Ongoing") return said.producerEpoch === part.producerEpoch;
  // What was verified before may land after the decision, and before the marker.
  return (
    (state === "PrepareCommit" || state === "PrepareAbort") &&
    said.producerEpoch >= part.producerEpoch
  );
}

function where({ baseOffset, lastOffset }: TransactionPart): string {
  return offsetsText(baseOffset, lastOffset);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
