import { invariant } from "../../base/invariant.ts";
import { byNumber } from "../../base/order.ts";
import type { TopicConfigs } from "../../kafka/config/topic-configs.ts";
import { isCompacted, topicConfigsOf } from "../../kafka/config/topic-configs.ts";
import type { BrokerId, TopicId } from "../../kafka/ids.ts";
import { NO_LEADER } from "../../kafka/ids.ts";
import { directoryOfReplica, UNASSIGNED } from "../../kafka/metadata/directory-id.ts";
import type { TopicImage } from "../../kafka/metadata/image.ts";
import type { PartitionRegistration } from "../../kafka/metadata/partition-registration.ts";
import type { MetadataRecord } from "../../kafka/metadata/records.ts";
import { DiskError } from "../../ports/disk.ts";
import type { LogDirectory } from "../../storage/log-directory.ts";
import type { LogManager } from "../../storage/log-manager.ts";
import type { PartitionLog } from "../../storage/partition-log.ts";
import type { BrokerContext } from "./broker-context.ts";
import type { DirectoryAssignments } from "./directory-assignments.ts";
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
  readonly #assignments: DirectoryAssignments;
  /** Replicas, by topic id and index, whose logs could not be created: offline until the next start. */
  readonly #stillborn = new Set<string>();

  constructor(context: BrokerContext, logs: LogManager, assignments: DirectoryAssignments) {
    this.#context = context;
    this.#logs = logs;
    this.#assignments = assignments;
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

  /** Opens what is on the disk; recovery happens here. Throws `RefusedStart`. */
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
    for (const { topic, index } of local) this.#assign(topic, index);
  }

  /** Tells the controller if it takes the replica to be in another directory (`maybeUpdateTopicAssignment`). */
  #assign(topic: TopicImage, index: number): void {
    const registration = topic.partitions[index];
    const partition = this.get(topic.topicId, index);
    if (registration === undefined || partition === undefined) return;
    const assigned = directoryOfReplica(registration, this.#context.brokerId);
    if (assigned === partition.assignedDirectory) return;
    partition.assignedDirectory = assigned;
    const actual = this.#logs.directoryOf(partition.log.directory);
    // One that is offline is told of with the next heartbeat.
    if (actual === undefined || partition.offline || actual.id === assigned) return;
    this.#assignments.assign(topic.topicId, index, actual.id);
  }

  #lead(topic: TopicImage, index: number): void {
    const registration = topic.partitions[index];
    if (registration === undefined) return;
    const partition = this.#getOrCreate(topic, index, registration);
    if (partition === undefined) return;
    this.#stopFollowing(partition);
    try {
      partition.makeLeader(registration, this.topicConfigs(topic.name)["min.insync.replicas"]);
    } catch (problem) {
      if (!(problem instanceof DiskError)) throw problem;
      this.#context.diskFailed(problem);
    }
  }

  #follow(topic: TopicImage, index: number): void {
    const registration = topic.partitions[index];
    if (registration === undefined) return;
    const partition = this.#getOrCreate(topic, index, registration);
    if (partition === undefined) return;
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

  /** Undefined if its disk is gone, or may be (`Partition.createLogInAssignedDirectoryId`). */
  #getOrCreate(
    topic: TopicImage,
    index: number,
    registration: PartitionRegistration,
  ): Partition | undefined {
    const known = this.get(topic.topicId, index);
    if (known !== undefined) return known.offline ? undefined : known;
    const name = `${topic.topicId}/${index}`;
    if (this.#stillborn.has(name)) return undefined;
    const assigned = directoryOfReplica(registration, this.#context.brokerId);
    const isOnline = this.#logs.directories.some(({ id }) => id === assigned);
    if (!isOnline && this.#logs.hasOffline && assigned !== UNASSIGNED) return undefined;
    try {
      const log = this.#logs.getOrCreate(topic.name, index, topic.topicId, assigned);
      this.#noteLoaded(log, 0, true, 0);
      return this.#addPartition(log, topic.topicId, 0);
    } catch (problem) {
      if (!(problem instanceof DiskError)) throw problem;
      this.#stillborn.add(name);
      this.#context.diskFailed(problem);
      return undefined;
    }
  }

  /** All replicas in a directory are offline from now on (`ReplicaManager.handleLogDirFailure`). */
  directoryFailed(directory: LogDirectory): void {
    for (const partition of this.#all) {
      if (partition.offline) continue;
      if (this.#logs.directoryOf(partition.log.directory) !== directory) continue;
      this.#stopFollowing(partition);
      partition.offline = true;
    }
  }

  /** Syncs the logs that are due for it. */
  flushIfDue(): void {
    this.#eachOnline(({ log }) => log.flushIfDue());
  }

  /** Retention, but for compacted logs: with those the cleaner deals (`LogManager.cleanupLogs`). */
  deleteOldSegments(): void {
    this.#eachOnline((partition) => {
      if (!isCompacted(partition.log.config)) partition.deleteOldSegments();
    });
  }

  #eachOnline(action: (partition: Partition) => void): void {
    for (const partition of this.#all) {
      if (partition.offline) continue;
      try {
        action(partition);
      } catch (problem) {
        if (!(problem instanceof DiskError)) throw problem;
        this.#context.diskFailed(problem);
      }
    }
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
