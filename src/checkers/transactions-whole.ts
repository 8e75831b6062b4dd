import type { Instant } from "../base/time.ts";
import type { RecordSent } from "../trace/fact.ts";
import { isReadCommitted } from "./check-setup.ts";
import type { SendsPart } from "./client-sends.ts";
import { ACKED, indexOfSend, READ_COMMITTED } from "./client-sends.ts";
import type { ClientTransaction } from "./client-transactions.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { recordId } from "./record-id.ts";
import {
  sameEpochWaiver,
  unfoundedEndWaiver,
  unverifiedWaiver,
} from "./waivers/transaction-waiver.ts";
import { vanishedRecord } from "./waivers/vanished-record.ts";

export const TRANSACTIONS_WHOLE: Guarantee = {
  name: "transactions-whole",
  sentence:
    "Whoever reads committed records only is given all of a transaction that he reads past, or nothing: all if its application was told that it is committed, nothing if it was told that it is aborted, and nothing before the application is done with it.",
  source:
    "Jepsen's G1a and lost-write of transactions, torn transactions, precommitted-read; KIP-98",
  kinds: ["aborted-write-read", "committed-write-passed", "transaction-torn", "read-before-commit"],
  condition:
    "By what clients saw alone, at the end; of all who read with isolation.level=read_committed; not of compacted topics, nor of what has expired. Permitted: as for no-acked-loss, told-as-decided and records-in-own-transaction.",
  testedBy: "transactions of which such a consumer was given something, or read past it",
  example: [
    "transaction-torn   orders-0   at 60.000s, event 41200",
    "  Of transaction 12 of p1, the end of which it was not told, record 118 was read, and record 121, at offset 415, was read past.",
  ],
  create: (context) => new TransactionsWhole(context),
};

/** What became of a transaction's records, as readers of committed ones saw them. */
interface Seen {
  /** The number of one that was read, and of one that was acknowledged and read past; -1 without one. */
  read: number;
  passed: number;
  readIn: PartitionGhost | undefined;
  passedIn: PartitionGhost | undefined;
  passedAt: number;
}

class TransactionsWhole implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  readonly #early = new Set<ClientTransaction>();

  constructor(context: CheckContext) {
    this.#context = context;
    const { transactions, setup } = context;
    if (!isReadCommitted(setup)) return;
    transactions?.clients.onSent((transaction, fact, at, event) =>
      this.#send(transaction, fact, at, event),
    );
  }

  atEnd(at: Instant, event: number): void {
    for (const transaction of this.#context.transactions?.clients.all() ?? []) {
      const seen = this.#look(transaction);
      this.evaluations++;
      if (seen.read < 0 && seen.passed < 0) continue;
      this.interesting++;
      this.#judge(transaction, seen, at, event);
    }
  }

  /** A further record is sent: has anybody been given the first already? */
  #send(transaction: ClientTransaction, fact: RecordSent, at: Instant, event: number): void {
    const { client, number, first } = transaction;
    const part = this.#context.history.clients.get(client)?.partOf(first);
    if (part === undefined || this.#early.has(transaction)) return;
    if (!isRead(part, indexOfSend(first))) return;
    this.#early.add(transaction);
    const text = `${client}'s record ${first} was read before ${client} had sent all of its transaction ${number}: record ${fact.value} comes later.`;
    this.violations.push(
      violationOf(TRANSACTIONS_WHOLE, {
        kind: "read-before-commit",
        partition: part.partitions[indexOfSend(first)]?.name ?? "",
        client,
        at,
        event,
        text: [text],
        permitted: this.#permitted(transaction),
      }),
    );
  }

  #look({ client, first, last }: ClientTransaction): Seen {
    const seen: Seen = {
      read: -1,
      passed: -1,
      readIn: undefined,
      passedIn: undefined,
      passedAt: -1,
    };
    const { history, expiry } = this.#context;
    const sends = history.clients.get(client);
    if (sends === undefined || first < 0) return seen;
    const part = sends.partOf(first);
    for (let value = first; value <= last; value++) {
      const i = indexOfSend(value);
      const ghost = part.partitions[i];
      if (ghost === undefined || ghost.tree.keys !== undefined) continue;
      if (isRead(part, i)) {
        if (seen.read < 0) {
          seen.read = value;
          seen.readIn = ghost;
        }
        continue;
      }
      const offset = part.offsets[i] as number;
      if (seen.passed >= 0 || part.outcomes[i] !== ACKED || offset < 0) continue;
      if (offset < expiry.permitted(ghost)) continue;
      const readers = history.partitions[ghost.index]?.readers ?? [];
      const isPassed = readers.some(
        (reader) => (reader.flags & READ_COMMITTED) !== 0 && reader.hasPassed(offset),
      );
      if (!isPassed) continue;
      seen.passed = value;
      seen.passedIn = ghost;
      seen.passedAt = offset;
    }
    return seen;
  }

  #judge(transaction: ClientTransaction, seen: Seen, at: Instant, event: number): void {
    const { client, number, outcome } = transaction;
    if (outcome === "aborted") {
      if (seen.read < 0) return;
      const text = `Transaction ${number} of ${client} was aborted, as ${client} was told, and its record ${seen.read} was read.`;
      this.#tell(
        "aborted-write-read",
        client,
        seen.readIn,
        text,
        this.#permitted(transaction),
        at,
        event,
      );
      return;
    }
    if (seen.passed < 0) return;
    const passed = `record ${seen.passed}, at offset ${seen.passedAt}, was read past`;
    const permitted = this.#vanished(client, seen, event) ?? this.#permitted(transaction);
    if (seen.read >= 0) {
      const told =
        outcome === "committed" ? "which was committed" : "the end of which it was not told";
      const text = `Of transaction ${number} of ${client}, ${told}, record ${seen.read} was read, and ${passed}.`;
      this.#tell("transaction-torn", client, seen.passedIn, text, permitted, at, event);
    } else if (outcome === "committed") {
      const text = `Transaction ${number} of ${client} was committed, as ${client} was told; but nothing of it was read, and ${passed}.`;
      this.#tell("committed-write-passed", client, seen.passedIn, text, permitted, at, event);
    }
  }

  /** Is what nobody read gone from the log, and was that permitted? */
  #vanished(
    client: string,
    { passed, passedIn, passedAt }: Seen,
    event: number,
  ): string | undefined {
    const address = this.#context.setup.clients.get(client)?.address;
    if (passedIn === undefined || address === undefined) return undefined;
    const id = recordId(address, passed);
    return vanishedRecord(this.#context, passedIn, [[id, passedAt]], event)?.waiver?.text;
  }

  #permitted(transaction: ClientTransaction): string | undefined {
    const { setup, transactions } = this.#context;
    const unfounded = transactions && unfoundedEndWaiver(transactions.states, transaction);
    return unfounded ?? unverifiedWaiver(setup) ?? sameEpochWaiver(setup);
  }

  #tell(
    kind: string,
    client: string,
    partition: PartitionGhost | undefined,
    text: string,
    permitted: string | undefined,
    at: Instant,
    event: number,
  ): void {
    this.violations.push(
      violationOf(TRANSACTIONS_WHOLE, {
        kind,
        partition: partition?.name ?? "",
        client,
        at,
        event,
        text: [text],
        permitted,
      }),
    );
  }
}

function isRead(part: SendsPart, index: number): boolean {
  return ((part.reads[index] as number) & READ_COMMITTED) !== 0;
}
