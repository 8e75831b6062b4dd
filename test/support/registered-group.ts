import { resolveConfigs } from "../../src/kafka/config/config-table.ts";
import { CONSUMER_CONFIGS } from "../../src/kafka/config/consumer-configs.ts";
import {
  brokerPath,
  consumerIdsPath,
  consumerRegistration,
  ownersPath,
} from "../../src/kafka/zookeeper/registries.ts";
import { parentOf } from "../../src/kafka/zookeeper/znode-tree.ts";
import { GroupConsumer } from "../../src/nodes/consumer/group/group-consumer.ts";
import { ZookeeperServer, ZookeeperState } from "../../src/nodes/zookeeper/zookeeper-server.ts";
import type { Disk } from "../../src/ports/disk.ts";
import type { Network } from "../../src/ports/network.ts";
import type { TimerHandle, Timers, World } from "../../src/ports/node.ts";
import { addressOf, FakeCluster, TOPIC } from "./fake-cluster.ts";
import { FakeWorld } from "./fake-world.ts";
import { ownershipTold } from "./ownership-told.ts";

const ZOOKEEPER = 50;

/** One member of a group whose registries are in ZooKeeper, with a server of that; others are what the test writes there. */
export class RegisteredGroup {
  readonly world = new FakeWorld();
  readonly state = new ZookeeperState();
  readonly server: ZookeeperServer;
  readonly consumer: GroupConsumer;
  /** Does what it sends to ZooKeeper arrive? */
  isReached = true;

  constructor(configs: Record<string, unknown> = {}, partitions = 10) {
    const { world } = this;
    new FakeCluster(world, partitions);
    const brokers = world.onRequest;
    world.onRequest = (request) => {
      if (request.to !== ZOOKEEPER) brokers(request);
      else if (this.isReached) this.server.onFrame(request.connection, world.self, request.frame);
    };
    this.server = new ZookeeperServer(
      worldOfServer({ world, server: () => this.server }),
      this.state,
    );
    this.consumer = new GroupConsumer(world, {
      name: "c2",
      group: "g",
      subscription: { kind: "topics", topics: [TOPIC] },
      work: { pace: undefined, workers: 1 },
      commit: { mode: "auto", when: "after" },
      configs: resolveConfigs(CONSUMER_CONFIGS, configs),
      bootstrap: [addressOf(1), addressOf(2)],
      zookeeper: ZOOKEEPER,
    });
  }

  begin(duration = 0): this {
    this.server.onStart();
    this.put(brokerPath(1), "");
    this.world.begin(this.consumer);
    this.world.run(duration);
    return this;
  }

  /** As another session would write it. */
  put(path: string, data: string): void {
    const { tree } = this.state;
    const parents: string[] = [];
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) parents.unshift(at);
    for (const parent of parents) tree.create(parent, "", 0);
    tree.create(path, data, 999);
  }

  joins(other: string): void {
    this.put(`${consumerIdsPath("g")}/${other}`, consumerRegistration([TOPIC], 0));
  }

  leaves(other: string): void {
    this.state.tree.delete(`${consumerIdsPath("g")}/${other}`, -1);
  }

  /** Another says that it owns a partition, or does no more. */
  claims(other: string, partition: number): void {
    this.put(`${ownersPath("g", TOPIC)}/${partition}`, other);
  }

  releases(partition: number): void {
    this.state.tree.delete(`${ownersPath("g", TOPIC)}/${partition}`, -1);
  }

  /** By partition: who owns it, as the registry says. */
  get owners(): Record<string, string> {
    const path = ownersPath("g", TOPIC);
    const owners: Record<string, string> = {};
    for (const partition of this.state.tree.children(path) ?? []) {
      owners[partition] = this.state.tree.data(`${path}/${partition}`)?.slice(0, 4) ?? "";
    }
    return owners;
  }

  /** What happened to the member's partitions, in order: `assigned 0 1`. */
  get ownership(): string[] {
    return ownershipTold(this.world.notes);
  }
}

/** The world as the server has it: frames go to the member; time, and what it notes, are the same. */
function worldOfServer({
  world,
  server,
}: {
  world: FakeWorld;
  server: () => ZookeeperServer;
}): World {
  const cancelled = new Set<TimerHandle>();
  let next: TimerHandle = 0;
  const network: Network = {
    connect: () => 0,
    send: (connection, frame) => world.push(connection, frame),
    close: (connection) => world.hangUp(connection),
    listen: () => undefined,
  };
  const timers: Timers = {
    start: (delay, kind, payload) => {
      const handle = next++;
      world.later(delay, () => {
        if (!cancelled.has(handle)) server().onTimer(kind, payload);
      });
      return handle;
    },
    startAfterWork: () => undefined,
    cancel: (handle) => void cancelled.add(handle),
  };
  const { clock, facts, process, random, self } = world;
  return {
    self,
    clock,
    facts,
    process,
    random,
    network,
    timers,
    get disk(): Disk {
      return world.disk;
    },
  };
}
