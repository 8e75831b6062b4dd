import { fail } from "../../base/invariant.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../ports/network.ts";
import type { Node, World } from "../../ports/node.ts";
import { RpcClient } from "../rpc/rpc-client.ts";
import { Application } from "./application.ts";
import { KafkaProducer } from "./kafka-producer.ts";
import type { ProducerOptions } from "./producer-options.ts";

/** What the producer's timers are for. */
const TIMER = {
  rpc: 0,
  arrival: 1,
  block: 2,
  send: 3,
  expiry: 4,
  metadata: 5,
  producerId: 6,
  transaction: 7,
  transactionEnd: 8,
};

/** A node that writes: an application, and Kafka's producer within it. */
export class Producer implements Node {
  readonly #world: World;
  readonly #rpc: RpcClient;
  readonly #client: KafkaProducer;
  readonly #application: Application;
  #isClosing = false;

  constructor(world: World, options: ProducerOptions) {
    this.#world = world;
    this.#rpc = new RpcClient(world, TIMER.rpc);
    this.#client = new KafkaProducer(world, this.#rpc, options, TIMER);
    this.#application = new Application(world, options, this.#client, TIMER);
  }

  /** No more records are made. What was sent is still brought to its end. */
  stop(): void {
    this.#application.stop();
  }

  /** Has the application been told how each of its sends ended? */
  get isIdle(): boolean {
    return this.#client.isIdle && this.#application.isIdle;
  }

  onStart(): void {
    this.#application.start();
    this.#run();
  }

  onTimer(kind: number): void {
    switch (kind) {
      case TIMER.arrival:
        this.#application.arrive(this.#world.clock.now());
        break;
      case TIMER.send:
        this.#client.sender.fired();
        break;
      case TIMER.rpc:
        this.#rpc.onTimer();
        break;
      case TIMER.expiry:
        this.#client.sender.expire(this.#world.clock.now());
        break;
      case TIMER.block:
        this.#application.giveUp();
        break;
      case TIMER.metadata:
        this.#client.metadata.fired();
        break;
      case TIMER.producerId:
        this.#client.producerId?.fired();
        break;
      case TIMER.transaction:
        this.#client.transaction?.fired();
        break;
      case TIMER.transactionEnd:
        this.#application.endTransaction();
        break;
      default:
        fail(`a producer has no timer ${kind}`);
    }
    this.#run();
  }

  onConnected(connection: ConnectionId): void {
    this.#rpc.onConnected(connection);
    this.#run();
  }

  onFrame(connection: ConnectionId, _from: NodeAddress, frame: Frame): void {
    this.#rpc.onFrame(connection, frame);
    this.#run();
  }

  onClosed(connection: ConnectionId, from: NodeAddress): void {
    if (!this.#rpc.owns(connection)) return;
    this.#client.disconnected(from, this.#world.clock.now());
    this.#rpc.onClosed(connection);
    this.#run();
  }

  onSynced(): void {
    fail("a producer has no files");
  }

  onShutdown(): void {
    this.#isClosing = true;
    this.#application.close();
    this.#client.close();
    this.#run();
  }

  #run(): void {
    const now = this.#world.clock.now();
    this.#client.run(now);
    while (this.#application.resume(now)) this.#client.run(now);
    if (this.#isClosing && this.isIdle) this.#world.process.exit("closed");
  }
}
