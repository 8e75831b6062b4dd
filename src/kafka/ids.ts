/** A broker's or controller's `node.id`. */
export type BrokerId = number;
/** A position in a partition's log. */
export type Offset = number;
/** Counts leaders of one partition (KIP-101, KIP-279, KIP-320). */
export type LeaderEpoch = number;
/** Counts changes to one partition's registration; what AlterPartition compares. */
export type PartitionEpoch = number;
/** Marks one registration of a broker: the metadata offset at which it registered (KIP-903). */
export type BrokerEpoch = number;
/** Counts leaders of the metadata log (KIP-595). */
export type QuorumEpoch = number;
/** The id that outlives a re-created topic name (KIP-516): 22 characters of URL-safe base64. */
export type TopicId = string;

/** A topic's partition. */
export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** `orders-0`: the form in which facts, scenarios, directories and output name a partition. */
export type PartitionName = string;

/** `orders-0`. One text for all who name it, so that comparing and looking it up is quick. */
export function partitionName(topic: string, partition: number): PartitionName {
  let names = namesByTopic.get(topic);
  if (names === undefined) {
    names = [];
    namesByTopic.set(topic, names);
  }
  let name = names[partition];
  if (name === undefined) {
    name = `${topic}-${partition}`;
    names[partition] = name;
  }
  return name;
}

/** What `partitionName` has put together. */
export function topicPartition(name: PartitionName): TopicPartition {
  const dash = name.lastIndexOf("-");
  return { topic: name.slice(0, dash), partition: Number(name.slice(dash + 1)) };
}

const namesByTopic = new Map<string, PartitionName[]>();

/** Kafka's `LeaderConstants.NO_LEADER`. */
export const NO_LEADER: BrokerId = -1;
export const NO_EPOCH = -1;
export const NO_PRODUCER_ID = -1;

/** The metadata log's own topic (KIP-500); its id is the fixed Uuid(0, 1). */
export const METADATA_TOPIC = "__cluster_metadata";
export const METADATA_TOPIC_ID: TopicId = "AAAAAAAAAAAAAAAAAAAAAQ";
