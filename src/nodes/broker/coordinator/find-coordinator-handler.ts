import {
  GROUP_METADATA_TOPIC,
  TRANSACTION_STATE_TOPIC,
} from "../../../kafka/coordinator/internal-topics.ts";
import { partitionFor } from "../../../kafka/coordinator/partition-for.ts";
import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS } from "../../../kafka/error-code.ts";
import { FIND_COORDINATOR } from "../../../kafka/protocol/apis.ts";
import type {
  Coordinator,
  FindCoordinatorRequest,
} from "../../../kafka/protocol/find-coordinator.ts";
import { COORDINATOR_TYPE } from "../../../kafka/protocol/find-coordinator.ts";
import type { IncomingRequest } from "../../rpc/rpc-server.ts";
import type { BrokerContext } from "../broker-context.ts";
import { CoordinatorTopicCreation } from "./topic-creation.ts";

/** Tells clients which broker coordinates a group or a transactional id (`KafkaApis.getCoordinator`). */
export class FindCoordinatorHandler {
  readonly #context: BrokerContext;
  readonly #creation: CoordinatorTopicCreation;

  constructor(context: BrokerContext) {
    this.#context = context;
    this.#creation = new CoordinatorTopicCreation(context);
  }

  handle(request: IncomingRequest, { keyType, coordinatorKeys }: FindCoordinatorRequest): void {
    const coordinators = coordinatorKeys.map((key) => this.#find(keyType, key));
    request.reply(FIND_COORDINATOR, { throttleTimeMs: 0, coordinators });
  }

  #find(keyType: number, key: string): Coordinator {
    const topicName =
      keyType === COORDINATOR_TYPE.group
        ? GROUP_METADATA_TOPIC
        : keyType === COORDINATOR_TYPE.transaction
          ? TRANSACTION_STATE_TOPIC
          : undefined;
    // Simplified: there are no share groups (KIP-932).
    if (topicName === undefined) return refused(key, ERRORS.INVALID_REQUEST);
    const { image } = this.#context;
    const topic = image.topicByName(topicName);
    if (topic === undefined) {
      this.#creation.create(topicName);
      return refused(key, ERRORS.COORDINATOR_NOT_AVAILABLE);
    }
    const index = partitionFor(key, topic.partitions.length);
    const leader = image.brokers.get(topic.partitions[index]?.leader ?? -1);
    if (leader === undefined || leader.fenced) {
      return refused(key, ERRORS.COORDINATOR_NOT_AVAILABLE);
    }
    return {
      key,
      nodeId: leader.brokerId,
      host: leader.endPoints[0]?.host ?? "",
      port: leader.address,
      errorCode: 0,
      errorMessage: undefined,
    };
  }
}

function refused(key: string, { code }: ErrorCode): Coordinator {
  return { key, nodeId: -1, host: "", port: -1, errorCode: code, errorMessage: undefined };
}
