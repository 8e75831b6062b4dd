import type { Duration, Instant } from "../../base/time.ts";
import type { BrokerEpoch, BrokerId, Offset } from "../ids.ts";

/** The log end offset of a replica that has not fetched in this leader's term. */
export const UNKNOWN_OFFSET: Offset = -1;

/**
 * What a leader knows of one follower (Kafka's `Replica`). Instants are on the leader's own clock.
 */
export class ReplicaProgress {
  readonly brokerId: BrokerId;
  logStartOffset: Offset = UNKNOWN_OFFSET;
  logEndOffset: Offset = UNKNOWN_OFFSET;
  /** The leader's own end when the follower last fetched. */
  lastFetchLeaderEnd: Offset = UNKNOWN_OFFSET;
  lastFetchAt: Instant = 0;
  /** The latest instant at which the follower is known to have had all there was. */
  lastCaughtUpAt: Instant = 0;
  /** The broker epoch it fetched with (KIP-903); undefined until it fetched. */
  brokerEpoch: BrokerEpoch | undefined = undefined;

  constructor(brokerId: BrokerId) {
    this.brokerId = brokerId;
  }

  /**
   * A fetch at `fetchOffset` arrived when the leader's log ended at `leaderEnd`. A follower which
   * now asks for what was the end at its previous fetch had caught up at that time.
   */
  fetched(
    fetchOffset: Offset,
    logStartOffset: Offset,
    now: Instant,
    leaderEnd: Offset,
    brokerEpoch: BrokerEpoch,
  ): void {
    if (fetchOffset >= leaderEnd) {
      if (now > this.lastCaughtUpAt) this.lastCaughtUpAt = now;
    } else if (fetchOffset >= this.lastFetchLeaderEnd) {
      if (this.lastFetchAt > this.lastCaughtUpAt) this.lastCaughtUpAt = this.lastFetchAt;
    }
    this.logStartOffset = logStartOffset;
    this.logEndOffset = fetchOffset;
    if (leaderEnd > this.lastFetchLeaderEnd) this.lastFetchLeaderEnd = leaderEnd;
    this.lastFetchAt = now;
    this.brokerEpoch = brokerEpoch;
  }

  /** A new leader epoch began: only members of the ISR are given credit (`Replica.resetReplicaState`). */
  reset(now: Instant, leaderEnd: Offset, isNewLeader: boolean, isInIsr: boolean): void {
    this.lastCaughtUpAt = isInIsr ? now : 0;
    if (isNewLeader) {
      this.logStartOffset = UNKNOWN_OFFSET;
      this.logEndOffset = UNKNOWN_OFFSET;
      this.lastFetchLeaderEnd = UNKNOWN_OFFSET;
      this.lastFetchAt = 0;
      this.brokerEpoch = undefined;
    } else {
      this.lastFetchLeaderEnd = leaderEnd;
      this.lastFetchAt = isInIsr ? now : 0;
    }
  }

  /** Has it all there is, or did it within `maxLag` (replica.lag.time.max.ms)? */
  isCaughtUp(leaderEnd: Offset, now: Instant, maxLag: Duration): boolean {
    return this.logEndOffset === leaderEnd || now - this.lastCaughtUpAt <= maxLag;
  }
}
