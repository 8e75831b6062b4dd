import type { BrokerId, LeaderEpoch, Offset, PartitionEpoch } from "../kafka/ids.ts";
import { NO_LEADER } from "../kafka/ids.ts";
import type { IsrProposed } from "../trace/fact.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLogs } from "./replica-logs.ts";

/** What the newest leader of a partition goes by. */
export class LeaderView {
  leader: BrokerId = NO_LEADER;
  leaderEpoch: LeaderEpoch = -1;
  /** The log's end when its epoch began. */
  epochStart: Offset = 0;
  /** The ISR that it knows to be committed. */
  isr: readonly BrokerId[] = [];
  /** With who is about to join: all of them hold the high watermark back. */
  maximalIsr: readonly BrokerId[] = [];
  /**
   * Have metadata undone a request that was made knowing them? `Partition.makeLeader` takes a
   * registration of the partition epoch that it has already, and forgets what it has asked since.
   */
  isUndone = false;
}

interface Proposal {
  readonly fact: IsrProposed;
  readonly event: number;
}

/** Follows what leaders tell of their ISRs, and remembers what they asked the controller for. */
export class LeaderViews {
  readonly #logs: ReplicaLogs;
  readonly #views: LeaderView[] = [];
  readonly #proposals: Proposal[][] = [];

  constructor(recorder: FactRecorder, logs: ReplicaLogs) {
    this.#logs = logs;
    recorder.on("became-leader", (fact) => {
      const view = this.of(logs.partition(fact.partition));
      if (fact.leaderEpoch < view.leaderEpoch) return;
      view.leader = fact.broker;
      view.leaderEpoch = fact.leaderEpoch;
      view.epochStart = fact.logEndOffset;
      view.isr = fact.isr;
      view.isUndone = false;
      view.maximalIsr = fact.isr;
    });
    recorder.on("isr-proposed", (fact, _at, event) => this.#propose(fact, event));
    recorder.on("isr-adopted", ({ partition, broker, leaderEpoch, isr, by }) => {
      const view = this.of(logs.partition(partition));
      if (view.leader !== broker || view.leaderEpoch !== leaderEpoch) return;
      view.isUndone = by === "metadata" && isr.length < view.maximalIsr.length;
      view.isr = isr;
      view.maximalIsr = isr;
    });
  }

  of(partition: PartitionGhost): LeaderView {
    const known = this.#views[partition.index];
    if (known !== undefined) return known;
    const made = new LeaderView();
    this.#views[partition.index] = made;
    return made;
  }

  /**
   * The event in which the leader of this epoch asked last for just this ISR, knowing this partition
   * epoch; -1 if it never did.
   */
  proposedAt(
    partition: PartitionGhost,
    isr: readonly BrokerId[],
    leaderEpoch: LeaderEpoch,
    partitionEpoch: PartitionEpoch,
  ): number {
    const proposals = this.#proposals[partition.index] ?? [];
    const found = proposals.findLast(
      ({ fact }) =>
        fact.leaderEpoch === leaderEpoch &&
        fact.partitionEpoch === partitionEpoch &&
        fact.isr.length === isr.length &&
        fact.isr.every((member) => isr.includes(member)),
    );
    return found?.event ?? -1;
  }

  #propose(fact: IsrProposed, event: number): void {
    const partition = this.#logs.partition(fact.partition);
    const proposals = this.#proposals[partition.index] ?? [];
    this.#proposals[partition.index] = proposals;
    // What was asked in earlier leader epochs is refused.
    const known = proposals[0]?.fact.leaderEpoch ?? fact.leaderEpoch;
    if (known < fact.leaderEpoch) proposals.length = 0;
    proposals.push({ fact, event });
    const view = this.of(partition);
    if (view.leader !== fact.broker || view.leaderEpoch !== fact.leaderEpoch) return;
    view.maximalIsr = [...new Set([...view.isr, ...fact.isr])];
  }
}
