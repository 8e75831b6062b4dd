import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type {
  CreatePartitionsRequest,
  CreatePartitionsResponse,
  CreatePartitionsTopic,
  CreatePartitionsTopicResult,
} from "../protocol/create-partitions.ts";
import type { WordSource } from "../uuid.ts";
import type { Decision, DecisionContext } from "./decision.ts";
import { chooseReplicas, newPartition, Refusal } from "./new-partitions.ts";
import type { MetadataRecord, PartitionRecord } from "./records.ts";

/**
 * Adds partitions to topics, with as many replicas as the first that each has, and says of those that it cannot
 * why not (`ReplicationControlManager.createPartitions`). Chance gives the first brokers.
 */
export function createPartitions(
  context: DecisionContext,
  request: CreatePartitionsRequest,
  random: WordSource,
): Decision<CreatePartitionsResponse> {
  const records: MetadataRecord[] = [];
  const results = request.topics.map((topic) => {
    const isTwice = request.topics.some((other) => other !== topic && other.name === topic.name);
    const added = isTwice
      ? new Refusal(ERRORS.INVALID_REQUEST, "Duplicate topic name.")
      : addPartitions(context, topic, random);
    if (added instanceof Refusal) return refused(topic, added);
    records.push(...added);
    return { name: topic.name, errorCode: 0, errorMessage: undefined };
  });
  const response = { throttleTimeMs: 0, results };
  return request.validateOnly ? { records: [], response } : { records, response };
}

/** The answer if all topics are refused for the same reason. */
export function refuseCreatePartitions(
  { topics }: CreatePartitionsRequest,
  error: ErrorCode,
): CreatePartitionsResponse {
  const refusal = new Refusal(error, error.name);
  return { throttleTimeMs: 0, results: topics.map((topic) => refused(topic, refusal)) };
}

function addPartitions(
  context: DecisionContext,
  { name, count }: CreatePartitionsTopic,
  random: WordSource,
): Refusal | readonly PartitionRecord[] {
  const topic = context.image.topicByName(name);
  if (topic === undefined) {
    const { UNKNOWN_TOPIC_OR_PARTITION: unknown } = ERRORS;
    return new Refusal(unknown, "This server does not host this topic-partition.");
  }
  const { length: present } = topic.partitions;
  if (count === present) {
    return new Refusal(ERRORS.INVALID_PARTITIONS, `Topic already has ${present} partition(s).`);
  }
  if (count < present) {
    const message = `The topic ${name} currently has ${present} partition(s); ${count} would not be an increase.`;
    return new Refusal(ERRORS.INVALID_PARTITIONS, message);
  }
  const replicationFactor = topic.partitions[0]?.replicas.length ?? 0;
  const chosen = chooseReplicas(context, count - present, replicationFactor, random);
  if (chosen instanceof Refusal) return chosen;
  const added: PartitionRecord[] = [];
  for (const [i, replicas] of chosen.entries()) {
    const partition = newPartition(context, topic.topicId, present + i, replicas);
    if (partition === undefined) {
      const why = "All brokers are currently fenced or in controlled shutdown.";
      const message = `Unable to replicate the partition ${replicationFactor} time(s): ${why}`;
      return new Refusal(ERRORS.INVALID_REPLICATION_FACTOR, message);
    }
    added.push(partition);
  }
  return added;
}

function refused(
  { name }: CreatePartitionsTopic,
  { error, message }: Refusal,
): CreatePartitionsTopicResult {
  return { name, errorCode: error.code, errorMessage: message };
}
