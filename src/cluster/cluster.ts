import type { Instant } from "../base/time.ts";
import { fromMillis, toMillis } from "../base/time.ts";
import { SimulatedDisk } from "../disk/simulated-disk.ts";
import type { BrokerConfigs } from "../kafka/config/broker-configs.ts";
import { BROKER_CONFIGS } from "../kafka/config/broker-configs.ts";
import { resolveConfigs } from "../kafka/config/config-table.ts";
import type { BrokerId } from "../kafka/ids.ts";
import { transactionVersionOf } from "../kafka/transaction/transaction-metadata.ts";
import { Fabric } from "../net/fabric.ts";
import { Admin } from "../nodes/admin/admin.ts";
import { Broker } from "../nodes/broker/broker.ts";
import type { CalledConsumer, ConsumerCall } from "../nodes/consumer/application-calls.ts";
import { nameOfCall } from "../nodes/consumer/application-calls.ts";
import { Consumer } from "../nodes/consumer/consumer.ts";
import { GroupConsumer } from "../nodes/consumer/group/group-consumer.ts";
import { CommitJournal } from "../nodes/controller/commit-journal.ts";
import { Controller } from "../nodes/controller/controller.ts";
import { OutsideStore } from "../nodes/processor/outside-store.ts";
import { Processor } from "../nodes/processor/processor.ts";
import { Producer } from "../nodes/producer/producer.ts";
import type { QuorumVoter } from "../nodes/quorum/quorum-client.ts";
import { startNode } from "../nodes/start-node.ts";
import { ZookeeperServer, ZookeeperState } from "../nodes/zookeeper/zookeeper-server.ts";
import type { NodeAddress } from "../ports/network.ts";
import type { Node, World } from "../ports/node.ts";
import { ZOOKEEPER } from "../scenario/check-topology.ts";
import { Host } from "../sim/host.ts";
import { Rng } from "../sim/rng.ts";
import { Scheduler } from "../sim/scheduler.ts";
import { ClusterView } from "../trace/cluster-view.ts";
import { FactRecorder } from "../trace/recorder.ts";
import type {
  BrokerSpec,
  ClientSpec,
  ClusterSpec,
  ConsumerSpec,
  ProcessorSpec,
} from "./cluster-spec.ts";
import { RunClock } from "./run-clock.ts";
import { WorldHands } from "./world-hands.ts";

/** One wall clock for all nodes at the start: 2026-01-01T00:00:00Z, in microseconds. */
export const WALL_CLOCK_START: Instant = 1_767_225_600_000_000;

/** `node.id` of the first controller; brokers count from 1. */
export const FIRST_CONTROLLER_ID: BrokerId = 3001;

const CLUSTER_ID = "kafka-sim-cluster-0000";

/** A node that is to be: its name, and what runs there. */
interface Seat {
  readonly name: string;
  readonly role: "broker" | "controller" | "admin" | "client" | "zookeeper";
  readonly program: (world: World) => Node;
}

/** Who sits where: brokers first, then controllers, the admin, the clients, and ZooKeeper if there is one. */
export interface NodeTable {
  readonly names: readonly string[];
  readonly brokers: readonly { readonly id: BrokerId; readonly address: NodeAddress }[];
  readonly controllers: readonly { readonly id: BrokerId; readonly address: NodeAddress }[];
  readonly admin: NodeAddress;
  readonly clients: readonly { readonly name: string; readonly address: NodeAddress }[];
  /** Undefined: no group keeps its registries there. */
  readonly zookeeper?: NodeAddress | undefined;
}

/** A whole simulated cluster with its clients, ready to be started: the only place that knows every class. */
export class Cluster {
  readonly spec: ClusterSpec;
  readonly table: NodeTable;
  readonly scheduler: Scheduler;
  readonly random: Rng;
  readonly clock: RunClock;
  readonly facts: FactRecorder;
  readonly view: ClusterView;
  readonly fabric: Fabric;
  readonly hosts: readonly Host[];
  /** By address, as the hosts. */
  readonly disks: readonly SimulatedDisk[];
  readonly hands: WorldHands;
  /** Shared by the controllers, so that what is committed is noted once. */
  readonly #journal: CommitJournal = new CommitJournal();
  readonly #zookeeper: ZookeeperState = new ZookeeperState();
  #admin: Admin | undefined;
  readonly #producers = new Set<Producer>();
  /** By address: the one that was started last. */
  readonly #consumers = new Map<NodeAddress, CalledConsumer>();
  /** Outside of Kafka, and of the processes that write to them. */
  readonly #stores = new Map<string, OutsideStore>();

  constructor(spec: ClusterSpec) {
    this.spec = spec;
    this.table = nodeTable(spec);
    this.scheduler = new Scheduler();
    this.random = new Rng(spec.seed);
    this.clock = new RunClock(this.scheduler);
    this.facts = new FactRecorder(this.clock);
    this.view = new ClusterView(this.facts);
    for (const client of spec.clients) {
      if (readsCommitted(client)) this.view.client(client.name).readsCommitted = true;
    }
    const idleMs = this.#configs({})["connections.max.idle.ms"];
    this.fabric = new Fabric({
      scheduler: this.scheduler,
      random: this.random,
      nodes: this.table.names,
      facts: this.facts,
      quality: spec.link,
      maxIdle: idleMs < 0 ? undefined : fromMillis(idleMs),
    });
    const hosts: Host[] = [];
    const disks: SimulatedDisk[] = [];
    for (const [address, seat] of this.#seats().entries()) {
      const host: Host = new Host({
        address,
        name: seat.name,
        scheduler: this.scheduler,
        random: this.random.fork(`node/${seat.name}`),
        facts: this.facts,
        program: seat.program,
        network: (station) => this.fabric.networkFor(station),
        disk: () => disk,
        watchers: [
          this.fabric,
          { hostStarted: () => undefined, hostStopped: (it, how) => disk.hostStopped(it, how) },
        ],
        serial: seat.role === "controller",
        clockStart: WALL_CLOCK_START,
      });
      const disk: SimulatedDisk = new SimulatedDisk({
        host,
        scheduler: this.scheduler,
        random: this.random.fork(`disk/${seat.name}`),
        options: spec.disk,
        facts: this.facts,
      });
      hosts.push(host);
      disks.push(disk);
    }
    this.hosts = hosts;
    this.disks = disks;
    this.hands = new WorldHands(hosts, disks, this.fabric, () => this.#admin, {
      call: (node, call) => this.#call(node, call),
      timestampOf: (time) => {
        const at = time < 0 ? this.scheduler.now : this.clock.zero;
        return toMillis(WALL_CLOCK_START + at + time);
      },
    });
  }

  /** Nobody hears it while the process does not run. */
  #call(node: NodeAddress, call: ConsumerCall): void {
    const host = this.hosts[node];
    const consumer = host?.isUp === true ? this.#consumers.get(node) : undefined;
    if (consumer !== undefined) consumer.call(call);
    else if (call.kind !== "resume") {
      const client = host?.name ?? "";
      const { partition = "" } = call;
      const error = "no consumer runs there";
      this.facts.note({ kind: "call-failed", client, call: nameOfCall(call), partition, error });
    }
  }

  /**
   * Boots controllers and brokers, and the admin once every broker is unfenced: topics that were
   * created earlier would not be led by their preferred leaders. Clients wait for `startClients`.
   */
  start(): void {
    const { controllers, brokers, admin, zookeeper } = this.table;
    const awaited = new Set(brokers.map(({ id }) => id));
    const kind = this.scheduler.register("admin", {
      handle: () => this.hosts[admin]?.start(),
    });
    this.facts.on("broker-unfenced", ({ broker }) => {
      if (awaited.delete(broker) && awaited.size === 0) {
        this.scheduler.at(this.scheduler.now, kind, admin, undefined);
      }
    });
    if (zookeeper !== undefined) this.hosts[zookeeper]?.start();
    for (const { address } of controllers) this.hosts[address]?.start();
    for (const { address } of brokers) this.hosts[address]?.start();
  }

  startClients(): void {
    for (const { address } of this.table.clients) this.hosts[address]?.start();
  }

  /** Producers without a number of records stop here. */
  stopProducing(): void {
    for (const producer of this.#producers) producer.stop();
  }

  /** Why Kafka refuses a topic for good, if it does. */
  get refusal(): string | undefined {
    return this.#admin?.refusal;
  }

  #seats(): Seat[] {
    const { spec, table } = this;
    const voters = table.controllers;
    const seats: Seat[] = spec.brokers.map((broker) => this.#brokerSeat(broker, voters));
    for (const { id } of voters) seats.push(this.#controllerSeat(id, voters));
    const bootstrap = table.brokers.map(({ address }) => address);
    seats.push({
      name: "admin",
      role: "admin",
      program: (world) => {
        this.#admin = new Admin(world, { brokers: bootstrap, topics: spec.topics });
        return this.#admin;
      },
    });
    for (const client of spec.clients) seats.push(this.#clientSeat(client, bootstrap));
    if (table.zookeeper !== undefined) {
      seats.push({
        name: ZOOKEEPER,
        role: "zookeeper",
        program: (world) => new ZookeeperServer(world, this.#zookeeper),
      });
    }
    return seats;
  }

  #brokerSeat(broker: BrokerSpec, voters: readonly QuorumVoter[]): Seat {
    const { features, rules } = this.spec;
    const configs = this.#configs(broker.configs);
    return {
      name: brokerName(broker.id),
      role: "broker",
      program: (world) =>
        startNode(
          world,
          () =>
            new Broker(world, {
              brokerId: broker.id,
              clusterId: CLUSTER_ID,
              configs,
              features,
              rules,
              voters,
              rack: broker.rack,
              zookeeper: this.table.zookeeper,
            }),
        ),
    };
  }

  #controllerSeat(id: BrokerId, voters: readonly QuorumVoter[]): Seat {
    const configs = this.#configs({});
    return {
      name: controllerName(id),
      role: "controller",
      program: (world) =>
        startNode(
          world,
          () =>
            new Controller(world, {
              nodeId: id,
              clusterId: CLUSTER_ID,
              configs,
              voters,
              features: this.spec.features,
              journal: this.#journal,
            }),
        ),
    };
  }

  #clientSeat(client: ClientSpec, bootstrap: readonly NodeAddress[]): Seat {
    if (client.kind === "consumer") return this.#consumerSeat(client, bootstrap);
    if (client.kind === "processor") return this.#processorSeat(client, bootstrap);
    return {
      name: client.name,
      role: "client",
      program: (world) => {
        const producer = new Producer(world, {
          ...client,
          address: world.self,
          bootstrap,
          transactionVersion: transactionVersionOf(this.spec.features["transaction.version"]),
        });
        this.#producers.add(producer);
        return producer;
      },
    };
  }

  #consumerSeat(client: ConsumerSpec, bootstrap: readonly NodeAddress[]): Seat {
    const { configs, membership, name, partitions, topics } = client;
    const [topic = ""] = topics;
    const { switches } = this.spec.rules;
    const { zookeeper } = this.table;
    return {
      name,
      role: "client",
      program: (world) => {
        const common = { name, configs, switches, bootstrap };
        const consumer =
          membership === undefined
            ? new Consumer(world, { ...common, topic, partitions, startAt: undefined })
            : new GroupConsumer(world, { ...common, ...membership, zookeeper });
        this.#consumers.set(world.self, consumer);
        return consumer;
      },
    };
  }

  #processorSeat(client: ProcessorSpec, bootstrap: readonly NodeAddress[]): Seat {
    const { configs: producerConfigs, store, ...options } = client;
    const { features } = this.spec;
    return {
      name: client.name,
      role: "client",
      program: (world) => {
        const processor = new Processor(world, {
          ...options,
          producerConfigs,
          store: store && this.#store(store.name, store.isKeyUnique),
          address: world.self,
          bootstrap,
          transactionVersion: transactionVersionOf(features["transaction.version"]),
        });
        this.#consumers.set(world.self, processor);
        return processor;
      },
    };
  }

  #store(name: string, isKeyUnique: boolean): OutsideStore {
    const known = this.#stores.get(name);
    if (known !== undefined) return known;
    const store = new OutsideStore(name, isKeyUnique);
    this.#stores.set(name, store);
    return store;
  }

  #configs(own: Readonly<Record<string, unknown>>): BrokerConfigs {
    return resolveConfigs(BROKER_CONFIGS, this.spec.configs, own);
  }
}

function readsCommitted(client: ClientSpec): boolean {
  if (client.kind === "producer") return false;
  const configs = client.kind === "consumer" ? client.configs : client.consumerConfigs;
  return configs["isolation.level"] === "read_committed";
}

export function brokerName(id: BrokerId): string {
  return `broker-${id}`;
}

export function controllerName(id: BrokerId): string {
  return `controller-${id - FIRST_CONTROLLER_ID + 1}`;
}

function nodeTable(spec: ClusterSpec): NodeTable {
  const brokers = spec.brokers.map(({ id }, at) => ({ id, address: at }));
  const controllers = Array.from({ length: spec.controllers }, (_, at) => ({
    id: FIRST_CONTROLLER_ID + at,
    address: brokers.length + at,
  }));
  const admin = brokers.length + controllers.length;
  const clients = spec.clients.map(({ name }, at) => ({ name, address: admin + 1 + at }));
  const hasZookeeper = spec.rules.switches.groups === "zookeeper-2011";
  return {
    names: [
      ...brokers.map(({ id }) => brokerName(id)),
      ...controllers.map(({ id }) => controllerName(id)),
      "admin",
      ...clients.map(({ name }) => name),
      ...(hasZookeeper ? [ZOOKEEPER] : []),
    ],
    brokers,
    controllers,
    admin,
    clients,
    zookeeper: hasZookeeper ? admin + 1 + clients.length : undefined,
  };
}
