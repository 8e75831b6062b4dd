import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { BrokerId, TopicId } from "../ids.ts";
import type {
  AssignedDirectory,
  AssignedDirectoryResult,
  AssignedPartitionResult,
  AssignReplicasToDirsRequest,
  AssignReplicasToDirsResponse,
} from "../protocol/assign-replicas.ts";
import type { Uuid } from "../uuid.ts";
import type { Decision, DecisionContext } from "./decision.ts";
import {
  checkBrokerEpoch,
  effectiveMinInsyncReplicas,
  isBrokerActive,
  isElrEnabled,
} from "./decision.ts";
import { directoryOfReplica, isDirectoryOnline, isReplicaOnline } from "./directory-id.ts";
import type { TopicImage } from "./image.ts";
import { buildPartitionChange } from "./partition-change.ts";
import type { PartitionRegistration } from "./partition-registration.ts";
import { dropReplicas } from "./partition-updates.ts";
import type { MetadataRecord } from "./records.ts";

/**
 * A broker tells of log directories that are offline, with every heartbeat the same. For those that
 * were online its replicas there leave the ISRs, and others lead
 * (`ReplicationControlManager.handleDirectoriesOffline`, KIP-858).
 */
export function takeDirectoriesOffline(
  context: DecisionContext,
  brokerId: BrokerId,
  offline: readonly Uuid[],
): readonly MetadataRecord[] {
  const broker = context.image.brokers.get(brokerId);
  if (broker === undefined || offline.length === 0) return NO_RECORDS;
  const newlyOffline = broker.logDirs.filter((directory) => offline.includes(directory));
  if (newlyOffline.length === 0) return NO_RECORDS;
  const records: MetadataRecord[] = [];
  for (const directory of newlyOffline) {
    const isThere = (partition: PartitionRegistration): boolean =>
      partition.replicas.includes(brokerId) &&
      directoryOfReplica(partition, brokerId) === directory;
    records.push(...dropReplicas(context, brokerId, isThere));
  }
  records.push({
    type: "BrokerRegistrationChangeRecord",
    brokerId,
    brokerEpoch: broker.brokerEpoch,
    fenced: 0,
    inControlledShutdown: 0,
    logDirs: broker.logDirs.filter((directory) => !offline.includes(directory)),
  });
  return records;
}

/** A broker tells where its replicas are (`ReplicationControlManager.handleAssignReplicasToDirs`). */
export function assignReplicas(
  context: DecisionContext,
  request: AssignReplicasToDirsRequest,
): Decision<AssignReplicasToDirsResponse> {
  const error = checkBrokerEpoch(context, request.brokerId, request.brokerEpoch);
  if (error !== ERRORS.NONE) return { records: [], response: refuseAssignments(error) };
  const assignment = new Assignment(context, request.brokerId);
  const directories = request.directories.map((directory) => assignment.toDirectory(directory));
  return {
    records: assignment.records(),
    response: { throttleTimeMs: 0, errorCode: 0, directories },
  };
}

/** The answer if the whole request is refused. */
export function refuseAssignments(error: ErrorCode): AssignReplicasToDirsResponse {
  return { throttleTimeMs: 0, errorCode: error.code, directories: [] };
}

class Assignment {
  readonly #context: DecisionContext;
  readonly #broker: BrokerId;
  readonly #records: MetadataRecord[] = [];
  /** Those that came into a directory which is offline already. */
  readonly #lost = new Set<PartitionRegistration>();

  constructor(context: DecisionContext, broker: BrokerId) {
    this.#context = context;
    this.#broker = broker;
  }

  toDirectory({ id, topics }: AssignedDirectory): AssignedDirectoryResult {
    return {
      id,
      topics: topics.map(({ topicId, partitions }) => ({
        topicId,
        partitions: partitions.map(({ partitionIndex }) =>
          this.#toPartition(id, topicId, partitionIndex),
        ),
      })),
    };
  }

  /** The assignments, then what those to offline directories lead to. */
  records(): readonly MetadataRecord[] {
    if (this.#lost.size === 0) return this.#records;
    const isLost = (partition: PartitionRegistration): boolean => this.#lost.has(partition);
    return [...this.#records, ...dropReplicas(this.#context, this.#broker, isLost)];
  }

  #toPartition(directory: Uuid, topicId: TopicId, partitionIndex: number): AssignedPartitionResult {
    const topic = this.#context.image.topicById(topicId);
    if (topic === undefined) return result(partitionIndex, ERRORS.UNKNOWN_TOPIC_ID);
    const partition = topic.partitions[partitionIndex];
    if (partition === undefined) return result(partitionIndex, ERRORS.UNKNOWN_TOPIC_OR_PARTITION);
    if (!partition.replicas.includes(this.#broker)) {
      return result(partitionIndex, ERRORS.NOT_LEADER_OR_FOLLOWER);
    }
    this.#assign(directory, topic, partitionIndex, partition);
    return result(partitionIndex, ERRORS.NONE);
  }

  #assign(
    directory: Uuid,
    topic: TopicImage,
    partitionId: number,
    partition: PartitionRegistration,
  ): void {
    const { image, configs, rules } = this.#context;
    const directories = partition.replicas.map((replica) =>
      replica === this.#broker ? directory : directoryOfReplica(partition, replica),
    );
    const change = buildPartitionChange(
      {
        topicId: topic.topicId,
        partitionId,
        partition,
        // The directory of before decides still: the replica may have been lost with it.
        isAcceptableLeader: (broker) =>
          isBrokerActive(this.#context, broker) &&
          isReplicaOnline(image.brokers.get(broker), partition),
        minInsyncReplicas: effectiveMinInsyncReplicas(image, configs, topic),
        isElrEnabled: isElrEnabled(image),
        election: "online",
        targetDirectories: directories,
      },
      rules.elect,
    );
    if (change !== undefined) this.#records.push(change);
    const online = image.brokers.get(this.#broker)?.logDirs ?? [];
    if (!isDirectoryOnline(directory, online)) this.#lost.add(partition);
  }
}

function result(partitionIndex: number, error: ErrorCode): AssignedPartitionResult {
  return { partitionIndex, errorCode: error.code };
}

const NO_RECORDS: readonly MetadataRecord[] = [];
