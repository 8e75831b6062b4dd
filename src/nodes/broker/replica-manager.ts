import { invariant } from "../../base/invariant.ts";
import { byNumber } from "../../base/order.ts";
import type { TopicConfigs } from "../../kafka/config/topic-configs.ts";
import { topicConfigsOf } from "../../kafka/config/topic-configs.ts";
import type { BrokerId, TopicId } from "../../kafka/ids.ts";
import { NO_LEADER } from "../../kafka/ids.ts";
import type { TopicImage } from "../../kafka/metadata/image.ts";
import type { MetadataRecord } from "../../kafka/metadata/records.ts";
import type { LogManager } from "../../storage/log-manager.ts";
import type { PartitionLog } from "../../storage/partition-log.ts";
import type { BrokerContext } from "./broker-context.ts";
import { Partition } from "./partition.ts";
import { ReplicaFetcher } from "./replica-fetcher.ts";

/**
 * The replicas on this broker: follows the metadata into roles, and keeps a fetcher for each broker
 * that is followed (Kafka's `ReplicaManager`).
 */
export class ReplicaManager {
  readonly #context: BrokerContext;
  readonly #logs: LogManager;
  readonly #byTopic = new Map<TopicId, (Partition | undefined)[]>();
  /** The topic asked for last, and its list. */
  #lastTopic: TopicId | undefined = undefined;
  #lastList: readonly (Partition | undefined)[] = [];
  readonly #all: Partition[] = [];
  readonly #fetchers = new Map<BrokerId, ReplicaFetcher>();
  readonly #followed = new Map<Partition, ReplicaFetcher>();
  readonly #configs = new Map<string, TopicConfigs>();

  constructor(context: BrokerContext, logs: LogManager) {
    this.#context = context;
    this.#logs = logs;
  }

  get(topicId: TopicId, index: number): Partition | undefined {
    // Requests ask for one topic again and again: comparing is cheaper than hashing.
    if (topicId !== this.#lastTopic) {
      const list = this.#byTopic.get(topicId);
      if (list === undefined) return undefined;
      this.#lastTopic = topicId;
      this.#lastList = list;
    }
    return this.#lastList[index];
  }

  /** In the order in which they came to this broker. */
  all(): readonly Partition[] {
    return this.#all;
  }

  topicConfigs(topic: string): TopicConfigs {
    const known = this.#configs.get(topic);
    if (known !== undefined) return known;
    const configs = topicConfigsOf(this.#context.image.topicConfigs(topic), this.#context.configs);
    this.#configs.set(topic, configs);
    return configs;
  }

  /** Opens what is on the disk; recovery happens here. */
  load(): void {
    for (const loaded of this.#logs.loadAll()) {
      const { log, highWatermark } = loaded;
      this.#addPartition(log, log.topicId, highWatermark);
      this.#noteLoaded(log, highWatermark, loaded.cleanShutdown, loaded.truncatedBytes);
    }
  }

  #noteLoaded(log: PartitionLog, highWatermark: number, clean: boolean, cut: number): void {
    this.#context.facts.note({
      kind: "log-loaded",
      broker: this.#context.brokerId,
      partition: log.name,
      logStartOffset: log.logStartOffset,
      logEndOffset: log.logEndOffset,
      highWatermark,
      cleanShutdown: clean,
      truncatedBytes: cut,
      lastEpoch: log.latestEpoch ?? -1,
    });
  }

  #addPartition(log: PartitionLog, topicId: TopicId, highWatermark: number): Partition {
    const partition = new Partition(
      this.#context,
      log.topic,
      log.partition,
      topicId,
      log,
      highWatermark,
    );
    const list = this.#byTopic.get(topicId) ?? [];
    list[log.partition] = partition;
    this.#byTopic.set(topicId, list);
    this.#all.push(partition);
    return partition;
  }

  /** Takes over all that the image says, at the first time that it is caught up with. */
  publishAll(): void {
    const touched = new Map<TopicId, number[]>();
    for (const { topicId, partitions } of this.#context.image.topics) {
      touched.set(topicId, [...partitions.keys()]);
    }
    this.#publish(touched);
  }

  /** Takes over what a batch of records, already in the image, has changed. */
  publish(records: readonly MetadataRecord[]): void {
    const touched = new Map<TopicId, number[]>();
    for (const record of records) {
      if (record.type === "ConfigRecord") this.#reconfigure(record.resourceName);
      if (record.type !== "PartitionRecord" && record.type !== "PartitionChangeRecord") continue;
      const indexes = touched.get(record.topicId);
      if (indexes === undefined) touched.set(record.topicId, [record.partitionId]);
      else if (!indexes.includes(record.partitionId)) indexes.push(record.partitionId);
    }
    if (touched.size > 0) this.#publish(touched);
    if (records.some(({ type }) => type === "BrokerRegistrationChangeRecord")) this.#wakeAll();
  }

  /** First the partitions to lead, then those to follow, as `applyDelta` does. */
  #publish(touched: ReadonlyMap<TopicId, readonly number[]>): void {
    const { image, brokerId } = this.#context;
    const local: { topic: TopicImage; index: number }[] = [];
    for (const [topicId, indexes] of touched) {
      const topic = image.topicById(topicId);
      invariant(topic !== undefined, () => `topic ${topicId} is not in the image`);
      for (const index of [...indexes].sort(byNumber)) {
        if (topic.partitions[index]?.replicas.includes(brokerId)) local.push({ topic, index });
      }
    }
    for (const { topic, index } of local) {
      if (topic.partitions[index]?.leader === brokerId) this.#lead(topic, index);
    }
    for (const { topic, index } of local) {
      if (topic.partitions[index]?.leader !== brokerId) this.#follow(topic, index);
    }
  }

  #lead(topic: TopicImage, index: number): void {
    const registration = topic.partitions[index];
    if (registration === undefined) return;
    const partition = this.#getOrCreate(topic, index);
    this.#stopFollowing(partition);
    partition.makeLeader(registration, this.topicConfigs(topic.name)["min.insync.replicas"]);
  }

  #follow(topic: TopicImage, index: number): void {
    const registration = topic.partitions[index];
    if (registration === undefined) return;
    const partition = this.#getOrCreate(topic, index);
    const isNewEpoch = partition.makeFollower(
      registration,
      this.topicConfigs(topic.name)["min.insync.replicas"],
    );
    if (!isNewEpoch) return;
    this.#stopFollowing(partition);
    if (registration.leader === NO_LEADER) return;
    const fetcher = this.#fetcher(registration.leader);
    this.#followed.set(partition, fetcher);
    fetcher.add(partition);
  }

  #getOrCreate(topic: TopicImage, index: number): Partition {
    const known = this.get(topic.topicId, index);
    if (known !== undefined) return known;
    const log = this.#logs.getOrCreate(topic.name, index, topic.topicId);
    this.#noteLoaded(log, 0, true, 0);
    return this.#addPartition(log, topic.topicId, 0);
  }

  #stopFollowing(partition: Partition): void {
    this.#followed.get(partition)?.remove(partition);
    this.#followed.delete(partition);
  }

  #fetcher(leader: BrokerId): ReplicaFetcher {
    const known = this.#fetchers.get(leader);
    if (known !== undefined) return known;
    const fetcher = new ReplicaFetcher(this.#context, leader);
    this.#fetchers.set(leader, fetcher);
    return fetcher;
  }

  #reconfigure(topic: string): void {
    this.#configs.delete(topic);
    const configs = this.topicConfigs(topic);
    for (const partition of this.#all) {
      if (partition.topic !== topic) continue;
      partition.log.updateConfig(configs);
      partition.setMinInsyncReplicas(configs["min.insync.replicas"]);
    }
  }

  #wakeAll(): void {
    for (const fetcher of this.#fetchers.values()) fetcher.wake();
  }

  /** Leaders look for members of their ISRs that have fallen behind (`maybeShrinkIsr`). */
  shrinkIsrs(): void {
    const now = this.#context.now();
    for (const partition of this.#all) {
      const laggards = partition.laggards(now);
      if (laggards.length > 0) this.#context.isrChannel.proposeShrink(partition, laggards);
    }
  }
}
