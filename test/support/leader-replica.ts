import type { IsrState } from "../../src/kafka/replication/isr-state.ts";
import { committedIsr } from "../../src/kafka/replication/isr-state.ts";
import { ReplicaProgress } from "../../src/kafka/replication/replica-progress.ts";
import type { LeaderReplica } from "../../src/kafka/replication/replication-rules.ts";

/** The leader's own id in tests of the rules; followers are 2, 3 and so on. */
export const LEADER = 1;

/** A leader's view for tests of the rules: broker 1 leads, all is replicated, unless told otherwise. */
export class FakeLeader implements LeaderReplica {
  readonly brokerId = LEADER;
  logEndOffset = 10;
  highWatermark = 0;
  epochStartOffset = 0;
  isr: IsrState = committedIsr([1, 2, 3]);
  remotes: ReplicaProgress[] = [];
  effectiveMinIsr = 1;
  readonly ineligible = new Set<number>();

  constructor(fields: Partial<Omit<FakeLeader, "brokerId" | "ineligible" | "follower">> = {}) {
    Object.assign(this, fields);
  }

  isEligibleForIsr(replica: ReplicaProgress): boolean {
    return !this.ineligible.has(replica.brokerId);
  }

  /** Adds a follower that has all up to `logEndOffset` and was last caught up at `lastCaughtUpAt`. */
  follower(brokerId: number, logEndOffset: number, lastCaughtUpAt = 0): ReplicaProgress {
    const replica = new ReplicaProgress(brokerId);
    replica.logEndOffset = logEndOffset;
    replica.lastCaughtUpAt = lastCaughtUpAt;
    this.remotes.push(replica);
    return replica;
  }
}
