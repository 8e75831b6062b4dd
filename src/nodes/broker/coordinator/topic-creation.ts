import type { CoordinatorTopic } from "../../../kafka/coordinator/internal-topics.ts";
import { creatableCoordinatorTopic } from "../../../kafka/coordinator/internal-topics.ts";
import { CREATE_TOPICS } from "../../../kafka/protocol/apis.ts";
import type { CreateTopicsResponse } from "../../../kafka/protocol/create-topics.ts";
import type { ResponseHandler } from "../../rpc/rpc-client.ts";
import type { BrokerContext } from "../broker-context.ts";

/** A broker's `request.timeout.ms`. */
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Has the controller create a coordinator's topic when somebody first asks for the coordinator (Kafka's
 * `AutoTopicCreationManager`). Whatever the controller answers, whoever asked asks again: while it refuses,
 * as with too few brokers for the replication factor, it is asked anew each time.
 */
export class CoordinatorTopicCreation
  implements ResponseHandler<CreateTopicsResponse, CoordinatorTopic>
{
  readonly #context: BrokerContext;
  readonly #inFlight = new Set<CoordinatorTopic>();

  constructor(context: BrokerContext) {
    this.#context = context;
  }

  create(topic: CoordinatorTopic): void {
    if (this.#inFlight.has(topic)) return;
    this.#inFlight.add(topic);
    const body = {
      topics: [creatableCoordinatorTopic(topic, this.#context.configs)],
      timeoutMs: REQUEST_TIMEOUT_MS,
      validateOnly: false,
    };
    this.#context.controller.send(CREATE_TOPICS, body, this, topic);
  }

  onResponse(_response: CreateTopicsResponse, topic: CoordinatorTopic): void {
    this.#inFlight.delete(topic);
  }

  onDisconnect(topic: CoordinatorTopic): void {
    this.#inFlight.delete(topic);
  }
}
