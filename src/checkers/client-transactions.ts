import type { Instant } from "../base/time.ts";
import type { RecordSent, TransactionBegun, TransactionEnded } from "../trace/fact.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import type { CheckSetup } from "./check-setup.ts";

/** One transaction as its application knows it. */
export class ClientTransaction {
  readonly client: string;
  readonly number: number;
  readonly transactionalId: string;
  readonly producerId: number;
  readonly producerEpoch: number;
  /** The numbers of its records, which are in one row; -1 if it has none. */
  first = -1;
  last = -1;
  /** `open` also if its application has stopped, and so was never told. */
  outcome: TransactionEnded["outcome"] | "open" = "open";
  readonly begunIn: number;
  endedAt: Instant = 0;
  endedIn = 0;

  constructor(fact: TransactionBegun, event: number) {
    this.client = fact.client;
    this.number = fact.transaction;
    this.transactionalId = fact.transactionalId;
    this.producerId = fact.producerId;
    this.producerEpoch = fact.producerEpoch;
    this.begunIn = event;
  }
}

export type BegunListener = (
  transaction: ClientTransaction,
  incarnation: number,
  at: Instant,
  event: number,
) => void;
export type EndedListener = (transaction: ClientTransaction, at: Instant, event: number) => void;
/** Told of each record but a transaction's first. */
export type SentListener = (
  transaction: ClientTransaction,
  fact: RecordSent,
  at: Instant,
  event: number,
) => void;

/** The transactions of applications, and which records they meant to be in which. */
export class ClientTransactions {
  readonly #setup: CheckSetup;
  /** By client, in the order of their records. */
  readonly #byClient = new Map<string, ClientTransaction[]>();
  readonly #byAddress: (ClientTransaction[] | undefined)[] = [];
  readonly #open = new Map<string, ClientTransaction>();
  readonly #byProducer = new Map<string, ClientTransaction[]>();
  readonly #incarnations = new Map<string, number>();
  readonly #begun: BegunListener[] = [];
  readonly #ended: EndedListener[] = [];
  readonly #sent: SentListener[] = [];

  constructor(recorder: FactRecorder, setup: CheckSetup) {
    this.#setup = setup;
    recorder.on("node-started", ({ node, incarnation }) => {
      this.#incarnations.set(node, incarnation);
      this.#open.delete(node);
    });
    recorder.on("transaction-begun", (fact, at, event) => this.#begin(fact, at, event));
    recorder.on("transaction-ended", (fact, at, event) => this.#end(fact, at, event));
    recorder.on("record-sent", (fact, at, event) => this.#send(fact, at, event));
  }

  onBegun(listener: BegunListener): void {
    this.#begun.push(listener);
  }

  onEnded(listener: EndedListener): void {
    this.#ended.push(listener);
  }

  onSent(listener: SentListener): void {
    this.#sent.push(listener);
  }

  *all(): IterableIterator<ClientTransaction> {
    for (const some of this.#byClient.values()) yield* some;
  }

  /** Those that were begun with this producer id and epoch. */
  ofProducer(producerId: number, producerEpoch: number): readonly ClientTransaction[] {
    return this.#byProducer.get(`${producerId}/${producerEpoch}`) ?? [];
  }

  /** The transaction in which a record was sent, by the address in its payload; undefined if in none. O(log). */
  find(address: number, value: number): ClientTransaction | undefined {
    const all = this.#byAddress[address];
    if (all === undefined || value < 0) return undefined;
    let low = 0;
    let high = all.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (startOf(all[middle] as ClientTransaction) <= value) low = middle;
      else high = middle - 1;
    }
    const found = all[low];
    return found !== undefined && found.first <= value && value <= found.last ? found : undefined;
  }

  #begin(fact: TransactionBegun, at: Instant, event: number): void {
    const { client, producerId, producerEpoch } = fact;
    const transaction = new ClientTransaction(fact, event);
    this.#open.set(client, transaction);
    const key = `${producerId}/${producerEpoch}`;
    const same = this.#byProducer.get(key);
    if (same === undefined) this.#byProducer.set(key, [transaction]);
    else same.push(transaction);
    const incarnation = this.#incarnations.get(client) ?? 0;
    for (const listener of this.#begun) listener(transaction, incarnation, at, event);
  }

  #end({ client, outcome }: TransactionEnded, at: Instant, event: number): void {
    const transaction = this.#open.get(client);
    if (transaction === undefined) return;
    this.#open.delete(client);
    transaction.outcome = outcome;
    transaction.endedAt = at;
    transaction.endedIn = event;
    for (const listener of this.#ended) listener(transaction, at, event);
  }

  #send(fact: RecordSent, at: Instant, event: number): void {
    const transaction = this.#open.get(fact.client);
    if (transaction === undefined) return;
    transaction.last = fact.value;
    if (transaction.first >= 0) {
      for (const listener of this.#sent) listener(transaction, fact, at, event);
      return;
    }
    transaction.first = fact.value;
    let all = this.#byClient.get(fact.client);
    if (all === undefined) {
      all = [];
      this.#byClient.set(fact.client, all);
      const address = this.#setup.clients.get(fact.client)?.address;
      if (address !== undefined) this.#byAddress[address] = all;
    }
    all.push(transaction);
  }
}

function startOf({ first }: ClientTransaction): number {
  return first;
}
