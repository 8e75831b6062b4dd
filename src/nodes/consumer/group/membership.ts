import type { Instant } from "../../../base/time.ts";
import type { ErrorCode } from "../../../kafka/error-code.ts";
import type { CommitOutcome } from "./commit-outcome.ts";

/** Where in its group the member is, as far as it knows. */
export interface Generation {
  /** The generation, or the member epoch (KIP-848); -1 if it is in none. */
  readonly id: number;
  /** Empty if it has none. */
  readonly memberId: string;
  /** The assignor that the group uses; of a KIP-848 group it is not told. */
  readonly protocol: string | undefined;
}

export const NO_GENERATION: Generation = { id: -1, memberId: "", protocol: undefined };

/** As whom a member asks where to begin: without an id the coordinator asks for no epoch. */
export interface OffsetReader {
  readonly memberId: string | undefined;
  readonly memberEpoch: number;
}

/**
 * A member's place in its group, whichever protocol it keeps it by: the classic one, in which the
 * client that leads assigns, or that of KIP-848, in which the coordinator does. The rest of a consumer
 * cannot tell which it is.
 */
export interface Membership {
  readonly generation: Generation;
  /** All that it owns is on its way out: nothing of it is handed to the application any more. */
  readonly isParting: boolean;
  /** As whom it commits, or why it need not try. */
  readonly committer: Generation | "rebalance" | "lost";
  readonly reader: OffsetReader;
  /** The application polls. */
  poll(now: Instant): void;
  /** At any time: what goes on in the background, whatever the application does. */
  beat(now: Instant): void;
  /** The application has come back for more: it is alive. */
  pollBegan(now: Instant): void;
  /** It got something and must be back within max.poll.interval.ms. */
  pollEnded(now: Instant): void;
  coordinatorFound(now: Instant): void;
  /**
   * The coordinator refused a commit that was made `as` a member. `isAwaited`: it is an auto commit for which a
   * rebalance waits. `fenced`: another has taken its place for good, and the application hears of it.
   */
  commitRefused(error: ErrorCode, as: Generation, isAwaited: boolean): CommitOutcome | "fenced";
  /** It leaves for good, with all that it owns; `done` once it need not wait any more. */
  close(done: () => void): void;
}

export function becauseOf(api: string, error: ErrorCode): string {
  return `encountered ${error.name} from ${api} response`;
}
