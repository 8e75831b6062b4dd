import type { MetadataImage } from "../metadata/image.ts";
import type { TopicPartitions } from "./assignors/topic-partitions.ts";
import { NO_PARTITIONS } from "./assignors/topic-partitions.ts";
import { ClassicGroup, CONSUMER_PROTOCOL } from "./classic-group.ts";
import { ClassicMember } from "./classic-member.ts";
import type { ConsumerGroup } from "./consumer-group.ts";
import type { ConsumerMember } from "./consumer-member.ts";
import { usesClassicProtocol } from "./consumer-member.ts";
import { encodeAssignment } from "./consumer-protocol.ts";
import type { GroupEffects } from "./group-effects.ts";

/** What decides whether a group of KIP-848 becomes a classic one. */
export interface DowngradeOptions {
  /** `group.consumer.migration.policy` */
  readonly migrationPolicy: string;
  /** `group.max.size` */
  readonly classicMaxSize: number;
}

/** Are those that stay when these leave all of the classic protocol (`validateOnlineDowngradeWithFencedMembers`)? */
export function mayDowngrade(
  group: ConsumerGroup,
  leaving: readonly ConsumerMember[],
  options: DowngradeOptions,
): boolean {
  const staying = group.members.size - leaving.length;
  const leavingClassic = leaving.filter(usesClassicProtocol).length;
  if (staying <= 0 || group.classicMembers - leavingClassic !== staying) return false;
  return isAllowed(options) && staying <= options.classicMaxSize;
}

/**
 * The same of a static member that comes back by the classic protocol in the place of the last of the
 * other one (`validateOnlineDowngradeWithReplacedMember`).
 */
export function mayDowngradeReplacing(
  group: ConsumerGroup,
  replaced: ConsumerMember,
  options: DowngradeOptions,
): boolean {
  const { size } = group.members;
  if (usesClassicProtocol(replaced) || group.classicMembers !== size - 1) return false;
  return isAllowed(options) && size <= options.classicMaxSize;
}

function isAllowed({ migrationPolicy }: DowngradeOptions): boolean {
  return migrationPolicy === "bidirectional" || migrationPolicy === "downgrade";
}

/** How a group becomes a classic one: without whom, or with whom for another. */
export interface Downgrade {
  readonly leaving: readonly ConsumerMember[];
  readonly joining: ConsumerMember | undefined;
  /** Why the group must rebalance then; undefined if it need not. */
  readonly rebalance: string | undefined;
}

/**
 * Makes a group of KIP-848 a classic one: the epoch becomes the generation, and each member has what it was to have
 * (`convertToClassicGroup`). It counts once the records are replayed: see `GroupEffects.downgraded`.
 */
export function downgrade(
  group: ConsumerGroup,
  { leaving, joining, rebalance }: Downgrade,
  image: MetadataImage,
  effects: GroupEffects,
): void {
  const { groupId } = group;
  const replaced = joining && group.staticMember(joining.metadata.instanceId ?? "")?.memberId;
  const ids = [...group.members.keys()];
  // That it is gone was written when it was replaced.
  effects.records.push(
    ...group.tombstones(ids.map((id) => (id === replaced ? (joining?.memberId ?? id) : id))),
  );
  const gone = new Set(leaving.map(({ memberId }) => memberId));
  const staying = [...group.members.values()].filter(
    ({ memberId }) => !gone.has(memberId) && memberId !== replaced,
  );
  if (joining !== undefined) staying.push(joining);
  const classic = new ClassicGroup(groupId, effects.nowMs);
  classic.state = "Stable";
  classic.generation = group.epoch;
  for (const member of staying) classic.add(classicMember(member));
  classic.protocolName = classic.selectProtocol();
  classic.updateSubscribedTopics();
  for (const member of classic.members.values()) {
    const { memberId } = member;
    const target = group.target.get(memberId === joining?.memberId ? (replaced ?? "") : memberId);
    const partitions = byName(target ?? NO_PARTITIONS, image);
    member.assignment = encodeAssignment({ partitions, userData: undefined });
  }
  effects.records.push(classic.record());
  effects.downgraded = { from: group.state, group: classic, rebalance };
  const { generation } = classic;
  effects.notes.push({ kind: "group-migrated", group: groupId, to: "classic", generation });
}

function classicMember({ memberId, metadata }: ConsumerMember): ClassicMember {
  const { instanceId, classicMemberMetadata: said } = metadata;
  return new ClassicMember(memberId, {
    ...metadata,
    groupInstanceId: instanceId,
    protocolType: CONSUMER_PROTOCOL,
    sessionTimeoutMs: said?.sessionTimeoutMs ?? 0,
    protocols: said?.supportedProtocols ?? [],
  });
}

/** By the names of topics, as clients say it; of topics that are there. */
export function byName(partitions: TopicPartitions, image: MetadataImage): TopicPartitions {
  const named = new Map<string, readonly number[]>();
  for (const [topicId, numbers] of partitions) {
    const topic = image.topicById(topicId);
    if (topic !== undefined) named.set(topic.name, numbers);
  }
  return named;
}
