import { fail, invariant } from "../../base/invariant.ts";
import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { JoinGroupMember, JoinGroupProtocol } from "../protocol/group-membership.ts";
import type { RequestId } from "./classic-member.ts";
import { ClassicMember } from "./classic-member.ts";
import { decodeSubscription } from "./consumer-protocol.ts";
import type { GroupMetadataRecord, GroupMetadataValue, OffsetAndMetadata } from "./group-record.ts";

/** The `protocol.type` of consumers. */
export const CONSUMER_PROTOCOL = "consumer";

export type ClassicGroupState =
  | "Empty"
  | "PreparingRebalance"
  | "CompletingRebalance"
  | "Stable"
  | "Dead";

/** From which states a group may come into each (`ClassicGroupState`). */
const PREVIOUS: Readonly<Record<ClassicGroupState, readonly ClassicGroupState[]>> = {
  Empty: ["PreparingRebalance"],
  PreparingRebalance: ["Stable", "CompletingRebalance", "Empty"],
  CompletingRebalance: ["PreparingRebalance"],
  Stable: ["CompletingRebalance"],
  Dead: ["Stable", "PreparingRebalance", "CompletingRebalance", "Empty", "Dead"],
};

/**
 * A group of the classic protocol, in which one member's client computes the assignment (Kafka's
 * `ClassicGroup`). Changed by `ClassicRebalance` and `ClassicProtocol` only.
 *
 * Where Kafka goes by the order of a hash table, as in choosing a new leader, this goes by that of joining.
 */
export class ClassicGroup {
  readonly kind = "classic";
  readonly groupId: string;
  state: ClassicGroupState;
  previousState: ClassicGroupState = "Dead";
  /** When it came into its state, in milliseconds; undefined if that was not written. */
  stateTimestamp: number | undefined;
  generation: number;
  protocolType: string | undefined;
  protocolName: string | undefined;
  leaderId: string | undefined = undefined;
  /** Topics that its members subscribe to; undefined if that cannot be told. */
  subscribedTopics: ReadonlySet<string> | undefined = undefined;
  /** Somebody joined during the initial delay, which is then extended. */
  newMemberAdded = false;
  readonly members = new Map<string, ClassicMember>();
  /** Were given an id, and have not joined with it yet (KIP-394). */
  readonly pendingJoin = new Set<string>();
  /** Are in the generation, and have not asked for its assignment yet. */
  readonly pendingSync = new Set<string>();
  /** Member ids of static members by instance id. */
  readonly #static = new Map<string, string>();

  constructor(groupId: string, nowMs: number) {
    this.groupId = groupId;
    this.state = "Empty";
    this.stateTimestamp = nowMs;
    this.generation = 0;
    this.protocolType = undefined;
    this.protocolName = undefined;
  }

  /** The group of a record, Stable if it has members (`GroupMetadataManager.replay`). */
  static restored(groupId: string, value: GroupMetadataValue): ClassicGroup {
    const group = new ClassicGroup(groupId, 0);
    const { protocolType, protocol } = value;
    group.generation = value.generation;
    group.protocolType = protocolType === "" ? undefined : protocolType;
    group.protocolName = protocol;
    group.leaderId = value.leader;
    for (const stored of value.members) {
      const { subscription: metadata, rebalanceTimeoutMs, sessionTimeoutMs } = stored;
      const said = {
        ...stored,
        protocolType,
        protocols: [{ name: protocol ?? "", metadata }],
        rebalanceTimeoutMs: rebalanceTimeoutMs === -1 ? sessionTimeoutMs : rebalanceTimeoutMs,
      };
      group.add(new ClassicMember(stored.memberId, said, stored.assignment));
    }
    group.state = value.members.length > 0 ? "Stable" : "Empty";
    const { currentStateTimestamp: since } = value;
    group.stateTimestamp = since === -1 ? undefined : since;
    group.updateSubscribedTopics();
    return group;
  }

  get isEmpty(): boolean {
    return this.state === "Empty";
  }

  isIn(...states: readonly ClassicGroupState[]): boolean {
    return states.includes(this.state);
  }

  get canRebalance(): boolean {
    return PREVIOUS.PreparingRebalance.includes(this.state);
  }

  get usesConsumerProtocol(): boolean {
    return this.protocolType === CONSUMER_PROTOCOL;
  }

  transitionTo(state: ClassicGroupState, nowMs: number): void {
    const { groupId, state: from } = this;
    invariant(PREVIOUS[state].includes(from), () => `${groupId}: from ${from} to ${state}`);
    this.previousState = from;
    this.state = state;
    this.stateTimestamp = nowMs;
  }

  // Members.

  member(memberId: string): ClassicMember {
    return this.members.get(memberId) ?? fail(`${this.groupId} has no member ${memberId}`);
  }

  isLeader(memberId: string): boolean {
    return this.leaderId === memberId;
  }

  staticMemberId(groupInstanceId: string): string | undefined {
    return this.#static.get(groupInstanceId);
  }

  add(member: ClassicMember): void {
    const { memberId, groupInstanceId } = member;
    if (groupInstanceId !== undefined) {
      invariant(!this.#static.has(groupInstanceId), () => `${groupInstanceId} is there already`);
      this.#static.set(groupInstanceId, memberId);
    }
    if (this.members.size === 0) this.protocolType = member.protocolType;
    this.leaderId ??= memberId;
    this.members.set(memberId, member);
    this.pendingJoin.delete(memberId);
  }

  remove(memberId: string): void {
    const removed = this.members.get(memberId);
    this.members.delete(memberId);
    if (removed?.groupInstanceId !== undefined) this.#static.delete(removed.groupInstanceId);
    if (this.isLeader(memberId)) [this.leaderId] = this.members.keys();
    this.pendingJoin.delete(memberId);
    this.pendingSync.delete(memberId);
  }

  /** A static member goes on under another id, with what was assigned to it. What the old one waits for is to be answered before. */
  replaceStatic(groupInstanceId: string, oldId: string, newId: string): ClassicMember {
    const old = this.member(oldId);
    this.members.delete(oldId);
    const replacement = new ClassicMember(newId, old, old.assignment);
    this.members.set(newId, replacement);
    if (this.isLeader(oldId)) this.leaderId = newId;
    this.#static.set(groupInstanceId, newId);
    return replacement;
  }

  /** The check of every request that names a member, in Kafka's order (`validateMember`). */
  checkMember(memberId: string, groupInstanceId: string | undefined): ErrorCode {
    if (groupInstanceId !== undefined) {
      const known = this.staticMemberId(groupInstanceId);
      if (known === undefined) return ERRORS.UNKNOWN_MEMBER_ID;
      if (known !== memberId) return ERRORS.FENCED_INSTANCE_ID;
    }
    return this.members.has(memberId) ? ERRORS.NONE : ERRORS.UNKNOWN_MEMBER_ID;
  }

  /** May offsets be committed so? `isTransactional` checks less (`validateOffsetCommit`). */
  checkOffsetCommit(
    memberId: string,
    groupInstanceId: string | undefined,
    generation: number,
    isTransactional: boolean,
  ): ErrorCode {
    if (this.isIn("Dead")) return ERRORS.COORDINATOR_NOT_AVAILABLE;
    // An administrator, or a consumer that assigns itself.
    if (generation < 0 && this.isEmpty) return ERRORS.NONE;
    if (generation >= 0 || memberId !== "" || groupInstanceId !== undefined) {
      const error = this.checkMember(memberId, groupInstanceId);
      if (error !== ERRORS.NONE) return error;
      if (generation !== this.generation) return ERRORS.ILLEGAL_GENERATION;
    } else if (!isTransactional && !this.isEmpty) {
      return ERRORS.UNKNOWN_MEMBER_ID;
    }
    const isCompleting = !isTransactional && this.isIn("CompletingRebalance");
    return isCompleting ? ERRORS.REBALANCE_IN_PROGRESS : ERRORS.NONE;
  }

  /** Those whose JoinGroup waits. */
  get awaitingJoinCount(): number {
    let count = 0;
    for (const { awaitingJoin } of this.members.values()) if (awaitingJoin !== undefined) count++;
    return count;
  }

  get hasAllMembersJoined(): boolean {
    return this.pendingJoin.size === 0 && this.awaitingJoinCount === this.members.size;
  }

  /** The longest of its members', in milliseconds. */
  get rebalanceTimeoutMs(): number {
    let longest = 0;
    for (const { rebalanceTimeoutMs } of this.members.values()) {
      if (rebalanceTimeoutMs > longest) longest = rebalanceTimeoutMs;
    }
    return longest;
  }

  /** If the leader has not joined again, another that has takes its place; false if nobody has. */
  electJoinedLeader(): boolean {
    if (this.leaderId === undefined) return false;
    if (this.member(this.leaderId).awaitingJoin !== undefined) return true;
    for (const { memberId, awaitingJoin } of this.members.values()) {
      if (awaitingJoin === undefined) continue;
      this.leaderId = memberId;
      return true;
    }
    return false;
  }

  updateMember(
    member: ClassicMember,
    said: {
      readonly protocols: readonly JoinGroupProtocol[];
      readonly rebalanceTimeoutMs: number;
      readonly sessionTimeoutMs: number;
    },
    awaitingJoin: RequestId | undefined,
  ): void {
    member.protocols = said.protocols;
    member.rebalanceTimeoutMs = said.rebalanceTimeoutMs;
    member.sessionTimeoutMs = said.sessionTimeoutMs;
    member.awaitingJoin = awaitingJoin;
  }

  // Protocols.

  /** Can a member with these protocols join? One of them must be known to all. */
  supports(protocolType: string, protocols: readonly JoinGroupProtocol[]): boolean {
    if (this.isEmpty) return protocolType !== "" && protocols.length > 0;
    if (this.protocolType !== protocolType) return false;
    // Where all members have gone, all of them know whatever it may be.
    if (this.members.size === 0) return protocols.length > 0;
    const candidates = this.#candidates();
    return protocols.some(({ name }) => candidates.has(name));
  }

  /** The one with the most votes among those that all know; of equals the first voted for. */
  selectProtocol(): string {
    const candidates = this.#candidates();
    const votes = new Map<string, number>();
    for (const member of this.members.values()) {
      const choice = member.vote(candidates);
      votes.set(choice, (votes.get(choice) ?? 0) + 1);
    }
    let selected: string | undefined;
    for (const [name, count] of votes) {
      if (selected === undefined || count > (votes.get(selected) ?? 0)) selected = name;
    }
    return selected ?? fail(`${this.groupId} has no members to vote`);
  }

  #candidates(): ReadonlySet<string> {
    const supporters = new Map<string, number>();
    for (const { protocols } of this.members.values()) {
      for (const { name } of protocols) supporters.set(name, (supporters.get(name) ?? 0) + 1);
    }
    const all = [...supporters].filter(([, count]) => count === this.members.size);
    return new Set(all.map(([name]) => name));
  }

  /** All who wait have joined: the next generation begins. */
  beginGeneration(nowMs: number): void {
    this.generation++;
    const hasMembers = this.members.size > 0;
    this.protocolName = hasMembers ? this.selectProtocol() : undefined;
    this.updateSubscribedTopics();
    this.transitionTo(hasMembers ? "CompletingRebalance" : "Empty", nowMs);
    this.pendingSync.clear();
  }

  isSubscribedTo(topic: string): boolean {
    return this.subscribedTopics?.has(topic) ?? this.usesConsumerProtocol;
  }

  updateSubscribedTopics(): void {
    this.subscribedTopics = this.#computeSubscribedTopics();
  }

  #computeSubscribedTopics(): ReadonlySet<string> | undefined {
    const { protocolName } = this;
    if (!this.usesConsumerProtocol) return undefined;
    if (this.members.size === 0) return new Set();
    if (protocolName === undefined) return undefined;
    const topics = new Set<string>();
    for (const member of this.members.values()) {
      const subscription = decodeSubscription(member.metadata(protocolName));
      if (subscription === undefined) return undefined;
      for (const topic of subscription.topics) topics.add(topic);
    }
    return topics;
  }

  /** What the leader is told of all members. */
  joinedMembers(): JoinGroupMember[] {
    const protocol = this.protocolName ?? "";
    return [...this.members.values()].map((member) => ({
      memberId: member.memberId,
      groupInstanceId: member.groupInstanceId,
      metadata: member.metadata(protocol),
    }));
  }

  // Records.

  /** The group as it is written, with these assignments, or as its members have them. */
  record(assignments?: ReadonlyMap<string, Uint8Array>): GroupMetadataRecord {
    const { protocolName } = this;
    const members = [...this.members.values()].map((member) => ({
      memberId: member.memberId,
      groupInstanceId: member.groupInstanceId,
      clientId: member.clientId,
      clientHost: member.clientHost,
      rebalanceTimeoutMs: member.rebalanceTimeoutMs,
      sessionTimeoutMs: member.sessionTimeoutMs,
      subscription: member.metadata(protocolName ?? ""),
      assignment: assignments?.get(member.memberId) ?? member.assignment,
    }));
    return {
      type: "GroupMetadata",
      group: this.groupId,
      value: {
        protocolType: this.protocolType ?? "",
        generation: this.generation,
        protocol: protocolName,
        leader: this.leaderId,
        currentStateTimestamp: this.stateTimestamp ?? -1,
        members,
      },
    };
  }

  /** A group that has just come into being, before anybody is in it. */
  emptyRecord(): GroupMetadataRecord {
    return {
      type: "GroupMetadata",
      group: this.groupId,
      value: {
        protocolType: "",
        generation: 0,
        protocol: undefined,
        leader: undefined,
        currentStateTimestamp: this.stateTimestamp ?? -1,
        members: [],
      },
    };
  }

  /**
   * Since when an offset counts as unused, in milliseconds; undefined if it is in use
   * (`offsetExpirationCondition`, KIP-211).
   */
  unusedSince({ commitTimestamp }: OffsetAndMetadata): number | undefined {
    if (this.protocolType === undefined) return commitTimestamp;
    if (this.isEmpty) return this.stateTimestamp ?? commitTimestamp;
    const isKnown = this.usesConsumerProtocol && this.subscribedTopics !== undefined;
    return isKnown && this.isIn("Stable") ? commitTimestamp : undefined;
  }
}
