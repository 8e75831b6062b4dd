import { ERRORS } from "../../kafka/error-code.ts";
import { isReplicaOnline } from "../../kafka/metadata/directory-id.ts";
import type { MetadataImage, TopicImage } from "../../kafka/metadata/image.ts";
import type { PartitionRegistration } from "../../kafka/metadata/partition-registration.ts";
import { METADATA } from "../../kafka/protocol/apis.ts";
import type {
  MetadataPartition,
  MetadataRequest,
  MetadataTopic,
} from "../../kafka/protocol/metadata.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";

/** Tells clients what this broker has learned of the cluster (`KRaftMetadataCache`). */
export function answerMetadata(
  context: BrokerContext,
  request: IncomingRequest,
  body: MetadataRequest,
): void {
  const { image } = context;
  const alive = [...image.brokers.values()]
    .filter((broker) => !broker.fenced)
    .sort((a, b) => a.brokerId - b.brokerId);
  const topics =
    body.topics === undefined
      ? image.topics.map((topic) => describe(image, topic))
      : body.topics.map(({ name, topicId }) => {
          const topic =
            name === undefined ? image.topicById(topicId ?? "") : image.topicByName(name);
          if (topic !== undefined) return describe(image, topic);
          const error =
            name === undefined ? ERRORS.UNKNOWN_TOPIC_ID : ERRORS.UNKNOWN_TOPIC_OR_PARTITION;
          return {
            errorCode: error.code,
            name: name ?? "",
            topicId: topicId ?? "",
            isInternal: false,
            partitions: [],
          };
        });
  request.reply(METADATA, {
    throttleTimeMs: 0,
    brokers: alive.map(({ brokerId, address, endPoints, rack }) => ({
      nodeId: brokerId,
      host: endPoints[0]?.host ?? "",
      port: address,
      rack,
    })),
    clusterId: context.clusterId,
    controllerId: alive[0]?.brokerId ?? -1,
    topics,
    errorCode: 0,
  });
}

function describe(image: MetadataImage, topic: TopicImage): MetadataTopic {
  return {
    errorCode: 0,
    name: topic.name,
    topicId: topic.topicId,
    isInternal: topic.name.startsWith("__"),
    partitions: topic.partitions.map((partition, index) =>
      describePartition(image, partition, index),
    ),
  };
}

function describePartition(
  image: MetadataImage,
  partition: PartitionRegistration,
  partitionIndex: number,
): MetadataPartition {
  const isAlive = (id: number): boolean => image.brokers.get(id)?.fenced === false;
  const hasLeader = partition.leader >= 0 && isAlive(partition.leader);
  return {
    errorCode: (hasLeader ? ERRORS.NONE : ERRORS.LEADER_NOT_AVAILABLE).code,
    partitionIndex,
    leaderId: hasLeader ? partition.leader : -1,
    leaderEpoch: partition.leaderEpoch,
    replicaNodes: partition.replicas,
    isrNodes: partition.isr,
    offlineReplicas: partition.replicas.filter(
      (id) => !isAlive(id) || !isReplicaOnline(image.brokers.get(id), partition),
    ),
  };
}
