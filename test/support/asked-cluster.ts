import { SECOND } from "../../src/base/time.ts";
import { Cluster } from "../../src/cluster/cluster.ts";
import type { ClusterSpec } from "../../src/cluster/cluster-spec.ts";
import type { Api } from "../../src/kafka/protocol/api.ts";
import { Host } from "../../src/sim/host.ts";
import type { Fact, FactKind, FactOf } from "../../src/trace/fact.ts";
import type { Asked } from "./asking-node.ts";
import { AskingNode } from "./asking-node.ts";
import { MemoryDisk } from "./memory-disk.ts";
import { producer, sampleSpec } from "./sample-spec.ts";

/**
 * A whole cluster, of brokers 1 to 3 with the topic `orders`, and one client that asks what the test wants
 * asked. It sits where the first client of the specification would.
 */
export class AskedCluster {
  readonly cluster: Cluster;
  readonly notes: Fact[] = [];
  #node: AskingNode | undefined;

  constructor(overrides: Partial<ClusterSpec> = {}) {
    this.cluster = new Cluster(sampleSpec({ clients: [producer("asker")], ...overrides }));
    const { cluster } = this;
    cluster.facts.onAny((fact) => this.notes.push(fact));
    cluster.start();
    this.until(() => this.notes.some((fact) => fact.kind === "partition-changed"));
    const address = cluster.table.clients[0]?.address ?? -1;
    const host = new Host({
      address,
      name: "asker",
      scheduler: cluster.scheduler,
      random: cluster.random.fork("asker"),
      facts: cluster.facts,
      program: (world) => {
        this.#node = new AskingNode(world);
        return this.#node;
      },
      network: (station) => cluster.fabric.networkFor(station),
      disk: () => new MemoryDisk(),
      watchers: [cluster.fabric],
      clockStart: 0,
    });
    host.start();
    this.run(SECOND);
  }

  /** Lets so much time pass. */
  run(duration: number): void {
    const { scheduler } = this.cluster;
    const end = scheduler.now + duration;
    while (scheduler.nextTime() <= end && scheduler.step());
  }

  /** Lets time pass until it is so; fails after a minute. */
  until(isSo: () => boolean): void {
    const { scheduler } = this.cluster;
    const end = scheduler.now + 60 * SECOND;
    while (!isSo()) {
      if (scheduler.nextTime() > end || !scheduler.step()) throw new Error("it does not happen");
    }
  }

  /** Asks a broker. */
  ask<Request, Response>(
    broker: number,
    api: Api<Request, Response>,
    body: Request,
  ): Asked<Response> {
    const address = this.cluster.table.brokers.find(({ id }) => id === broker)?.address ?? -1;
    const node = this.#node;
    if (node === undefined) throw new Error("the asker does not run");
    return node.ask(address, api, body);
  }

  /** Asks a broker, and lets time pass until it answers. */
  answer<Request, Response>(broker: number, api: Api<Request, Response>, body: Request): Response {
    const asked = this.ask(broker, api, body);
    this.until(() => asked.isOver);
    if (asked.response === undefined) throw new Error(`no answer to ${api.name}`);
    return asked.response;
  }

  factsOf<K extends FactKind>(kind: K): FactOf<K>[] {
    return this.notes.filter((fact): fact is FactOf<K> => fact.kind === kind);
  }
}
