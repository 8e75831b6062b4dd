import type { BrokerConfigs } from "../config/broker-configs.ts";
import type { CreatableTopic } from "../protocol/create-topics.ts";

/** The topics in which coordinators keep what they know (Kafka's `Topic`). */
export const GROUP_METADATA_TOPIC = "__consumer_offsets";
export const TRANSACTION_STATE_TOPIC = "__transaction_state";

export type CoordinatorTopic = typeof GROUP_METADATA_TOPIC | typeof TRANSACTION_STATE_TOPIC;

/**
 * A coordinator's topic as a broker asks the controller for it
 * (`AutoTopicCreationManager.creatableTopic`, `groupMetadataTopicConfigs`, `transactionTopicConfigs`).
 */
export function creatableCoordinatorTopic(
  name: CoordinatorTopic,
  configs: BrokerConfigs,
): CreatableTopic {
  if (name === GROUP_METADATA_TOPIC) {
    return {
      name,
      numPartitions: configs["offsets.topic.num.partitions"],
      replicationFactor: configs["offsets.topic.replication.factor"],
      assignments: [],
      configs: [
        { name: "cleanup.policy", value: "compact" },
        { name: "compression.type", value: "producer" },
        { name: "segment.bytes", value: String(configs["offsets.topic.segment.bytes"]) },
      ],
    };
  }
  return {
    name,
    numPartitions: configs["transaction.state.log.num.partitions"],
    replicationFactor: configs["transaction.state.log.replication.factor"],
    assignments: [],
    configs: [
      { name: "cleanup.policy", value: "compact" },
      { name: "compression.type", value: "uncompressed" },
      { name: "min.insync.replicas", value: String(configs["transaction.state.log.min.isr"]) },
      { name: "segment.bytes", value: String(configs["transaction.state.log.segment.bytes"]) },
      { name: "unclean.leader.election.enable", value: "false" },
    ],
  };
}
