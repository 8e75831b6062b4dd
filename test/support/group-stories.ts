import { Simulation } from "../../src/cluster/simulation.ts";
import type { Fact } from "../../src/trace/fact.ts";
import type { Findings } from "./campaign-tally.ts";
import { findingsOf } from "./campaign-tally.ts";
import { scenarioOf } from "./scenario-text.ts";
import { SmallRandom } from "./small-random.ts";

/** The protocol without a coordinator, with registries in ZooKeeper. */
const ZOOKEEPER = "zookeeper-2011";

/** How a group rebalances, and the configs of its members that make it so. */
export const PROTOCOLS: Readonly<Record<string, readonly string[]>> = {
  eager: [
    "partition.assignment.strategy: range",
    "partition.assignment.strategy: roundrobin",
    "partition.assignment.strategy: sticky",
  ],
  cooperative: ["partition.assignment.strategy: cooperative-sticky"],
  consumer: [
    "group.protocol: consumer, group.remote.assignor: uniform",
    "group.protocol: consumer, group.remote.assignor: range",
  ],
  [ZOOKEEPER]: [],
};

/** In a mixed group each member has its own: the group migrates as they come and go. */
export const PROTOCOL_NAMES: readonly string[] = [...Object.keys(PROTOCOLS), "mixed"];

const MODERN: readonly string[] = PROTOCOLS["consumer"] ?? [];

/** A group of three to five, and ten seconds in which its members and its coordinators fail, drawn from the seed. */
export function groupStory(protocol: string, seed: number): string {
  const random = new SmallRandom(seed);
  const pick = <Value>(all: readonly Value[]): Value => all[random.below(all.length)] as Value;
  const members = Array.from({ length: random.between(3, 5) }, (_, i) => `c${i + 1}`);
  const isZookeeper = protocol === ZOOKEEPER;
  const isMixed = protocol === "mixed";
  // Those that speak the classic protocol need one strategy that all of them know.
  const classic = isMixed ? pick(["eager", "cooperative"]) : protocol;
  const kind = isZookeeper ? "" : pick(PROTOCOLS[classic] ?? []);
  // Half of the groups have but one of the other protocol: where he goes, so does it.
  const modern = isMixed
    ? members.slice(0, random.chance(1, 2) ? 1 : random.between(1, members.length))
    : [];
  const kinds = new Map(modern.map((name) => [name, pick(MODERN)]));
  const seconds = (low: number, high: number): string =>
    `${random.between(low * 10, high * 10) * 100}ms`;
  const isTransactional = random.chance(1, 3);
  const client = (name: string): string => {
    const commit = pick(["auto", "auto", "sync", isZookeeper ? "sync" : "async"]);
    const protocolConfigs = kinds.get(name) ?? kind;
    const isClassic = !isZookeeper && !MODERN.includes(protocolConfigs);
    const configs = [
      ...(isZookeeper ? [] : [protocolConfigs]),
      "auto.offset.reset: earliest",
      "request.timeout.ms: 3000",
      ...(isZookeeper ? [] : [`max.poll.interval.ms: ${pick([4000, 8000])}`]),
      // Of the slowest work more would be out of the group for ever.
      `max.poll.records: ${pick([5, 15])}`,
      `auto.commit.interval.ms: ${pick([500, 2000])}`,
      `enable.auto.commit: ${commit === "auto"}`,
      ...(isTransactional && random.chance(2, 3) ? ["isolation.level: read_committed"] : []),
      ...(isClassic ? ["session.timeout.ms: 6000", "heartbeat.interval.ms: 1000"] : []),
      ...(!isZookeeper && random.chance(2, 5) ? [`group.instance.id: ${name}`] : []),
    ];
    const work = pick(["", "work: 10ms, ", "work: uniform(1ms..300ms), "]);
    return `  ${name}: { consume: orders, group: workers, ${work}commit: ${commit}, config: { ${configs.join(", ")} } }`;
  };
  const struck = (_: unknown, step: number): string => {
    const member = pick(members);
    const other = pick(members.filter((one) => one !== member));
    const coordinator = isZookeeper ? "zookeeper" : "group-coordinator(workers)";
    const at = `at: ${seconds(4, 14)}`;
    return pick([
      `{ ${at}, crash: ${member}, for: ${seconds(0.5, 9)} }`,
      `{ name: s${step}, ${at}, stop-client: ${member} }\n  - { after: s${step}, delay: ${seconds(0.5, 9)}, restart: ${member} }`,
      `{ ${at}, pause: ${member}, for: ${seconds(1, 10)} }`,
      // The others rebalance without it.
      `{ name: h${step}, ${at}, pause: ${member}, for: ${seconds(5, 9)} }\n  - { after: h${step}, delay: ${seconds(0, 1)}, stop-client: ${other} }\n  - { after: h${step}, delay: ${seconds(3, 6)}, restart: ${other} }`,
      `{ ${at}, partition: { from: ${member}, to: ${coordinator} }, for: ${seconds(2, 8)} }`,
      `{ ${at}, delay-link: ${seconds(0.3, 2)}, from: ${member}, to: ${coordinator}, for: ${seconds(2, 8)} }`,
      `{ ${at}, crash: ${coordinator}, for: ${seconds(2, 6)} }`,
      `{ ${at}, pause: ${coordinator}, for: ${seconds(1, 8)} }`,
      `{ ${at}, partition: { from: ${coordinator}, to: controllers + brokers - ${coordinator} }, for: ${seconds(3, 8)} }`,
      `{ ${at}, crash: ${pick(["broker-1", "broker-2", "broker-3"])}, for: ${seconds(2, 6)} }`,
    ]);
  };
  const late = random.chance(1, 2)
    ? [`{ at: 0s, crash: ${pick(members)}, for: ${seconds(2, 8)} }`]
    : [];
  const transactions = isTransactional
    ? ", transaction: { records: 4, abort: 30% }, config: { transactional.id: one, transaction.timeout.ms: 5000 }"
    : "";
  // A group that has not chosen a strategy yet takes in nobody of the other protocol.
  for (const name of modern) {
    late.push(`{ at: 0s, crash: ${name}, for: ${seconds(3, 6)} }`);
    if (random.chance(1, 2)) late.push(`{ at: ${seconds(9, 14)}, pause: ${name}, for: 10s }`);
  }
  const faults = [...late, ...Array.from({ length: random.between(3, 6) }, struck)];
  return `version: 1
name: groups
summary: A group whose members and coordinators fail.
kafka: "4.3"
cluster:
  brokers: 3
  controllers: 3
  protocol: { groups: ${isZookeeper ? ZOOKEEPER : "coordinator"} }
  config:
    offsets.topic.num.partitions: 1
    transaction.state.log.num.partitions: 1
    transaction.abort.timed.out.transaction.cleanup.interval.ms: 1000
    broker.session.timeout.ms: 4000
    replica.lag.time.max.ms: 3000
    group.initial.rebalance.delay.ms: 500
    group.consumer.session.timeout.ms: 6000
    group.consumer.heartbeat.interval.ms: 1000
topics:
  orders: { partitions: ${random.between(3, 8)}, replication.factor: 3, config: { min.insync.replicas: 2 } }
clients:
  p1: { produce: orders, rate: ${pick([5, 20])}/s, keys: 100${transactions} }
${members.map(client).join("\n")}
faults:
${faults.map((fault) => `  - ${fault}`).join("\n")}
duration: 20s
settle: 45s
`;
}

/** Things worth reaching: a campaign about groups that never reaches one has tested nothing of it. */
export const GROUP_PROBES: Readonly<Record<string, (fact: Fact) => boolean>> = {
  "fifth generation": (fact) => fact.kind === "group-assigned" && fact.generation >= 5,
  "member missed": (fact) => hasLeft(fact, "session-expired"),
  "member that left": (fact) => hasLeft(fact, "left"),
  "member that was too slow to give up": (fact) => hasLeft(fact, "rebalance-timeout"),
  "static member that is back": (fact) => hasLeft(fact, "replaced"),
  "partitions lost": (fact) => fact.kind === "partitions-lost" && fact.partitions.length > 0,
  "cooperative release": (fact) =>
    fact.kind === "partitions-revoked" && fact.generation > 0 && fact.partitions.length === 1,
  "another coordinator": (fact) =>
    fact.kind === "coordinator-unloaded" && fact.partition.startsWith("__consumer_offsets"),
  "commit in a generation that is over": (fact) => hasFailed(fact, "ILLEGAL_GENERATION"),
  "commit of a stranger": (fact) => hasFailed(fact, "UNKNOWN_MEMBER_ID"),
  "commit in an epoch that is over": (fact) =>
    isRefused(fact, "OffsetCommit", "STALE_MEMBER_EPOCH"),
  "heartbeat during a rebalance": (fact) => hasFailed(fact, "REBALANCE_IN_PROGRESS"),
  "heartbeat of a stranger": (fact) =>
    isRefused(fact, "ConsumerGroupHeartbeat", "UNKNOWN_MEMBER_ID"),
  "commit in doubt": (fact) => fact.kind === "commit-ended" && fact.outcome === "unknown",
  "session with ZooKeeper lost": (fact) =>
    fact.kind === "zookeeper-session-ended" && fact.how === "expired",
  "conflict over a partition": (fact) =>
    fact.kind === "zookeeper-rebalance-ended" && fact.outcome === "conflict",
  "transaction that was aborted": (fact) =>
    fact.kind === "transaction-state-changed" && fact.to === "CompleteAbort",
  "migration to the protocol of KIP-848": (fact) =>
    fact.kind === "group-migrated" && fact.to === "consumer",
  "migration to the classic protocol": (fact) =>
    fact.kind === "group-migrated" && fact.to === "classic",
  "heartbeat into a group that is a classic one": (fact) =>
    isRefused(fact, "ConsumerGroupHeartbeat", "GROUP_ID_NOT_FOUND"),
  "given back still": (fact) => fact.kind === "group-member-assigned" && fact.revoking.length > 0,
};

/** How one such story went. */
export interface GroupRun extends Findings {
  readonly reached: ReadonlySet<string>;
  /** Commits that count and are of less than what was committed before. */
  readonly lowered: readonly string[];
}

export function playGroup(protocol: string, seed: number): GroupRun {
  const simulation = new Simulation(scenarioOf(groupStory(protocol, seed)), { seed: `${seed}` });
  const reached = new Set<string>();
  const committed = new Map<string, number>();
  const lowered: { readonly partition: string; readonly at: number; readonly text: string }[] = [];
  /** Offsets of commits of which who made them does not know what became: a request may be heard late. */
  const inDoubt = new Set<string>();
  const excused: string[] = [];
  let hasExpired = false;
  simulation.onFact((fact, at) => {
    if (fact.kind === "zookeeper-session-ended" && fact.how === "expired") hasExpired = true;
    if (fact.kind === "commit-ended" && fact.outcome === "unknown") {
      for (const { partition, offset } of fact.offsets) inDoubt.add(`${partition} ${offset}`);
    }
    for (const [name, isReached] of Object.entries(GROUP_PROBES)) {
      if (!reached.has(name) && isReached(fact)) reached.add(name);
    }
    if (fact.kind !== "offsets-committed") return;
    for (const { partition, offset } of fact.offsets) {
      const before = committed.get(partition) ?? 0;
      if (offset < before && !inDoubt.has(`${partition} ${offset}`)) {
        const { generation, member } = fact;
        const text = `${partition} from ${before} to ${offset} by ${member} in ${generation}`;
        // ZooKeeper does not ask who writes.
        if (hasExpired)
          excused.push("offset-lowered: a member had lost its session with ZooKeeper");
        else lowered.push({ partition, at, text });
      }
      committed.set(partition, offset);
    }
  });
  while (simulation.advance(100_000));
  const result = simulation.finish(undefined);
  const { bugs, permitted, tested } = findingsOf(result);
  // A commit that is tried again is made in the epoch in which the member is by then, in which it may not own that any more.
  const ofOthers = result.violations.filter(({ kind }) => kind === "commit-of-others");
  const unexcused = lowered.filter(
    (one) => !ofOthers.some(({ partition, at }) => partition === one.partition && at === one.at),
  );
  return {
    reached,
    tested,
    lowered: unexcused.map(({ text }) => text),
    bugs,
    permitted: [...permitted, ...excused],
  };
}

function hasLeft(fact: Fact, reason: string): boolean {
  return fact.kind === "group-member-left" && fact.reason === reason;
}

function hasFailed(fact: Fact, error: string): boolean {
  return fact.kind === "request-failed" && fact.error === error;
}

function isRefused(fact: Fact, api: string, error: string): boolean {
  return hasFailed(fact, error) && fact.kind === "request-failed" && fact.api === api;
}
