import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import { DESCRIBE_PRODUCERS } from "../../kafka/protocol/apis.ts";
import type {
  DescribeProducersPartitionResult,
  DescribeProducersRequest,
} from "../../kafka/protocol/describe-transactions.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";
import { whyAbsent } from "./fetch-read.ts";

/** Tells which producers replicas here know of, be they leaders or not (KIP-664; `ReplicaManager.activeProducerState`). */
export function answerDescribeProducers(
  context: BrokerContext,
  request: IncomingRequest,
  { topics }: DescribeProducersRequest,
): void {
  request.reply(DESCRIBE_PRODUCERS, {
    throttleTimeMs: 0,
    topics: topics.map(({ name, partitionIndexes }) => ({
      name,
      partitions: partitionIndexes.map((index) => describe(context, name, index)),
    })),
  });
}

function describe(
  context: BrokerContext,
  topic: string,
  index: number,
): DescribeProducersPartitionResult {
  const image = context.image.topicByName(topic);
  if (image === undefined) return refused(index, ERRORS.UNKNOWN_TOPIC_OR_PARTITION);
  const partition = context.partition(image.topicId, index);
  if (partition === undefined) return refused(index, whyAbsent(context, image.topicId, index));
  if (partition.offline) return refused(index, ERRORS.KAFKA_STORAGE_ERROR);
  const activeProducers = [...partition.log.producers.entries()].map((entry) => ({
    producerId: entry.producerId,
    producerEpoch: entry.epoch,
    lastSequence: entry.lastSequence,
    lastTimestamp: entry.lastTimestamp,
    coordinatorEpoch: entry.coordinatorEpoch,
    currentTxnStartOffset: entry.currentTxnFirstOffset ?? -1,
  }));
  return { partitionIndex: index, errorCode: 0, errorMessage: undefined, activeProducers };
}

function refused(partitionIndex: number, { code }: ErrorCode): DescribeProducersPartitionResult {
  return { partitionIndex, errorCode: code, errorMessage: undefined, activeProducers: [] };
}
