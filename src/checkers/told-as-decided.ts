import type { Instant } from "../base/time.ts";
import type { ClientTransaction } from "./client-transactions.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { TransactionPart } from "./transaction-parts.ts";
import type { Decision, KnownTransactionalId } from "./transaction-states.ts";
import type { Transactions } from "./transactions.ts";
import {
  sameEpochWaiver,
  unfoundedEndWaiver,
  unverifiedWaiver,
} from "./waivers/transaction-waiver.ts";
import { offsetsText } from "./wording.ts";

export const TOLD_AS_DECIDED: Guarantee = {
  name: "told-as-decided",
  sentence:
    "An application that is told that its transaction is committed finds it decided so, and all its records committed; one that is told that it is aborted, neither.",
  source: "KIP-98; T4, and P3 for what was acknowledged to it",
  kinds: ["told-otherwise", "ended-otherwise"],
  condition:
    "Of transactions that sent something, while no coordinator's log has lost anything. Permitted if a coordinator has carried out an end that it had read from its log and that was lost before it was committed; and below transaction.version 2 if a late request of an earlier transaction ended this one, which has the same epoch.",
  testedBy: "transactions whose end an application was told",
  example: [
    "told-otherwise   at 12.480s, event 9120",
    "  p1 was told that its transaction 12 is committed; nobody has decided that.",
  ],
  create: (context) => new ToldAsDecided(context),
};

/** How parts of one transaction ended. */
interface Ends {
  commit: TransactionPart | undefined;
  abort: TransactionPart | undefined;
}

class ToldAsDecided implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  readonly #ends = new Map<ClientTransaction, Ends>();
  readonly #told = new Set<ClientTransaction>();
  /** By so much the end of a transaction raises its epoch. */
  readonly #raised: 0 | 1;

  constructor(context: CheckContext) {
    this.#context = context;
    const { transactions, setup } = context;
    this.#raised = setup.features["transaction.version"] >= 2 ? 1 : 0;
    if (transactions === undefined) return;
    const { clients, parts, states } = transactions;
    clients.onEnded((transaction, at, event) => {
      this.#hear(transactions, transaction, at, event);
    });
    states.onCommitted((id, _before, _record, at, event) => {
      const decision = id.lastDecision;
      if (decision?.event === event) this.#decide(transactions, id, decision, at, event);
    });
    parts.onCommitted((part, open, at, event) => {
      if (part.marker !== undefined) this.#end(transactions, part, open, at, event);
    });
  }

  #hear(
    { states }: Transactions,
    transaction: ClientTransaction,
    at: Instant,
    event: number,
  ): void {
    const { outcome, first } = transaction;
    if (first < 0 || outcome === "unknown" || outcome === "open") return;
    const id = states.of(transaction.transactionalId);
    if (id.isUncertain) return;
    this.evaluations++;
    this.interesting++;
    const decision = id.decisions.findLast((one) => this.#isOf(one, transaction));
    const isRight =
      outcome === "committed" ? decision?.isCommit === true : decision?.isCommit !== true;
    if (!isRight) this.#tell(transaction, decision, at, event);
    const ends = this.#ends.get(transaction);
    if (ends !== undefined) this.#compare(transaction, ends, at, event);
  }

  /** A decision that comes after its application has heard of another. */
  #decide(
    { clients }: Transactions,
    id: KnownTransactionalId,
    decision: Decision,
    at: Instant,
    event: number,
  ): void {
    if (!decision.isCommit || id.isUncertain) return;
    const { producerId, producerEpoch } = decision;
    const transaction = clients.ofProducer(producerId, producerEpoch - this.#raised).at(-1);
    if (transaction?.outcome !== "aborted" || !this.#isOf(decision, transaction)) return;
    if (transaction.first >= 0) this.#tell(transaction, decision, at, event);
  }

  /** Is it what was decided of this transaction? From version 2 on under the next epoch, below under the same. */
  #isOf({ producerId, producerEpoch, event }: Decision, transaction: ClientTransaction): boolean {
    return (
      producerId === transaction.producerId &&
      producerEpoch === transaction.producerEpoch + this.#raised &&
      event >= transaction.begunIn
    );
  }

  #end(
    { clients }: Transactions,
    marker: TransactionPart,
    open: readonly TransactionPart[],
    at: Instant,
    event: number,
  ): void {
    for (const part of open) {
      const { tree } = part.partition;
      const transaction = clients.find(
        tree.writerOf(part.node).client,
        tree.firstValueOf(part.node),
      );
      if (transaction === undefined) continue;
      let ends = this.#ends.get(transaction);
      if (ends === undefined) {
        ends = { commit: undefined, abort: undefined };
        this.#ends.set(transaction, ends);
      }
      if (marker.marker === "COMMIT") ends.commit ??= part;
      else ends.abort ??= part;
      this.#compare(transaction, ends, at, event);
    }
  }

  #compare(transaction: ClientTransaction, ends: Ends, at: Instant, event: number): void {
    const { outcome, client, number } = transaction;
    const wrong =
      outcome === "committed"
        ? ends.abort
        : outcome === "aborted"
          ? ends.commit
          : ends.commit && ends.abort;
    if (wrong === undefined || this.#told.has(transaction)) return;
    this.#told.add(transaction);
    const { setup, transactions } = this.#context;
    const unfounded = transactions && unfoundedEndWaiver(transactions.states, transaction);
    const { partition, baseOffset, lastOffset } = wrong;
    const was = outcome === "committed" || outcome === "unknown" ? "aborted" : "committed";
    const heard =
      outcome === "committed" || outcome === "aborted"
        ? `which is ${outcome} as it was told`
        : "of which others were committed";
    const text = `What ${client} sent in its transaction ${number}, ${heard}, was ${was} at ${offsetsText(baseOffset, lastOffset)}.`;
    this.violations.push(
      violationOf(TOLD_AS_DECIDED, {
        kind: "ended-otherwise",
        partition: partition.name,
        client,
        at,
        event,
        text: [text],
        offsets: [baseOffset, lastOffset],
        permitted: unfounded ?? sameEpochWaiver(setup) ?? unverifiedWaiver(setup),
      }),
    );
  }

  #tell(
    transaction: ClientTransaction,
    decision: Decision | undefined,
    at: Instant,
    event: number,
  ): void {
    const { client, number, outcome } = transaction;
    const really =
      decision === undefined
        ? "nobody has decided that"
        : `it was decided to ${decision.isCommit ? "commit" : "abort"} it`;
    const text = `${client} was told that its transaction ${number} is ${outcome}; ${really}.`;
    this.violations.push(
      violationOf(TOLD_AS_DECIDED, {
        client,
        at,
        event,
        text: [text],
        permitted: sameEpochWaiver(this.#context.setup),
      }),
    );
  }
}
