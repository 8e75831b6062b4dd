import type { BrokerId, QuorumEpoch } from "../ids.ts";
import { NO_LEADER } from "../ids.ts";
import type { Uuid } from "../uuid.ts";
import { ZERO_UUID } from "../uuid.ts";
import type { LogEnd } from "./quorum-rules.ts";
import type { Role } from "./role.ts";
import { leaderOf, NO_VOTE, voteOf } from "./role.ts";
import { VoteTally } from "./vote-tally.ts";

/** What a member must never forget, whatever happens to it: Kafka's `quorum-state` file. */
export interface ElectionState {
  readonly leaderId: BrokerId;
  readonly leaderEpoch: QuorumEpoch;
  /** NO_VOTE (-1) if it has not voted in this epoch. */
  readonly votedId: BrokerId;
}

export const NO_ELECTION: ElectionState = {
  leaderId: NO_LEADER,
  leaderEpoch: 0,
  votedId: NO_VOTE,
};

export function electionOf(role: Role, self: BrokerId): ElectionState {
  return {
    leaderId: leaderOf(role, self),
    leaderEpoch: role.epoch,
    votedId: voteOf(role, self),
  };
}

/** The file's content: JSON of `QuorumStateData` version 1. `votedDirectoryId` is the voted voter's. */
export function formatElection(election: ElectionState, votedDirectoryId: Uuid): string {
  return JSON.stringify({
    leaderId: election.leaderId,
    leaderEpoch: election.leaderEpoch,
    votedId: election.votedId,
    votedDirectoryId: election.votedId === NO_VOTE ? ZERO_UUID : votedDirectoryId,
    data_version: 1,
  });
}

/** Reads the file's content, or undefined if it is none. */
export function parseElection(content: string): ElectionState | undefined {
  const fields = /^\{"leaderId":(-?\d+),"leaderEpoch":(\d+),"votedId":(-?\d+),/.exec(content);
  if (fields === null || !content.endsWith('"data_version":1}')) return undefined;
  return {
    leaderId: Number(fields[1]),
    leaderEpoch: Number(fields[2]),
    votedId: Number(fields[3]),
  };
}

/**
 * The role in which a member starts again. One that led does not lead this epoch again, since it may
 * have lost records of it that it had not flushed (KAFKA-10527).
 */
export function roleAtStart(
  election: ElectionState,
  logEnd: LogEnd,
  self: BrokerId,
  voters: readonly BrokerId[],
): Role {
  const { leaderId, leaderEpoch: epoch, votedId } = election;
  if (epoch < logEnd.epoch) {
    return { role: "unattached", epoch: logEnd.epoch, leaderId: NO_LEADER, votedId: NO_VOTE };
  }
  if (leaderId === self) {
    const unacknowledged = new Set(voters.filter((voter) => voter !== self));
    return { role: "resigned", epoch, successors: [], unacknowledged };
  }
  if (votedId === self) return candidateIn(epoch, self, voters);
  if (leaderId !== NO_LEADER) {
    return { role: "follower", epoch, leaderId, votedId, hasFetched: false };
  }
  return { role: "unattached", epoch, leaderId: NO_LEADER, votedId };
}

/** A candidate that has its own vote. */
export function candidateIn(
  epoch: QuorumEpoch,
  self: BrokerId,
  voters: readonly BrokerId[],
): Role & { readonly role: "candidate" } {
  const tally = new VoteTally(voters);
  tally.record(self, true);
  return { role: "candidate", epoch, tally };
}
