import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import { partitionName } from "../ids.ts";
import type { JoinGroupResponse } from "../protocol/group-membership.ts";
import type { ClassicGroup, ClassicGroupState } from "./classic-group.ts";
import type { ClassicMember } from "./classic-member.ts";
import { NO_ASSIGNMENT } from "./classic-member.ts";
import { decodeAssignment, decodeSubscription } from "./consumer-protocol.ts";
import type { GroupEffects } from "./group-effects.ts";

/** `CLASSIC_GROUP_NEW_MEMBER_JOIN_TIMEOUT_MS`: how long the join of a new member may wait. */
const NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000;

/** How a classic group comes from one generation to the next (Kafka's `GroupMetadataManager`). */
export class ClassicRebalance {
  /** `group.initial.rebalance.delay.ms` */
  readonly #initialDelayMs: number;

  constructor(initialDelayMs: number) {
    this.#initialDelayMs = initialDelayMs;
  }

  /** Something has changed: the next generation is called together, or the join phase looks whether it is over. */
  prepareOrCompleteJoin(group: ClassicGroup, reason: string, effects: GroupEffects): void {
    if (group.canRebalance) this.prepare(group, reason, effects);
    else this.completeJoinIfAll(group, effects);
  }

  prepare(group: ClassicGroup, reason: string, effects: GroupEffects): void {
    // Those who wait for an assignment must join again.
    if (group.isIn("CompletingRebalance")) {
      this.resetAssignments(group, ERRORS.REBALANCE_IN_PROGRESS, effects);
    }
    group.pendingSync.clear();
    effects.cancel({ kind: "sync", group: group.groupId, generation: group.generation });
    const isInitial = group.isEmpty;
    if (isInitial) {
      // Others are probably about to start as well.
      const delayMs = this.#initialDelayMs;
      const remainingMs = Math.max(group.rebalanceTimeoutMs - delayMs, 0);
      this.#startJoin(group, delayMs, effects, { delayMs, remainingMs });
    }
    this.#transition(group, "PreparingRebalance", reason, effects);
    if (isInitial) return;
    if (group.hasAllMembersJoined) this.completeJoin(group, effects);
    else this.#startJoin(group, group.rebalanceTimeoutMs, effects);
  }

  /** The join phase ends early if nobody is missing any more; not so that of an empty group. */
  completeJoinIfAll(group: ClassicGroup, effects: GroupEffects): void {
    if (!group.isIn("PreparingRebalance") || group.previousState === "Empty") return;
    if (group.hasAllMembersJoined) this.completeJoin(group, effects);
  }

  /** The delay of an empty group is over: it is extended if others have come meanwhile. */
  initialDelayOver(
    group: ClassicGroup,
    { delayMs, remainingMs }: { readonly delayMs: number; readonly remainingMs: number },
    effects: GroupEffects,
  ): void {
    if (!group.newMemberAdded || remainingMs === 0) {
      this.completeJoin(group, effects);
      return;
    }
    group.newMemberAdded = false;
    const next = Math.min(this.#initialDelayMs, remainingMs);
    this.#startJoin(group, next, effects, {
      delayMs: next,
      remainingMs: Math.max(remainingMs - delayMs, 0),
    });
  }

  /** The next generation begins, without the dynamic members that have not joined (`completeClassicGroupJoin`). */
  completeJoin(group: ClassicGroup, effects: GroupEffects): void {
    const { groupId } = group;
    effects.cancel({ kind: "join", group: groupId });
    for (const member of [...group.members.values()]) {
      if (member.awaitingJoin !== undefined || member.isStatic) continue;
      this.#drop(group, member, "rebalance-timeout", effects);
    }
    if (group.isIn("Dead")) return;
    if (!group.electJoinedLeader() && group.members.size > 0) {
      // Static members only, none of which joined: session timeouts will take them away.
      this.#startJoin(group, group.rebalanceTimeoutMs, effects);
      return;
    }
    const from = group.state;
    group.beginGeneration(effects.nowMs);
    this.#noteState(group, from, "all have joined", effects);
    if (group.isEmpty) {
      effects.records.push(group.record());
      return;
    }
    for (const member of group.members.values()) {
      const isLeader = group.isLeader(member.memberId);
      answerJoin(
        member,
        { ...joined(group, member), ...(isLeader ? allMembers(group) : {}) },
        effects,
      );
      this.heard(group, member, effects);
      member.isNew = false;
      group.pendingSync.add(member.memberId);
    }
    const { generation } = group;
    effects.start({ kind: "sync", group: groupId, generation }, group.rebalanceTimeoutMs);
  }

  /** Not all have asked for their assignment in time: those who did not are out. */
  syncOver(group: ClassicGroup, generation: number, effects: GroupEffects): void {
    if (generation !== group.generation || !group.isIn("CompletingRebalance", "Stable")) return;
    if (group.pendingSync.size === 0) return;
    for (const memberId of [...group.pendingSync]) {
      // A static member may have come back under another id: Kafka forgets to put that in its place.
      const member = group.members.get(memberId);
      if (member !== undefined) this.#drop(group, member, "sync-timeout", effects);
    }
    this.prepare(group, "members did not sync in time", effects);
  }

  /** The leader's assignment is committed. */
  assign(
    group: ClassicGroup,
    assignments: ReadonlyMap<string, Uint8Array>,
    effects: GroupEffects,
  ): void {
    for (const member of group.members.values()) {
      member.assignment = assignments.get(member.memberId) ?? NO_ASSIGNMENT;
    }
    this.#propagate(group, ERRORS.NONE, effects);
    this.#noteAssignment(group, effects);
    this.#transition(group, "Stable", "the leader has assigned", effects);
  }

  /** Nobody has an assignment any more, and who waits for one is told the error. */
  resetAssignments(group: ClassicGroup, error: ErrorCode, effects: GroupEffects): void {
    for (const member of group.members.values()) member.assignment = NO_ASSIGNMENT;
    this.#propagate(group, error, effects);
  }

  /** The member is alive: its session begins anew. */
  heard(group: ClassicGroup, member: ClassicMember, effects: GroupEffects): void {
    const timer = { kind: "session", group: group.groupId, member: member.memberId } as const;
    effects.start(timer, member.sessionTimeoutMs);
  }

  /** A new member waits for its generation: if that takes too long it must ask again, or is taken for gone. */
  awaitNewMember(group: ClassicGroup, member: ClassicMember, effects: GroupEffects): void {
    const timer = { kind: "session", group: group.groupId, member: member.memberId } as const;
    effects.start(timer, NEW_MEMBER_JOIN_TIMEOUT_MS);
  }

  /** Nothing was heard of a member for too long (`expireClassicGroupMemberHeartbeat`). */
  sessionOver(group: ClassicGroup, memberId: string, effects: GroupEffects): void {
    if (group.isIn("Dead")) return;
    if (group.pendingJoin.has(memberId)) {
      group.remove(memberId);
      if (group.isIn("PreparingRebalance") && group.hasAllMembersJoined) {
        this.completeJoin(group, effects);
      }
      return;
    }
    const member = group.members.get(memberId);
    if (member === undefined || member.hasSatisfiedHeartbeat) return;
    this.removeMember(group, member, "session-expired", effects);
    if (group.isIn("Stable", "CompletingRebalance")) {
      this.prepareOrCompleteJoin(group, `${memberId} was not heard of`, effects);
    } else if (group.isIn("PreparingRebalance") && group.hasAllMembersJoined) {
      this.completeJoin(group, effects);
    }
  }

  /** A member goes. If its join waits it is told so: it can join anew. */
  removeMember(
    group: ClassicGroup,
    member: ClassicMember,
    reason: string,
    effects: GroupEffects,
  ): void {
    answerJoin(member, refusedJoin("", ERRORS.UNKNOWN_MEMBER_ID), effects);
    this.#drop(group, member, reason, effects);
  }

  /** A static member goes on under another id; what waits under the old one is fenced. */
  replaceStatic(
    group: ClassicGroup,
    groupInstanceId: string,
    oldId: string,
    newId: string,
    effects: GroupEffects,
  ): ClassicMember {
    const old = group.member(oldId);
    answerJoin(old, refusedJoin(oldId, ERRORS.FENCED_INSTANCE_ID), effects);
    answerSync(old, ERRORS.FENCED_INSTANCE_ID, undefined, effects);
    const member = group.replaceStatic(groupInstanceId, oldId, newId);
    const { groupId } = group;
    effects.notes.push(
      {
        kind: "group-member-left",
        group: groupId,
        member: oldId,
        instance: groupInstanceId,
        reason: "replaced",
      },
      { kind: "group-member-joined", group: groupId, member: newId, instance: groupInstanceId },
    );
    this.heard(group, member, effects);
    return member;
  }

  #drop(group: ClassicGroup, member: ClassicMember, reason: string, effects: GroupEffects): void {
    const { memberId, groupInstanceId: instance = "" } = member;
    group.remove(memberId);
    effects.cancel({ kind: "session", group: group.groupId, member: memberId });
    effects.notes.push({
      kind: "group-member-left",
      group: group.groupId,
      member: memberId,
      instance,
      reason,
    });
  }

  #propagate(group: ClassicGroup, error: ErrorCode, effects: GroupEffects): void {
    for (const member of group.members.values()) {
      // Its session may have run out while it waited, without effect.
      if (answerSync(member, error, group, effects)) this.heard(group, member, effects);
    }
  }

  #startJoin(
    group: ClassicGroup,
    delayMs: number,
    effects: GroupEffects,
    initial?: { readonly delayMs: number; readonly remainingMs: number },
  ): void {
    const timer = { kind: "join", group: group.groupId, ...(initial && { initial }) } as const;
    effects.start(timer, delayMs);
  }

  #transition(
    group: ClassicGroup,
    state: ClassicGroupState,
    reason: string,
    effects: GroupEffects,
  ): void {
    const from = group.state;
    group.transitionTo(state, effects.nowMs);
    this.#noteState(group, from, reason, effects);
  }

  #noteState(
    { groupId: group, state: to, generation }: ClassicGroup,
    from: string,
    reason: string,
    effects: GroupEffects,
  ): void {
    effects.notes.push({ kind: "group-state-changed", group, from, to, generation, reason });
  }

  #noteAssignment(group: ClassicGroup, effects: GroupEffects): void {
    if (!group.usesConsumerProtocol) return;
    const { groupId, generation, protocolName = "" } = group;
    const assignments = [...group.members.values()].map((each) => {
      const { memberId: member, assignment } = each;
      const topics = decodeSubscription(each.metadata(protocolName))?.topics ?? [];
      const partitions: string[] = [];
      for (const [topic, indexes] of decodeAssignment(assignment)?.partitions ?? []) {
        for (const index of indexes) partitions.push(partitionName(topic, index));
      }
      return { member, topics, partitions };
    });
    effects.notes.push({ kind: "group-assigned", group: groupId, generation, assignments });
  }
}

/** What a member is told when it is in a generation; the leader is told of all members besides. */
export function joined(group: ClassicGroup, { memberId }: ClassicMember): JoinGroupResponse {
  return {
    throttleTimeMs: 0,
    errorCode: 0,
    generationId: group.generation,
    protocolType: group.protocolType,
    protocolName: group.protocolName,
    leader: group.leaderId ?? "",
    skipAssignment: false,
    memberId,
    members: [],
  };
}

export function allMembers(group: ClassicGroup): Pick<JoinGroupResponse, "members"> {
  return { members: group.joinedMembers() };
}

export function refusedJoin(memberId: string, { code }: ErrorCode): JoinGroupResponse {
  return {
    throttleTimeMs: 0,
    errorCode: code,
    generationId: -1,
    protocolType: undefined,
    protocolName: undefined,
    leader: "",
    skipAssignment: false,
    memberId,
    members: [],
  };
}

/** Answers a member's join if it waits. */
export function answerJoin(
  member: ClassicMember,
  body: JoinGroupResponse,
  effects: GroupEffects,
): void {
  const { awaitingJoin: request } = member;
  if (request === undefined) return;
  member.awaitingJoin = undefined;
  effects.answers.push({ api: "JoinGroup", request, body });
}

/** Answers a member's sync if it waits, with its assignment unless there is an error; true if it did. */
export function answerSync(
  member: ClassicMember,
  error: ErrorCode,
  group: ClassicGroup | undefined,
  effects: GroupEffects,
): boolean {
  const { awaitingSync: request } = member;
  if (request === undefined) return false;
  member.awaitingSync = undefined;
  const isOk = error === ERRORS.NONE;
  const body = {
    throttleTimeMs: 0,
    errorCode: error.code,
    protocolType: isOk ? group?.protocolType : undefined,
    protocolName: isOk ? group?.protocolName : undefined,
    assignment: isOk ? member.assignment : NO_ASSIGNMENT,
  };
  effects.answers.push({ api: "SyncGroup", request, body });
  return true;
}
