import type { BrokerId } from "../ids.ts";

/**
 * A leader's view of its ISR: what the controller committed, or a change that is on its way there.
 * That a change is in flight is a type, not a flag (Kafka's `PartitionState`, KIP-497).
 */
export type IsrState = CommittedIsr | PendingExpand | PendingShrink;

export interface CommittedIsr {
  readonly kind: "committed";
  readonly isr: readonly BrokerId[];
  /** The same as `isr`. */
  readonly maximalIsr: readonly BrokerId[];
}

export interface PendingExpand {
  readonly kind: "pendingExpand";
  /** Still the committed one. */
  readonly isr: readonly BrokerId[];
  /** With the replica that joins: an expansion binds at once, so that a revert is always safe. */
  readonly maximalIsr: readonly BrokerId[];
  readonly proposed: readonly BrokerId[];
  readonly committed: CommittedIsr;
}

export interface PendingShrink {
  readonly kind: "pendingShrink";
  readonly isr: readonly BrokerId[];
  /** Still with those that leave: a shrink has no effect before it is committed. */
  readonly maximalIsr: readonly BrokerId[];
  readonly proposed: readonly BrokerId[];
  readonly committed: CommittedIsr;
}

export function committedIsr(isr: readonly BrokerId[]): CommittedIsr {
  return { kind: "committed", isr, maximalIsr: isr };
}

export function pendingExpand(committed: CommittedIsr, joining: BrokerId): PendingExpand {
  const proposed = [...committed.isr, joining];
  return { kind: "pendingExpand", isr: committed.isr, maximalIsr: proposed, proposed, committed };
}

export function pendingShrink(
  committed: CommittedIsr,
  leaving: readonly BrokerId[],
): PendingShrink {
  const proposed = committed.isr.filter((id) => !leaving.includes(id));
  return {
    kind: "pendingShrink",
    isr: committed.isr,
    maximalIsr: committed.isr,
    proposed,
    committed,
  };
}
