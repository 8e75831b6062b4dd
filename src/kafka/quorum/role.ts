import type { BrokerId, Offset, QuorumEpoch } from "../ids.ts";
import { NO_LEADER } from "../ids.ts";
import type { LeaderProgress } from "./leader-progress.ts";
import type { VoteTally } from "./vote-tally.ts";

/**
 * What a member of the metadata quorum is at a time, in one quorum epoch (Kafka's `EpochState`s).
 * Observers are unattached or followers only.
 */
export type Role = Unattached | Prospective | Candidate | Leader | Follower | Resigned;

/** Knows no leader that it could follow; may have voted. */
export interface Unattached {
  readonly role: "unattached";
  readonly epoch: QuorumEpoch;
  /** The leader of this epoch if it is known all the same, else NO_LEADER. */
  readonly leaderId: BrokerId;
  /** NO_VOTE if it has not voted in this epoch. */
  readonly votedId: BrokerId;
}

/** Asks whether it would win an election before it disturbs the epoch (KIP-996). */
export interface Prospective {
  readonly role: "prospective";
  readonly epoch: QuorumEpoch;
  readonly leaderId: BrokerId;
  readonly votedId: BrokerId;
  readonly tally: VoteTally;
}

/** Has voted for itself and asks the others for their votes. */
export interface Candidate {
  readonly role: "candidate";
  readonly epoch: QuorumEpoch;
  readonly tally: VoteTally;
}

export interface Leader {
  readonly role: "leader";
  readonly epoch: QuorumEpoch;
  /** Where its epoch starts in the log. */
  readonly epochStart: Offset;
  readonly progress: LeaderProgress;
}

/** Fetches from the leader. */
export interface Follower {
  readonly role: "follower";
  readonly epoch: QuorumEpoch;
  readonly leaderId: BrokerId;
  readonly votedId: BrokerId;
  /** Has a fetch from this leader succeeded? Then it turns pre-votes down. */
  hasFetched: boolean;
}

/** Led this epoch, and does so no more: after it gave up, lost its quorum or restarted (KAFKA-10527). */
export interface Resigned {
  readonly role: "resigned";
  readonly epoch: QuorumEpoch;
  /** Who should be elected next, best first. */
  readonly successors: readonly BrokerId[];
  /** Voters that have not heard of the resignation. */
  readonly unacknowledged: Set<BrokerId>;
}

export const NO_VOTE: BrokerId = -1;

/** The leader of the role's epoch as `self` knows it, NO_LEADER if it knows none. */
export function leaderOf(role: Role, self: BrokerId): BrokerId {
  switch (role.role) {
    case "leader":
    case "resigned":
      return self;
    case "candidate":
      return NO_LEADER;
    default:
      return role.leaderId;
  }
}

/** Whom `self` voted for in the role's epoch, NO_VOTE if it did not. */
export function voteOf(role: Role, self: BrokerId): BrokerId {
  switch (role.role) {
    case "candidate":
      return self;
    case "leader":
    case "resigned":
      return NO_VOTE;
    default:
      return role.votedId;
  }
}
