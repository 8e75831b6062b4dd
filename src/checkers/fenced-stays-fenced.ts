import type { Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import { isAtRest } from "../kafka/transaction/transaction-state.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { TransactionPart } from "./transaction-parts.ts";
import type { TransactionRecord } from "./transaction-states.ts";
import { unverifiedWaiver } from "./waivers/transaction-waiver.ts";
import { offsetsText } from "./wording.ts";

export const FENCED_STAYS_FENCED: Guarantee = {
  name: "fenced-stays-fenced",
  sentence:
    "Once a transactional id has gone on to another epoch, and nothing is open, no leader takes anything of an earlier one: InitProducerId fences whoever was there before.",
  source: "KIP-98, KIP-360, KIP-890; T5",
  kinds: ["fenced-producer-wrote"],
  condition:
    "Of what is committed. Permitted with transaction.partition.verification.enable=false: a partition that had no part in the last transaction has not heard of the epoch.",
  testedBy: "batches of producers that were given another epoch",
  tellsDeed: true,
  example: [
    "fenced-producer-wrote   orders-0   at 12.480s, event 9120",
    "  The leader has taken offsets 412..418 of producer 7 epoch 3 at 12.400s; app has had epoch 5 since 11.200s.",
  ],
  create: (context) => new FencedStaysFenced(context),
};

interface Fence {
  readonly name: string;
  readonly epoch: number;
  readonly isNewProducer: boolean;
  readonly at: Instant;
}

class FencedStaysFenced implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** By producer id. */
  readonly #fences = new Map<number, Fence>();
  readonly #late = new Map<TransactionPart, Fence>();

  constructor(context: CheckContext) {
    this.#context = context;
    const { transactions } = context;
    if (transactions === undefined) return;
    transactions.states.onCommitted((id, before, record, at) => {
      if (!id.isUncertain) this.#raise(before, record, at);
    });
    transactions.parts.onAppended((part) => this.#append(part));
    transactions.parts.onCommitted((part, _open, at, event) => this.#commit(part, at, event));
  }

  #raise(before: TransactionRecord | undefined, record: TransactionRecord, at: Instant): void {
    const { transactionalId: name, state, producerId, producerEpoch } = record;
    if (!isAtRest(state)) return;
    const known = this.#fences.get(producerId);
    if (known === undefined || known.epoch < producerEpoch) {
      this.#fences.set(producerId, { name, epoch: producerEpoch, isNewProducer: false, at });
    }
    if (before === undefined || before.producerId === producerId || before.producerId < 0) return;
    // All epochs of the old producer id are used up.
    const epoch = Number.MAX_SAFE_INTEGER;
    this.#fences.set(before.producerId, { name, epoch, isNewProducer: true, at });
  }

  #append(part: TransactionPart): void {
    if (part.marker !== undefined) return;
    const fence = this.#fences.get(part.producerId);
    this.evaluations++;
    if (fence === undefined || fence.epoch === 0) return;
    this.interesting++;
    if (part.producerEpoch < fence.epoch) this.#late.set(part, fence);
  }

  #commit(part: TransactionPart, at: Instant, event: number): void {
    const fence = this.#late.get(part);
    if (fence === undefined) return;
    const { partition, producerId, producerEpoch, baseOffset, lastOffset } = part;
    const has = fence.isNewProducer ? "another producer id" : `epoch ${fence.epoch}`;
    const text = `The leader has taken ${offsetsText(baseOffset, lastOffset)} of producer ${producerId} epoch ${producerEpoch} at ${formatSeconds(part.at)}; ${fence.name} has had ${has} since ${formatSeconds(fence.at)}.`;
    this.violations.push(
      violationOf(FENCED_STAYS_FENCED, {
        partition: partition.name,
        at,
        event,
        text: [text],
        offsets: [baseOffset, lastOffset],
        count: lastOffset - baseOffset + 1,
        permitted: unverifiedWaiver(this.#context.setup),
      }),
    );
  }
}
