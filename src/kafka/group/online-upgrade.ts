import { byText } from "../../base/order.ts";
import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { MetadataImage } from "../metadata/image.ts";
import type { ClassicGroup } from "./classic-group.ts";
import type { ClassicMember } from "./classic-member.ts";
import { answerJoin, answerSync, refusedJoin } from "./classic-rebalance.ts";
import { ConsumerGroup } from "./consumer-group.ts";
import type { ConsumerMember } from "./consumer-member.ts";
import { MEMBER_STATE, NOTHING_ASSIGNED } from "./consumer-member.ts";
import { decodeAssignment, decodeSubscription } from "./consumer-protocol.ts";
import type { ConsumerProtocolOptions } from "./consumer-rebalance.ts";
import { asPartitions, namesOf } from "./consumer-rebalance.ts";
import type { GroupEffects } from "./group-effects.ts";
import type { AssignedPartitions } from "./group-record.ts";
import { metadataHash } from "./metadata-hash.ts";

/**
 * Makes a classic group with members one of KIP-848, since somebody comes who speaks only that protocol: the generation
 * becomes the epoch, and its members go on, by the classic protocol, with what they were assigned last. As anything
 * in such a group it counts once its records are replayed; the group returned is what they will make, or why it
 * cannot be (`validateOnlineUpgrade`, `convertToConsumerGroup`).
 */
export function upgrade(
  group: ClassicGroup,
  { migrationPolicy, maxSize }: ConsumerProtocolOptions,
  image: MetadataImage,
  effects: GroupEffects,
): ConsumerGroup | ErrorCode {
  const mayUpgrade = migrationPolicy === "bidirectional" || migrationPolicy === "upgrade";
  const isFit = group.usesConsumerProtocol && group.members.size <= maxSize;
  if (!mayUpgrade || !isFit) return ERRORS.GROUP_ID_NOT_FOUND;
  // Those who wait for the next generation are to join again, also if nothing comes of this.
  for (const member of group.members.values()) {
    const error = ERRORS.REBALANCE_IN_PROGRESS;
    answerJoin(member, refusedJoin(member.memberId, error), effects);
    answerSync(member, error, undefined, effects);
  }
  const members: ConsumerMember[] = [];
  for (const member of group.members.values()) {
    const converted = convert(member, group, image);
    if (!("memberId" in converted)) return converted;
    members.push(converted);
  }
  return write(group, members, image, effects);
}

/** What the group's records are, and what they make; the order is Kafka's (`createConsumerGroupRecords`). */
function write(
  { groupId: group, generation, state }: ClassicGroup,
  members: readonly ConsumerMember[],
  image: MetadataImage,
  effects: GroupEffects,
): ConsumerGroup {
  const made = new ConsumerGroup(group);
  const { records } = effects;
  records.push({ type: "GroupMetadata", group, value: undefined });
  const first = records.length;
  for (const { memberId: member, metadata } of members) {
    records.push({ type: "ConsumerGroupMemberMetadata", group, member, value: metadata });
  }
  const topics = new Set(members.flatMap(({ metadata }) => metadata.subscribedTopicNames));
  const value = { epoch: generation, metadataHash: metadataHash(topics, image) };
  records.push({ type: "ConsumerGroupMetadata", group, value });
  for (const { memberId: member, current } of members) {
    const target = asPartitions(current.assigned);
    records.push({ type: "ConsumerGroupTargetAssignmentMember", group, member, value: target });
  }
  const targetEpoch = { epoch: generation, timestamp: 0 };
  records.push({
    type: "ConsumerGroupTargetAssignmentMetadata",
    group,
    value: targetEpoch,
  });
  for (const { memberId: member, current } of members) {
    records.push({ type: "ConsumerGroupCurrentMemberAssignment", group, member, value: current });
  }
  for (const record of records.slice(first)) {
    if (record.type !== "OffsetCommit" && record.type !== "GroupMetadata") made.replay(record);
  }
  effects.upgradedFrom = state;
  effects.notes.push({ kind: "group-migrated", group, to: "consumer", generation });
  for (const { memberId: member, metadata, current } of members) {
    const timer = { kind: "session", group, member } as const;
    effects.start(timer, metadata.classicMemberMetadata?.sessionTimeoutMs ?? 0);
    effects.notes.push({
      kind: "group-member-assigned",
      group,
      member,
      memberEpoch: generation,
      partitions: namesOf(asPartitions(current.assigned), image),
      revoking: [],
    });
  }
  return made;
}

/** A member as it goes on (`ConsumerGroup.fromClassicGroup`). */
function convert(
  member: ClassicMember,
  { generation, protocolName }: ClassicGroup,
  image: MetadataImage,
): ConsumerMember | ErrorCode {
  const assigned = assignedTo(member, generation, image);
  if (assigned === undefined) return ERRORS.GROUP_ID_NOT_FOUND;
  const chosen = member.protocols.find(({ name }) => name === protocolName);
  // Kafka 4.3 fails so on a group in its first rebalance, and on who has joined with other protocols than it had.
  if (chosen === undefined) return ERRORS.UNKNOWN_SERVER_ERROR;
  const subscription = decodeSubscription(chosen.metadata);
  if (subscription === undefined) return ERRORS.GROUP_ID_NOT_FOUND;
  return {
    memberId: member.memberId,
    metadata: {
      instanceId: member.groupInstanceId,
      rackId: subscription.rackId,
      clientId: member.clientId,
      clientHost: member.clientHost,
      subscribedTopicNames: [...subscription.topics].sort(byText),
      subscribedTopicRegex: "",
      rebalanceTimeoutMs: member.rebalanceTimeoutMs,
      serverAssignor: undefined,
      classicMemberMetadata: {
        sessionTimeoutMs: member.sessionTimeoutMs,
        supportedProtocols: member.protocols,
      },
    },
    current: {
      memberEpoch: generation,
      previousMemberEpoch: generation,
      state: MEMBER_STATE.stable,
      assigned,
      revoking: NOTHING_ASSIGNED,
    },
  };
}

/** Undefined if it cannot be told, or if something else would be lost with it that an assignor had to say. */
function assignedTo(
  { assignment }: ClassicMember,
  generation: number,
  image: MetadataImage,
): AssignedPartitions | undefined {
  if (assignment.length === 0) return NOTHING_ASSIGNED;
  const decoded = decodeAssignment(assignment);
  if (decoded === undefined || (decoded.userData?.length ?? 0) > 0) return undefined;
  const assigned = new Map<string, Map<number, number>>();
  for (const [name, partitions] of decoded.partitions) {
    const topic = image.topicByName(name);
    if (topic === undefined) continue;
    assigned.set(topic.topicId, new Map(partitions.map((index) => [index, generation])));
  }
  return assigned;
}
