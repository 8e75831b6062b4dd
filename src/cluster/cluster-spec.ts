import type { Duration } from "../base/time.ts";
import type { DiskOptions } from "../disk/disk-options.ts";
import type { ConsumerConfigs } from "../kafka/config/consumer-configs.ts";
import type { ProducerConfigs } from "../kafka/config/producer-configs.ts";
import type { BrokerId } from "../kafka/ids.ts";
import type { CreatableTopic } from "../kafka/protocol/create-topics.ts";
import type { FeatureLevels } from "../kafka/protocol-switches.ts";
import type { ReplicationRules } from "../kafka/replication/replication-rules.ts";
import type { LinkQuality } from "../net/link.ts";
import type {
  CommitPolicy,
  SelfAssignment,
  Subscription,
} from "../nodes/consumer/group/group-options.ts";
import type { WorkPlan } from "../nodes/consumer/group/work.ts";
import type { ProcessingGuarantee } from "../nodes/processor/processor-options.ts";
import type { KeyPlan, TransactionPlan } from "../nodes/producer/producer-options.ts";
import type { DurationSource, Ratio } from "../ports/random.ts";

/** All that a cluster is made from; every choice is made. */
export interface ClusterSpec {
  readonly seed: string;
  readonly brokers: readonly BrokerSpec[];
  readonly controllers: number;
  /** Configs of all brokers and controllers, by Kafka's names. */
  readonly configs: Readonly<Record<string, unknown>>;
  readonly features: FeatureLevels;
  readonly topics: readonly CreatableTopic[];
  readonly clients: readonly ClientSpec[];
  readonly link: LinkQuality;
  readonly disk: DiskOptions;
  readonly rules: ReplicationRules;
}

export interface BrokerSpec {
  readonly id: BrokerId;
  readonly rack: string | undefined;
  /** The broker's own, over those of the cluster. */
  readonly configs: Readonly<Record<string, unknown>>;
}

export type ClientSpec = ProducerSpec | ConsumerSpec | ProcessorSpec;

export interface ProducerSpec {
  readonly kind: "producer";
  readonly name: string;
  readonly topic: string;
  readonly arrival: Duration | DurationSource;
  /** Undefined: until the scenario settles. */
  readonly records: number | undefined;
  readonly keys: KeyPlan;
  readonly tombstones: Ratio | undefined;
  readonly recordSize: number;
  readonly transaction: TransactionPlan | undefined;
  readonly configs: ProducerConfigs;
  readonly idempotence: boolean;
}

export interface ConsumerSpec {
  readonly kind: "consumer";
  readonly name: string;
  /** One, unless it is a member of a group. */
  readonly topics: readonly string[];
  /** Those of its topic that it assigns to itself; undefined: all, or what its group gives it. */
  readonly partitions: readonly number[] | undefined;
  readonly membership: MembershipPlan | undefined;
  readonly configs: ConsumerConfigs;
}

export interface ProcessorSpec {
  readonly kind: "processor";
  readonly name: string;
  readonly subscription: Subscription;
  readonly to: string | undefined;
  readonly store: { readonly name: string; readonly isKeyUnique: boolean } | undefined;
  readonly group: string;
  readonly guarantee: ProcessingGuarantee;
  readonly work: DurationSource | undefined;
  readonly recordSize: number;
  readonly configs: ProducerConfigs;
  readonly idempotence: boolean;
  readonly consumerConfigs: ConsumerConfigs;
}

export interface MembershipPlan {
  readonly group: string;
  readonly subscription: Subscription | SelfAssignment;
  readonly work: WorkPlan;
  readonly commit: CommitPolicy;
}
