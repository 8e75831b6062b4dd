import { fail } from "../../base/invariant.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../ports/network.ts";
import type { Node, World } from "../../ports/node.ts";
import type { CalledConsumer, ConsumerCall } from "../consumer/application-calls.ts";
import { FREE_TIMER, GroupConsumer, WORK_TIMER } from "../consumer/group/group-consumer.ts";
import { KafkaProducer } from "../producer/kafka-producer.ts";
import { RpcClient } from "../rpc/rpc-client.ts";
import { Processing } from "./processing.ts";
import type { ProcessorOptions } from "./processor-options.ts";
import { commitPolicyOf } from "./processor-options.ts";

/** What the timers of the producer are for, and of the work; the consumer has those below. */
const TIMER = {
  work: WORK_TIMER,
  rpc: FREE_TIMER,
  send: FREE_TIMER + 1,
  expiry: FREE_TIMER + 2,
  metadata: FREE_TIMER + 3,
  producerId: FREE_TIMER + 4,
  transaction: FREE_TIMER + 5,
  block: FREE_TIMER + 6,
  transactionEnd: FREE_TIMER + 7,
};

/**
 * A node that reads topics as a member of a group and writes what it makes of each record: a consumer, a producer
 * and the program around them, in one process.
 */
export class Processor implements Node, CalledConsumer {
  readonly #world: World;
  readonly #consumer: GroupConsumer;
  /** Of the producer: it shares no connection with the consumer, as in Kafka. */
  readonly #rpc: RpcClient;
  readonly #producer: KafkaProducer | undefined;
  readonly #processing: Processing;

  constructor(world: World, options: ProcessorOptions) {
    const { bootstrap, group, guarantee, idempotence, name, subscription, to } = options;
    this.#world = world;
    this.#rpc = new RpcClient(world, TIMER.rpc);
    const { producerConfigs: configs, transactionVersion } = options;
    this.#producer =
      to === undefined
        ? undefined
        : new KafkaProducer(
            world,
            this.#rpc,
            { name, topic: to, configs, idempotence, transactionVersion, bootstrap },
            TIMER,
          );
    const groupMetadata = (): GroupConsumer["groupMetadata"] => this.#consumer.groupMetadata;
    this.#processing = new Processing(world, options, this.#producer, groupMetadata, TIMER);
    this.#consumer = new GroupConsumer(
      world,
      {
        name,
        group,
        subscription,
        work: { pace: undefined, workers: 1 },
        commit: commitPolicyOf(guarantee),
        configs: options.consumerConfigs,
        bootstrap,
      },
      this.#processing,
    );
  }

  onStart(): void {
    this.#processing.start();
    this.#consumer.onStart();
    this.#run();
  }

  onTimer(kind: number, payload: unknown): void {
    if (kind < FREE_TIMER) {
      this.#consumer.onTimer(kind, payload);
      return;
    }
    const producer = this.#producer;
    switch (kind) {
      case TIMER.rpc:
        this.#rpc.onTimer();
        break;
      case TIMER.send:
        producer?.sender.fired();
        break;
      case TIMER.expiry:
        producer?.sender.expire(this.#world.clock.now());
        break;
      case TIMER.metadata:
        producer?.metadata.fired();
        break;
      case TIMER.producerId:
        producer?.producerId?.fired();
        break;
      case TIMER.transaction:
        producer?.transaction?.fired();
        break;
      case TIMER.block:
        this.#processing.giveUp();
        break;
      default:
        fail(`an application that reads and writes has no timer ${kind}`);
    }
    this.#run();
  }

  onConnected(connection: ConnectionId): void {
    if (!this.#rpc.owns(connection)) {
      this.#consumer.onConnected(connection);
      return;
    }
    this.#rpc.onConnected(connection);
    this.#run();
  }

  onFrame(connection: ConnectionId, from: NodeAddress, frame: Frame): void {
    if (!this.#rpc.owns(connection)) {
      this.#consumer.onFrame(connection, from, frame);
      return;
    }
    this.#rpc.onFrame(connection, frame);
    this.#run();
  }

  onClosed(connection: ConnectionId, from: NodeAddress): void {
    if (!this.#rpc.owns(connection)) {
      this.#consumer.onClosed(connection, from);
      return;
    }
    this.#producer?.disconnected(from, this.#world.clock.now());
    this.#rpc.onClosed(connection);
    this.#run();
  }

  onSynced(): void {
    fail("an application that reads and writes has no files");
  }

  /** What the last poll gave it is brought to its end first. */
  onShutdown(): void {
    this.#consumer.onShutdown();
  }

  call(call: ConsumerCall): void {
    this.#consumer.call(call);
  }

  /** Something happened to the producer: the work may go on, and then the consumer. */
  #run(): void {
    this.#processing.run(this.#world.clock.now());
    this.#consumer.run();
  }
}
