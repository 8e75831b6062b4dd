import type { BrokerId } from "../ids.ts";
import { NO_LEADER } from "../ids.ts";
import type { DecisionContext } from "./decision.ts";
import {
  effectiveMinInsyncReplicas,
  electionModeOf,
  isBrokerActive,
  isElrEnabled,
} from "./decision.ts";
import { isReplicaOnline } from "./directory-id.ts";
import type { ElectionMode } from "./election.ts";
import type { TopicImage } from "./image.ts";
import { buildPartitionChange } from "./partition-change.ts";
import type { PartitionRegistration } from "./partition-registration.ts";
import type { MetadataRecord } from "./records.ts";

/** What the end or the return of a broker does to all partitions (`ReplicationControlManager`). */

/** A broker counts as dead: out of every ISR, others lead. */
export function fenceBroker(context: DecisionContext, broker: BrokerId): MetadataRecord[] {
  const registration = context.image.brokers.get(broker);
  if (registration === undefined) return [];
  return [
    ...leaderAndIsrUpdates(context, { remove: broker }, hasInIsr(broker)),
    {
      type: "BrokerRegistrationChangeRecord",
      brokerId: broker,
      brokerEpoch: registration.brokerEpoch,
      fenced: 1,
      inControlledShutdown: 0,
    },
  ];
}

/** A broker is back: partitions that have no leader may find one in it. */
export function unfenceBroker(context: DecisionContext, broker: BrokerId): MetadataRecord[] {
  const registration = context.image.brokers.get(broker);
  if (registration === undefined) return [];
  return [
    {
      type: "BrokerRegistrationChangeRecord",
      brokerId: broker,
      brokerEpoch: registration.brokerEpoch,
      fenced: -1,
      inControlledShutdown: 0,
    },
    ...leaderAndIsrUpdates(context, { add: broker }, isLeaderless),
  ];
}

/** A broker asks to leave: others lead first, it stays alive until they do. */
export function beginControlledShutdown(
  context: DecisionContext,
  broker: BrokerId,
): MetadataRecord[] {
  const registration = context.image.brokers.get(broker);
  if (registration === undefined) return [];
  const records: MetadataRecord[] = [];
  if (!registration.inControlledShutdown) {
    records.push({
      type: "BrokerRegistrationChangeRecord",
      brokerId: broker,
      brokerEpoch: registration.brokerEpoch,
      fenced: 0,
      inControlledShutdown: 1,
    });
  }
  records.push(...leaderAndIsrUpdates(context, { remove: broker }, hasInIsr(broker)));
  return records;
}

/**
 * A new process of a broker registers: the former one's places are given up as if it were fenced.
 * With ELR on, one that did not stop cleanly may have lost records, and leaves the ELR too.
 */
export function dropIncarnation(
  context: DecisionContext,
  broker: BrokerId,
  isCleanShutdown: boolean,
): MetadataRecord[] {
  if (isCleanShutdown || !isElrEnabled(context.image)) {
    return leaderAndIsrUpdates(context, { remove: broker }, hasInIsr(broker));
  }
  const change = { uncleanShutdown: broker };
  return [
    ...leaderAndIsrUpdates(context, change, hasInIsr(broker)),
    ...leaderAndIsrUpdates(context, change, (partition) => partition.elr.includes(broker)),
  ];
}

/** A broker's replicas of some partitions are gone, though it lives: out of the ISRs, others lead. */
export function dropReplicas(
  context: DecisionContext,
  broker: BrokerId,
  isAffected: (partition: PartitionRegistration) => boolean,
): MetadataRecord[] {
  return leaderAndIsrUpdates(context, { remove: broker }, isAffected);
}

/** Gives partitions back to their preferred leaders, up to `limit` of them. */
export function electPreferredLeaders(context: DecisionContext, limit: number): MetadataRecord[] {
  const isImbalanced = (partition: PartitionRegistration): boolean =>
    partition.leader !== partition.replicas[0];
  return leaderAndIsrUpdates(context, { mode: "preferred", limit }, isImbalanced);
}

/** Finds leaders for partitions that have none and whose topics allow unclean elections. */
export function electUncleanLeaders(context: DecisionContext, limit: number): MetadataRecord[] {
  const isStuck = (partition: PartitionRegistration, topic: TopicImage): boolean =>
    isLeaderless(partition) && electionModeOf(context, topic) === "unclean";
  return leaderAndIsrUpdates(context, { limit }, isStuck);
}

/** Does the broker lead any partition? */
export function hasLeaderships(context: DecisionContext, broker: BrokerId): boolean {
  return context.image.topics.some((topic) =>
    topic.partitions.some((partition) => partition.leader === broker),
  );
}

interface BrokerChange {
  /** Leaves every ISR and may not lead. */
  readonly remove?: BrokerId;
  /** May lead, although the image has it fenced still. */
  readonly add?: BrokerId;
  /** Leaves ISR and ELR and may not lead. */
  readonly uncleanShutdown?: BrokerId;
  /** As the topic's configs have it, if absent. */
  readonly mode?: ElectionMode;
  readonly limit?: number;
}

/** `generateLeaderAndIsrUpdates`: in topic order, so that the same state gives the same records. */
function leaderAndIsrUpdates(
  context: DecisionContext,
  change: BrokerChange,
  isAffected: (partition: PartitionRegistration, topic: TopicImage) => boolean,
): MetadataRecord[] {
  const { remove, add, uncleanShutdown, limit = Number.MAX_SAFE_INTEGER } = change;
  const { image, configs } = context;
  const isAcceptableLeader = (broker: BrokerId, partition: PartitionRegistration): boolean =>
    broker !== remove &&
    broker !== uncleanShutdown &&
    (broker === add || isBrokerActive(context, broker)) &&
    isReplicaOnline(image.brokers.get(broker), partition);
  const records: MetadataRecord[] = [];
  for (const topic of image.topics) {
    for (const [partitionId, partition] of topic.partitions.entries()) {
      if (!isAffected(partition, topic)) continue;
      if (records.length >= limit) return records;
      const targetIsr = partition.isr.filter((id) => id !== remove && id !== uncleanShutdown);
      const record = buildPartitionChange(
        {
          topicId: topic.topicId,
          partitionId,
          partition,
          isAcceptableLeader: (broker) => isAcceptableLeader(broker, partition),
          minInsyncReplicas: effectiveMinInsyncReplicas(image, configs, topic),
          isElrEnabled: isElrEnabled(image),
          election: change.mode ?? electionModeOf(context, topic),
          targetIsr,
          ...(uncleanShutdown === undefined ? {} : { uncleanShutdown }),
        },
        context.rules.elect,
      );
      if (record !== undefined) records.push(record);
    }
  }
  return records;
}

function hasInIsr(broker: BrokerId): (partition: PartitionRegistration) => boolean {
  return (partition) => partition.isr.includes(broker);
}

function isLeaderless(partition: PartitionRegistration): boolean {
  return partition.leader === NO_LEADER;
}
