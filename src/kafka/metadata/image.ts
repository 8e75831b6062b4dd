import { fail, invariant, unreachable } from "../../base/invariant.ts";
import { byText } from "../../base/order.ts";
import type { BrokerId, Offset, TopicId } from "../ids.ts";
import type { BrokerRegistration } from "./broker-registration.ts";
import { brokerOf, changedBroker } from "./broker-registration.ts";
import type { PartitionRegistration } from "./partition-registration.ts";
import { mergeChange, registrationOf } from "./partition-registration.ts";
import type {
  BrokerRegistrationChangeRecord,
  ClearElrRecord,
  ConfigRecord,
  MetadataRecord,
  PartitionChangeRecord,
  PartitionRecord,
  UnregisterBrokerRecord,
} from "./records.ts";
import { TOPIC_RESOURCE } from "./records.ts";

/** A topic with its partitions, by index. The array is the image's own: read it, never keep it. */
export interface TopicImage {
  readonly topicId: TopicId;
  readonly name: string;
  readonly partitions: readonly PartitionRegistration[];
}

interface MutableTopicImage extends TopicImage {
  readonly partitions: PartitionRegistration[];
}

const NO_CONFIGS: Readonly<Record<string, string>> = {};

/**
 * The cluster's metadata up to some offset of the metadata log. `replay` is the only way it
 * changes, on controllers and brokers alike (Kafka's `MetadataImage`). What it hands out is
 * immutable, but for the collections themselves.
 */
export class MetadataImage {
  /** Offset of the last record replayed; -1 before the first. */
  lastOffset: Offset = -1;
  readonly brokers: Map<BrokerId, BrokerRegistration> = new Map();
  readonly features: Map<string, number> = new Map();
  /** The first producer id that no broker was given. */
  nextProducerId = 0;
  readonly #byId = new Map<TopicId, MutableTopicImage>();
  readonly #byName = new Map<string, MutableTopicImage>();
  readonly #configs = new Map<string, Readonly<Record<string, string>>>();
  /** In name order; empty until asked for. */
  #sorted: readonly TopicImage[] | undefined;

  topicByName(name: string): TopicImage | undefined {
    return this.#byName.get(name);
  }

  topicById(id: TopicId): TopicImage | undefined {
    return this.#byId.get(id);
  }

  /** All topics in name order. */
  get topics(): readonly TopicImage[] {
    this.#sorted ??= [...this.#byName.values()].sort((a, b) => byText(a.name, b.name));
    return this.#sorted;
  }

  /** The configs that were set on a topic itself, by Kafka's names. */
  topicConfigs(name: string): Readonly<Record<string, string>> {
    return this.#configs.get(name) ?? NO_CONFIGS;
  }

  /** Level of a feature; 0 if it is not finalized. */
  featureLevel(name: string): number {
    return this.features.get(name) ?? 0;
  }

  /** A second image in the same state, which then changes on its own. */
  copy(): MetadataImage {
    const copy = new MetadataImage();
    copy.lastOffset = this.lastOffset;
    copy.nextProducerId = this.nextProducerId;
    for (const [id, broker] of this.brokers) copy.brokers.set(id, broker);
    for (const [name, level] of this.features) copy.features.set(name, level);
    for (const [name, configs] of this.#configs) copy.#configs.set(name, configs);
    for (const topic of this.#byId.values()) {
      const twin = { ...topic, partitions: [...topic.partitions] };
      copy.#byId.set(twin.topicId, twin);
      copy.#byName.set(twin.name, twin);
    }
    return copy;
  }

  /** Applies the record at `offset`. Records that do not fit the state are a bug of the simulator. */
  replay(record: MetadataRecord, offset: Offset): void {
    invariant(offset > this.lastOffset, () => `replayed ${offset} after ${this.lastOffset}`);
    switch (record.type) {
      case "NoOpRecord":
      // Controllers are known from the start: nobody asks the image for them.
      case "RegisterControllerRecord":
      // Simplified: a transaction's records are applied one by one; brokers of Kafka wait for its end.
      case "BeginTransactionRecord":
      case "EndTransactionRecord":
        break;
      case "RegisterBrokerRecord":
        this.brokers.set(record.brokerId, brokerOf(record, offset));
        break;
      case "UnregisterBrokerRecord":
        this.#unregister(record);
        break;
      case "BrokerRegistrationChangeRecord":
        this.#changeBroker(record);
        break;
      case "TopicRecord": {
        const topic = { topicId: record.topicId, name: record.name, partitions: [] };
        invariant(!this.#byName.has(record.name), () => `topic ${record.name} exists`);
        this.#byId.set(record.topicId, topic);
        this.#byName.set(record.name, topic);
        this.#sorted = undefined;
        break;
      }
      case "RemoveTopicRecord": {
        const { topicId, name } = this.#topic(record.topicId);
        this.#byId.delete(topicId);
        this.#byName.delete(name);
        this.#configs.delete(name);
        this.#sorted = undefined;
        break;
      }
      case "PartitionRecord":
        this.#addPartition(record);
        break;
      case "PartitionChangeRecord":
        this.#changePartition(record);
        break;
      case "ConfigRecord":
        this.#config(record);
        break;
      case "FeatureLevelRecord":
        this.features.set(record.name, record.featureLevel);
        break;
      case "ProducerIdsRecord":
        this.nextProducerId = record.nextProducerId;
        break;
      case "ClearElrRecord":
        this.#clearElr(record);
        break;
      default:
        unreachable(record);
    }
    this.lastOffset = offset;
  }

  #unregister(record: UnregisterBrokerRecord): void {
    const broker = this.#broker(record.brokerId);
    invariant(
      broker.brokerEpoch === record.brokerEpoch,
      () => `broker ${record.brokerId} is of epoch ${broker.brokerEpoch}`,
    );
    this.brokers.delete(record.brokerId);
  }

  #changeBroker(record: BrokerRegistrationChangeRecord): void {
    const broker = this.#broker(record.brokerId);
    invariant(
      broker.brokerEpoch === record.brokerEpoch,
      () => `broker ${record.brokerId} is of epoch ${broker.brokerEpoch}`,
    );
    this.brokers.set(record.brokerId, changedBroker(broker, record));
  }

  #addPartition(record: PartitionRecord): void {
    const { partitions } = this.#topic(record.topicId);
    invariant(
      partitions.length === record.partitionId,
      () => `partition ${record.partitionId} came after ${partitions.length} others`,
    );
    partitions.push(registrationOf(record));
  }

  #changePartition(record: PartitionChangeRecord): void {
    const { name, partitions } = this.#topic(record.topicId);
    const before = partitions[record.partitionId];
    if (before === undefined) fail(`a change to ${name}-${record.partitionId}, which is not there`);
    partitions[record.partitionId] = mergeChange(before, record);
  }

  #config(record: ConfigRecord): void {
    // Simplified: configs of brokers are static, none is changed while they run.
    if (record.resourceType !== TOPIC_RESOURCE) return;
    const configs: Record<string, string> = { ...this.topicConfigs(record.resourceName) };
    if (record.value === undefined) delete configs[record.name];
    else configs[record.name] = record.value;
    this.#configs.set(record.resourceName, configs);
  }

  #clearElr(record: ClearElrRecord): void {
    for (const topic of this.#byId.values()) {
      if (record.topicName !== "" && record.topicName !== topic.name) continue;
      const { topicId, partitions } = topic;
      for (const [partitionId, partition] of partitions.entries()) {
        if (partition.elr.length === 0 && partition.lastKnownElr.length === 0) continue;
        partitions[partitionId] = mergeChange(partition, {
          type: "PartitionChangeRecord",
          partitionId,
          topicId,
          eligibleLeaderReplicas: [],
          lastKnownElr: [],
        });
      }
    }
  }

  #broker(id: BrokerId): BrokerRegistration {
    return this.brokers.get(id) ?? fail(`broker ${id} is not registered`);
  }

  #topic(id: TopicId): MutableTopicImage {
    return this.#byId.get(id) ?? fail(`there is no topic of id ${id}`);
  }
}
