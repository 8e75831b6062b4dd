import { byText } from "../../base/order.ts";
import type { BrokerConfigs } from "../config/broker-configs.ts";
import { topicConfigsOf } from "../config/topic-configs.ts";
import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { BrokerId } from "../ids.ts";
import type {
  CreatableTopic,
  CreatableTopicResult,
  CreateTopicsRequest,
  CreateTopicsResponse,
} from "../protocol/create-topics.ts";
import type { WordSource } from "../uuid.ts";
import { randomUuid, ZERO_UUID } from "../uuid.ts";
import type { Decision, DecisionContext } from "./decision.ts";
import { complainAboutTopicConfig } from "./decision.ts";
import type { MetadataImage } from "./image.ts";
import { chooseReplicas, newPartition, Refusal } from "./new-partitions.ts";
import type { ConfigRecord, MetadataRecord, PartitionRecord } from "./records.ts";
import { TOPIC_RESOURCE } from "./records.ts";

/** `ReplicationControlManager.MAX_PARTITIONS_PER_BATCH`. */
const MAX_PARTITIONS = 10_000;
const MAX_NAME_LENGTH = 249;

/**
 * Creates those topics that can be, and says of the others why not
 * (`ReplicationControlManager.createTopics`). Chance gives the topic ids and the first brokers.
 */
export function createTopics(
  context: DecisionContext,
  request: CreateTopicsRequest,
  random: WordSource,
): Decision<CreateTopicsResponse> {
  const partitions = request.topics.reduce((sum, topic) => sum + partitionsOf(context, topic), 0);
  if (partitions > MAX_PARTITIONS) {
    return { records: [], response: refuseCreateTopics(request, ERRORS.POLICY_VIOLATION) };
  }
  const records: MetadataRecord[] = [];
  const names = new Set<string>();
  const topics = request.topics.map((topic) => {
    const refusal = complainAboutName(context.image, topic.name, names);
    names.add(topic.name);
    if (refusal !== undefined) return refused(topic, refusal);
    const created = createTopic(context, topic, random);
    if (created instanceof Refusal) return refused(topic, created);
    records.push(...created.records);
    return created.result;
  });
  const response = { throttleTimeMs: 0, topics };
  return request.validateOnly ? { records: [], response } : { records, response };
}

/** The answer if all topics are refused for the same reason. */
export function refuseCreateTopics(
  request: CreateTopicsRequest,
  error: ErrorCode,
): CreateTopicsResponse {
  const refusal = new Refusal(error, error.name);
  return { throttleTimeMs: 0, topics: request.topics.map((topic) => refused(topic, refusal)) };
}

function createTopic(
  context: DecisionContext,
  topic: CreatableTopic,
  random: WordSource,
): Refusal | { records: readonly MetadataRecord[]; result: CreatableTopicResult } {
  const configs = configRecords(topic, context.configs);
  if (configs instanceof Refusal) return configs;
  const assignments =
    topic.assignments.length > 0
      ? givenAssignments(context, topic)
      : chosenAssignments(context, topic, random);
  if (assignments instanceof Refusal) return assignments;

  const topicId = randomUuid(random);
  const partitions: PartitionRecord[] = [];
  for (const [partitionId, replicas] of assignments.entries()) {
    const partition = newPartition(context, topicId, partitionId, replicas);
    if (partition === undefined) {
      const error =
        topic.assignments.length > 0
          ? ERRORS.INVALID_REPLICA_ASSIGNMENT
          : ERRORS.INVALID_REPLICATION_FACTOR;
      return new Refusal(error, "All brokers are currently fenced or in controlled shutdown.");
    }
    partitions.push(partition);
  }
  const result = {
    name: topic.name,
    topicId,
    errorCode: 0,
    errorMessage: undefined,
    numPartitions: partitions.length,
    replicationFactor: assignments[0]?.length ?? 0,
  };
  const record: MetadataRecord = { type: "TopicRecord", name: topic.name, topicId };
  return { records: [record, ...configs, ...partitions], result };
}

function partitionsOf(context: DecisionContext, topic: CreatableTopic): number {
  if (topic.assignments.length > 0) return topic.assignments.length;
  return topic.numPartitions === -1 ? context.configs["num.partitions"] : topic.numPartitions;
}

function chosenAssignments(
  context: DecisionContext,
  topic: CreatableTopic,
  random: WordSource,
): Refusal | readonly (readonly BrokerId[])[] {
  const { replicationFactor: asked, numPartitions } = topic;
  if (asked < -1 || asked === 0) {
    const message = "Replication factor must be larger than 0, or -1 to use the default value.";
    return new Refusal(ERRORS.INVALID_REPLICATION_FACTOR, message);
  }
  if (numPartitions < -1 || numPartitions === 0) {
    const message = "Number of partitions was set to an invalid non-positive value.";
    return new Refusal(ERRORS.INVALID_PARTITIONS, message);
  }
  const replicationFactor = asked === -1 ? context.configs["default.replication.factor"] : asked;
  return chooseReplicas(context, partitionsOf(context, topic), replicationFactor, random);
}

function givenAssignments(
  context: DecisionContext,
  topic: CreatableTopic,
): Refusal | readonly (readonly BrokerId[])[] {
  if (topic.replicationFactor !== -1 || topic.numPartitions !== -1) {
    const message =
      "A manual partition assignment was specified, but replication factor and " +
      "numPartitions were not both -1.";
    return new Refusal(ERRORS.INVALID_REQUEST, message);
  }
  const assignments: (readonly BrokerId[])[] = [];
  const size = topic.assignments[0]?.brokerIds.length ?? 0;
  for (const { partitionIndex, brokerIds } of topic.assignments) {
    const complaint = complainAboutAssignment(context, brokerIds, size);
    if (complaint !== undefined) return invalidAssignment(complaint);
    if (assignments[partitionIndex] !== undefined) {
      return invalidAssignment(
        `Found multiple manual partition assignments for partition ${partitionIndex}`,
      );
    }
    if (partitionIndex < 0 || partitionIndex >= topic.assignments.length) {
      return invalidAssignment("partitions should be a consecutive 0-based integer sequence");
    }
    assignments[partitionIndex] = brokerIds;
  }
  return assignments;
}

function complainAboutAssignment(
  context: DecisionContext,
  brokers: readonly BrokerId[],
  size: number,
): string | undefined {
  if (brokers.length === 0)
    return "The manual partition assignment includes an empty replica list.";
  if (new Set(brokers).size !== brokers.length) {
    return `The manual partition assignment includes a broker twice: ${brokers.join(", ")}.`;
  }
  const unknown = brokers.find((broker) => !context.image.brokers.has(broker));
  if (unknown !== undefined) {
    return (
      `The manual partition assignment includes broker ${unknown}, ` +
      "but no such broker is registered."
    );
  }
  if (brokers.length !== size) {
    return (
      `The manual partition assignment includes a partition with ${brokers.length} replica(s), ` +
      `but this is not consistent with previous partitions, which have ${size} replica(s).`
    );
  }
  return undefined;
}

function invalidAssignment(message: string): Refusal {
  return new Refusal(ERRORS.INVALID_REPLICA_ASSIGNMENT, message);
}

/** The configs of a topic as records, in the order of their names. */
function configRecords(
  topic: CreatableTopic,
  broker: BrokerConfigs,
): Refusal | readonly ConfigRecord[] {
  const records: ConfigRecord[] = [];
  for (const { name, value } of topic.configs) {
    if (value === undefined) {
      const message = `Null value not supported for topic configs: ${name}`;
      return new Refusal(ERRORS.INVALID_CONFIG, message);
    }
    const complaint = complainAboutTopicConfig(name, value);
    if (complaint !== undefined) return new Refusal(ERRORS.INVALID_CONFIG, complaint);
    records.push({
      type: "ConfigRecord",
      resourceType: TOPIC_RESOURCE,
      resourceName: topic.name,
      name,
      value,
    });
  }
  const conflict = conflictOfLags(topic, broker);
  if (conflict !== undefined) return new Refusal(ERRORS.INVALID_CONFIG, conflict);
  return records.sort((a, b) => byText(a.name, b.name));
}

/** The one combination of configs that no topic may have (`LogConfig.validateValues`). */
function conflictOfLags({ configs }: CreatableTopic, broker: BrokerConfigs): string | undefined {
  const own = Object.fromEntries(configs.map(({ name, value }) => [name, value]));
  const { "min.compaction.lag.ms": least, "max.compaction.lag.ms": most } = topicConfigsOf(
    own,
    broker,
  );
  if (least <= most) return undefined;
  return `conflict topic config setting min.compaction.lag.ms (${least}) > max.compaction.lag.ms (${most})`;
}

/** Kafka's `Topic.validate`, and the collisions of names that metrics cannot tell apart. */
function complainAboutName(
  image: MetadataImage,
  name: string,
  others: ReadonlySet<string>,
): Refusal | undefined {
  const isLegal =
    /^[a-zA-Z0-9._-]+$/.test(name) &&
    name !== "." &&
    name !== ".." &&
    name.length <= MAX_NAME_LENGTH;
  if (!isLegal) {
    return new Refusal(ERRORS.INVALID_TOPIC_EXCEPTION, `Topic name is invalid: '${name}'`);
  }
  if (image.topicByName(name) !== undefined) {
    return new Refusal(ERRORS.TOPIC_ALREADY_EXISTS, `Topic '${name}' already exists.`);
  }
  if (others.has(name)) {
    return new Refusal(ERRORS.INVALID_REQUEST, `Duplicate topic name '${name}'.`);
  }
  const colliding = image.topics.find((topic) => unify(topic.name) === unify(name));
  if (colliding === undefined) return undefined;
  const message = `Topic '${name}' collides with existing topic: ${colliding.name}`;
  return new Refusal(ERRORS.INVALID_TOPIC_EXCEPTION, message);
}

function unify(name: string): string {
  return name.replaceAll(".", "_");
}

function refused(topic: CreatableTopic, refusal: Refusal): CreatableTopicResult {
  return {
    name: topic.name,
    topicId: ZERO_UUID,
    errorCode: refusal.error.code,
    errorMessage: refusal.message,
    numPartitions: -1,
    replicationFactor: -1,
  };
}
