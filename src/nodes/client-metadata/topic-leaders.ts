import type { BrokerId, LeaderEpoch, TopicId } from "../../kafka/ids.ts";
import { NO_EPOCH, NO_LEADER } from "../../kafka/ids.ts";
import type { NodeAddress } from "../../ports/network.ts";

export const NO_ADDRESS: NodeAddress = -1;

/**
 * Who leads one partition, as far as the client knows. One object for good, which the metadata
 * update in place: those who hold it need not ask again.
 */
export class PartitionLeader {
  readonly partition: number;
  leaderId: BrokerId = NO_LEADER;
  /** The newest epoch heard of (KIP-320); it stays while there is no leader. */
  leaderEpoch: LeaderEpoch = NO_EPOCH;
  /** NO_ADDRESS if there is no leader, or it is not among the live brokers. */
  address: NodeAddress = NO_ADDRESS;

  constructor(partition: number) {
    this.partition = partition;
  }

  get isKnown(): boolean {
    return this.address !== NO_ADDRESS;
  }

  set(leaderId: BrokerId, leaderEpoch: LeaderEpoch, address: NodeAddress): void {
    this.leaderId = leaderId;
    this.leaderEpoch = leaderEpoch;
    this.address = address;
  }
}

/** A topic as its clients know it; updated in place. */
export class TopicLeaders {
  readonly name: string;
  /** Empty until it is known. */
  topicId: TopicId = "";
  /** By partition number; empty until known. */
  readonly partitions: PartitionLeader[] = [];
  /** Did the last metadata response contain it without an error? */
  isKnown = false;
  /** Is it one of the cluster's own, as `__consumer_offsets` is? */
  isInternal = false;

  constructor(name: string) {
    this.name = name;
  }

  partition(index: number): PartitionLeader {
    while (this.partitions.length <= index) {
      this.partitions.push(new PartitionLeader(this.partitions.length));
    }
    return this.partitions[index] as PartitionLeader;
  }
}
