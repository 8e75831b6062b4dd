import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { BrokerId } from "../ids.ts";
import type {
  AlterPartitionData,
  AlterPartitionDataResponse,
  AlterPartitionRequest,
  AlterPartitionResponse,
  AlterPartitionTopic,
  AlterPartitionTopicResponse,
} from "../protocol/alter-partition.ts";
import type { Decision, DecisionContext } from "./decision.ts";
import {
  checkBrokerEpoch,
  effectiveMinInsyncReplicas,
  electionModeOf,
  isBrokerActive,
  isElrEnabled,
} from "./decision.ts";
import { isReplicaOnline } from "./directory-id.ts";
import type { MetadataImage, TopicImage } from "./image.ts";
import { buildPartitionChange } from "./partition-change.ts";
import type { PartitionRegistration } from "./partition-registration.ts";
import { mergeChange } from "./partition-registration.ts";
import type { MetadataRecord, PartitionChangeRecord } from "./records.ts";
import { RECOVERED, RECOVERING } from "./records.ts";

/** Changes of ISRs that leaders ask for (KIP-497, KIP-903; `ReplicationControlManager.alterPartition`). */
export function alterPartition(
  context: DecisionContext,
  request: AlterPartitionRequest,
): Decision<AlterPartitionResponse> {
  const error = checkBrokerEpoch(context, request.brokerId, request.brokerEpoch);
  if (error !== ERRORS.NONE) return { records: [], response: refuseAlterPartition(error) };
  const records: MetadataRecord[] = [];
  const topics = request.topics.map((topic) =>
    alterTopic(context, request.brokerId, topic, records),
  );
  return { records, response: { throttleTimeMs: 0, errorCode: 0, topics } };
}

/** The answer if the whole request is refused. */
export function refuseAlterPartition(error: ErrorCode): AlterPartitionResponse {
  return { throttleTimeMs: 0, errorCode: error.code, topics: [] };
}

/** The checks in Kafka's order (`validateAlterPartitionData`). */
export function judgeAlterPartition(
  image: MetadataImage,
  sender: BrokerId,
  partition: PartitionRegistration | undefined,
  proposal: AlterPartitionData,
): ErrorCode {
  if (partition === undefined) return ERRORS.UNKNOWN_TOPIC_OR_PARTITION;
  const { leaderEpoch, partitionEpoch } = proposal;
  // The leader knows more than this controller, which then is not the active one (KAFKA-14154).
  if (leaderEpoch > partition.leaderEpoch) return ERRORS.NOT_CONTROLLER;
  if (partitionEpoch > partition.partitionEpoch) return ERRORS.NOT_CONTROLLER;
  if (leaderEpoch < partition.leaderEpoch) return ERRORS.FENCED_LEADER_EPOCH;
  if (sender !== partition.leader) return ERRORS.INVALID_REQUEST;
  if (partitionEpoch < partition.partitionEpoch) return ERRORS.INVALID_UPDATE_VERSION;

  const isr = proposal.newIsrWithEpochs.map((member) => member.brokerId);
  const isValid =
    isr.length > 0 &&
    new Set(isr).size === isr.length &&
    isr.every((member) => partition.replicas.includes(member));
  if (!isValid || !isr.includes(partition.leader)) return ERRORS.INVALID_REQUEST;
  if (proposal.leaderRecoveryState === RECOVERING) {
    if (isr.length > 1) return ERRORS.INVALID_REQUEST;
    if (partition.leaderRecoveryState === RECOVERED) return ERRORS.INVALID_REQUEST;
  }
  for (const { brokerId, brokerEpoch } of proposal.newIsrWithEpochs) {
    const broker = image.brokers.get(brokerId);
    if (broker === undefined || broker.inControlledShutdown || broker.fenced) {
      return ERRORS.INELIGIBLE_REPLICA;
    }
    if (brokerEpoch !== -1 && brokerEpoch !== broker.brokerEpoch) return ERRORS.INELIGIBLE_REPLICA;
  }
  return ERRORS.NONE;
}

function alterTopic(
  context: DecisionContext,
  sender: BrokerId,
  asked: AlterPartitionTopic,
  records: MetadataRecord[],
): AlterPartitionTopicResponse {
  const { topicId } = asked;
  const topic = context.image.topicById(topicId);
  const partitions = asked.partitions.map((proposal) => {
    if (topic === undefined) return refused(proposal, ERRORS.UNKNOWN_TOPIC_ID);
    return alterOne(context, sender, topic, proposal, records);
  });
  return { topicId, partitions };
}

function alterOne(
  context: DecisionContext,
  sender: BrokerId,
  topic: TopicImage,
  proposal: AlterPartitionData,
  records: MetadataRecord[],
): AlterPartitionDataResponse {
  const partition = topic.partitions[proposal.partitionIndex];
  const { image, configs, rules } = context;
  const error = rules.judgeAlterPartition(image, sender, partition, proposal);
  if (error !== ERRORS.NONE) return refused(proposal, error);
  if (partition === undefined) return refused(proposal, ERRORS.UNKNOWN_TOPIC_OR_PARTITION);
  const change = buildPartitionChange(
    {
      topicId: topic.topicId,
      partitionId: proposal.partitionIndex,
      partition,
      isAcceptableLeader: (broker) =>
        isBrokerActive(context, broker) && isReplicaOnline(image.brokers.get(broker), partition),
      minInsyncReplicas: effectiveMinInsyncReplicas(image, configs, topic),
      isElrEnabled: isElrEnabled(image),
      election: electionModeOf(context, topic),
      targetIsr: proposal.newIsrWithEpochs.map((member) => member.brokerId),
      targetRecoveryState: proposal.leaderRecoveryState === RECOVERING ? RECOVERING : RECOVERED,
    },
    rules.elect,
  );
  if (change === undefined) return accepted(proposal, partition);
  records.push(change);
  if (movesLeader(change, sender)) return refused(proposal, ERRORS.NEW_LEADER_ELECTED);
  return accepted(proposal, mergeChange(partition, change));
}

/** A change that the leader asked for took its leadership: it is made, and the leader is told. */
function movesLeader(change: PartitionChangeRecord, sender: BrokerId): boolean {
  return change.leader !== undefined && change.leader !== sender;
}

function refused(proposal: AlterPartitionData, error: ErrorCode): AlterPartitionDataResponse {
  return {
    partitionIndex: proposal.partitionIndex,
    errorCode: error.code,
    leaderId: 0,
    leaderEpoch: 0,
    isr: [],
    leaderRecoveryState: 0,
    partitionEpoch: 0,
  };
}

function accepted(
  proposal: AlterPartitionData,
  partition: PartitionRegistration,
): AlterPartitionDataResponse {
  return {
    partitionIndex: proposal.partitionIndex,
    errorCode: 0,
    leaderId: partition.leader,
    leaderEpoch: partition.leaderEpoch,
    isr: partition.isr,
    leaderRecoveryState: partition.leaderRecoveryState,
    partitionEpoch: partition.partitionEpoch,
  };
}
