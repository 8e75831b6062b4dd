import { byNumber } from "../../base/order.ts";
import type { PartitionName } from "../ids.ts";
import { partitionName } from "../ids.ts";
import type { MetadataImage } from "../metadata/image.ts";
import type { ConsumerGroupHeartbeatRequest } from "../protocol/consumer-group-heartbeat.ts";
import type { TargetAssignor } from "./assignors/target-member.ts";
import type { TopicPartitions } from "./assignors/topic-partitions.ts";
import { isSamePartitions, NO_PARTITIONS } from "./assignors/topic-partitions.ts";
import { assignTargetRange, assignUniform } from "./assignors/uniform-assignor.ts";
import { isSameProtocols } from "./classic-member.ts";
import type { ConsumerGroup } from "./consumer-group.ts";
import { memberTombstones } from "./consumer-group.ts";
import type { ConsumerMember, MemberTarget } from "./consumer-member.ts";
import {
  isSameAssignment,
  MEMBER_STATE,
  reconcile,
  usesClassicProtocol,
} from "./consumer-member.ts";
import type { GroupEffects } from "./group-effects.ts";
import type {
  AssignedPartitions,
  ClassicMemberMetadata,
  CurrentAssignment,
  MemberMetadata,
} from "./group-record.ts";
import { metadataHash } from "./metadata-hash.ts";
import type { DowngradeOptions } from "./online-downgrade.ts";
import { downgrade, mayDowngrade } from "./online-downgrade.ts";

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
  /** `group.consumer.migration.policy` */
  readonly migrationPolicy: string;
}

/** What such groups go by besides. */
export interface ConsumerGroupRules extends ConsumerProtocolOptions, DowngradeOptions {
  /** The topics as they are: read it, never change it. */
  readonly image: MetadataImage;
}

/** By the names that members may vote for. */
export const ASSIGNORS: ReadonlyMap<string, TargetAssignor> = new Map([
  ["uniform", assignUniform],
  ["range", assignTargetRange],
]);

/**
 * How a group of KIP-848 comes from one epoch to the next, whatever protocol its members speak (Kafka's
 * `GroupMetadataManager`). Everything is a record, and counts once it is replayed.
 */
export class ConsumerRebalance {
  readonly rules: ConsumerGroupRules;

  constructor(rules: ConsumerGroupRules) {
    this.rules = rules;
  }

  /** The group epoch rises if the member subscribes to something else, or a topic has changed. */
  updateEpoch(
    group: ConsumerGroup,
    { memberId, metadata: before }: ConsumerMember,
    metadata: MemberMetadata,
    effects: GroupEffects,
  ): number {
    const { groupId } = group;
    const isNew = !group.members.has(memberId);
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
    const hash = metadataHash(group.subscribedTopics({ memberId, metadata }), this.rules.image);
    if (!hasOtherTopics && hash === group.metadataHash) return group.epoch;
    const epoch = group.epoch + 1;
    const value = { epoch, metadataHash: hash };
    effects.records.push({ type: "ConsumerGroupMetadata", group: groupId, value });
    return epoch;
  }

  /** Makes a new target for a new epoch, unless the last is too young. Returns the member's. */
  updateTarget(
    group: ConsumerGroup,
    epoch: number,
    member: ConsumerMember,
    effects: GroupEffects,
  ): MemberTarget {
    const { memberId, metadata } = member;
    const { assignmentIntervalMs, image } = this.rules;
    const youngest = group.targetTimestamp + assignmentIntervalMs;
    if (epoch <= group.targetEpoch || effects.nowMs < youngest) return lastTarget(group, member);
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

  /** The member's next step towards its target. */
  reconcile(
    group: ConsumerGroup,
    { memberId, metadata, current: before }: ConsumerMember,
    target: MemberTarget,
    owned: ConsumerGroupHeartbeatRequest["topicPartitions"],
    effects: GroupEffects,
  ): CurrentAssignment {
    const { image } = this.rules;
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
    // Who joins by the classic protocol has timers of its own for that.
    if (usesClassicProtocol({ metadata })) return current;
    const timer = { kind: "rebalance", group: groupId, member: memberId, memberEpoch } as const;
    if (current.state === MEMBER_STATE.unrevoked) effects.start(timer, metadata.rebalanceTimeoutMs);
    else effects.cancel(timer);
    return current;
  }

  /** A static member goes on under another id: what it had is its successor's (`replaceMember`). */
  replaceStatic(
    group: ConsumerGroup,
    known: ConsumerMember,
    member: string,
    effects: GroupEffects,
  ): ConsumerMember {
    const { groupId } = group;
    const { metadata } = known;
    const current = { ...known.current, memberEpoch: 0, previousMemberEpoch: 0 };
    const target = group.target.get(known.memberId) ?? NO_PARTITIONS;
    effects.records.push(
      ...memberTombstones(groupId, known.memberId),
      { type: "ConsumerGroupMemberMetadata", group: groupId, member, value: metadata },
      { type: "ConsumerGroupTargetAssignmentMember", group: groupId, member, value: target },
      { type: "ConsumerGroupCurrentMemberAssignment", group: groupId, member, value: current },
    );
    noteLeft(group, known, "replaced", effects);
    return { memberId: member, metadata, current };
  }

  /**
   * Members are out, and the others are to share what they had; or are to go on as a classic group, if none of them
   * needs more than that (`consumerGroupFenceMembers`).
   */
  fence(
    group: ConsumerGroup,
    members: readonly ConsumerMember[],
    reason: string,
    effects: GroupEffects,
  ): void {
    const { groupId } = group;
    const { image } = this.rules;
    if (mayDowngrade(group, members, this.rules)) {
      const rebalance = "the last member of the consumer protocol has left";
      downgrade(group, { leaving: members, joining: undefined, rebalance }, image, effects);
    } else {
      for (const { memberId } of members) {
        effects.records.push(...memberTombstones(groupId, memberId));
      }
      const gone = new Set(members.map(({ memberId }) => memberId));
      const hash = metadataHash(group.subscribedTopicsWithout(gone), image);
      const value = { epoch: group.epoch + 1, metadataHash: hash };
      effects.records.push({ type: "ConsumerGroupMetadata", group: groupId, value });
    }
    for (const member of members) {
      const { memberId } = member;
      for (const kind of ["session", "rejoin", "resync"] as const) {
        effects.cancel({ kind, group: groupId, member: memberId });
      }
      effects.cancel({ kind: "rebalance", group: groupId, member: memberId, memberEpoch: 0 });
      noteLeft(group, member, reason, effects);
    }
  }

  /** The group was just loaded: its members must be heard of, those of the classic protocol within the same time. */
  loaded(group: ConsumerGroup, effects: GroupEffects): void {
    const { groupId } = group;
    for (const { memberId, metadata, current } of group.members.values()) {
      effects.start(
        { kind: "session", group: groupId, member: memberId },
        this.rules.sessionTimeoutMs,
      );
      if (current.state !== MEMBER_STATE.unrevoked) continue;
      const { memberEpoch } = current;
      const timer = { kind: "rebalance", group: groupId, member: memberId, memberEpoch } as const;
      effects.start(timer, metadata.rebalanceTimeoutMs);
    }
  }
}

/** What a member is to have until there is a new target. */
export function lastTarget(
  group: ConsumerGroup,
  { memberId, metadata }: ConsumerMember,
): MemberTarget {
  return { epoch: group.targetEpoch, partitions: group.targetOf(memberId, metadata.instanceId) };
}

function isSameMetadata(one: MemberMetadata, other: MemberMetadata): boolean {
  return (
    one.instanceId === other.instanceId &&
    one.rackId === other.rackId &&
    one.clientId === other.clientId &&
    one.clientHost === other.clientHost &&
    one.rebalanceTimeoutMs === other.rebalanceTimeoutMs &&
    one.serverAssignor === other.serverAssignor &&
    isSameList(one.subscribedTopicNames, other.subscribedTopicNames) &&
    isSameClassic(one.classicMemberMetadata, other.classicMemberMetadata)
  );
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, i) => item === other[i]);
}

function isSameClassic(
  one: ClassicMemberMetadata | undefined,
  other: ClassicMemberMetadata | undefined,
): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.sessionTimeoutMs === other.sessionTimeoutMs &&
    isSameProtocols(one.supportedProtocols, other.supportedProtocols)
  );
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

export function asPartitions(assigned: AssignedPartitions): TopicPartitions {
  const entries = [...assigned].map(([topicId, epochs]): [string, number[]] => {
    return [topicId, [...epochs.keys()].sort(byNumber)];
  });
  return new Map(entries);
}

export function namesOf(partitions: TopicPartitions, image: MetadataImage): PartitionName[] {
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
