import { BROKER_CONFIGS } from "../../src/kafka/config/broker-configs.ts";
import { resolveConfigs } from "../../src/kafka/config/config-table.ts";
import { CONTROLLER_RULES } from "../../src/kafka/metadata/controller-rules.ts";
import type { DecisionContext } from "../../src/kafka/metadata/decision.ts";
import { ELR_FEATURE } from "../../src/kafka/metadata/decision.ts";
import { MetadataImage } from "../../src/kafka/metadata/image.ts";
import type { PartitionRegistration } from "../../src/kafka/metadata/partition-registration.ts";
import type { MetadataRecord } from "../../src/kafka/metadata/records.ts";
import { numberedUuid } from "../../src/kafka/uuid.ts";

export const TOPIC_ID = numberedUuid(7, 7);

/** A partition of brokers 1, 2 and 3, in full health, unless told otherwise. */
export function partitionOf(fields: Partial<PartitionRegistration> = {}): PartitionRegistration {
  const replicas = fields.replicas ?? [1, 2, 3];
  return {
    replicas,
    directories: [],
    isr: replicas,
    elr: [],
    lastKnownElr: [],
    removingReplicas: [],
    addingReplicas: [],
    leader: replicas[0] ?? -1,
    leaderRecoveryState: 0,
    leaderEpoch: 5,
    partitionEpoch: 9,
    ...fields,
  };
}

export interface FixtureOptions {
  /** Unfenced, each registered at broker epoch 100 + its id. */
  readonly brokers?: readonly number[];
  readonly fenced?: readonly number[];
  readonly elr?: boolean;
  readonly configs?: Readonly<Record<string, unknown>>;
  readonly topicConfigs?: Readonly<Record<string, string>>;
  /** The partitions of topic `orders`. */
  readonly partitions?: readonly PartitionRegistration[];
}

/** A cluster's state, made of records as any is. */
export class MetadataFixture {
  readonly image: MetadataImage = new MetadataImage();
  readonly context: DecisionContext;

  constructor(options: FixtureOptions = {}) {
    const configs = resolveConfigs(BROKER_CONFIGS, options.configs ?? {});
    this.context = { image: this.image, configs, rules: CONTROLLER_RULES };
    const { brokers = [1, 2, 3], fenced = [], partitions = [] } = options;
    const featureLevel = options.elr === false ? 0 : 1;
    this.apply([{ type: "FeatureLevelRecord", name: ELR_FEATURE, featureLevel }]);
    for (const brokerId of brokers) {
      this.apply([
        {
          type: "RegisterBrokerRecord",
          brokerId,
          incarnationId: numberedUuid(2, brokerId),
          brokerEpoch: 100 + brokerId,
          endPoints: [{ name: "PLAINTEXT", host: "", port: brokerId, securityProtocol: 0 }],
          features: [],
          rack: undefined,
          fenced: fenced.includes(brokerId),
          inControlledShutdown: false,
          logDirs: [numberedUuid(3, brokerId)],
        },
      ]);
    }
    if (partitions.length > 0) this.#createTopic(partitions, options.topicConfigs ?? {});
  }

  apply(records: readonly MetadataRecord[]): void {
    for (const record of records) this.image.replay(record, this.image.lastOffset + 1);
  }

  partition(index = 0): PartitionRegistration {
    const partition = this.image.topicById(TOPIC_ID)?.partitions[index];
    if (partition === undefined) throw new Error(`there is no partition ${index}`);
    return partition;
  }

  #createTopic(
    partitions: readonly PartitionRegistration[],
    configs: Readonly<Record<string, string>>,
  ): void {
    this.apply([{ type: "TopicRecord", name: "orders", topicId: TOPIC_ID }]);
    for (const [name, value] of Object.entries(configs)) {
      const record = { resourceType: 2, resourceName: "orders", name, value };
      this.apply([{ type: "ConfigRecord", ...record }]);
    }
    for (const [partitionId, partition] of partitions.entries()) {
      const { elr, ...rest } = partition;
      const own = { partitionId, topicId: TOPIC_ID, eligibleLeaderReplicas: elr };
      this.apply([{ type: "PartitionRecord", ...rest, ...own }]);
    }
  }
}
