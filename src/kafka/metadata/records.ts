import type { BrokerEpoch, BrokerId, LeaderEpoch, PartitionEpoch, TopicId } from "../ids.ts";
import type { Uuid } from "../uuid.ts";

/**
 * A record of the metadata log: the only form in which the cluster's state changes. Names and
 * fields are those of Kafka's schemas (`metadata/src/main/resources/common/metadata`); `undefined`
 * stands for null.
 */
export type MetadataRecord =
  | RegisterBrokerRecord
  | UnregisterBrokerRecord
  | TopicRecord
  | RemoveTopicRecord
  | PartitionRecord
  | PartitionChangeRecord
  | ConfigRecord
  | FeatureLevelRecord
  | BrokerRegistrationChangeRecord
  | RegisterControllerRecord
  | ProducerIdsRecord
  | BeginTransactionRecord
  | EndTransactionRecord
  | NoOpRecord
  | ClearElrRecord;

export type MetadataRecordType = MetadataRecord["type"];

/** Key 0, version 4: a broker registered. Its migration flag is always false and not kept. */
export interface RegisterBrokerRecord {
  readonly type: "RegisterBrokerRecord";
  readonly brokerId: BrokerId;
  readonly incarnationId: Uuid;
  readonly brokerEpoch: BrokerEpoch;
  readonly endPoints: readonly BrokerEndPoint[];
  readonly features: readonly BrokerFeature[];
  readonly rack: string | undefined;
  readonly fenced: boolean;
  readonly inControlledShutdown: boolean;
  readonly logDirs: readonly Uuid[];
}

export interface BrokerEndPoint {
  readonly name: string;
  readonly host: string;
  /** uint16; the node's address in the simulated network. */
  readonly port: number;
  readonly securityProtocol: number;
}

export interface BrokerFeature {
  readonly name: string;
  readonly minSupportedVersion: number;
  readonly maxSupportedVersion: number;
}

/** Key 1. */
export interface UnregisterBrokerRecord {
  readonly type: "UnregisterBrokerRecord";
  readonly brokerId: BrokerId;
  readonly brokerEpoch: BrokerEpoch;
}

/** Key 2. */
export interface TopicRecord {
  readonly type: "TopicRecord";
  readonly name: string;
  readonly topicId: TopicId;
}

/** Key 9: the topic is gone, with its partitions and configs. */
export interface RemoveTopicRecord {
  readonly type: "RemoveTopicRecord";
  readonly topicId: TopicId;
}

/** Key 3, version 2: a new partition. */
export interface PartitionRecord {
  readonly type: "PartitionRecord";
  readonly partitionId: number;
  readonly topicId: TopicId;
  readonly replicas: readonly BrokerId[];
  readonly isr: readonly BrokerId[];
  readonly removingReplicas: readonly BrokerId[];
  readonly addingReplicas: readonly BrokerId[];
  readonly leader: BrokerId;
  readonly leaderRecoveryState: LeaderRecoveryState;
  readonly leaderEpoch: LeaderEpoch;
  readonly partitionEpoch: PartitionEpoch;
  /** The log directory of each replica, in the order of `replicas`. */
  readonly directories: readonly Uuid[];
  readonly eligibleLeaderReplicas: readonly BrokerId[] | undefined;
  readonly lastKnownElr: readonly BrokerId[] | undefined;
}

/** 0 recovered, 1 recovering from an unclean election (KIP-704). */
export type LeaderRecoveryState = 0 | 1;
export const RECOVERED = 0;
export const RECOVERING = 1;
/** `LeaderConstants.NO_LEADER_CHANGE`. */
export const NO_LEADER_CHANGE = -2;

/** Key 5, version 2: what changed of a partition; an absent field did not. */
export interface PartitionChangeRecord {
  readonly type: "PartitionChangeRecord";
  readonly partitionId: number;
  readonly topicId: TopicId;
  readonly isr?: readonly BrokerId[];
  /** -1 if there is none now; absent (-2 in bytes) if it did not change and no new epoch begins. */
  readonly leader?: BrokerId;
  readonly replicas?: readonly BrokerId[];
  readonly removingReplicas?: readonly BrokerId[];
  readonly addingReplicas?: readonly BrokerId[];
  readonly leaderRecoveryState?: LeaderRecoveryState;
  readonly directories?: readonly Uuid[];
  readonly eligibleLeaderReplicas?: readonly BrokerId[];
  readonly lastKnownElr?: readonly BrokerId[];
}

/** Key 4. */
export interface ConfigRecord {
  readonly type: "ConfigRecord";
  /** `ConfigResource.Type`: 2 topic, 4 broker. */
  readonly resourceType: number;
  readonly resourceName: string;
  readonly name: string;
  /** Undefined removes the config. */
  readonly value: string | undefined;
}

export const TOPIC_RESOURCE = 2;

/** Key 12. */
export interface FeatureLevelRecord {
  readonly type: "FeatureLevelRecord";
  readonly name: string;
  readonly featureLevel: number;
}

/**
 * Key 17. Written in the lowest version that has what changed: 0 for fencing, 1 for a controlled
 * shutdown, 2 for log directories, 3 for cordoned ones.
 */
export interface BrokerRegistrationChangeRecord {
  readonly type: "BrokerRegistrationChangeRecord";
  readonly brokerId: BrokerId;
  readonly brokerEpoch: BrokerEpoch;
  /** -1 unfenced now, 0 no change, 1 fenced now. */
  readonly fenced: -1 | 0 | 1;
  /** 0 no change, 1 in controlled shutdown now. */
  readonly inControlledShutdown: 0 | 1;
  /** The directories that are online now; absent if they did not change. */
  readonly logDirs?: readonly Uuid[];
  /** The directories that take no new replicas now (KIP-1066); absent if they did not change. */
  readonly cordonedLogDirs?: readonly Uuid[];
}

/** Key 27: a controller registered. Its migration flag is always false and not kept. */
export interface RegisterControllerRecord {
  readonly type: "RegisterControllerRecord";
  readonly controllerId: BrokerId;
  readonly incarnationId: Uuid;
  readonly endPoints: readonly BrokerEndPoint[];
  readonly features: readonly BrokerFeature[];
}

/** Key 23: what follows, up to its end, is applied as one (KIP-868). */
export interface BeginTransactionRecord {
  readonly type: "BeginTransactionRecord";
  readonly name: string | undefined;
}

/** Key 24. */
export interface EndTransactionRecord {
  readonly type: "EndTransactionRecord";
}

/** Key 15: the first producer id not handed out yet. */
export interface ProducerIdsRecord {
  readonly type: "ProducerIdsRecord";
  readonly brokerId: BrokerId;
  readonly brokerEpoch: BrokerEpoch;
  readonly nextProducerId: number;
}

/** Key 20: keeps an idle log moving (KIP-835). */
export interface NoOpRecord {
  readonly type: "NoOpRecord";
}

/** Key 28: forgets the ELR of a topic's partitions, of all topics if the name is empty (KIP-966). */
export interface ClearElrRecord {
  readonly type: "ClearElrRecord";
  readonly topicName: string;
}
