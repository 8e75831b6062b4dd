import type { PartitionName } from "../ids.ts";
import type { JoinGroupResponse, SyncGroupResponse } from "../protocol/group-membership.ts";
import type { ClassicGroup, ClassicGroupState } from "./classic-group.ts";
import type { RequestId } from "./classic-member.ts";
import type { GroupRecord } from "./group-record.ts";

/** What a coordinator waits for, on behalf of whom. A timer that is set again replaces itself. */
export type GroupTimer =
  /** A member has not been heard of: the `session.timeout.ms`, or for how long a new one's join may wait. */
  | { readonly kind: "session"; readonly group: string; readonly member: string }
  /** The join phase is over; `initial` is the delay of an empty group, of which so much is left after (ms). */
  | {
      readonly kind: "join";
      readonly group: string;
      readonly initial?: { readonly delayMs: number; readonly remainingMs: number };
    }
  /** All members should have asked for their assignment. */
  | { readonly kind: "sync"; readonly group: string; readonly generation: number }
  /** A member should have given up what it must (KIP-848). */
  | {
      readonly kind: "rebalance";
      readonly group: string;
      readonly member: string;
      readonly memberEpoch: number;
    }
  /** A member of the classic protocol in a group of KIP-848 should have joined again, or have synced. */
  | { readonly kind: "rejoin" | "resync"; readonly group: string; readonly member: string };

export interface TimerChange {
  readonly timer: GroupTimer;
  /** From now; undefined cancels. */
  readonly delayMs: number | undefined;
  /** One that runs already goes on. */
  readonly ifAbsent: boolean;
}

/** What happened to groups, for whoever watches; the names are those of facts. */
export type GroupNote =
  | {
      readonly kind: "group-state-changed";
      readonly group: string;
      readonly from: string;
      readonly to: string;
      readonly generation: number;
      readonly reason: string;
    }
  | {
      readonly kind: "group-migrated";
      readonly group: string;
      readonly to: "consumer" | "classic";
      readonly generation: number;
    }
  | {
      readonly kind: "group-member-joined";
      readonly group: string;
      readonly member: string;
      readonly instance: string;
    }
  | {
      readonly kind: "group-member-left";
      readonly group: string;
      readonly member: string;
      readonly instance: string;
      readonly reason: string;
    }
  | {
      readonly kind: "group-assigned";
      readonly group: string;
      readonly generation: number;
      readonly assignments: readonly {
        readonly member: string;
        readonly topics: readonly string[];
        readonly partitions: readonly PartitionName[];
      }[];
    }
  | {
      readonly kind: "group-member-assigned";
      readonly group: string;
      readonly member: string;
      readonly memberEpoch: number;
      readonly partitions: readonly PartitionName[];
      readonly revoking: readonly PartitionName[];
    }
  | {
      readonly kind: "offsets-removed";
      readonly group: string;
      readonly partitions: readonly PartitionName[];
    };

/** What is to be done when the records are committed, or when it is known that they will not be. */
export type WhenCommitted =
  /** The leader's assignment: it comes into force. */
  | {
      readonly kind: "assignment";
      readonly group: string;
      readonly generation: number;
      readonly assignments: ReadonlyMap<string, Uint8Array>;
    }
  /** A static member goes on under a new id: it is told the generation that it is in. */
  | {
      readonly kind: "static-replacement";
      readonly group: string;
      readonly oldMember: string;
      readonly newMember: string;
    }
  /** Who made the group come into being is to be told if that failed, and still waits. */
  | { readonly kind: "new-group"; readonly group: string; readonly request: RequestId }
  /** A member of the classic protocol in a group of KIP-848 is to be told its epoch, and then has to sync. */
  | {
      readonly kind: "joined";
      readonly group: string;
      readonly member: string;
      /** Undefined if the group becomes a classic one. */
      readonly sessionTimeoutMs: number | undefined;
      readonly rebalanceTimeoutMs: number;
      readonly request: RequestId;
      readonly body: JoinGroupResponse;
    }
  /** Such a member is to be told what it is assigned. */
  | {
      readonly kind: "synced";
      readonly group: string;
      readonly member: string;
      readonly sessionTimeoutMs: number;
      readonly request: RequestId;
      readonly body: SyncGroupResponse;
    };

export type GroupAnswer =
  | { readonly api: "JoinGroup"; readonly request: RequestId; readonly body: JoinGroupResponse }
  | { readonly api: "SyncGroup"; readonly request: RequestId; readonly body: SyncGroupResponse };

/**
 * What one step of a group's rules has brought about, for the coordinator to carry out: the rules
 * themselves neither write, nor answer, nor wait (Kafka's `CoordinatorResult`, timers and futures).
 */
export class GroupEffects {
  /** The coordinator's clock. */
  readonly nowMs: number;
  /** To be appended as one batch. */
  readonly records: GroupRecord[] = [];
  whenCommitted: WhenCommitted | undefined = undefined;
  /** Are the records taken into the state once they are in the log? If not, the state has changed already. */
  replays = false;
  /** Answers to parked requests, which do not wait for the records. */
  readonly answers: GroupAnswer[] = [];
  readonly timers: TimerChange[] = [];
  readonly notes: GroupNote[] = [];
  /** The state of the classic group that the records make one of KIP-848. */
  upgradedFrom: ClassicGroupState | undefined = undefined;
  /** What takes the place of a group of KIP-848 once the records are replayed, and why it rebalances then, if so. */
  downgraded: Downgraded | undefined = undefined;

  constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  start(timer: GroupTimer, delayMs: number): void {
    this.timers.push({ timer, delayMs, ifAbsent: false });
  }

  startIfAbsent(timer: GroupTimer, delayMs: number): void {
    this.timers.push({ timer, delayMs, ifAbsent: true });
  }

  cancel(timer: GroupTimer): void {
    this.timers.push({ timer, delayMs: undefined, ifAbsent: false });
  }
}

export interface Downgraded {
  /** The state that it was in. */
  readonly from: string;
  readonly group: ClassicGroup;
  readonly rebalance: string | undefined;
}

/** One name for a timer and for what replaces it. */
export function timerName(timer: GroupTimer): string {
  const member = "member" in timer ? timer.member : "";
  return `${timer.kind}/${timer.group}/${member}`;
}
