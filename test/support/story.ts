import type { Duration } from "../../src/base/time.ts";
import type { NodeTable } from "../../src/cluster/cluster.ts";
import { Director } from "../../src/cluster/director.ts";
import type { Plan } from "../../src/cluster/plan.ts";
import { makePlan, rosterOf } from "../../src/cluster/plan.ts";
import type { Offset, PartitionName } from "../../src/kafka/ids.ts";
import { buildBatch } from "../../src/kafka/log/record-batch.ts";
import type { BitRot, DiskArea, DiskFailure } from "../../src/ports/disk-failure.ts";
import type { Hands, LogPlace } from "../../src/ports/hands.ts";
import type { NodeAddress } from "../../src/ports/network.ts";
import type { Ratio } from "../../src/ports/random.ts";
import type { Roster } from "../../src/scenario/roster.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";
import { Rng } from "../../src/sim/rng.ts";
import { Scheduler } from "../../src/sim/scheduler.ts";
import { ClusterView } from "../../src/trace/cluster-view.ts";
import type { Fact, PartitionChanged } from "../../src/trace/fact.ts";
import { FactRecorder } from "../../src/trace/recorder.ts";
import { scenarioOf } from "./scenario-text.ts";

/** Hands that write down what they are told, and count what lasts. */
export class FakeHands implements Hands {
  /** `crash 0`, `cut 0>1`, `undo delay 0>1`. */
  readonly log: string[] = [];
  /** What has begun and was not taken back, and how often. */
  readonly open = new Map<string, number>();
  /** Called with each stop and start, for a world that reacts. */
  onNode: (what: "stopped" | "started" | "paused" | "resumed", node: NodeAddress) => void =
    () => {};

  crash(node: NodeAddress): void {
    this.#node("crash", node, "stopped");
  }

  restart(node: NodeAddress): void {
    this.#node("restart", node, "started");
  }

  shutdown(node: NodeAddress): void {
    this.#node("shutdown", node, "stopped");
  }

  pause(node: NodeAddress): void {
    this.#node("pause", node, "paused");
  }

  resume(node: NodeAddress): void {
    this.#node("resume", node, "resumed");
  }

  powerOff(node: NodeAddress, mode: string): void {
    this.log.push(`unflushed ${mode}`);
    this.#node("power-off", node, "stopped");
  }

  powerOn(node: NodeAddress): void {
    this.#node("power-on", node, "started");
  }

  cut(from: NodeAddress, to: NodeAddress): void {
    this.#begin(`cut ${from}>${to}`);
  }

  heal(from: NodeAddress, to: NodeAddress): void {
    this.#end(`cut ${from}>${to}`);
  }

  pauseReading(node: NodeAddress, partition: string | undefined): () => void {
    return this.#begin(`pause-reading ${node} ${partition ?? "all"}`);
  }

  seek(node: NodeAddress, partition: string | undefined, to: number | LogPlace): void {
    this.log.push(`seek ${node} ${partition ?? "all"} ${JSON.stringify(to)}`);
  }

  askOffsets(node: NodeAddress, partition: string | undefined, which: LogPlace): void {
    this.log.push(`ask-offsets ${node} ${partition ?? "all"} ${JSON.stringify(which)}`);
  }

  delay(from: NodeAddress, to: NodeAddress): () => void {
    return this.#begin(`delay ${from}>${to}`);
  }

  slowLink(from: NodeAddress, to: NodeAddress, bytesPerSecond: number): () => void {
    return this.#begin(`slow ${from}>${to} ${bytesPerSecond}`);
  }

  reset(one: NodeAddress, other: NodeAddress): void {
    this.log.push(`reset ${one}-${other}`);
  }

  disturb(from: NodeAddress, to: NodeAddress, disturbance: object): () => void {
    return this.#begin(`disturb ${from}>${to} ${JSON.stringify(disturbance)}`);
  }

  slowDisk(node: NodeAddress, factor: number): () => void {
    return this.#begin(`slow-disk ${node} ${factor}`);
  }

  spikeDisk(node: NodeAddress, chance: Ratio): () => void {
    return this.#begin(`spike-disk ${node} ${JSON.stringify(chance)}`);
  }

  stallDisk(node: NodeAddress, time: Duration, what: string): void {
    this.log.push(`stall-disk ${node} ${time} ${what}`);
  }

  failDisk(node: NodeAddress, { kind, ...failure }: DiskFailure): () => void {
    return this.#begin(`${kind} ${node} ${JSON.stringify(failure)}`);
  }

  fillDisk(node: NodeAddress, area: DiskArea, free: number): () => void {
    return this.#begin(`fill-disk ${node} ${JSON.stringify(area)} ${free}`);
  }

  lockDisk(node: NodeAddress, area: DiskArea): () => void {
    return this.#begin(`lock-disk ${node} ${JSON.stringify(area)}`);
  }

  lieAboutSyncs(node: NodeAddress, area: DiskArea): () => void {
    return this.#begin(`lie-about-syncs ${node} ${JSON.stringify(area)}`);
  }

  loseDisk(node: NodeAddress, area: DiskArea): () => void {
    return this.#begin(`lose-disk ${node} ${JSON.stringify(area)}`);
  }

  /** Rot stays, unless it is taken back. */
  rotDisk(node: NodeAddress, rot: BitRot): () => void {
    this.log.push(`rot-disk ${node} ${JSON.stringify(rot)}`);
    return () => this.log.push(`undo rot-disk ${node}`);
  }

  deleteRecords(partition: PartitionName, before: Offset): void {
    this.log.push(`delete-records ${partition} ${before}`);
  }

  addPartitions(topic: string, count: number): void {
    this.log.push(`add-partitions ${topic} ${count}`);
  }

  abortHanging(partition: PartitionName, maxTimeout: Duration): void {
    this.log.push(`abort-hanging ${partition} ${maxTimeout}`);
  }

  skewClock(node: NodeAddress, offset: Duration, driftPpm: number): () => void {
    return this.#begin(`skew ${node} ${offset} ${driftPpm}`);
  }

  #node(verb: string, node: NodeAddress, what: Parameters<FakeHands["onNode"]>[0]): void {
    this.log.push(`${verb} ${node}`);
    this.onNode(what, node);
  }

  #begin(what: string): () => void {
    this.log.push(what);
    this.open.set(what, (this.open.get(what) ?? 0) + 1);
    return () => this.#end(what);
  }

  #end(what: string): void {
    const count = this.open.get(what) ?? 0;
    if (count === 0) throw new Error(`${what} was taken back without having begun`);
    this.log.push(`undo ${what}`);
    if (count === 1) this.open.delete(what);
    else this.open.set(what, count - 1);
  }
}

/** A scenario as it is directed, in a world of facts that a test notes by hand. */
export class Story {
  readonly plan: Plan;
  readonly roster: Roster;
  readonly scheduler = new Scheduler();
  readonly facts: FactRecorder;
  readonly view: ClusterView;
  readonly hands = new FakeHands();
  readonly director: Director;
  /** Faults as they begin and end: `1.000s crash broker-1, leader of orders-0 [kill]`. */
  readonly told: string[] = [];
  settled = 0;
  readonly #test: number;

  constructor(scenario: Scenario | string, seed = "1") {
    this.plan = makePlan(typeof scenario === "string" ? scenarioOf(scenario) : scenario, seed);
    this.roster = rosterOf(this.plan, tableOf(this.plan));
    this.facts = new FactRecorder(this.scheduler);
    this.view = new ClusterView(this.facts);
    this.facts.on("fault-begun", (fact, at) => {
      this.told.push(`${at / 1_000_000}s ${fact.verb} ${fact.text} [${fact.name}]`);
    });
    this.facts.on("fault-ended", (fact, at) => {
      this.told.push(`${at / 1_000_000}s end of ${fact.verb} [${fact.name}]`);
    });
    this.director = new Director({
      plan: this.plan,
      roster: this.roster,
      scheduler: this.scheduler,
      clock: this.scheduler,
      facts: this.facts,
      view: this.view,
      hands: this.hands,
      random: new Rng(seed),
      onSettle: () => {
        this.settled++;
      },
    });
    this.hands.onNode = (what, node) => this.#react(what, this.roster.at(node).name);
    this.#test = this.scheduler.register("test", { handle: (_, act) => (act as () => void)() });
    for (const { name } of this.roster.nodes) {
      this.facts.note({ kind: "node-started", node: name, incarnation: 0 });
    }
    for (const partition of this.roster.partitions) this.register({ partition });
  }

  /** The partition's registration: led by broker 1 and all in sync, but for what is given. */
  register(change: Partial<PartitionChanged> & { readonly partition: PartitionName }): void {
    this.facts.note({
      kind: "partition-changed",
      replicas: [1, 2, 3],
      isr: [1, 2, 3],
      elr: [],
      leader: 1,
      leaderEpoch: 0,
      partitionEpoch: 0,
      recovering: false,
      election: "none",
      minInsyncReplicas: 1,
      ...change,
    });
  }

  /** At that time, in seconds, these facts are noted. */
  at(seconds: number, ...facts: readonly Fact[]): this {
    return this.do(seconds, () => {
      for (const fact of facts) this.facts.note(fact);
    });
  }

  do(seconds: number, act: () => void): this {
    this.scheduler.at(seconds * 1_000_000, this.#test, 0, act);
    return this;
  }

  /** Runs from time zero until all is over, or nothing is left to happen. */
  run(): this {
    this.director.start();
    this.director.afterEvent();
    while (this.director.phase !== "over" && this.scheduler.step()) this.director.afterEvent();
    return this;
  }

  #react(what: Parameters<FakeHands["onNode"]>[0], node: string): void {
    const { isUp, isPaused, incarnation } = this.view.node(node);
    if (what === "stopped" && isUp) {
      this.facts.note({ kind: "node-stopped", node, how: "crash", reason: "test" });
    } else if (what === "started" && !isUp) {
      this.facts.note({ kind: "node-started", node, incarnation: incarnation + 1 });
    } else if (what === "paused" && isUp) this.facts.note({ kind: "node-paused", node });
    else if (what === "resumed" && isPaused) this.facts.note({ kind: "node-resumed", node });
  }
}

/** Brokers from address 0 on, then controllers, then clients. */
function tableOf(plan: Plan): NodeTable {
  const { brokers, controllers, clients } = plan.cluster;
  const seats = brokers.map(({ id }, address) => ({ id, address }));
  const voters = Array.from({ length: controllers }, (_, i) => ({
    id: 3001 + i,
    address: seats.length + i,
  }));
  const first = seats.length + voters.length;
  return {
    names: [
      ...seats.map(({ id }) => `broker-${id}`),
      ...voters.map(({ id }) => `controller-${id - 3000}`),
      ...clients.map(({ name }) => name),
    ],
    brokers: seats,
    controllers: voters,
    admin: -1,
    clients: clients.map(({ name }, i) => ({ name, address: first + i })),
  };
}

export function moved(highWatermark: number, broker = 1, partition = "orders-0"): Fact {
  return {
    kind: "high-watermark-moved",
    broker,
    partition,
    highWatermark,
    leaderEpoch: 0,
    asLeader: true,
  };
}

export function appended(broker: number, baseOffset: number, partition = "orders-0"): Fact {
  const batch = buildBatch([{ timestamp: 0 }], { baseOffset });
  return { kind: "appended", broker, partition, batch, asLeader: true };
}

/** The client sent so many records, and was told how they ended. */
export function sent(
  client: string,
  count: number,
  outcome: "acked" | "failed" | "unknown" = "acked",
): Fact[] {
  const values = Array.from({ length: count }, (_, i) => i);
  const partition = "orders-0";
  return [
    ...values.map((value): Fact => ({ kind: "record-sent", client, partition, value })),
    {
      kind: "send-ended",
      client,
      partition,
      outcome,
      values,
      baseOffset: 0,
      acks: -1,
      error: outcome === "acked" ? "NONE" : "REQUEST_TIMED_OUT",
      attempts: 1,
    },
  ];
}

/** A story of three brokers, three controllers, one topic and what is given. */
export function story(faults: string, more = "", seed = "1"): Story {
  return new Story(
    `version: 1
name: story
kafka: "4.3"
cluster:
  brokers: [ { id: 1, rack: a }, { id: 2, rack: a }, { id: 3, rack: b } ]
  controllers: 3
topics: { orders: { partitions: 2, replication.factor: 3 } }
clients:
  p1: { produce: orders }
  c1: { consume: orders }
faults:
${faults}
settle: 10s
${more}`,
    seed,
  );
}
