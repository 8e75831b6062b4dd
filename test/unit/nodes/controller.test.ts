import { describe, expect, test } from "vitest";
import { MILLISECOND, SECOND } from "../../../src/base/time.ts";
import { BROKER_CONFIGS } from "../../../src/kafka/config/broker-configs.ts";
import { resolveConfigs } from "../../../src/kafka/config/config-table.ts";
import { errorOf } from "../../../src/kafka/error-code.ts";
import type { Api } from "../../../src/kafka/protocol/api.ts";
import {
  ALLOCATE_PRODUCER_IDS,
  ALTER_PARTITION,
  BROKER_HEARTBEAT,
  BROKER_REGISTRATION,
  CREATE_TOPICS,
} from "../../../src/kafka/protocol/apis.ts";
import type { CreateTopicsRequest } from "../../../src/kafka/protocol/create-topics.ts";
import { PRESENT_FEATURES } from "../../../src/kafka/protocol-switches.ts";
import { numberedUuid } from "../../../src/kafka/uuid.ts";
import { CommitJournal } from "../../../src/nodes/controller/commit-journal.ts";
import { Controller } from "../../../src/nodes/controller/controller.ts";
import type { Node, World } from "../../../src/ports/node.ts";
import type { Fact, FactKind, FactOf } from "../../../src/trace/fact.ts";
import type { Asked } from "../../support/asking-node.ts";
import { AskingNode } from "../../support/asking-node.ts";
import type { SmallHost } from "../../support/small-world.ts";
import { SmallWorld } from "../../support/small-world.ts";

/** Controllers at addresses 0 to 2, and at 3 somebody who plays all brokers. */
class Scene {
  readonly world: SmallWorld<Node>;
  readonly brokers: AskingNode;
  readonly #count: number;
  readonly #epochs = new Map<number, number>();

  constructor(seed: number, count = 3) {
    this.#count = count;
    const journal = new CommitJournal();
    const voters = Array.from({ length: count }, (_, i) => ({ id: 3001 + i, address: i }));
    const controllers = voters.map(
      ({ id }) =>
        (world: World) =>
          new Controller(world, {
            nodeId: id,
            clusterId: "cluster",
            voters,
            configs: resolveConfigs(BROKER_CONFIGS),
            features: PRESENT_FEATURES,
            journal,
          }),
    );
    this.world = new SmallWorld<Node>(seed, [...controllers, (world) => new AskingNode(world)]);
    this.world.startAll();
    const { node } = this.world.hosts[count] as SmallHost<Node>;
    if (!(node instanceof AskingNode)) throw new Error("the last node asks");
    this.brokers = node;
    expect(this.world.runUntil(() => this.activeAddress !== undefined)).toBe(true);
  }

  facts<K extends FactKind>(kind: K): readonly FactOf<K>[] {
    return this.world.facts.filter((fact: Fact): fact is FactOf<K> => fact.kind === kind);
  }

  /** Where the controller is that was elected last and neither resigned nor went down. */
  get activeAddress(): number | undefined {
    const elected = this.facts("controller-elected").at(-1);
    if (elected === undefined) return undefined;
    const resigned = this.facts("controller-resigned").some(
      ({ quorumEpoch }) => quorumEpoch >= elected.quorumEpoch,
    );
    const address = elected.controller - 3001;
    return resigned || this.world.hosts[address]?.isUp !== true ? undefined : address;
  }

  get active(): SmallHost<Node> {
    return this.world.hosts[this.activeAddress ?? -1] as SmallHost<Node>;
  }

  /** Asks the active controller, and waits for its answer. */
  ask<Request, Response>(api: Api<Request, Response>, body: Request): Response {
    const asked = this.brokers.ask(this.active.address, api, body);
    this.world.runUntil(() => asked.isOver);
    if (asked.response === undefined) throw new Error("no answer");
    return asked.response;
  }

  register(brokerId: number, previousBrokerEpoch = -1, incarnation = 0): string {
    const response = this.ask(BROKER_REGISTRATION, {
      brokerId,
      clusterId: "cluster",
      incarnationId: numberedUuid(brokerId, incarnation + 1),
      listeners: [{ name: "PLAINTEXT", host: "", port: brokerId, securityProtocol: 0 }],
      features: [],
      rack: undefined,
      logDirs: [numberedUuid(5, brokerId)],
      previousBrokerEpoch,
    });
    if (response.errorCode === 0) this.#epochs.set(brokerId, response.brokerEpoch);
    return errorOf(response.errorCode).name;
  }

  heartbeat(brokerId: number, wantShutDown = false) {
    return this.ask(BROKER_HEARTBEAT, {
      brokerId,
      brokerEpoch: this.epochOf(brokerId),
      currentMetadataOffset: 1_000_000,
      wantFence: false,
      wantShutDown,
      offlineLogDirs: [],
    });
  }

  epochOf(brokerId: number): number {
    return this.#epochs.get(brokerId) ?? -1;
  }

  /** Registers brokers and has them unfenced. */
  join(...brokerIds: readonly number[]): void {
    for (const brokerId of brokerIds) {
      expect(this.register(brokerId)).toBe("NONE");
      expect(this.heartbeat(brokerId).isFenced).toBe(false);
    }
  }

  isolateActive(): SmallHost<Node> {
    const { active } = this;
    for (let i = 0; i < this.#count; i++) {
      if (i !== active.address) this.world.cut(i, active.address);
    }
    return active;
  }

  nextActive(after: SmallHost<Node>): boolean {
    return this.world.runUntil(
      () => this.activeAddress !== undefined && this.active !== after,
      20 * SECOND,
    );
  }
}

function topic(name: string, ...replicas: readonly number[]): CreateTopicsRequest {
  const assignments = [{ partitionIndex: 0, brokerIds: replicas }];
  const topics = [{ name, numPartitions: -1, replicationFactor: -1, assignments, configs: [] }];
  return { topics, timeoutMs: 1_000, validateOnly: false };
}

function errorOfTopic(response: Asked<{ topics: readonly { errorCode: number }[] }>): string {
  return errorOf(response.response?.topics[0]?.errorCode ?? -1).name;
}

describe("the active controller", () => {
  test("answers a change only when it is committed, and then it is a fact", () => {
    const scene = new Scene(1);
    scene.join(1, 2, 3);
    // With both others down nothing is committed.
    const others = scene.world.hosts.slice(0, 3).filter((host) => host !== scene.active);
    for (const other of others) other.crash();
    const asked = scene.brokers.ask(scene.active.address, CREATE_TOPICS, topic("orders", 1, 2, 3));
    scene.world.run(SECOND);
    expect(asked.isOver).toBe(false);
    expect(scene.facts("partition-changed")).toEqual([]);
    for (const other of others) other.start();
    expect(scene.world.runUntil(() => asked.isOver)).toBe(true);
    expect(errorOfTopic(asked)).toBe("NONE");
    expect(scene.facts("partition-changed")).toMatchObject([
      {
        partition: "orders-0",
        leader: 1,
        isr: [1, 2, 3],
        election: "initial",
        minInsyncReplicas: 1,
      },
    ]);
  });

  test("that loses its quorum answers NOT_CONTROLLER, and what it had not committed is gone", () => {
    for (let seed = 0; seed < 5; seed++) {
      const scene = new Scene(seed);
      scene.join(1, 2, 3);
      const old = scene.isolateActive();
      const asked = scene.brokers.ask(old.address, CREATE_TOPICS, topic("orders", 1));
      expect(scene.world.runUntil(() => asked.isOver, 5 * SECOND)).toBe(true);
      expect(errorOfTopic(asked)).toBe("NOT_CONTROLLER");
      expect(scene.nextActive(old)).toBe(true);
      scene.world.heal();
      const again = scene.ask(CREATE_TOPICS, topic("orders", 2));
      expect(again.topics[0]?.errorCode).toBe(0);
      expect(scene.facts("partition-changed")).toMatchObject([{ leader: 2, isr: [2] }]);
    }
  });

  test("answers nothing from a state that may yet be lost, also where it wrote that by itself", () => {
    for (let seed = 0; seed < 5; seed++) {
      const scene = new Scene(seed);
      scene.join(1);
      const old = scene.isolateActive();
      // By then it has written a no-op record.
      scene.world.run(600 * MILLISECOND);
      const asked = scene.brokers.ask(old.address, BROKER_HEARTBEAT, {
        brokerId: 1,
        brokerEpoch: scene.epochOf(1),
        currentMetadataOffset: 1_000_000,
        wantFence: false,
        wantShutDown: false,
        offlineLogDirs: [],
      });

      expect(scene.world.runUntil(() => asked.isOver, 5 * SECOND)).toBe(true);
      expect(errorOf(asked.response?.errorCode ?? 0).name).toBe("NOT_CONTROLLER");
    }
  });

  test("is followed by one that knows all that was committed, and each change is noted once", () => {
    for (let seed = 0; seed < 5; seed++) {
      const scene = new Scene(seed);
      scene.join(1, 2, 3);
      scene.ask(CREATE_TOPICS, topic("orders", 1, 2, 3));
      for (let round = 0; round < 3; round++) {
        const old = scene.active;
        if (round === 1) old.powerOff();
        else old.crash();
        expect(scene.nextActive(old)).toBe(true);
        old.start();
        const repeated = scene.ask(CREATE_TOPICS, topic("orders", 1));
        expect(errorOf(repeated.topics[0]?.errorCode ?? 0).name).toBe("TOPIC_ALREADY_EXISTS");
      }
      expect(scene.facts("broker-registered")).toHaveLength(3);
      expect(scene.facts("broker-unfenced")).toHaveLength(3);
      const epochs = scene.facts("partition-changed").map((fact) => fact.partitionEpoch);
      expect(epochs).toEqual([...new Set(epochs)]);
      expect(scene.facts("broker-fenced").length).toBeLessThanOrEqual(3);
    }
  });

  test("is the only one that answers; the others say that they are not", () => {
    const scene = new Scene(3);
    const other = [0, 1, 2].find((address) => address !== scene.active.address) ?? -1;
    const { brokers, world } = scene;
    const body = { brokerId: 1, brokerEpoch: 0 };
    const asked = [
      brokers.ask(other, CREATE_TOPICS, topic("orders", 1)),
      brokers.ask(other, ALTER_PARTITION, { ...body, topics: [] }),
      brokers.ask(other, ALLOCATE_PRODUCER_IDS, body),
      brokers.ask(other, BROKER_HEARTBEAT, {
        ...body,
        currentMetadataOffset: 0,
        wantFence: false,
        wantShutDown: false,
        offlineLogDirs: [],
      }),
    ] as const;
    expect(world.runUntil(() => asked.every((one) => one.isOver))).toBe(true);
    const [created, ...rest] = asked;
    expect(errorOfTopic(created)).toBe("NOT_CONTROLLER");
    for (const { response } of rest) {
      expect(errorOf(response?.errorCode ?? 0).name).toBe("NOT_CONTROLLER");
    }
  });

  test("is told apart by its quorum epoch, which only grows", () => {
    const scene = new Scene(4);
    for (let round = 0; round < 4; round++) {
      const old = scene.active;
      old.crash();
      expect(scene.nextActive(old)).toBe(true);
      old.start();
    }
    const epochs = scene.facts("controller-elected").map((fact) => fact.quorumEpoch);
    expect(epochs).toHaveLength(5);
    expect(epochs).toEqual([...new Set(epochs)].sort((a, b) => a - b));
  });

  test("that is asked to stop hands over first", () => {
    const scene = new Scene(6);
    const old = scene.active;
    old.node?.onShutdown();
    expect(scene.facts("controller-resigned")).toHaveLength(1);
    expect(scene.nextActive(old)).toBe(true);
    expect(scene.world.runUntil(() => !old.isUp, 5 * SECOND)).toBe(true);
    expect(old.exited).toBe("shutdown");
  });

  test("alone decides alone, and remembers it after a loss of power", () => {
    const scene = new Scene(7, 1);
    scene.join(1);
    scene.ask(CREATE_TOPICS, topic("orders", 1));
    const { active } = scene;
    active.powerOff();
    active.start();
    expect(scene.world.runUntil(() => scene.facts("controller-elected").length === 2)).toBe(true);
    scene.world.run(100 * MILLISECOND);
    const repeated = scene.ask(CREATE_TOPICS, topic("orders", 1));
    expect(errorOf(repeated.topics[0]?.errorCode ?? 0).name).toBe("TOPIC_ALREADY_EXISTS");
  });
});

describe("a broker", () => {
  test("that falls silent is fenced after its session and at most a quarter more", () => {
    const scene = new Scene(8);
    scene.join(1, 2, 3);
    scene.ask(CREATE_TOPICS, topic("orders", 1, 2, 3));
    const silentSince = scene.world.now;
    while (scene.facts("broker-fenced").length === 0) {
      scene.heartbeat(2);
      scene.heartbeat(3);
      scene.world.run(100 * MILLISECOND);
    }
    const silence = scene.world.now - silentSince;
    expect(silence).toBeGreaterThan(8 * SECOND);
    expect(silence).toBeLessThan(12 * SECOND);
    expect(scene.facts("broker-fenced")).toMatchObject([{ broker: 1 }]);
    expect(scene.facts("partition-changed").at(-1)).toMatchObject({
      leader: 2,
      isr: [2, 3],
      leaderEpoch: 1,
      election: "clean",
    });
  });

  test("that comes back as a new process has a larger epoch, and says if it stopped cleanly", () => {
    const scene = new Scene(9);
    scene.join(1);
    const before = scene.epochOf(1);
    expect(scene.register(1, before, 1)).toBe("DUPLICATE_BROKER_REGISTRATION");
    expect(scene.heartbeat(1, true).shouldShutDown).toBe(true);
    expect(scene.register(1, before, 1)).toBe("NONE");
    const clean = scene.epochOf(1);
    expect(clean).toBeGreaterThan(before);
    scene.world.run(20 * SECOND);
    expect(scene.register(1, before, 2)).toBe("NONE");
    expect(scene.facts("broker-registered")).toMatchObject([
      { brokerEpoch: before, cleanShutdown: false },
      { brokerEpoch: clean, cleanShutdown: true },
      { brokerEpoch: scene.epochOf(1), cleanShutdown: false },
    ]);
  });

  test("that is silent through a change of controllers gets a whole session more (KAFKA-18138)", () => {
    const scene = new Scene(10);
    scene.join(1);
    scene.world.run(7 * SECOND);
    const old = scene.active;
    old.crash();
    expect(scene.nextActive(old)).toBe(true);
    scene.world.run(6 * SECOND);
    expect(scene.facts("broker-fenced")).toEqual([]);
    expect(scene.heartbeat(1).errorCode).toBe(0);
  });
});
