import type { Instant } from "../base/time.ts";
import { TRANSACTION_STATE_TOPIC } from "../kafka/coordinator/internal-topics.ts";
import type { CoordinatorLoaded, TransactionStateChanged } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { topicOf } from "./check-setup.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { TransactionRecord, TransactionStates } from "./transaction-states.ts";

export const COORDINATOR_KNOWS_LOG: Guarantee = {
  name: "coordinator-knows-log",
  sentence:
    "What a transaction coordinator knows of a transactional id is what the last record of it says in the coordinator's own log, when it has loaded that and after each change.",
  source: "KIP-98 (TransactionStateManager); P4, of coordinators",
  kinds: ["state-not-in-log", "state-not-loaded"],
  condition: "Always.",
  testedBy: "transactional ids that a coordinator has read from its log",
  tellsDeed: true,
  example: [
    "state-not-in-log   __transaction_state-2   at 12.480s, event 9120",
    "  broker-1 takes transactional id app (producer 7 epoch 4) for PrepareCommit; the last record of it in its log says Ongoing (producer 7 epoch 4).",
  ],
  create: (context) => new CoordinatorKnowsLog(context),
};

/** What a coordinator must have read, and has not told yet that it knows. */
interface Loading {
  readonly partition: PartitionGhost;
  readonly broker: number;
  readonly expected: Map<string, TransactionRecord>;
  readonly at: Instant;
  readonly event: number;
}

class CoordinatorKnowsLog implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  #loading: Loading | undefined = undefined;

  constructor(context: CheckContext) {
    this.#context = context;
    const { transactions, facts } = context;
    if (transactions === undefined) return;
    const { states } = transactions;
    facts.on("coordinator-loaded", (fact, at, event) => this.#load(states, fact, at, event));
    facts.on("transaction-state-changed", (fact, at, event) => this.#tell(states, fact, at, event));
  }

  atEnd(): void {
    this.#loaded();
  }

  #load(states: TransactionStates, fact: CoordinatorLoaded, at: Instant, event: number): void {
    this.#loaded();
    if (topicOf(fact.partition) !== TRANSACTION_STATE_TOPIC) return;
    const partition = this.#context.logs.partition(fact.partition);
    const { broker } = fact;
    const expected = states.fold(partition, partition.log(broker));
    this.#loading = { partition, broker, expected, at, event };
  }

  #tell(
    states: TransactionStates,
    fact: TransactionStateChanged,
    at: Instant,
    event: number,
  ): void {
    if (this.#loading?.event !== event) this.#loaded();
    const { transactionalId, broker, from } = fact;
    const { partition } = states.of(transactionalId);
    this.evaluations++;
    if (from === "") {
      this.interesting++;
      this.#loading?.expected.delete(transactionalId);
    }
    const record = partition && states.lastIn(partition, partition.log(broker), transactionalId);
    if (record !== undefined && isSame(fact, record)) return;
    const { producerId, producerEpoch, to } = fact;
    const said =
      record === undefined
        ? "there is no record of it in its log"
        : `the last record of it in its log says ${record.state} (producer ${record.producerId} epoch ${record.producerEpoch}${among(record.partitions)})`;
    this.violations.push(
      violationOf(COORDINATOR_KNOWS_LOG, {
        ...(partition === undefined ? {} : { partition: partition.name }),
        at,
        event,
        text: [
          `${brokerName(broker)} takes transactional id ${transactionalId} (producer ${producerId} epoch ${producerEpoch}${among(fact.partitions)}) for ${to}; ${said}.`,
        ],
      }),
    );
  }

  /** A coordinator has told all that it has read. */
  #loaded(): void {
    const loading = this.#loading;
    this.#loading = undefined;
    if (loading === undefined) return;
    const { partition, broker, at, event } = loading;
    for (const { transactionalId, state } of loading.expected.values()) {
      const text = `${brokerName(broker)} has loaded ${partition.name}, and knows nothing of transactional id ${transactionalId}, which is ${state} there.`;
      this.violations.push(
        violationOf(COORDINATOR_KNOWS_LOG, {
          kind: "state-not-loaded",
          partition: partition.name,
          at,
          event,
          text: [text],
        }),
      );
    }
  }
}

function isSame(told: TransactionStateChanged, record: TransactionRecord): boolean {
  if (told.to !== record.state) return false;
  if (record.state === "Dead") return true;
  return (
    told.producerId === record.producerId &&
    told.producerEpoch === record.producerEpoch &&
    told.partitions.length === record.partitions.length &&
    told.partitions.every((one) => record.partitions.includes(one))
  );
}

function among(partitions: readonly string[]): string {
  return partitions.length === 0 ? "" : `, in ${partitions.join(", ")}`;
}
