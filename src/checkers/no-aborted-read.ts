import type { Instant } from "../base/time.ts";
import type { LeaderEpoch, Offset, PartitionName } from "../kafka/ids.ts";
import { decodeEndTransaction } from "../kafka/log/control-record.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import type * as facts from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { readersOf, readsCommitted } from "./check-setup.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";

export const NO_ABORTED_READ: Guarantee = {
  name: "no-aborted-read",
  sentence:
    "A consumer that reads committed records only is never given those of a transaction that was aborted, or that is not decided yet.",
  source: "KIP-98; V4, and V1 for the last stable offset; Jepsen's G1a",
  kinds: ["aborted-record-read", "undecided-record-read"],
  condition:
    "Of consumers with isolation.level=read_committed. Permitted: if the leader had copied two aborted transactions of one producer in one fetch, as a follower: then its index of aborted transactions may pass over the second.",
  testedBy: "batches of transactions that such consumers were given",
  example: [
    "aborted-record-read   orders-0   at 55.031s, event 31402",
    "  c1 was given offsets 412..413 of a transaction of producer 7, which was aborted.",
  ],
  create: (context) => new NoAbortedRead(context),
};

/** A batch of a transaction that is not known to be committed. */
interface Unsettled {
  readonly leaderEpoch: LeaderEpoch;
  readonly producerId: number;
  /** Where the marker stands that aborts it; -1 while there is none. */
  abortedAt: Offset;
}

/** The transactions of one partition, as its leaders wrote them. */
class Transactions {
  /** By base offset. */
  readonly unsettled = new Map<Offset, Unsettled>();
  /** By producer: the batches since its last marker. */
  readonly open = new Map<number, Offset[]>();
  /** By producer: the markers that abort something. */
  readonly aborts = new Map<number, Offset[]>();

  /** Followers' batches are their leader's. */
  append(batch: RecordBatch): void {
    const { producerId, baseOffset } = batch;
    if (batch.isControl) {
      this.#end(batch);
      return;
    }
    const leaderEpoch = batch.partitionLeaderEpoch;
    this.unsettled.set(baseOffset, { leaderEpoch, producerId, abortedAt: -1 });
    const open = this.open.get(producerId);
    if (open === undefined) this.open.set(producerId, [baseOffset]);
    else open.push(baseOffset);
  }

  #end(batch: RecordBatch): void {
    const [record] = batch.records();
    const marker = decodeEndTransaction(record?.key, record?.value);
    if (marker === undefined) return;
    if (marker.type === "ABORT") {
      const aborts = this.aborts.get(batch.producerId);
      if (aborts === undefined) this.aborts.set(batch.producerId, [batch.baseOffset]);
      else aborts.push(batch.baseOffset);
    }
    for (const offset of this.open.get(batch.producerId) ?? []) {
      const unsettled = this.unsettled.get(offset);
      // Another leader may have written something else there.
      if (unsettled?.producerId !== batch.producerId) continue;
      if (marker.type === "ABORT") unsettled.abortedAt = batch.baseOffset;
      else this.unsettled.delete(offset);
    }
    this.open.delete(batch.producerId);
  }
}

class NoAbortedRead implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #readers: ReadonlySet<string>;
  readonly #partitions = new Map<PartitionName, Transactions>();
  readonly #context: CheckContext;

  constructor(context: CheckContext) {
    const { facts, setup } = context;
    this.#context = context;
    this.#readers = new Set(readersOf(setup).filter((name) => readsCommitted(setup, name)));
    if (this.#readers.size === 0) return;
    facts.on("appended", (fact) => this.#append(fact));
    facts.on("polled", (fact, at, event) => this.#poll(fact, at, event));
  }

  #append({ partition, batch, asLeader }: facts.Appended): void {
    if (!asLeader || !batch.isTransactional) return;
    let transactions = this.#partitions.get(partition);
    if (transactions === undefined) {
      transactions = new Transactions();
      this.#partitions.set(partition, transactions);
    }
    transactions.append(batch);
  }

  #poll(fact: facts.Polled, at: Instant, event: number): void {
    if (!this.#readers.has(fact.client)) return;
    this.evaluations++;
    const transactions = this.#partitions.get(fact.partition);
    for (const batch of fact.batches) {
      if (!batch.isTransactional) continue;
      this.interesting++;
      const found = transactions?.unsettled.get(batch.baseOffset);
      if (transactions === undefined || found === undefined) continue;
      if (found.leaderEpoch !== batch.partitionLeaderEpoch) continue;
      const permitted = this.#passedOver(fact.partition, transactions, found);
      this.violations.push(describe(fact, batch, found, permitted, at, event));
    }
  }

  /**
   * A follower enters what it copied in one fetch into the index of aborted transactions when all of it is in the
   * log: the last stable offset that goes with the first of two may then be that of a transaction that began
   * behind both, and a search stops before the second (`UnifiedLog.append`; see docs/modelled.md).
   */
  #passedOver(
    name: PartitionName,
    { aborts }: Transactions,
    { producerId, abortedAt }: Unsettled,
  ): string | undefined {
    const { transactions, logs } = this.#context;
    if (transactions === undefined || abortedAt < 0) return undefined;
    const partition = logs.partition(name);
    for (const broker of new Set(partition.leaders.values())) {
      const copied = transactions.parts.copiedIn(partition, broker, abortedAt);
      if (copied === undefined) continue;
      const isSecond = aborts
        .get(producerId)
        ?.some(
          (offset) =>
            offset < abortedAt && transactions.parts.copiedIn(partition, broker, offset) === copied,
        );
      if (isSecond !== true) continue;
      return `${brokerName(broker)} had copied two aborted transactions of producer ${producerId} in one fetch, and its index of them passes over the second, as Kafka's does`;
    }
    return undefined;
  }
}

function describe(
  { client, partition, firstOffset, lastOffset }: facts.Polled,
  batch: RecordBatch,
  { abortedAt, producerId }: Unsettled,
  permitted: string | undefined,
  at: Instant,
  event: number,
): Violation {
  const first = Math.max(firstOffset, batch.baseOffset);
  const last = Math.min(lastOffset, batch.lastOffset);
  const where = first === last ? `offset ${first}` : `offsets ${first}..${last}`;
  const isAborted = abortedAt >= 0;
  const fate = isAborted ? "which was aborted" : "which is not decided yet";
  return violationOf(NO_ABORTED_READ, {
    kind: isAborted ? "aborted-record-read" : "undecided-record-read",
    partition,
    client,
    at,
    event,
    text: [`${client} was given ${where} of a transaction of producer ${producerId}, ${fate}.`],
    offsets: [first, last],
    count: last - first + 1,
    permitted,
  });
}
