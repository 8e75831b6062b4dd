import type { Guarantee } from "../../src/checkers/guarantee.ts";
import { resolveConfigs } from "../../src/kafka/config/config-table.ts";
import { CONSUMER_CONFIGS } from "../../src/kafka/config/consumer-configs.ts";
import { partitionFor } from "../../src/kafka/coordinator/partition-for.ts";
import type { ProtocolSwitches } from "../../src/kafka/protocol-switches.ts";
import type { Fact } from "../../src/trace/fact.ts";
import { History } from "./fact-builders.ts";

const GROUP = "workers";
const SECOND = 1_000_000;

type Shares = Readonly<Record<string, readonly number[]>>;

/**
 * A group that reads the topic `queue` of four partitions, as facts tell of it: the client c1 is the member m1, c2 m2
 * and so on. Each fact is an event of its own.
 */
export class GroupFacts {
  readonly history: History;

  /** `groups`: who keeps who owns what. */
  constructor(guarantee: Guarantee, groups: ProtocolSwitches["groups"] = "coordinator") {
    const configs = resolveConfigs(CONSUMER_CONFIGS);
    const member = { group: GROUP, topics: ["queue"], configs };
    this.history = new History({
      guarantees: [guarantee],
      switches: { groups },
      members: ["c1", "c2"].map((client) => [client, member]),
    });
    for (const partition of [0, 1, 2, 3]) this.registered(`queue-${partition}`);
    for (const node of ["broker-1", "broker-2", "broker-3", "controller-1", "c1", "c2"]) {
      this.note({ kind: "node-started", node, incarnation: 0 });
    }
  }

  note(fact: Fact): this {
    this.history.note(fact);
    return this;
  }

  registered(partition: string): this {
    return this.note({
      kind: "partition-changed",
      partition,
      replicas: [1, 2, 3],
      isr: [1, 2, 3],
      elr: [],
      leader: 1,
      leaderEpoch: 0,
      partitionEpoch: 0,
      recovering: false,
      election: "initial",
      minInsyncReplicas: 1,
    });
  }

  /** The broker that coordinates leads the partition that it keeps the group in. */
  coordinated(): this {
    const partition = `__consumer_offsets-${partitionFor(GROUP, 50)}`;
    this.registered(partition);
    return this.note({
      kind: "became-leader",
      broker: 1,
      partition,
      leaderEpoch: 0,
      partitionEpoch: 0,
      logEndOffset: 0,
      highWatermark: 0,
      isr: [1, 2, 3],
    });
  }

  /** Another broker has read what the coordinator before it wrote. */
  loaded(): this {
    const partition = `__consumer_offsets-${partitionFor(GROUP, 50)}`;
    return this.note({ kind: "coordinator-loaded", broker: 2, partition, leaderEpoch: 1 });
  }

  state(to: string, generation: number, from = "Empty"): this {
    const kind = "group-state-changed";
    return this.note({ kind, broker: 1, group: GROUP, from, to, generation, reason: "" });
  }

  migrated(to: "consumer" | "classic", generation: number): this {
    return this.note({ kind: "group-migrated", broker: 1, group: GROUP, to, generation });
  }

  assigned(generation: number, shares: Shares, topics: readonly string[] = ["queue"]): this {
    const assignments = Object.entries(shares).map(([member, numbers]) => ({
      member,
      topics,
      partitions: queue(numbers),
    }));
    return this.note({ kind: "group-assigned", broker: 1, group: GROUP, generation, assignments });
  }

  /** What a member of a KIP-848 group has by right, and must give back. */
  given(
    member: string,
    memberEpoch: number,
    numbers: readonly number[],
    revoking: readonly number[] = [],
  ): this {
    return this.note({
      kind: "group-member-assigned",
      broker: 1,
      group: GROUP,
      member,
      memberEpoch,
      partitions: queue(numbers),
      revoking: queue(revoking),
    });
  }

  joined(member: string, instance = ""): this {
    return this.note({ kind: "group-member-joined", broker: 1, group: GROUP, member, instance });
  }

  left(member: string, instance = "", reason = "left"): this {
    const kind = "group-member-left";
    return this.note({ kind, broker: 1, group: GROUP, member, instance, reason });
  }

  takes(
    client: string,
    generation: number,
    numbers: readonly number[],
    member = idOf(client),
  ): this {
    const kind = "partitions-assigned";
    const partitions = queue(numbers);
    return this.note({ kind, client, group: GROUP, member, generation, partitions });
  }

  givesUp(client: string, generation: number, numbers: readonly number[]): this {
    const kind = "partitions-revoked";
    const partitions = queue(numbers);
    return this.note({ kind, client, group: GROUP, member: idOf(client), generation, partitions });
  }

  /** The member's session with ZooKeeper is over. */
  expires(client: string): this {
    const znodes = [`/consumers/${GROUP}/ids/${idOf(client)}`];
    return this.note({ kind: "zookeeper-session-ended", session: 1, how: "expired", znodes });
  }

  /** It has tried for the last time to take these. */
  failsToTake(client: string, numbers: readonly number[]): this {
    return this.note({
      kind: "zookeeper-rebalance-ended",
      client,
      group: GROUP,
      member: idOf(client),
      attempt: 4,
      outcome: "failed",
      partitions: queue(numbers),
    });
  }

  reads(client: string, number: number, upTo: number): this {
    return this.note({
      kind: "polled",
      client,
      partition: `queue-${number}`,
      firstOffset: 0,
      lastOffset: upTo - 1,
      batches: [],
    });
  }

  begins(client: string, number: number, to: number, reason = "committed"): this {
    const partition = `queue-${number}`;
    return this.note({ kind: "position-reset", client, partition, from: -1, to, reason });
  }

  commits(member: string, generation: number, number: number, offset: number): this {
    return this.note({
      kind: "offsets-committed",
      broker: 1,
      group: GROUP,
      member,
      generation,
      offsets: [{ partition: `queue-${number}`, offset }],
      producerId: -1,
    });
  }

  hearsOfCommit(client: string, number: number, offset: number): this {
    return this.note({
      kind: "commit-ended",
      client,
      group: GROUP,
      member: idOf(client),
      generation: 1,
      how: "sync",
      offsets: [{ partition: `queue-${number}`, offset }],
      outcome: "committed",
      error: "NONE",
    });
  }

  /** Faults have struck, all is healed, and so many seconds pass. */
  settles(seconds: number): this {
    const begun = { kind: "fault-begun", fault: 0, text: "", name: "" } as const;
    this.note({ ...begun, verb: "isolate" }).note({ ...begun, fault: -1, verb: "settle" });
    this.history.now += seconds * SECOND;
    return this;
  }

  /** `kind partition: text`, with what permits it behind a bar. */
  found(): string[] {
    return this.history.violations().map(({ kind, partition, text, permitted }) => {
      const where = partition === "" ? "" : ` ${partition}`;
      return `${kind}${where}: ${text.join(" ")}${permitted === undefined ? "" : ` | ${permitted}`}`;
    });
  }

  get verdict(): string | undefined {
    return this.history.checkers.summaries()[0]?.state;
  }
}

function queue(numbers: readonly number[]): string[] {
  return numbers.map((number) => `queue-${number}`);
}

function idOf(client: string): string {
  return client.replace("c", "m");
}
