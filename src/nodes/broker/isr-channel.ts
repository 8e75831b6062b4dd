import { MILLISECOND } from "../../base/time.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import type { BrokerId } from "../../kafka/ids.ts";
import type {
  AlterPartitionData,
  AlterPartitionDataResponse,
  AlterPartitionResponse,
} from "../../kafka/protocol/alter-partition.ts";
import { ALTER_PARTITION } from "../../kafka/protocol/apis.ts";
import type { IsrState, PendingExpand, PendingShrink } from "../../kafka/replication/isr-state.ts";
import { committedIsr, pendingExpand, pendingShrink } from "../../kafka/replication/isr-state.ts";
import type { ResponseHandler } from "../rpc/rpc-client.ts";
import type { BrokerContext } from "./broker-context.ts";
import { BROKER_TIMER } from "./broker-timers.ts";
import type { Partition } from "./partition.ts";

const RETRY = 50 * MILLISECOND;

/** One change of one partition's ISR that the controller has not answered. */
interface Proposal {
  readonly partition: Partition;
  readonly state: PendingExpand | PendingShrink;
  readonly leaderEpoch: number;
  /** With the epochs as they are known when it is made: whoever restarts before it arrives is refused (KIP-903). */
  readonly members: AlterPartitionData["newIsrWithEpochs"];
}

/**
 * Asks the controller for other ISRs (Kafka's `DefaultAlterPartitionManager`): one request in
 * flight per broker, in which all partitions that wait go together; no timeout, retried until it
 * is answered or overtaken by newer metadata.
 */
export class IsrChannel implements ResponseHandler<AlterPartitionResponse, readonly Proposal[]> {
  readonly #context: BrokerContext;
  readonly #unsent = new Map<Partition, Proposal>();
  #inFlight = false;
  #retryRuns = false;

  constructor(context: BrokerContext) {
    this.#context = context;
  }

  proposeExpand(partition: Partition, joining: BrokerId): void {
    if (partition.isr.kind !== "committed") return;
    this.#propose(partition, pendingExpand(partition.isr, joining));
  }

  proposeShrink(partition: Partition, leaving: readonly BrokerId[]): void {
    if (partition.isr.kind !== "committed") return;
    this.#propose(partition, pendingShrink(partition.isr, leaving));
  }

  #propose(partition: Partition, state: PendingExpand | PendingShrink): void {
    partition.isr = state;
    this.#context.facts.note({
      kind: "isr-proposed",
      broker: this.#context.brokerId,
      partition: partition.name,
      isr: state.proposed,
      leaderEpoch: partition.leaderEpoch,
      partitionEpoch: partition.partitionEpoch,
    });
    const members = state.proposed.map((brokerId) => ({
      brokerId,
      brokerEpoch: this.#brokerEpoch(partition, brokerId),
    }));
    this.#unsent.set(partition, { partition, state, leaderEpoch: partition.leaderEpoch, members });
    this.#sendNext();
  }

  #sendNext(): void {
    if (this.#inFlight) return;
    // What newer metadata has overtaken need not be asked for any more.
    const proposals = [...this.#unsent.values()].filter(isCurrent);
    this.#unsent.clear();
    if (proposals.length === 0) return;
    this.#inFlight = true;
    const topics = new Map<string, AlterPartitionData[]>();
    for (const proposal of proposals) {
      const { topicId } = proposal.partition;
      const list = topics.get(topicId);
      if (list === undefined) topics.set(topicId, [requestOf(proposal)]);
      else list.push(requestOf(proposal));
    }
    this.#context.controller.send(
      ALTER_PARTITION,
      {
        brokerId: this.#context.brokerId,
        brokerEpoch: this.#context.brokerEpoch,
        topics: [...topics].map(([topicId, partitions]) => ({ topicId, partitions })),
      },
      this,
      proposals,
    );
  }

  /** The epoch with which a member fetches, so that the controller can tell its lives apart (KIP-903). */
  #brokerEpoch(partition: Partition, brokerId: BrokerId): number {
    if (brokerId === this.#context.brokerId) return this.#context.brokerEpoch;
    return partition.remote(brokerId)?.brokerEpoch ?? -1;
  }

  onResponse(response: AlterPartitionResponse, proposals: readonly Proposal[]): void {
    this.#inFlight = false;
    if (response.errorCode !== 0) {
      this.#again(proposals);
      return;
    }
    const answers = new Map<string, AlterPartitionDataResponse>();
    for (const topic of response.topics) {
      for (const one of topic.partitions) {
        answers.set(`${topic.topicId}/${one.partitionIndex}`, one);
      }
    }
    const { code: notController } = ERRORS.NOT_CONTROLLER;
    const refused: Proposal[] = [];
    for (const proposal of proposals) {
      const { topicId, index } = proposal.partition;
      const answer = answers.get(`${topicId}/${index}`);
      if (answer?.errorCode === notController) refused.push(proposal);
      else if (answer !== undefined) this.#settle(proposal, answer);
      else if (isCurrent(proposal)) this.#unsent.set(proposal.partition, proposal);
    }
    // A controller that has been replaced (KAFKA-14154): the next one is to be found first.
    if (refused.length > 0) this.#again(refused);
    else this.#sendNext();
  }

  onDisconnect(proposals: readonly Proposal[]): void {
    this.#inFlight = false;
    this.#again(proposals);
  }

  /** The retry timer came due. */
  retry(): void {
    this.#retryRuns = false;
    this.#sendNext();
  }

  #again(proposals: readonly Proposal[]): void {
    for (const proposal of proposals) {
      if (isCurrent(proposal)) this.#unsent.set(proposal.partition, proposal);
    }
    if (this.#retryRuns) return;
    this.#retryRuns = true;
    this.#context.world.timers.start(RETRY, BROKER_TIMER.alterPartitionRetry);
  }

  /** `Partition.handleAlterPartitionUpdate` and `handleAlterPartitionError`. */
  #settle(proposal: Proposal, answer: AlterPartitionDataResponse): void {
    const { partition, state } = proposal;
    // Metadata was faster, or another leader's term began: the answer is of no use.
    if (!isCurrent(proposal)) return;
    const error = errorOf(answer.errorCode);
    switch (error) {
      case ERRORS.NONE:
        if (answer.leaderEpoch !== partition.leaderEpoch) return;
        if (answer.partitionEpoch < partition.partitionEpoch) return;
        partition.partitionEpoch = answer.partitionEpoch;
        partition.adoptIsr(committedIsr(answer.isr), "answer");
        // A smaller ISR may have been all that held the high watermark back (KAFKA-13091).
        partition.maybeAdvanceHighWatermark(this.#context.now());
        partition.completeDelayed();
        return;
      case ERRORS.OPERATION_NOT_ATTEMPTED:
      case ERRORS.INELIGIBLE_REPLICA:
        partition.adoptIsr(state.committed, "refusal");
        return;
      case ERRORS.UNKNOWN_TOPIC_OR_PARTITION:
      case ERRORS.UNKNOWN_TOPIC_ID:
      case ERRORS.FENCED_LEADER_EPOCH:
      case ERRORS.INVALID_UPDATE_VERSION:
      case ERRORS.INVALID_REQUEST:
      case ERRORS.NEW_LEADER_ELECTED:
        // It stays pending: the controller knows better, and its metadata is on its way.
        return;
      default:
        this.#unsent.set(partition, proposal);
    }
  }
}

function requestOf({ partition, leaderEpoch, members }: Proposal): AlterPartitionData {
  return {
    partitionIndex: partition.index,
    leaderEpoch,
    newIsrWithEpochs: members,
    // A change of the ISR also says that an unclean election's leader has recovered (KIP-704).
    leaderRecoveryState: 0,
    partitionEpoch: partition.partitionEpoch,
  };
}

function isCurrent({ partition, state, leaderEpoch }: Proposal): boolean {
  const now: IsrState = partition.isr;
  const leads = partition.isLeader && !partition.offline;
  return now === state && leads && partition.leaderEpoch === leaderEpoch;
}
