import { CLEANED_BELOW_HW } from "./cleaned-below-hw.ts";
import { COMMITTED_PREFIX_KEPT } from "./committed-prefix-kept.ts";
import { CONSISTENT_READ } from "./consistent-read.ts";
import { EXPIRED_ONLY_BY_POLICY } from "./expired-only-by-policy.ts";
import type { Guarantee } from "./guarantee.ts";
import { HW_WITHIN_ISR } from "./hw-within-isr.ts";
import { LAST_VALUE_KEPT } from "./last-value-kept.ts";
import { LEADER_IN_ISR } from "./leader-in-isr.ts";
import { LOG_IN_BOUNDS } from "./log-in-bounds.ts";
import { NO_ACKED_LOSS } from "./no-acked-loss.ts";
import { NO_DIRTY_READ } from "./no-dirty-read.ts";
import { NO_DIVERGENCE } from "./no-divergence.ts";
import { NO_DUPLICATES } from "./no-duplicates.ts";
import { NO_REORDER } from "./no-reorder.ts";
import { OFFSETS_NEVER_CHANGE } from "./offsets-never-change.ts";
import { ONE_LEADER_PER_EPOCH } from "./one-leader-per-epoch.ts";

/** Every guarantee, in the order in which they are named: of two that one event breaks, the first leads. */
export const GUARANTEES: readonly Guarantee[] = [
  NO_ACKED_LOSS,
  NO_DUPLICATES,
  NO_REORDER,
  NO_DIVERGENCE,
  COMMITTED_PREFIX_KEPT,
  LAST_VALUE_KEPT,
  EXPIRED_ONLY_BY_POLICY,
  CLEANED_BELOW_HW,
  OFFSETS_NEVER_CHANGE,
  LOG_IN_BOUNDS,
  ONE_LEADER_PER_EPOCH,
  LEADER_IN_ISR,
  HW_WITHIN_ISR,
  NO_DIRTY_READ,
  CONSISTENT_READ,
];
