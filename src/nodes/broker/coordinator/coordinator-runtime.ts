import type { CoordinatorTopic } from "../../../kafka/coordinator/internal-topics.ts";
import { creatableCoordinatorTopic } from "../../../kafka/coordinator/internal-topics.ts";
import { partitionFor } from "../../../kafka/coordinator/partition-for.ts";
import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS } from "../../../kafka/error-code.ts";
import type { LeaderEpoch, TopicId } from "../../../kafka/ids.ts";
import type { MetadataRecord } from "../../../kafka/metadata/records.ts";
import type { BrokerContext } from "../broker-context.ts";
import { CoordinatedPartition } from "./coordinated-partition.ts";
import type { CoordinatorLogOptions } from "./coordinator-log.ts";
import { CoordinatorLog } from "./coordinator-log.ts";
import type { CoordinatorShard } from "./coordinator-shard.ts";

export interface CoordinatorRuntimeOptions<Shard extends CoordinatorShard>
  extends CoordinatorLogOptions {
  readonly topic: CoordinatorTopic;
  /** `offsets.load.buffer.size`, `transaction.state.log.load.buffer.size` */
  readonly loadBufferSize: number;
  /** A shard that knows nothing yet. */
  readonly open: (log: CoordinatorLog) => Shard;
}

/**
 * One coordinator on one broker: whoever leads a partition of its topic coordinates all that is kept
 * there. It becomes that by reading the partition to its end, and ceases to be it with leadership
 * (Kafka's `CoordinatorRuntime`, `TransactionStateManager`).
 *
 * How it is used: a coordinator opens a runtime with a function that makes shards; the broker tells it of
 * metadata (`publish`, `publishAll`); its request handlers ask `shardFor` for the shard of a key, and answer with the
 * error if there is none. A shard writes by its `CoordinatorLog`, and is replayed from it.
 *
 * Simplified: a leader that is elected again, in a later epoch, loads anew; Kafka's group coordinator goes on.
 */
export class CoordinatorRuntime<Shard extends CoordinatorShard> {
  readonly #context: BrokerContext;
  readonly #options: CoordinatorRuntimeOptions<Shard>;
  /** By partition; those that this broker leads. */
  readonly #led: (CoordinatedPartition<Shard> | undefined)[] = [];

  constructor(context: BrokerContext, options: CoordinatorRuntimeOptions<Shard>) {
    this.#context = context;
    this.#options = options;
  }

  /** The partition of the topic that keeps what belongs to `key`. */
  partitionFor(key: string): number {
    const { topic } = this.#options;
    const { image, configs } = this.#context;
    const known = image.topicByName(topic);
    if (known !== undefined) return partitionFor(key, known.partitions.length);
    return partitionFor(key, creatableCoordinatorTopic(topic, configs).numPartitions);
  }

  /** What knows of `key` here; or NOT_COORDINATOR, or COORDINATOR_LOAD_IN_PROGRESS. */
  shardFor(key: string): Shard | ErrorCode {
    return this.shardOf(this.partitionFor(key));
  }

  /** As `shardFor`, of a partition of the topic. */
  shardOf(partition: number): Shard | ErrorCode {
    const led = this.#led[partition];
    if (led === undefined || led.state === "failed") return ERRORS.NOT_COORDINATOR;
    return led.state === "active" ? led.shard : ERRORS.COORDINATOR_LOAD_IN_PROGRESS;
  }

  /** Is there a partition whose keys are not known yet? */
  get isLoading(): boolean {
    return this.#led.some((led) => led?.state === "loading");
  }

  /** The metadata have been caught up with, and the replicas have taken their roles. */
  publishAll(): void {
    const topic = this.#context.image.topicByName(this.#options.topic);
    if (topic === undefined) return;
    for (const index of topic.partitions.keys()) this.#update(topic.topicId, index);
  }

  /** As `publishAll`, of what these records, already in the image, have changed. */
  publish(records: readonly MetadataRecord[]): void {
    const topic = this.#context.image.topicByName(this.#options.topic);
    if (topic === undefined) return;
    for (const record of records) {
      if (record.type !== "PartitionRecord" && record.type !== "PartitionChangeRecord") continue;
      if (record.topicId === topic.topicId) this.#update(topic.topicId, record.partitionId);
    }
  }

  #update(topicId: TopicId, index: number): void {
    const registration = this.#context.image.topicById(topicId)?.partitions[index];
    if (registration?.leader !== this.#context.brokerId) this.#resign(index);
    else if (this.#led[index]?.log.leaderEpoch !== registration.leaderEpoch) {
      this.#resign(index);
      this.#elect(topicId, index, registration.leaderEpoch);
    }
  }

  #elect(topicId: TopicId, index: number, leaderEpoch: LeaderEpoch): void {
    const partition = this.#context.partition(topicId, index);
    // Its disk is gone: the controller will hear of it, and choose another.
    if (partition?.isLeader !== true || partition.offline) return;
    if (partition.leaderEpoch !== leaderEpoch) return;
    const log = new CoordinatorLog(this.#context, partition, this.#options);
    const shard = this.#options.open(log);
    const { loadBufferSize } = this.#options;
    const led = new CoordinatedPartition(this.#context, log, shard, loadBufferSize);
    this.#led[index] = led;
    led.load();
  }

  #resign(index: number): void {
    const led = this.#led[index];
    if (led === undefined) return;
    this.#led[index] = undefined;
    led.unload();
  }
}
