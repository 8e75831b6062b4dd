import { byNumber, byText } from "../../base/order.ts";
import { encodeUtf8 } from "../../base/utf8.ts";
import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { PartitionName } from "../ids.ts";
import { partitionName } from "../ids.ts";
import type { MetadataImage } from "../metadata/image.ts";
import type {
  ConsumerGroupHeartbeatRequest,
  ConsumerGroupHeartbeatResponse,
} from "../protocol/consumer-group-heartbeat.ts";
import type { TargetAssignor } from "./assignors/target-member.ts";
import type { TopicPartitions } from "./assignors/topic-partitions.ts";
import { isSamePartitions, NO_PARTITIONS } from "./assignors/topic-partitions.ts";
import { assignTargetRange, assignUniform } from "./assignors/uniform-assignor.ts";
import type { Requester } from "./classic-protocol.ts";
import type { ConsumerGroup } from "./consumer-group.ts";
import { isAway, memberTombstones, NO_METADATA } from "./consumer-group.ts";
import type { ConsumerMember, MemberTarget } from "./consumer-member.ts";
import {
  hasSamePartitions,
  isSameAssignment,
  isSubset,
  LEAVES,
  LEAVES_FOR_A_WHILE,
  MEMBER_STATE,
  NEW_ASSIGNMENT,
  NOTHING_ASSIGNED,
  reconcile,
} from "./consumer-member.ts";
import type { GroupEffects } from "./group-effects.ts";
import type { AssignedPartitions, CurrentAssignment, MemberMetadata } from "./group-record.ts";

/** Configs that the protocol of KIP-848 goes by. */
export interface ConsumerProtocolOptions {
  /** `group.consumer.session.timeout.ms` */
  readonly sessionTimeoutMs: number;
  /** `group.consumer.heartbeat.interval.ms` */
  readonly heartbeatIntervalMs: number;
  /** `group.consumer.max.size` */
  readonly maxSize: number;
  /** `group.consumer.assignment.interval.ms`: a target is kept for so long at least. */
  readonly assignmentIntervalMs: number;
}

const ASSIGNORS: ReadonlyMap<string, TargetAssignor> = new Map([
  ["uniform", assignUniform],
  ["range", assignTargetRange],
]);

/** The answer to a heartbeat, or why it is refused. */
export type HeartbeatOutcome = ConsumerGroupHeartbeatResponse | ErrorCode;

/**
 * What a coordinator does with the heartbeats of KIP-848 members (`GroupMetadataManager.consumerGroupHeartbeat`):
 * everything is a record, and counts once it is replayed.
 *
 * Simplified: no regular expressions, no members of the classic protocol in such a group, one assignor in line.
 */
export class ConsumerHeartbeats {
  readonly #options: ConsumerProtocolOptions;

  constructor(options: ConsumerProtocolOptions) {
    this.#options = options;
  }

  /** What is wrong with a request by itself. */
  check(body: ConsumerGroupHeartbeatRequest): ErrorCode {
    const { memberEpoch, subscribedTopicNames: names, topicPartitions: owned } = body;
    const isEmptyText = body.memberId === "" || body.instanceId === "" || body.rackId === "";
    if (isEmptyText || memberEpoch < LEAVES_FOR_A_WHILE) return ERRORS.INVALID_REQUEST;
    if (body.subscribedTopicRegex !== undefined) return ERRORS.INVALID_REQUEST;
    const isFirst = memberEpoch === 0;
    if (isFirst && body.rebalanceTimeoutMs === -1) return ERRORS.INVALID_REQUEST;
    if (isFirst && owned?.length !== 0) return ERRORS.INVALID_REQUEST;
    // With an empty list it is in the group, and wants nothing yet.
    if (isFirst && names === undefined) return ERRORS.INVALID_REQUEST;
    if (memberEpoch === LEAVES_FOR_A_WHILE && body.instanceId === undefined) {
      return ERRORS.INVALID_REQUEST;
    }
    const { serverAssignor } = body;
    const isKnown = serverAssignor === undefined || ASSIGNORS.has(serverAssignor);
    return isKnown ? ERRORS.NONE : ERRORS.UNSUPPORTED_ASSIGNOR;
  }

  /** A heartbeat of who stays, or comes. `group` may be one that only these records bring into being. */
  heartbeat(
    group: ConsumerGroup,
    body: ConsumerGroupHeartbeatRequest,
    from: Requester,
    image: MetadataImage,
    effects: GroupEffects,
  ): HeartbeatOutcome {
    const { memberId, memberEpoch, instanceId, topicPartitions: owned } = body;
    if (group.members.size >= this.#options.maxSize && !group.members.has(memberId)) {
      return ERRORS.GROUP_MAX_SIZE_REACHED;
    }
    const member =
      instanceId === undefined
        ? dynamicMember(group, body)
        : this.#staticMember(group, body, instanceId, effects);
    if (!("memberId" in member)) return member;
    const isNew = !group.members.has(memberId);
    const metadata = updated(member.metadata, body, from);
    const epoch = this.#updateEpoch(group, member, metadata, isNew, image, effects);
    const target = this.#updateTarget(group, epoch, { ...member, metadata }, image, effects);
    const current = this.#reconcile(group, member, metadata, target, owned, image, effects);
    effects.start({ kind: "session", group: group.groupId, member: memberId }, this.#session);
    const isFull =
      memberEpoch === 0 ||
      (body.rebalanceTimeoutMs !== -1 &&
        body.subscribedTopicNames !== undefined &&
        owned !== undefined);
    const isOther = !hasSamePartitions(current.assigned, member.current.assigned);
    return {
      throttleTimeMs: 0,
      errorCode: 0,
      errorMessage: undefined,
      memberId,
      memberEpoch: current.memberEpoch,
      heartbeatIntervalMs: this.#options.heartbeatIntervalMs,
      assignment: isFull || isOther ? inResponse(current.assigned) : undefined,
    };
  }

  get #session(): number {
    return this.#options.sessionTimeoutMs;
  }

  #staticMember(
    group: ConsumerGroup,
    body: ConsumerGroupHeartbeatRequest,
    instanceId: string,
    effects: GroupEffects,
  ): ConsumerMember | ErrorCode {
    const { memberId } = body;
    const known = group.staticMember(instanceId);
    if (body.memberEpoch !== 0) {
      if (known === undefined) return ERRORS.UNKNOWN_MEMBER_ID;
      if (known.memberId !== memberId) return ERRORS.FENCED_INSTANCE_ID;
      return checkEpoch(known, body);
    }
    if (known === undefined) return newMember(memberId);
    if (!isAway(known)) return ERRORS.UNRELEASED_INSTANCE_ID;
    // It has come back: what it had is its successor's.
    const current = { ...known.current, memberEpoch: 0, previousMemberEpoch: 0 };
    const { groupId } = group;
    const target = group.target.get(known.memberId) ?? NO_PARTITIONS;
    effects.records.push(
      ...memberTombstones(groupId, known.memberId),
      {
        type: "ConsumerGroupMemberMetadata",
        group: groupId,
        member: memberId,
        value: known.metadata,
      },
      {
        type: "ConsumerGroupTargetAssignmentMember",
        group: groupId,
        member: memberId,
        value: target,
      },
      {
        type: "ConsumerGroupCurrentMemberAssignment",
        group: groupId,
        member: memberId,
        value: current,
      },
    );
    noteLeft(group, known, "replaced", effects);
    return { memberId, metadata: known.metadata, current };
  }

  /** The group epoch rises if the member subscribes to something else, or a topic has changed. */
  #updateEpoch(
    group: ConsumerGroup,
    { memberId, metadata: before }: ConsumerMember,
    metadata: MemberMetadata,
    isNew: boolean,
    image: MetadataImage,
    effects: GroupEffects,
  ): number {
    const { groupId } = group;
    if (isNew) {
      const instance = metadata.instanceId ?? "";
      effects.notes.push({
        kind: "group-member-joined",
        group: groupId,
        member: memberId,
        instance,
      });
    }
    if (isNew || !isSameMetadata(before, metadata)) {
      effects.records.push({
        type: "ConsumerGroupMemberMetadata",
        group: groupId,
        member: memberId,
        value: metadata,
      });
    }
    const hasOtherTopics = !isSameList(before.subscribedTopicNames, metadata.subscribedTopicNames);
    const hash = hashOf(group.subscribedTopics({ memberId, metadata }), image);
    if (!hasOtherTopics && hash === group.metadataHash) return group.epoch;
    const epoch = group.epoch + 1;
    const value = { epoch, metadataHash: hash };
    effects.records.push({ type: "ConsumerGroupMetadata", group: groupId, value });
    return epoch;
  }

  /** Makes a new target for a new epoch, unless the last is too young. Returns the member's. */
  #updateTarget(
    group: ConsumerGroup,
    epoch: number,
    member: ConsumerMember,
    image: MetadataImage,
    effects: GroupEffects,
  ): MemberTarget {
    const { memberId, metadata } = member;
    const youngest = group.targetTimestamp + this.#options.assignmentIntervalMs;
    if (epoch <= group.targetEpoch || effects.nowMs < youngest) {
      return {
        epoch: group.targetEpoch,
        partitions: group.targetOf(memberId, metadata.instanceId),
      };
    }
    const members = new Map(group.members);
    const replaced = metadata.instanceId && group.staticMember(metadata.instanceId)?.memberId;
    if (replaced) members.delete(replaced);
    members.set(memberId, member);
    const assignment = assign(group, [...members.values()], image);
    const { groupId } = group;
    for (const [id, partitions] of assignment) {
      const before = group.target.get(id);
      if (before !== undefined && isSamePartitions(before, partitions)) continue;
      effects.records.push({
        type: "ConsumerGroupTargetAssignmentMember",
        group: groupId,
        member: id,
        value: partitions,
      });
    }
    const value = { epoch, timestamp: effects.nowMs };
    effects.records.push({ type: "ConsumerGroupTargetAssignmentMetadata", group: groupId, value });
    const assignments = [...assignment].map(([id, partitions]) => {
      const topics = members.get(id)?.metadata.subscribedTopicNames ?? [];
      return { member: id, topics, partitions: namesOf(partitions, image) };
    });
    effects.notes.push({ kind: "group-assigned", group: groupId, generation: epoch, assignments });
    return { epoch, partitions: assignment.get(memberId) ?? NO_PARTITIONS };
  }

  #reconcile(
    group: ConsumerGroup,
    { memberId, current: before }: ConsumerMember,
    { rebalanceTimeoutMs }: MemberMetadata,
    target: MemberTarget,
    owned: ConsumerGroupHeartbeatRequest["topicPartitions"],
    image: MetadataImage,
    effects: GroupEffects,
  ): CurrentAssignment {
    const isFree = (topicId: string, index: number): boolean => group.isFree(topicId, index);
    const current = reconcile(before, target, owned, isFree);
    if (isSameAssignment(before, current)) return current;
    const { groupId } = group;
    effects.records.push({
      type: "ConsumerGroupCurrentMemberAssignment",
      group: groupId,
      member: memberId,
      value: current,
    });
    const { memberEpoch } = current;
    effects.notes.push({
      kind: "group-member-assigned",
      group: groupId,
      member: memberId,
      memberEpoch,
      partitions: namesOf(asPartitions(current.assigned), image),
      revoking: namesOf(asPartitions(current.revoking), image),
    });
    const timer = { kind: "rebalance", group: groupId, member: memberId, memberEpoch } as const;
    if (current.state === MEMBER_STATE.unrevoked) effects.start(timer, rebalanceTimeoutMs);
    else effects.cancel(timer);
    return current;
  }

  /** A member says that it goes. */
  leave(
    group: ConsumerGroup,
    { memberId, memberEpoch, instanceId }: ConsumerGroupHeartbeatRequest,
    image: MetadataImage,
    effects: GroupEffects,
  ): HeartbeatOutcome {
    const answer = left(memberId, memberEpoch);
    if (instanceId === undefined) {
      const member = group.members.get(memberId);
      if (member === undefined) return ERRORS.UNKNOWN_MEMBER_ID;
      this.fence(group, member, "left", image, effects);
      return answer;
    }
    const member = group.staticMember(instanceId);
    if (member === undefined) return ERRORS.UNKNOWN_MEMBER_ID;
    if (member.memberId !== memberId) return ERRORS.FENCED_INSTANCE_ID;
    if (memberEpoch === LEAVES) {
      this.fence(group, member, "left", image, effects);
      return answer;
    }
    effects.records.push({
      type: "ConsumerGroupCurrentMemberAssignment",
      group: group.groupId,
      member: memberId,
      value: { ...member.current, memberEpoch: LEAVES_FOR_A_WHILE, revoking: NOTHING_ASSIGNED },
    });
    return answer;
  }

  /** A member is out, and the others are to share what it had (`consumerGroupFenceMember`). */
  fence(
    group: ConsumerGroup,
    member: ConsumerMember,
    reason: string,
    image: MetadataImage,
    effects: GroupEffects,
  ): void {
    const { groupId } = group;
    const { memberId } = member;
    effects.records.push(...memberTombstones(groupId, memberId));
    const metadataHash = hashOf(group.subscribedTopics({ memberId }), image);
    const value = { epoch: group.epoch + 1, metadataHash };
    effects.records.push({ type: "ConsumerGroupMetadata", group: groupId, value });
    effects.cancel({ kind: "session", group: groupId, member: memberId });
    effects.cancel({ kind: "rebalance", group: groupId, member: memberId, memberEpoch: 0 });
    noteLeft(group, member, reason, effects);
  }

  /** The group was just loaded: its members must be heard of. */
  loaded(group: ConsumerGroup, effects: GroupEffects): void {
    const { groupId } = group;
    for (const { memberId, metadata, current } of group.members.values()) {
      effects.start({ kind: "session", group: groupId, member: memberId }, this.#session);
      if (current.state !== MEMBER_STATE.unrevoked) continue;
      const { memberEpoch } = current;
      const timer = { kind: "rebalance", group: groupId, member: memberId, memberEpoch } as const;
      effects.start(timer, metadata.rebalanceTimeoutMs);
    }
  }
}

function newMember(memberId: string): ConsumerMember {
  return { memberId, metadata: NO_METADATA, current: NEW_ASSIGNMENT };
}

function dynamicMember(
  group: ConsumerGroup,
  body: ConsumerGroupHeartbeatRequest,
): ConsumerMember | ErrorCode {
  const known = group.members.get(body.memberId);
  if (known !== undefined) return checkEpoch(known, body);
  return body.memberEpoch === 0 ? newMember(body.memberId) : ERRORS.UNKNOWN_MEMBER_ID;
}

/** The epoch before is taken too: the answer that told of the present one may have been lost. */
function checkEpoch(
  member: ConsumerMember,
  { memberEpoch, topicPartitions }: ConsumerGroupHeartbeatRequest,
): ConsumerMember | ErrorCode {
  const { current } = member;
  if (memberEpoch === current.memberEpoch) return member;
  const isPrevious =
    memberEpoch < current.memberEpoch &&
    memberEpoch === current.previousMemberEpoch &&
    isSubset(topicPartitions, current.assigned);
  return isPrevious ? member : ERRORS.FENCED_MEMBER_EPOCH;
}

function updated(
  before: MemberMetadata,
  body: ConsumerGroupHeartbeatRequest,
  { clientId, clientHost }: Requester,
): MemberMetadata {
  const names = body.subscribedTopicNames;
  return {
    instanceId: body.instanceId ?? before.instanceId,
    rackId: body.rackId ?? before.rackId,
    clientId,
    clientHost,
    subscribedTopicNames:
      names === undefined ? before.subscribedTopicNames : [...names].sort(byText),
    subscribedTopicRegex: undefined,
    rebalanceTimeoutMs:
      body.rebalanceTimeoutMs === -1 ? before.rebalanceTimeoutMs : body.rebalanceTimeoutMs,
    serverAssignor: body.serverAssignor ?? before.serverAssignor,
  };
}

function isSameMetadata(one: MemberMetadata, other: MemberMetadata): boolean {
  return (
    one.instanceId === other.instanceId &&
    one.rackId === other.rackId &&
    one.clientId === other.clientId &&
    one.clientHost === other.clientHost &&
    one.rebalanceTimeoutMs === other.rebalanceTimeoutMs &&
    one.serverAssignor === other.serverAssignor &&
    isSameList(one.subscribedTopicNames, other.subscribedTopicNames)
  );
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, i) => item === other[i]);
}

/** The assignor with the most votes; the default if nobody votes (`computePreferredServerAssignor`). */
function assign(
  group: ConsumerGroup,
  members: readonly ConsumerMember[],
  image: MetadataImage,
): ReadonlyMap<string, TopicPartitions> {
  const votes = new Map<string, number>();
  for (const { metadata } of members) {
    const { serverAssignor: choice } = metadata;
    if (choice !== undefined) votes.set(choice, (votes.get(choice) ?? 0) + 1);
  }
  let preferred = "uniform";
  for (const [name, count] of votes) if (count > (votes.get(preferred) ?? 0)) preferred = name;
  const counts = new Map<string, number>();
  const targets = members.map(({ memberId, metadata }) => {
    const topicIds: string[] = [];
    for (const name of metadata.subscribedTopicNames) {
      const topic = image.topicByName(name);
      if (topic === undefined) continue;
      topicIds.push(topic.topicId);
      counts.set(topic.topicId, topic.partitions.length);
    }
    const { instanceId } = metadata;
    return { memberId, instanceId, topicIds, target: group.targetOf(memberId, instanceId) };
  });
  const assignor = ASSIGNORS.get(preferred) ?? assignUniform;
  return assignor(targets, counts);
}

/**
 * Changes when a topic that somebody subscribes to does: it comes, goes, or has more partitions.
 * Simplified: 32 bits of another function than Kafka's (KIP-1101), and racks do not count.
 */
function hashOf(topics: ReadonlySet<string>, image: MetadataImage): number {
  let text = "";
  for (const name of [...topics].sort(byText)) {
    const topic = image.topicByName(name);
    if (topic !== undefined) text += `${topic.topicId}:${name}:${topic.partitions.length};`;
  }
  if (text === "") return 0;
  let hash = 0x811c_9dc5;
  for (const byte of encodeUtf8(text)) hash = Math.imul(hash ^ byte, 0x0100_0193) >>> 0;
  return hash;
}

function asPartitions(assigned: AssignedPartitions): TopicPartitions {
  const entries = [...assigned].map(([topicId, epochs]): [string, number[]] => {
    return [topicId, [...epochs.keys()].sort(byNumber)];
  });
  return new Map(entries);
}

function inResponse(assigned: AssignedPartitions): ConsumerGroupHeartbeatResponse["assignment"] {
  return [...asPartitions(assigned)].map(([topicId, partitions]) => ({ topicId, partitions }));
}

function namesOf(partitions: TopicPartitions, image: MetadataImage): PartitionName[] {
  const names: PartitionName[] = [];
  for (const [topicId, indexes] of partitions) {
    const topic = image.topicById(topicId)?.name ?? topicId;
    for (const index of indexes) names.push(partitionName(topic, index));
  }
  return names;
}

function noteLeft(
  { groupId: group }: ConsumerGroup,
  { memberId: member, metadata }: ConsumerMember,
  reason: string,
  effects: GroupEffects,
): void {
  const instance = metadata.instanceId ?? "";
  effects.notes.push({ kind: "group-member-left", group, member, instance, reason });
}

function left(memberId: string, memberEpoch: number): ConsumerGroupHeartbeatResponse {
  return {
    throttleTimeMs: 0,
    errorCode: 0,
    errorMessage: undefined,
    memberId,
    memberEpoch,
    heartbeatIntervalMs: 0,
    assignment: undefined,
  };
}

/** An error, as a heartbeat is told of it. */
export function refusedHeartbeat({ code }: ErrorCode): ConsumerGroupHeartbeatResponse {
  return {
    throttleTimeMs: 0,
    errorCode: code,
    errorMessage: undefined,
    memberId: undefined,
    memberEpoch: 0,
    heartbeatIntervalMs: 0,
    assignment: undefined,
  };
}
