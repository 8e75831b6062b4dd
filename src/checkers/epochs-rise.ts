import type { Instant } from "../base/time.ts";
import type { BrokerEpoch, BrokerId, Offset, PartitionName } from "../kafka/ids.ts";
import type { PartitionChanged } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { MetadataLogs } from "./metadata-logs.ts";

export const EPOCHS_RISE: Guarantee = {
  name: "epochs-rise",
  sentence:
    "Each change of a partition has a higher partition epoch and no lower leader epoch, a new leader a higher one, and each registration of a broker a higher broker epoch.",
  source: "PartitionRegistration.merge, KIP-903; M2 and M8",
  kinds: ["epoch-not-risen"],
  condition:
    "Always, of what the controller has committed, and no leader of the quorum lacks (of that metadata-kept tells).",
  testedBy: "changes of a partition after its creation, and registrations after a broker's first",
  example: [
    "epoch-not-risen   orders-0   at 10.391s, event 8211",
    "  The controller made broker-2 leader in leader epoch 4, where broker-1 was.",
  ],
  create: (context) => new EpochsRise(context),
};

/** What was committed of a partition or a broker, in the metadata log below offset `end`. */
interface Committed<State> {
  readonly state: State;
  readonly end: Offset;
}

class EpochsRise implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #partitions = new Map<PartitionName, Committed<PartitionChanged>[]>();
  readonly #brokers = new Map<BrokerId, Committed<BrokerEpoch>[]>();
  readonly #metadata: MetadataLogs;

  constructor({ facts, metadata }: CheckContext) {
    this.#metadata = metadata;
    metadata.onForgotten((end) => {
      for (const history of this.#partitions.values()) forget(history, end);
      for (const history of this.#brokers.values()) forget(history, end);
    });
    facts.on("partition-changed", (fact, at, event) => this.#change(fact, at, event));
    facts.on("broker-registered", ({ broker, brokerEpoch }, at, event) => {
      this.evaluations++;
      const before = this.#takes(this.#brokers, broker, brokerEpoch);
      if (before === undefined) return;
      this.interesting++;
      if (brokerEpoch > before) return;
      const text = `${brokerName(broker)} registered with broker epoch ${brokerEpoch}, after ${before}.`;
      this.#report("", text, at, event);
    });
  }

  #change(fact: PartitionChanged, at: Instant, event: number): void {
    this.evaluations++;
    const before = this.#takes(this.#partitions, fact.partition, fact);
    if (before === undefined) return;
    this.interesting++;
    const { partition, leader, leaderEpoch, partitionEpoch } = fact;
    if (partitionEpoch <= before.partitionEpoch) {
      const text = `The controller changed it with partition epoch ${partitionEpoch}, after ${before.partitionEpoch}.`;
      this.#report(partition, text, at, event);
    }
    if (leaderEpoch < before.leaderEpoch) {
      const text = `The controller set leader epoch ${leaderEpoch}, after ${before.leaderEpoch}.`;
      this.#report(partition, text, at, event);
    } else if (leaderEpoch === before.leaderEpoch && leader !== before.leader) {
      const text = `The controller made ${leaderName(leader)} leader in leader epoch ${leaderEpoch}, where ${leaderName(before.leader)} was.`;
      this.#report(partition, text, at, event);
    }
  }

  /** Returns what was committed before. */
  #takes<Key, State>(
    histories: Map<Key, Committed<State>[]>,
    key: Key,
    state: State,
  ): State | undefined {
    const history = histories.get(key) ?? [];
    histories.set(key, history);
    const before = history.at(-1)?.state;
    // The controller tells of a batch when it has taken it into its image.
    history.push({ state, end: this.#metadata.canon.end });
    return before;
  }

  #report(partition: PartitionName | "", text: string, at: Instant, event: number): void {
    this.violations.push(violationOf(EPOCHS_RISE, { partition, at, event, text: [text] }));
  }
}

function forget(history: Committed<unknown>[], end: Offset): void {
  while ((history.at(-1)?.end ?? 0) > end) history.pop();
}

function leaderName(leader: BrokerId): string {
  return leader < 0 ? "nobody" : brokerName(leader);
}
