import { invariant } from "../../base/invariant.ts";
import type { BrokerId, LeaderEpoch, Offset } from "../ids.ts";
import { NO_EPOCH, NO_LEADER } from "../ids.ts";

/** What a consumer does with a partition just now (`SubscriptionState.FetchStates`). */
export type FetchState = "await-reset" | "await-validation" | "fetching";

/** What the answer to OffsetForLeaderEpoch showed. */
export type ValidationResult =
  | { readonly kind: "valid" }
  /** The position or the leader is another by now. */
  | { readonly kind: "stale" }
  /** The log was cut below the position; `offset` is where the histories part, -1 if not known. */
  | { readonly kind: "truncated"; readonly offset: Offset; readonly epoch: LeaderEpoch };

/**
 * Where a consumer reads a partition, and under which leader it holds that to be true (KIP-320). The
 * log it has read from may be cut by an election; so on a new leader epoch it first asks the leader
 * how far the epoch of its last record reached.
 */
export class FetchPosition {
  state: FetchState = "await-reset";
  /** The next record to read; -1 if there is no position yet. */
  offset: Offset = -1;
  /** The leader epoch of the last record read; NO_EPOCH if none was. */
  offsetEpoch: LeaderEpoch = NO_EPOCH;
  leaderId: BrokerId = NO_LEADER;
  leaderEpoch: LeaderEpoch = NO_EPOCH;

  /** Takes what the metadata say. True if the position must, or need not any more, be validated. */
  followLeader(leaderId: BrokerId, leaderEpoch: LeaderEpoch): boolean {
    if (this.state === "await-reset" || leaderId === NO_LEADER) return false;
    if (this.leaderId === leaderId && this.leaderEpoch === leaderEpoch) return false;
    this.leaderId = leaderId;
    this.leaderEpoch = leaderEpoch;
    // Without an epoch on either side there is nothing to compare.
    const canCompare = this.offsetEpoch !== NO_EPOCH && leaderEpoch !== NO_EPOCH;
    this.state = canCompare ? "await-validation" : "fetching";
    return true;
  }

  /**
   * Takes the answer to a question asked at `askedOffset` of `askedEpoch`'s leader; an answer to an
   * older question is stale and changes nothing. On a truncation the caller decides what follows.
   */
  completeValidation(
    askedOffset: Offset,
    askedEpoch: LeaderEpoch,
    epoch: LeaderEpoch,
    endOffset: Offset,
  ): ValidationResult {
    if (this.state !== "await-validation") return STALE;
    if (this.offset !== askedOffset || this.leaderEpoch !== askedEpoch) return STALE;
    if (epoch === NO_EPOCH || endOffset < 0) {
      return { kind: "truncated", offset: -1, epoch: NO_EPOCH };
    }
    if (endOffset < this.offset) return { kind: "truncated", offset: endOffset, epoch };
    this.state = "fetching";
    return VALID;
  }

  /** The position has to be found anew. */
  awaitReset(): void {
    this.state = "await-reset";
  }

  /** As at first: there is no position. */
  forget(): void {
    this.state = "await-reset";
    this.offset = -1;
    this.offsetEpoch = NO_EPOCH;
    this.leaderId = NO_LEADER;
    this.leaderEpoch = NO_EPOCH;
  }

  /** Goes to an offset that the leader named, or that was committed. */
  seek(
    offset: Offset,
    offsetEpoch: LeaderEpoch,
    leaderId: BrokerId,
    leaderEpoch: LeaderEpoch,
  ): void {
    this.state = "fetching";
    this.offset = offset;
    this.offsetEpoch = offsetEpoch;
    this.leaderId = leaderId;
    this.leaderEpoch = leaderEpoch;
  }

  /** Records up to before `offset` were read, the last of them of `offsetEpoch`. */
  advance(offset: Offset, offsetEpoch: LeaderEpoch): void {
    invariant(offset >= this.offset, () => `position ${this.offset} goes back to ${offset}`);
    this.offset = offset;
    this.offsetEpoch = offsetEpoch;
  }
}

const STALE: ValidationResult = { kind: "stale" };
const VALID: ValidationResult = { kind: "valid" };
