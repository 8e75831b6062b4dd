import type { Instant } from "../base/time.ts";
import { formatSeconds, fromMillis } from "../base/time.ts";
import { isAtRest } from "../kafka/transaction/transaction-state.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { abortBound } from "./liveness-bounds.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { isLed } from "./stuck-replica.ts";
import type { TransactionPart } from "./transaction-parts.ts";
import type { KnownTransactionalId } from "./transaction-states.ts";
import type { Transactions } from "./transactions.ts";
import { stuckWaiver } from "./waivers/stuck-waiver.ts";
import { sameEpochWaiver, unverifiedWaiver } from "./waivers/transaction-waiver.ts";
import { counted } from "./wording.ts";

export const TRANSACTIONS_END: Guarantee = {
  name: "transactions-end",
  sentence:
    "When nothing is left to heal, every transaction ends: the last stable offset does not stay behind for longer than transaction.timeout.ms allows.",
  source: "KIP-98, KIP-664 (hanging transactions); LV4",
  kinds: ["transaction-hangs", "transaction-not-ended"],
  condition:
    "At the end, if the cluster has settled; of partitions with a leader. One that its coordinator takes for open may stay so for transaction.timeout.ms and one round of the coordinator, and for as long as the cluster may take for each step. Permitted: as for isr-refills; with transaction.partition.verification.enable=false and below transaction.version 2, of records that are in no transaction of their coordinator's.",
  testedBy: "partitions in which something was open when faults struck",
  example: [
    "transaction-hangs   orders-0   at 120.000s, event 81220",
    "  Producer 7 has a transaction open from offset 412 on since 55.031s: 95 records behind it are not read as committed; its coordinator says: CompleteAbort.",
  ],
  create: (context) => new TransactionsEnd(context),
};

class TransactionsEnd implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;

  constructor(context: CheckContext) {
    this.#context = context;
  }

  atEnd(at: Instant, event: number): void {
    const { transactions, liveness, logs } = this.#context;
    if (transactions === undefined || !liveness.isJudged(at)) return;
    for (const partition of logs.partitions) {
      const { leaderLog } = partition;
      if (!isLed(this.#context, partition) || leaderLog === undefined) continue;
      const open = transactions.parts.openAtLeader(partition, leaderLog);
      if (open === undefined) continue;
      this.evaluations++;
      if (liveness.wasDisturbed) this.interesting++;
      for (const [first] of open.all()) {
        if (first !== undefined) this.#look(transactions, partition, first, at, event);
      }
    }
  }

  #look(
    { states }: Transactions,
    partition: PartitionGhost,
    first: TransactionPart,
    at: Instant,
    event: number,
  ): void {
    const { liveness, setup } = this.#context;
    const id = states.ofProducer(first.producerId);
    const isOver = isForgotten(id, first);
    const timeoutMs = id?.record?.timeoutMs ?? 0;
    const step = liveness.bounds.quiet;
    // To abort it, the coordinator has its log written to, and then each of the partitions.
    const bound = isOver ? step : abortBound(setup.brokers, fromMillis(timeoutMs)) + 2 * step;
    const last = Math.max(first.at, liveness.steppedAt, liveness.isrStepAt(partition));
    if (liveness.quietFor(last, at) < bound) return;
    const brokers = [partition.leader, ...(partition.registration?.isr ?? [])];
    const log = id?.partition;
    const waiver =
      stuckWaiver(this.#context, partition, brokers) ??
      (log === undefined
        ? undefined
        : stuckWaiver(this.#context, log, log.registration?.isr ?? []));
    const outside = isOver ? (unverifiedWaiver(setup) ?? sameEpochWaiver(setup)) : undefined;
    const behind = (partition.leaderLog?.end ?? 0) - first.baseOffset;
    const text = `Producer ${first.producerId} has a transaction open from offset ${first.baseOffset} on since ${formatSeconds(first.at)}: ${counted(behind, "record")} from there on are not read as committed; its coordinator says: ${id?.record?.state ?? "nothing"}.`;
    this.violations.push(
      violationOf(TRANSACTIONS_END, {
        kind: isOver ? "transaction-hangs" : "transaction-not-ended",
        partition: partition.name,
        at,
        event,
        text: [text],
        offsets: [first.baseOffset, (partition.leaderLog?.end ?? first.lastOffset + 1) - 1],
        count: behind,
        permitted: outside ?? waiver?.text,
        cause: outside === undefined ? (waiver?.cause ?? liveness.settledIn) : undefined,
      }),
    );
  }
}

/** Has the coordinator nothing to do with it any more, so that nobody will ever end it? */
function isForgotten(id: KnownTransactionalId | undefined, first: TransactionPart): boolean {
  const record = id?.record;
  if (record === undefined || isAtRest(record.state) || record.state === "Dead") return true;
  if (record.producerId !== first.producerId) return true;
  return !record.partitions.includes(first.partition.name);
}
