import type { Instant } from "../base/time.ts";
import type { ClientTransaction } from "./client-transactions.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";

export const ONE_PRODUCER_PER_EPOCH: Guarantee = {
  name: "one-producer-per-epoch",
  sentence:
    "No two processes are given the same producer id and epoch, and none is given two transactional ids' producer id.",
  source: "KIP-98 (InitProducerId); T6",
  kinds: ["epoch-held-twice", "producer-id-held-twice"],
  condition: "Of the transactions that applications begin.",
  testedBy:
    "transactions begun by another process than the one before, of the same transactional id",
  tellsDeed: true,
  example: [
    "epoch-held-twice   at 12.480s, event 9120",
    "  p2 begins a transaction as producer 7 epoch 3, as p1 did.",
  ],
  create: (context) => new OneProducerPerEpoch(context),
};

interface Holder {
  readonly client: string;
  readonly incarnation: number;
}

class OneProducerPerEpoch implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  /** By producer id and epoch, by transactional id, and by producer id. */
  readonly #holders = new Map<string, Holder>();
  readonly #last = new Map<string, Holder>();
  readonly #ids = new Map<number, string>();

  constructor({ transactions }: CheckContext) {
    transactions?.clients.onBegun((transaction, incarnation, at, event) =>
      this.#begin(transaction, incarnation, at, event),
    );
  }

  #begin(
    { client, transactionalId, producerId, producerEpoch }: ClientTransaction,
    incarnation: number,
    at: Instant,
    event: number,
  ): void {
    this.evaluations++;
    const own = { client, incarnation };
    const last = this.#last.get(transactionalId);
    if (last !== undefined && !isSame(last, own)) this.interesting++;
    this.#last.set(transactionalId, own);

    const key = `${producerId}/${producerEpoch}`;
    const holder = this.#holders.get(key);
    if (holder === undefined) this.#holders.set(key, own);
    else if (!isSame(holder, own)) {
      const did =
        holder.client === client ? "it did before it was started again" : `${holder.client} did`;
      const text = `${client} begins a transaction as producer ${producerId} epoch ${producerEpoch}, as ${did}.`;
      this.violations.push(
        violationOf(ONE_PRODUCER_PER_EPOCH, { client, at, event, text: [text] }),
      );
    }
    const owner = this.#ids.get(producerId);
    if (owner === undefined) this.#ids.set(producerId, transactionalId);
    else if (owner !== transactionalId) {
      const text = `${client} begins a transaction of ${transactionalId} as producer ${producerId}, which is that of ${owner}.`;
      this.violations.push(
        violationOf(ONE_PRODUCER_PER_EPOCH, {
          kind: "producer-id-held-twice",
          client,
          at,
          event,
          text: [text],
        }),
      );
    }
  }
}

function isSame(one: Holder, other: Holder): boolean {
  return one.client === other.client && one.incarnation === other.incarnation;
}
