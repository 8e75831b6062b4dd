import type { BrokerId, LeaderEpoch } from "../../kafka/ids.ts";
import type { BatchNode } from "../batch-tree.ts";

/**
 * Why a violation is no bug: the configuration allows it, and the cause is among the violation's own
 * causes, as facts tell them. Never by configuration alone, or a real bug would hide behind acks=1.
 */
export interface Waiver {
  /** Part of a sentence: `unclean election of broker-3 at 55.031s`. */
  readonly text: string;
  /** The event that caused it; violations with the same cause are one finding. */
  readonly cause: number;
}

/** Something that a later leader, or a replica, no longer has. */
export interface Disappearance {
  /** The lowest batch that is gone. */
  readonly node: BatchNode;
  /** The broker whose log does not have it. */
  readonly broker: BrokerId;
  /** The epoch of the last leader that is known to have had it, and that of the leader that does not. */
  readonly keptInEpoch: LeaderEpoch;
  readonly goneInEpoch: LeaderEpoch;
  /** The acks of the client that was told it is written; undefined if that is not the question. */
  readonly acks: -1 | 0 | 1 | undefined;
}

/** How the disappearance of a batch was judged when it came about; what follows from it is judged alike. */
export interface Judgement {
  /** Undefined if it is a bug. */
  readonly waiver: Waiver | undefined;
  /** The event that is to blame. */
  readonly cause: number;
}
