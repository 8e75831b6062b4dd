import type { Instant } from "../../base/time.ts";
import { FetchPosition } from "../../kafka/client/fetch-position.ts";
import type { ResetPolicy } from "../../kafka/client/reset-policy.ts";
import type { PartitionName } from "../../kafka/ids.ts";
import { NO_EPOCH, partitionName } from "../../kafka/ids.ts";
import type { FetchPartition } from "../../kafka/protocol/fetch.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { PartitionLeader, TopicLeaders } from "../client-metadata/topic-leaders.ts";
import { NO_ADDRESS } from "../client-metadata/topic-leaders.ts";

/** A partition that the consumer reads, and what it remembers of it. */
export class AssignedPartition {
  readonly topic: TopicLeaders;
  readonly partition: number;
  readonly name: PartitionName;
  /** Who leads, as the metadata say. */
  readonly leader: PartitionLeader;
  readonly position: FetchPosition = new FetchPosition();
  /** Where the leader of the position is; it stays while the partition has none. */
  address: NodeAddress = NO_ADDRESS;
  /** Nothing is asked for it before: a request is under way, or it failed. */
  retryAt: Instant = 0;
  /** Failures in a row. */
  failures = 0;
  /** What to look for while the position awaits its reset, and why. */
  resetTo: ResetPolicy;
  resetReason = "initial";
  /** Its position is to be what its group has committed, if it has: that is to be asked first. */
  awaitsCommitted = false;
  /** Records of it are fetched that the application has not taken yet. */
  isBuffered = false;
  /** It is to be given up: nothing of it is fetched or handed over any more. */
  isParting = false;
  /** The application wants nothing of it for the time being. */
  isPaused = false;
  #request: FetchPartition | undefined = undefined;

  constructor(topic: TopicLeaders, leader: PartitionLeader, startAt: ResetPolicy) {
    this.topic = topic;
    this.partition = leader.partition;
    this.name = partitionName(topic.name, leader.partition);
    this.leader = leader;
    this.resetTo = startAt;
  }

  /** Takes what the metadata say. True if it changes what is to be asked, and of whom. */
  followLeader(): boolean {
    const { leader, position } = this;
    if (!leader.isKnown) return false;
    const isNews = position.followLeader(leader.leaderId, leader.leaderEpoch);
    if (!isNews && this.address === leader.address) return false;
    this.address = leader.address;
    if (isNews) this.retryAt = 0;
    return true;
  }

  /** It is assigned, or assigned anew, after somebody else may have read it. */
  begin(startAt: ResetPolicy): void {
    this.position.forget();
    this.retryAt = 0;
    this.failures = 0;
    this.resetTo = startAt;
    this.resetReason = "initial";
    this.awaitsCommitted = true;
    this.isBuffered = false;
    this.isParting = false;
    this.isPaused = false;
  }

  awaitReset(to: ResetPolicy, reason: string): void {
    this.position.awaitReset();
    this.resetTo = to;
    this.resetReason = reason;
    this.retryAt = 0;
  }

  isFetchable(now: Instant): boolean {
    return (
      this.position.state === "fetching" &&
      !this.isParting &&
      !this.isPaused &&
      this.retryAt <= now &&
      this.address !== NO_ADDRESS
    );
  }

  /** The partition's part of a fetch request; the same object while nothing in it changes. */
  fetchRequest(partitionMaxBytes: number): FetchPartition {
    const { offset, leaderEpoch } = this.position;
    const last = this.#request;
    if (last?.fetchOffset === offset && last.currentLeaderEpoch === leaderEpoch) return last;
    const request: FetchPartition = {
      partition: this.partition,
      currentLeaderEpoch: leaderEpoch,
      fetchOffset: offset,
      lastFetchedEpoch: NO_EPOCH,
      logStartOffset: -1,
      partitionMaxBytes,
      highWatermark: -1,
    };
    this.#request = request;
    return request;
  }
}
