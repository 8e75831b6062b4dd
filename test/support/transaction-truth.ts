import { payloadClient, payloadValue } from "../../src/kafka/client/payload.ts";
import type { TransactionState } from "../../src/kafka/transaction/transaction-state.ts";
import { isLegalTransition } from "../../src/kafka/transaction/transaction-state.ts";
import type { FactRecorder } from "../../src/trace/recorder.ts";

interface Transaction {
  readonly client: string;
  readonly values: number[];
  readonly acked: Set<number>;
  outcome: "open" | "committed" | "aborted" | "unknown";
}

/**
 * What transactions promise, judged from facts alone in the plainest way: records belong to the transaction
 * that their producer had open, and a reader of committed records is given all of one or none.
 */
export class TransactionTruth {
  /** Which of what is counted was met. */
  readonly met = { committed: 0, aborted: 0, unknown: 0, fenced: 0, takenOver: 0 };
  readonly #transactions: Transaction[] = [];
  readonly #open = new Map<string, Transaction>();
  readonly #read = new Map<string, number>();
  readonly #illegal: string[] = [];
  readonly #decided = new Map<string, string>();

  /** Has each transaction an epoch of its own (KIP-890)? */
  readonly #isV2: boolean;

  /** `reader` has isolation.level=read_committed; clients by the address in their payloads. */
  constructor(
    facts: FactRecorder,
    reader: string,
    clients: ReadonlyMap<number, string>,
    version: 0 | 1 | 2 = 2,
  ) {
    this.#isV2 = version === 2;
    facts.on("transaction-begun", ({ client }) => {
      const transaction: Transaction = { client, values: [], acked: new Set(), outcome: "open" };
      this.#transactions.push(transaction);
      this.#open.set(client, transaction);
    });
    facts.on("transaction-ended", ({ client, outcome }) => {
      const transaction = this.#open.get(client);
      if (transaction !== undefined) transaction.outcome = outcome;
      this.#open.delete(client);
      this.met[outcome]++;
    });
    facts.on("record-sent", ({ client, value }) => {
      this.#open.get(client)?.values.push(value);
    });
    facts.on("send-ended", ({ client, values, outcome }) => {
      if (outcome !== "acked") return;
      for (const value of values) this.#open.get(client)?.acked.add(value);
    });
    facts.on("producer-fenced", () => {
      this.met.fenced++;
    });
    facts.on("transaction-state-changed", (fact) => this.#state(fact));
    facts.on("polled", ({ client, batches, firstOffset, lastOffset }) => {
      if (client !== reader) return;
      for (const batch of batches) {
        for (const { offset, value } of batch.isControl ? [] : batch.records()) {
          if (value === undefined || offset < firstOffset || offset > lastOffset) continue;
          const writer = clients.get(payloadClient(value, 0)) ?? "";
          const key = `${writer} ${payloadValue(value, 0)}`;
          this.#read.set(key, (this.#read.get(key) ?? 0) + 1);
        }
      }
    });
  }

  /** What was not as promised; to be asked when all is healed and read. */
  complaints(): string[] {
    const complaints = [...this.#illegal];
    for (const [i, { client, values, acked, outcome }] of this.#transactions.entries()) {
      const read = values.filter((value) => this.#read.has(`${client} ${value}`));
      const name = `transaction ${i} of ${client} (${outcome})`;
      if (outcome === "aborted" && read.length > 0) {
        complaints.push(`${name}: ${read.length} of its records were read`);
      }
      if (outcome === "committed" && read.length < values.length) {
        complaints.push(`${name}: ${read.length} of ${values.length} records were read`);
      }
      if (outcome === "unknown" && read.length > 0 && read.length < acked.size) {
        complaints.push(`${name}: ${read.length} of ${acked.size} records were read`);
      }
    }
    for (const [key, times] of this.#read) {
      if (times > 1) complaints.push(`${key} was read ${times} times`);
    }
    return complaints;
  }

  #state(fact: {
    readonly transactionalId: string;
    readonly producerId: number;
    readonly producerEpoch: number;
    readonly from: string;
    readonly to: string;
  }): void {
    const { transactionalId, producerId, producerEpoch, from, to } = fact;
    if (from === "" && to.startsWith("Prepare")) this.met.takenOver++;
    const isLegal =
      from === "" || isLegalTransition(from as TransactionState, to as TransactionState);
    if (!isLegal) this.#illegal.push(`${transactionalId} went from ${from} to ${to}`);
    if (!to.startsWith("Prepare") && !to.startsWith("Complete")) return;
    const how = to.replace(/Prepare|Complete/, "");
    // Epoch 0 is that of the next producer id.
    const key = `${transactionalId} ${producerId} ${producerEpoch}`;
    const before = this.#decided.get(key);
    if (this.#isV2 && producerEpoch > 0 && before !== undefined && before !== how) {
      this.#illegal.push(`${key} was first ${before} and then ${how}`);
    }
    this.#decided.set(key, how);
  }
}
