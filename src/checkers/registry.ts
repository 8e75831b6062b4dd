import { COMMITTED_PREFIX_KEPT } from "./committed-prefix-kept.ts";
import { CONSISTENT_READ } from "./consistent-read.ts";
import type { Guarantee } from "./guarantee.ts";
import { HW_WITHIN_ISR } from "./hw-within-isr.ts";
import { LEADER_IN_ISR } from "./leader-in-isr.ts";
import { NO_ACKED_LOSS } from "./no-acked-loss.ts";
import { NO_DIRTY_READ } from "./no-dirty-read.ts";
import { NO_DIVERGENCE } from "./no-divergence.ts";
import { NO_DUPLICATES } from "./no-duplicates.ts";
import { NO_REORDER } from "./no-reorder.ts";
import { ONE_LEADER_PER_EPOCH } from "./one-leader-per-epoch.ts";

/** Every guarantee, in the order in which they are named: of two that one event breaks, the first leads. */
export const GUARANTEES: readonly Guarantee[] = [
  NO_ACKED_LOSS,
  NO_DUPLICATES,
  NO_REORDER,
  NO_DIVERGENCE,
  COMMITTED_PREFIX_KEPT,
  ONE_LEADER_PER_EPOCH,
  LEADER_IN_ISR,
  HW_WITHIN_ISR,
  NO_DIRTY_READ,
  CONSISTENT_READ,
];
