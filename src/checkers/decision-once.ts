import type { Instant } from "../base/time.ts";
import { isLegalTransition, isPrepared } from "../kafka/transaction/transaction-state.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { KnownTransactionalId, TransactionRecord } from "./transaction-states.ts";

export const DECISION_ONCE: Guarantee = {
  name: "decision-once",
  sentence:
    "Whether a transaction is committed or aborted is decided once: the log of its coordinator goes from state to state as Kafka allows, whoever coordinates.",
  source: "KIP-98, KIP-890 (TransactionState); T1",
  kinds: ["decision-changed", "illegal-transition", "epoch-taken-back"],
  condition: "Of the committed records of __transaction_state, while none of them is lost.",
  testedBy: "records that follow a decision",
  tellsDeed: true,
  example: [
    "decision-changed   at 12.480s, event 9120",
    "  Transactional id app (producer 7) was PrepareCommit under epoch 4, and is PrepareAbort under epoch 4 now.",
  ],
  create: (context) => new DecisionOnce(context),
};

class DecisionOnce implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];

  constructor({ transactions }: CheckContext) {
    transactions?.states.onCommitted((id, before, record, at, event) =>
      this.#look(id, before, record, at, event),
    );
  }

  #look(
    id: KnownTransactionalId,
    before: TransactionRecord | undefined,
    record: TransactionRecord,
    at: Instant,
    event: number,
  ): void {
    this.evaluations++;
    if (before === undefined || before.state === "Dead" || id.isUncertain) return;
    if (isPrepared(before.state)) this.interesting++;
    const kind = wrong(before, record);
    if (kind === undefined) return;
    const text = `Transactional id ${id.name} (producer ${before.producerId}) was ${before.state} under epoch ${before.producerEpoch}, and is ${record.state} under epoch ${record.producerEpoch} now.`;
    this.violations.push(violationOf(DECISION_ONCE, { kind, at, event, text: [text] }));
  }
}

function wrong(before: TransactionRecord, record: TransactionRecord): string | undefined {
  if (!isLegalTransition(before.state, record.state)) {
    return isPrepared(before.state) ? "decision-changed" : "illegal-transition";
  }
  if (record.state === "Dead" || record.producerId !== before.producerId) return undefined;
  return record.producerEpoch < before.producerEpoch ? "epoch-taken-back" : undefined;
}
