import { INIT_PRODUCER_ID, METADATA } from "../../src/kafka/protocol/apis.ts";
import type { MetadataResponse } from "../../src/kafka/protocol/metadata.ts";
import type { NodeAddress } from "../../src/ports/network.ts";
import type { FakeRequest, FakeWorld } from "./fake-world.ts";

export const TOPIC = "orders";
export const TOPIC_ID = "orders-topic-id-000000";

/** The address of the broker with this id. */
export function addressOf(broker: number): NodeAddress {
  return broker + 10;
}

/**
 * Brokers 1 and 2 that answer what every client asks, from one view of who leads. Everything else
 * goes to `onRequest`.
 */
export class FakeCluster {
  /** By partition. */
  leaders: { leader: number; epoch: number }[];
  onRequest: (request: FakeRequest, broker: number) => void = () => {};
  producerId = 7;

  constructor(world: FakeWorld, partitions = 1) {
    this.leaders = Array.from({ length: partitions }, () => ({ leader: 1, epoch: 0 }));
    world.onRequest = (request) => this.#handle(request);
  }

  elect(partition: number, leader: number): void {
    const epoch = (this.leaders[partition]?.epoch ?? 0) + 1;
    this.leaders[partition] = { leader, epoch };
  }

  #handle(request: FakeRequest): void {
    if (request.is(METADATA)) request.reply(METADATA, this.#metadata());
    else if (request.is(INIT_PRODUCER_ID)) {
      request.reply(INIT_PRODUCER_ID, {
        throttleTimeMs: 0,
        errorCode: 0,
        producerId: this.producerId,
        producerEpoch: 0,
      });
    } else this.onRequest(request, request.to - 10);
  }

  #metadata(): MetadataResponse {
    return {
      throttleTimeMs: 0,
      brokers: [1, 2].map((id) => ({
        nodeId: id,
        host: `broker-${id}`,
        port: addressOf(id),
        rack: undefined,
      })),
      clusterId: "cluster",
      controllerId: 1,
      topics: [
        {
          errorCode: 0,
          name: TOPIC,
          topicId: TOPIC_ID,
          isInternal: false,
          partitions: this.leaders.map(({ leader, epoch }, partitionIndex) => ({
            errorCode: 0,
            partitionIndex,
            leaderId: leader,
            leaderEpoch: epoch,
            replicaNodes: [1, 2],
            isrNodes: [1, 2],
            offlineReplicas: [],
          })),
        },
      ],
      errorCode: 0,
    };
  }
}
