import { ACK_AFTER_COMMIT } from "./ack-after-commit.ts";
import { ACKED_EVERYWHERE } from "./acked-everywhere.ts";
import { ACKED_GETS_READ } from "./acked-gets-read.ts";
import { ACKS_IN_ORDER } from "./acks-in-order.ts";
import { APPENDS_IN_REAL_TIME } from "./appends-in-real-time.ts";
import { APPENDS_IN_ROLE } from "./appends-in-role.ts";
import { ASSIGNMENT_DISJOINT } from "./assignment-disjoint.ts";
import { CANDIDATES_COMPLETE } from "./candidates-complete.ts";
import { CLEAN_ELECTION } from "./clean-election.ts";
import { CLEANED_BELOW_HW } from "./cleaned-below-hw.ts";
import { CLUSTER_RECOVERS } from "./cluster-recovers.ts";
import { COMMITS_BY_MEMBERS } from "./commits-by-members.ts";
import { COMMITS_KEPT } from "./commits-kept.ts";
import { COMMITS_WHAT_WAS_READ } from "./commits-what-was-read.ts";
import { COMMITTED_PREFIX_KEPT } from "./committed-prefix-kept.ts";
import { CONSISTENT_READ } from "./consistent-read.ts";
import { COORDINATOR_KNOWS_LOG } from "./coordinator-knows-log.ts";
import { COPY_LEFT } from "./copy-left.ts";
import { DECISION_ONCE } from "./decision-once.ts";
import { END_NOT_BEHIND } from "./end-not-behind.ts";
import { EPOCHS_RISE } from "./epochs-rise.ts";
import { EXPIRED_ONLY_BY_POLICY } from "./expired-only-by-policy.ts";
import { FAILED_NEVER_READ } from "./failed-never-read.ts";
import { FENCED_STAYS_FENCED } from "./fenced-stays-fenced.ts";
import { GROUP_EPOCHS_RISE } from "./group-epochs-rise.ts";
import { GROUP_SETTLES } from "./group-settles.ts";
import { GROUPS_CATCH_UP } from "./groups-catch-up.ts";
import type { Guarantee } from "./guarantee.ts";
import { HW_NEEDS_MIN_ISR } from "./hw-needs-min-isr.ts";
import { HW_WITHIN_ISR } from "./hw-within-isr.ts";
import { ISR_GROWS_BY_REQUEST } from "./isr-grows-by-request.ts";
import { ISR_JOIN_CAUGHT_UP } from "./isr-join-caught-up.ts";
import { ISR_KNOWN_TO_LEADER } from "./isr-known-to-leader.ts";
import { ISR_REFILLS } from "./isr-refills.ts";
import { ISR_REQUESTS_END } from "./isr-requests-end.ts";
import { LAST_STABLE_OFFSET } from "./last-stable-offset.ts";
import { LAST_VALUE_KEPT } from "./last-value-kept.ts";
import { LEADER_IN_ISR } from "./leader-in-isr.ts";
import { LOG_IN_BOUNDS } from "./log-in-bounds.ts";
import { MARKERS_FOLLOW_DECISION } from "./markers-follow-decision.ts";
import { MARKERS_OUTLIVE_DATA } from "./markers-outlive-data.ts";
import { METADATA_AGREES } from "./metadata-agrees.ts";
import { METADATA_KEPT } from "./metadata-kept.ts";
import { NO_ABORTED_READ } from "./no-aborted-read.ts";
import { NO_ACKED_LOSS } from "./no-acked-loss.ts";
import { NO_DIRTY_READ } from "./no-dirty-read.ts";
import { NO_DIVERGENCE } from "./no-divergence.ts";
import { NO_DUPLICATES } from "./no-duplicates.ts";
import { NO_REORDER } from "./no-reorder.ts";
import { OFFSETS_AGREE } from "./offsets-agree.ts";
import { OFFSETS_NEVER_CHANGE } from "./offsets-never-change.ts";
import { ONE_CONTROLLER_PER_EPOCH } from "./one-controller-per-epoch.ts";
import { ONE_LEADER_PER_EPOCH } from "./one-leader-per-epoch.ts";
import { ONE_OWNER } from "./one-owner.ts";
import { ONE_PRODUCER_PER_EPOCH } from "./one-producer-per-epoch.ts";
import { POLLS_IN_ORDER } from "./polls-in-order.ts";
import { PROCESSED_AS_PROMISED } from "./processed-as-promised.ts";
import { PROMISE_KEPT } from "./promise-kept.ts";
import { READERS_AGREE } from "./readers-agree.ts";
import { READS_COMPLETE } from "./reads-complete.ts";
import { RECORDS_IN_OWN_TRANSACTION } from "./records-in-own-transaction.ts";
import { REPLICAS_CONVERGE } from "./replicas-converge.ts";
import { SEEN_ONCE } from "./seen-once.ts";
import { SENDS_END } from "./sends-end.ts";
import { SEQUENCES_IN_ORDER } from "./sequences-in-order.ts";
import { TOLD_AS_DECIDED } from "./told-as-decided.ts";
import { TRANSACTIONS_END } from "./transactions-end.ts";
import { TRANSACTIONS_WHOLE } from "./transactions-whole.ts";
import { WORK_GOES_ON } from "./work-goes-on.ts";
import { WORKED_ON_ONCE } from "./worked-on-once.ts";

/**
 * Every guarantee, in the order in which they are named: of two that one event breaks, the first leads,
 * unless the other one tells the deed.
 */
export const GUARANTEES: readonly Guarantee[] = [
  NO_ACKED_LOSS,
  NO_DUPLICATES,
  SEQUENCES_IN_ORDER,
  NO_REORDER,
  NO_DIVERGENCE,
  COMMITTED_PREFIX_KEPT,
  LAST_VALUE_KEPT,
  EXPIRED_ONLY_BY_POLICY,
  CLEANED_BELOW_HW,
  MARKERS_OUTLIVE_DATA,
  OFFSETS_NEVER_CHANGE,
  LOG_IN_BOUNDS,
  ONE_LEADER_PER_EPOCH,
  LEADER_IN_ISR,
  CLEAN_ELECTION,
  EPOCHS_RISE,
  ISR_GROWS_BY_REQUEST,
  ISR_JOIN_CAUGHT_UP,
  ISR_KNOWN_TO_LEADER,
  HW_WITHIN_ISR,
  HW_NEEDS_MIN_ISR,
  CANDIDATES_COMPLETE,
  ACK_AFTER_COMMIT,
  COPY_LEFT,
  APPENDS_IN_ROLE,
  PROMISE_KEPT,
  NO_DIRTY_READ,
  COORDINATOR_KNOWS_LOG,
  DECISION_ONCE,
  RECORDS_IN_OWN_TRANSACTION,
  FENCED_STAYS_FENCED,
  ONE_PRODUCER_PER_EPOCH,
  MARKERS_FOLLOW_DECISION,
  TOLD_AS_DECIDED,
  LAST_STABLE_OFFSET,
  NO_ABORTED_READ,
  ASSIGNMENT_DISJOINT,
  ONE_OWNER,
  GROUP_EPOCHS_RISE,
  COMMITS_BY_MEMBERS,
  COMMITS_WHAT_WAS_READ,
  COMMITS_KEPT,
  CONSISTENT_READ,
  END_NOT_BEHIND,
  ONE_CONTROLLER_PER_EPOCH,
  METADATA_AGREES,
  METADATA_KEPT,
  OFFSETS_AGREE,
  SEEN_ONCE,
  ACKED_GETS_READ,
  FAILED_NEVER_READ,
  POLLS_IN_ORDER,
  READS_COMPLETE,
  READERS_AGREE,
  ACKS_IN_ORDER,
  APPENDS_IN_REAL_TIME,
  TRANSACTIONS_WHOLE,
  PROCESSED_AS_PROMISED,
  WORKED_ON_ONCE,
  CLUSTER_RECOVERS,
  ISR_REQUESTS_END,
  ISR_REFILLS,
  REPLICAS_CONVERGE,
  ACKED_EVERYWHERE,
  WORK_GOES_ON,
  GROUP_SETTLES,
  GROUPS_CATCH_UP,
  TRANSACTIONS_END,
  SENDS_END,
];

/** What must be watched to see one guarantee break as it does among all: itself, and whose judgement it takes over. */
export function watchedFor(name: string): readonly Guarantee[] {
  return GUARANTEES.filter((guarantee) => guarantee.name === name || guarantee.judges === true);
}
