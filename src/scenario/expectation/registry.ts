import { AVAILABLE, UNAVAILABLE } from "./availability.ts";
import { CONDITIONS } from "./condition.ts";
import { ERROR_HAPPENS } from "./error-happens.ts";
import { EVENT_HAPPENS, TRUNCATION_HAPPENS } from "./event-happens.ts";
import type { ExpectationKind } from "./expectation.ts";
import { ISR_RESTORED_WITHIN } from "./isr-restored-within.ts";
import { LEADER_WITHIN } from "./leader-within.ts";
import { VIOLATION_HAPPENS } from "./violation-happens.ts";

/** Every kind of expectation but the guarantees, which are expected by their bare names. */
export const EXPECTATION_KINDS: readonly ExpectationKind[] = [
  LEADER_WITHIN,
  ISR_RESTORED_WITHIN,
  AVAILABLE,
  UNAVAILABLE,
  ...CONDITIONS,
  ERROR_HAPPENS,
  EVENT_HAPPENS,
  TRUNCATION_HAPPENS,
  VIOLATION_HAPPENS,
];
