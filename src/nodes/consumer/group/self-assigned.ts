import type { Instant } from "../../../base/time.ts";
import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS } from "../../../kafka/error-code.ts";
import type { ConsumerParts } from "../consumer-parts.ts";
import type { CommitOutcome } from "./commit-outcome.ts";
import type { SelfAssignment } from "./group-options.ts";
import type { Generation, Membership, OffsetReader } from "./membership.ts";
import { NO_GENERATION } from "./membership.ts";
import type { OwnedPartitions } from "./owned-partitions.ts";

/**
 * No membership at all: the application has assigned itself partitions (`KafkaConsumer.assign`), and only commits
 * under a group's name. Nobody takes them from it, and nobody takes them over; and its commits are refused while the
 * group has members.
 */
export class SelfAssigned implements Membership {
  readonly generation: Generation = NO_GENERATION;
  readonly committer: Generation = NO_GENERATION;
  readonly reader: OffsetReader = { memberId: undefined, memberEpoch: NO_GENERATION.id };
  readonly isParting = false;
  readonly #parts: ConsumerParts;
  readonly #assignment: SelfAssignment;
  readonly #owned: OwnedPartitions;
  #isAssigned = false;

  constructor(parts: ConsumerParts, assignment: SelfAssignment, owned: OwnedPartitions) {
    this.#parts = parts;
    this.#assignment = assignment;
    this.#owned = owned;
  }

  poll(): void {
    const { topic, partitions } = this.#assignment;
    // The id of the topic is needed to ask for what is committed.
    if (this.#isAssigned || !this.#parts.metadata.topic(topic).isKnown) return;
    this.#isAssigned = true;
    this.#owned.take(new Map([[topic, [...partitions]]]), NO_GENERATION);
  }

  beat(_now: Instant): void {
    // Nobody waits for it.
  }

  pollBegan(_now: Instant): void {}

  pollEnded(_now: Instant): void {}

  coordinatorFound(_now: Instant): void {}

  commitRefused(error: ErrorCode): CommitOutcome {
    // The group has members, or had another protocol's: `CommitFailedException`.
    if (error === ERRORS.UNKNOWN_MEMBER_ID || error === ERRORS.ILLEGAL_GENERATION) return "lost";
    return error.retriable ? "again" : "refused";
  }

  close(done: () => void): void {
    done();
  }
}
