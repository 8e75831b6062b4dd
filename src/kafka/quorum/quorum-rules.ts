import type { BrokerId, Offset, QuorumEpoch } from "../ids.ts";
import { NO_LEADER } from "../ids.ts";
import type { Role } from "./role.ts";
import { NO_VOTE } from "./role.ts";
import { majorityOf } from "./vote-tally.ts";

/** The end of a log: what votes compare. */
export interface LogEnd {
  /** Epoch of the last record; 0 in an empty log. */
  readonly epoch: QuorumEpoch;
  readonly offset: Offset;
}

/** What a candidate, or one that would be, asks for. */
export interface VoteQuestion {
  readonly candidateId: BrokerId;
  /** Only whether, without binding either side (KIP-996). */
  readonly preVote: boolean;
  readonly candidateEnd: LogEnd;
}

/** The decisions that keep a metadata quorum safe, in one place so that a test can break one. */
export interface QuorumRules {
  /** Does a member in this role grant the vote? Epochs are equal already. */
  mayGrantVote(role: Role, ownEnd: LogEnd, question: VoteQuestion): boolean;
  /** The offset below which all is committed, or -1 if that cannot be told yet. */
  committedOffset(voterEnds: readonly Offset[], epochStart: Offset): Offset;
}

/** Kafka's rules (KIP-595, KIP-996). */
export const KRAFT_RULES: QuorumRules = { mayGrantVote, committedOffset };

/** Is the first log at least as recent as the second? The epoch of the last record comes first. */
export function isUpToDate(candidate: LogEnd, own: LogEnd): boolean {
  if (candidate.epoch !== own.epoch) return candidate.epoch > own.epoch;
  return candidate.offset >= own.offset;
}

function mayGrantVote(role: Role, ownEnd: LogEnd, question: VoteQuestion): boolean {
  const { candidateId, preVote } = question;
  const upToDate = isUpToDate(question.candidateEnd, ownEnd);
  switch (role.role) {
    case "leader":
      return false;
    case "follower":
      return preVote && upToDate && !role.hasFetched;
    case "candidate":
    case "resigned":
      return preVote && upToDate;
    default:
      if (preVote) return upToDate;
      // The same answer to a repeated question: its first may have been lost.
      if (role.votedId !== NO_VOTE) return role.votedId === candidateId;
      return role.leaderId === NO_LEADER && upToDate;
  }
}

/**
 * The largest offset that a majority has, if that covers a record of the leader's own epoch: only
 * then will every later leader have it (KAFKA-12619). `voterEnds` holds -1 for voters not heard of.
 */
function committedOffset(voterEnds: readonly Offset[], epochStart: Offset): Offset {
  const majority = majorityOf(voterEnds.length);
  let offset = -1;
  for (const end of voterEnds) {
    if (end <= offset) continue;
    let having = 0;
    for (const other of voterEnds) if (other >= end) having++;
    if (having >= majority) offset = end;
  }
  return offset > epochStart ? offset : -1;
}
