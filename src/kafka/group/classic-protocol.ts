import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type {
  HeartbeatRequest,
  JoinGroupRequest,
  LeaveGroupRequest,
  LeaveGroupResponse,
  LeavingMember,
  LeftMember,
  SyncGroupRequest,
  SyncGroupResponse,
} from "../protocol/group-membership.ts";
import type { ClassicGroup } from "./classic-group.ts";
import type { RequestId } from "./classic-member.ts";
import { ClassicMember, NO_ASSIGNMENT } from "./classic-member.ts";
import {
  allMembers,
  answerJoin,
  ClassicRebalance,
  joined,
  refusedJoin,
} from "./classic-rebalance.ts";
import type { GroupEffects } from "./group-effects.ts";

/** Configs that the classic protocol goes by. */
export interface ClassicProtocolOptions {
  /** `group.initial.rebalance.delay.ms` */
  readonly initialRebalanceDelayMs: number;
  /** `group.max.size` */
  readonly maxSize: number;
}

/** Who sends a request. */
export interface Requester {
  readonly request: RequestId;
  readonly clientId: string;
  readonly clientHost: string;
}

/**
 * What a coordinator does with the requests of the classic protocol, in the order of Kafka's checks
 * (`GroupMetadataManager.classicGroupJoin` and its like). A JoinGroup and a SyncGroup are answered
 * by the effects, at once or of a later step; the others return their answer.
 */
export class ClassicProtocol {
  readonly rebalance: ClassicRebalance;
  readonly #maxSize: number;

  constructor(options: ClassicProtocolOptions) {
    this.rebalance = new ClassicRebalance(options.initialRebalanceDelayMs);
    this.#maxSize = options.maxSize;
  }

  /** Must a group that was just loaded lose members, since the config has changed? */
  loaded(group: ClassicGroup, effects: GroupEffects): void {
    for (const member of group.members.values()) this.rebalance.heard(group, member, effects);
    if (group.members.size > this.#maxSize) {
      this.rebalance.prepare(group, "the group is larger than group.max.size", effects);
    }
  }

  // Joining.

  join(
    group: ClassicGroup,
    body: JoinGroupRequest,
    from: Requester,
    drawMemberId: () => string,
    effects: GroupEffects,
  ): void {
    const { memberId, groupInstanceId } = body;
    const refuse = (id: string, error: ErrorCode): void => refuseJoin(from, id, error, effects);
    if (!this.#accepts(group, memberId)) {
      group.remove(memberId);
      refuse("", ERRORS.GROUP_MAX_SIZE_REACHED);
    } else if (group.isIn("Dead")) {
      refuse(memberId, ERRORS.COORDINATOR_NOT_AVAILABLE);
    } else if (!group.supports(body.protocolType, body.protocols)) {
      refuse(memberId, ERRORS.INCONSISTENT_GROUP_PROTOCOL);
    } else if (memberId === "") {
      this.#joinNew(group, body, from, drawMemberId(), effects);
    } else if (group.pendingJoin.has(memberId)) {
      this.#add(group, body, from, memberId, effects);
    } else {
      const error = group.checkMember(memberId, groupInstanceId);
      if (error === ERRORS.NONE) this.#rejoin(group, body, from, effects);
      else refuse(memberId, error);
    }
  }

  #joinNew(
    group: ClassicGroup,
    body: JoinGroupRequest,
    from: Requester,
    newId: string,
    effects: GroupEffects,
  ): void {
    const { groupInstanceId } = body;
    if (groupInstanceId === undefined) {
      // It must come again with the id (KIP-394): else joins that nobody waits for would become members.
      group.pendingJoin.add(newId);
      const timer = { kind: "session", group: group.groupId, member: newId } as const;
      effects.start(timer, body.sessionTimeoutMs);
      refuseJoin(from, newId, ERRORS.MEMBER_ID_REQUIRED, effects);
      return;
    }
    const oldId = group.staticMemberId(groupInstanceId);
    if (oldId === undefined) this.#add(group, body, from, newId, effects);
    else this.#replace(group, body, from, groupInstanceId, oldId, newId, effects);
  }

  #add(
    group: ClassicGroup,
    body: JoinGroupRequest,
    from: Requester,
    memberId: string,
    effects: GroupEffects,
  ): void {
    const member = new ClassicMember(memberId, { ...body, ...from });
    member.isNew = true;
    if (group.isIn("PreparingRebalance") && group.previousState === "Empty") {
      group.newMemberAdded = true;
    }
    group.add(member);
    member.awaitingJoin = from.request;
    const { groupInstanceId: instance = "" } = body;
    const { groupId } = group;
    effects.notes.push({ kind: "group-member-joined", group: groupId, member: memberId, instance });
    this.rebalance.awaitNewMember(group, member, effects);
    this.rebalance.prepareOrCompleteJoin(group, `${memberId} joined`, effects);
  }

  /** A known member joins again. */
  #rejoin(
    group: ClassicGroup,
    body: JoinGroupRequest,
    from: Requester,
    effects: GroupEffects,
  ): void {
    const { memberId, protocols } = body;
    const member = group.member(memberId);
    const isLeader = group.isLeader(memberId);
    const isSame = member.matches(protocols);
    if (group.isIn("Empty")) {
      refuseJoin(from, memberId, ERRORS.UNKNOWN_MEMBER_ID, effects);
    } else if (
      group.isIn("PreparingRebalance") ||
      !isSame ||
      // By joining again the leader calls for a rebalance, say because there are more partitions.
      (group.isIn("Stable") && isLeader)
    ) {
      group.updateMember(member, body, from.request);
      this.rebalance.prepareOrCompleteJoin(group, `${memberId} joined again`, effects);
    } else {
      // The answer to its first join was lost, perhaps: this is the generation it is in.
      const members = group.isIn("CompletingRebalance") && isLeader ? allMembers(group) : {};
      const answer = { ...joined(group, member), ...members };
      effects.answers.push({ api: "JoinGroup", request: from.request, body: answer });
    }
  }

  /** A static member comes back, without knowing the id it had (`updateStaticMemberThenRebalanceOrCompleteJoin`). */
  #replace(
    group: ClassicGroup,
    body: JoinGroupRequest,
    from: Requester,
    instance: string,
    oldId: string,
    newId: string,
    effects: GroupEffects,
  ): void {
    const member = this.rebalance.replaceStatic(group, instance, oldId, newId, effects);
    group.updateMember(member, body, from.request);
    if (group.isIn("Stable")) {
      if (group.protocolName !== group.selectProtocol()) {
        const reason = `the protocol changes with ${instance}`;
        this.rebalance.prepareOrCompleteJoin(group, reason, effects);
        return;
      }
      effects.records.push(group.record());
      effects.whenCommitted = {
        kind: "static-replacement",
        group: group.groupId,
        oldMember: oldId,
        newMember: newId,
      };
    } else if (group.isIn("CompletingRebalance")) {
      // The leader assigns to the old id.
      this.rebalance.prepare(group, `${instance} came back under another id`, effects);
    } else {
      this.rebalance.completeJoinIfAll(group, effects);
    }
  }

  /**
   * The group as it is with a static member's new id is committed, so that the member may be told; or not.
   * Simplified: if not, the member stays under its new id, and leadership is probably lost; Kafka goes back.
   */
  staticReplaced(
    group: ClassicGroup,
    newId: string,
    error: ErrorCode,
    effects: GroupEffects,
  ): void {
    const member = group.members.get(newId);
    if (member === undefined) return;
    if (error !== ERRORS.NONE) {
      answerJoin(
        member,
        { ...joined(group, member), errorCode: error.code, memberId: "" },
        effects,
      );
      return;
    }
    const isLeader = group.isLeader(newId);
    const leads = isLeader ? { ...allMembers(group), skipAssignment: true } : {};
    answerJoin(member, { ...joined(group, member), ...leads }, effects);
  }

  #accepts(group: ClassicGroup, memberId: string): boolean {
    const member = group.members.get(memberId);
    switch (group.state) {
      case "Empty":
      case "Dead":
        return true;
      case "PreparingRebalance":
        // Those who wait count, not those who are members: so the last to join again are those left out.
        return member?.awaitingJoin !== undefined || group.awaitingJoinCount < this.#maxSize;
      default:
        return member !== undefined || group.members.size < this.#maxSize;
    }
  }

  // Being assigned.

  sync(group: ClassicGroup, body: SyncGroupRequest, from: Requester, effects: GroupEffects): void {
    const error = checkSync(group, body);
    if (error !== ERRORS.NONE) {
      refuseSync(from, error, effects);
      return;
    }
    const { memberId, assignments } = body;
    const member = group.member(memberId);
    if (group.isIn("PreparingRebalance")) {
      refuseSync(from, ERRORS.REBALANCE_IN_PROGRESS, effects);
      return;
    }
    this.#synced(group, memberId, effects);
    if (group.isIn("Stable")) {
      const { protocolType, protocolName } = group;
      const { assignment } = member;
      const answer = { throttleTimeMs: 0, errorCode: 0, protocolType, protocolName, assignment };
      effects.answers.push({ api: "SyncGroup", request: from.request, body: answer });
      return;
    }
    member.awaitingSync = from.request;
    if (!group.isLeader(memberId)) return;
    const all = new Map<string, Uint8Array>();
    for (const id of group.members.keys()) all.set(id, NO_ASSIGNMENT);
    for (const { memberId: id, assignment } of assignments) all.set(id, assignment);
    effects.records.push(group.record(all));
    effects.whenCommitted = {
      kind: "assignment",
      group: group.groupId,
      generation: group.generation,
      assignments: all,
    };
  }

  #synced(group: ClassicGroup, memberId: string, effects: GroupEffects): void {
    group.pendingSync.delete(memberId);
    if (group.pendingSync.size > 0) return;
    effects.cancel({ kind: "sync", group: group.groupId, generation: group.generation });
  }

  /** The leader's assignment is committed, or could not be. Meanwhile the group may have gone on. */
  assigned(
    group: ClassicGroup,
    generation: number,
    assignments: ReadonlyMap<string, Uint8Array>,
    error: ErrorCode,
    effects: GroupEffects,
  ): void {
    if (!group.isIn("CompletingRebalance") || generation !== group.generation) return;
    if (error === ERRORS.NONE) {
      this.rebalance.assign(group, assignments, effects);
      return;
    }
    this.rebalance.resetAssignments(group, error, effects);
    this.rebalance.prepareOrCompleteJoin(group, `${error.name} in storing`, effects);
  }

  // Staying, and leaving.

  heartbeat(group: ClassicGroup, body: HeartbeatRequest, effects: GroupEffects): ErrorCode {
    if (group.isIn("Dead")) return ERRORS.COORDINATOR_NOT_AVAILABLE;
    const error = group.checkMember(body.memberId, body.groupInstanceId);
    if (error !== ERRORS.NONE) return error;
    if (body.generationId !== group.generation) return ERRORS.ILLEGAL_GENERATION;
    if (group.isEmpty) return ERRORS.UNKNOWN_MEMBER_ID;
    this.rebalance.heard(group, group.member(body.memberId), effects);
    return group.isIn("PreparingRebalance") ? ERRORS.REBALANCE_IN_PROGRESS : ERRORS.NONE;
  }

  leave(group: ClassicGroup, body: LeaveGroupRequest, effects: GroupEffects): LeaveGroupResponse {
    if (group.isIn("Dead")) {
      const { code: errorCode } = ERRORS.COORDINATOR_NOT_AVAILABLE;
      return { throttleTimeMs: 0, errorCode, members: [] };
    }
    const members: LeftMember[] = body.members.map((leaving) => ({
      memberId: leaving.memberId,
      groupInstanceId: leaving.groupInstanceId,
      errorCode: this.#leave(group, leaving, effects).code,
    }));
    if (members.some(({ errorCode }) => errorCode === 0)) {
      const reason = `${members.map(({ memberId }) => memberId).join(", ")} left`;
      if (group.isIn("Stable", "CompletingRebalance")) {
        this.rebalance.prepareOrCompleteJoin(group, reason, effects);
      } else {
        this.rebalance.completeJoinIfAll(group, effects);
      }
    }
    return { throttleTimeMs: 0, errorCode: 0, members };
  }

  #leave(
    group: ClassicGroup,
    { memberId, groupInstanceId }: LeavingMember,
    effects: GroupEffects,
  ): ErrorCode {
    if (memberId === "") {
      const known = groupInstanceId && group.staticMemberId(groupInstanceId);
      if (!known) return ERRORS.UNKNOWN_MEMBER_ID;
      this.rebalance.removeMember(group, group.member(known), "left", effects);
      return ERRORS.NONE;
    }
    if (group.pendingJoin.has(memberId)) {
      group.remove(memberId);
      effects.cancel({ kind: "session", group: group.groupId, member: memberId });
      return ERRORS.NONE;
    }
    const error = group.checkMember(memberId, groupInstanceId);
    if (error !== ERRORS.NONE) return error;
    this.rebalance.removeMember(group, group.member(memberId), "left", effects);
    return ERRORS.NONE;
  }
}

/** `validateSyncGroup` */
function checkSync(group: ClassicGroup, body: SyncGroupRequest): ErrorCode {
  if (group.isIn("Dead")) return ERRORS.COORDINATOR_NOT_AVAILABLE;
  const error = group.checkMember(body.memberId, body.groupInstanceId);
  if (error !== ERRORS.NONE) return error;
  if (body.generationId !== group.generation) return ERRORS.ILLEGAL_GENERATION;
  const isConsistent =
    agrees(body.protocolType, group.protocolType) && agrees(body.protocolName, group.protocolName);
  return isConsistent ? ERRORS.NONE : ERRORS.INCONSISTENT_GROUP_PROTOCOL;
}

function agrees(said: string | undefined, known: string | undefined): boolean {
  return said === undefined || known === undefined || said === known;
}

export function refuseJoin(
  { request }: Requester,
  memberId: string,
  error: ErrorCode,
  effects: GroupEffects,
): void {
  effects.answers.push({ api: "JoinGroup", request, body: refusedJoin(memberId, error) });
}

export function refuseSync({ request }: Requester, error: ErrorCode, effects: GroupEffects): void {
  effects.answers.push({ api: "SyncGroup", request, body: refusedSync(error) });
}

export function refusedSync({ code }: ErrorCode): SyncGroupResponse {
  return {
    throttleTimeMs: 0,
    errorCode: code,
    protocolType: undefined,
    protocolName: undefined,
    assignment: NO_ASSIGNMENT,
  };
}
