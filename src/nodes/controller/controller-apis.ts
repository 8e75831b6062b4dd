import { fail } from "../../base/invariant.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { refuseAlterPartition } from "../../kafka/metadata/alter-partition.ts";
import { refuseHeartbeat, registrationResponse } from "../../kafka/metadata/broker-lifecycle.ts";
import { refuseCreatePartitions } from "../../kafka/metadata/create-partitions.ts";
import { refuseCreateTopics } from "../../kafka/metadata/create-topics.ts";
import { refuseProducerIds } from "../../kafka/metadata/producer-id-blocks.ts";
import { refuseAssignments } from "../../kafka/metadata/replica-directories.ts";
import {
  ALLOCATE_PRODUCER_IDS,
  ALTER_PARTITION,
  ASSIGN_REPLICAS_TO_DIRS,
  BROKER_HEARTBEAT,
  BROKER_REGISTRATION,
  CREATE_PARTITIONS,
  CREATE_TOPICS,
} from "../../kafka/protocol/apis.ts";
import type { CreatePartitionsRequest } from "../../kafka/protocol/create-partitions.ts";
import type { CreateTopicsRequest } from "../../kafka/protocol/create-topics.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";

/** Answers a request with an error for the whole of it, as its API has it. */
export function refuse(request: IncomingRequest, error: ErrorCode): void {
  switch (request.apiKey) {
    case BROKER_REGISTRATION.key:
      request.reply(BROKER_REGISTRATION, registrationResponse(error, -1));
      break;
    case BROKER_HEARTBEAT.key:
      request.reply(BROKER_HEARTBEAT, refuseHeartbeat(error));
      break;
    case ALTER_PARTITION.key:
      request.reply(ALTER_PARTITION, refuseAlterPartition(error));
      break;
    case ASSIGN_REPLICAS_TO_DIRS.key:
      request.reply(ASSIGN_REPLICAS_TO_DIRS, refuseAssignments(error));
      break;
    case CREATE_TOPICS.key: {
      const body = request.body as CreateTopicsRequest;
      request.reply(CREATE_TOPICS, refuseCreateTopics(body, error));
      break;
    }
    case CREATE_PARTITIONS.key: {
      const body = request.body as CreatePartitionsRequest;
      request.reply(CREATE_PARTITIONS, refuseCreatePartitions(body, error));
      break;
    }
    case ALLOCATE_PRODUCER_IDS.key:
      request.reply(ALLOCATE_PRODUCER_IDS, refuseProducerIds(error));
      break;
    default:
      fail(`a controller was asked for API ${request.apiKey}`);
  }
}
