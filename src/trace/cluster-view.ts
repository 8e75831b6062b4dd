import type { Duration, Instant } from "../base/time.ts";
import type { BrokerId, LeaderEpoch, Offset, PartitionEpoch, PartitionName } from "../kafka/ids.ts";
import { NO_EPOCH, NO_LEADER } from "../kafka/ids.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import { GroupView } from "./group-view.ts";
import { KnownOffsets } from "./known-offsets.ts";
import type { FactRecorder } from "./recorder.ts";

/** One replica's log, as its broker last told; a broker that is down keeps what it had. */
export class ReplicaView {
  readonly broker: BrokerId;
  logEndOffset: Offset = 0;
  highWatermark: Offset = 0;
  /** Where transactions keep back who reads committed records only; undefined: nowhere below the high watermark. */
  heldBackAt: Offset | undefined = undefined;
  /** The number of the event in which it last appended; 0 before the first. */
  appendedIn = 0;

  constructor(broker: BrokerId) {
    this.broker = broker;
  }
}

/** One partition: its registration as committed by the controller, and the logs of its replicas. */
export class PartitionView {
  readonly name: PartitionName;
  /** False until the controller has committed its registration. */
  isRegistered = false;
  replicas: readonly BrokerId[] = [];
  isr: readonly BrokerId[] = [];
  elr: readonly BrokerId[] = [];
  leader: BrokerId = NO_LEADER;
  leaderEpoch: LeaderEpoch = NO_EPOCH;
  partitionEpoch: PartitionEpoch = NO_EPOCH;
  /** min.insync.replicas as in force for it. */
  minInsyncReplicas = 1;
  /** In the order in which they were first heard of; few, so that a search is a short walk. */
  readonly logs: ReplicaView[] = [];
  /** What its clients know of it, all together. */
  readonly known: KnownOffsets = new KnownOffsets();

  constructor(name: PartitionName) {
    this.name = name;
  }

  /** The log of one replica; made if it was not heard of before. */
  log(broker: BrokerId): ReplicaView {
    const { logs } = this;
    for (const log of logs) {
      if (log.broker === broker) return log;
    }
    const log = new ReplicaView(broker);
    logs.push(log);
    return log;
  }

  /** The current leader's high watermark; 0 while there is no leader. */
  get highWatermark(): Offset {
    return this.leader === NO_LEADER ? 0 : this.log(this.leader).highWatermark;
  }

  /** Up to where the current leader lets read who reads committed records only. */
  get lastStableOffset(): Offset {
    if (this.leader === NO_LEADER) return 0;
    const { heldBackAt, highWatermark } = this.log(this.leader);
    return Math.min(heldBackAt ?? highWatermark, highWatermark);
  }

  /** The current leader's log end offset; 0 while there is no leader. */
  get logEndOffset(): Offset {
    return this.leader === NO_LEADER ? 0 : this.log(this.leader).logEndOffset;
  }

  /** Replicas that are not in sync, in replica order. */
  get outOfSync(): BrokerId[] {
    return this.replicas.filter((broker) => !this.isr.includes(broker));
  }
}

/** One node, whether it runs, and how it last stopped. */
export class NodeView {
  readonly name: string;
  isUp = false;
  isPaused = false;
  incarnation = -1;
  stoppedBy: "crash" | "power-off" | "exit" | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Does it run, and is it not paused? */
  get isAlive(): boolean {
    return this.isUp && !this.isPaused;
  }
}

/** What one consumer has read of one partition. */
class ReadingView {
  readonly partition: PartitionView;
  position: Offset = -1;
  /** One past the highest offset that was ever handed over. */
  highest: Offset = 0;

  constructor(partition: PartitionView) {
    this.partition = partition;
  }
}

/** One client's counters. */
export class ClientView {
  readonly name: string;
  sent = 0;
  acked = 0;
  /** Transactions, as it was told. */
  committed = 0;
  aborted = 0;
  failed = 0;
  unknown = 0;
  /** Requests that failed and were tried again. */
  retries = 0;
  /** Records handed to the application, each time they were. */
  read = 0;
  /** Records at offsets that had been handed over before. */
  again = 0;
  /** Rows that it added to a store outside of Kafka. */
  rows = 0;
  /** Calls of its application that have thrown. */
  failedCalls = 0;
  /** Its isolation.level, which no fact tells. */
  readsCommitted = false;
  /** The group that it is a member of, once it has been assigned something. */
  group: GroupView | undefined = undefined;
  readonly #reading: ReadingView[] = [];
  #worstRealtimeLag: Duration = 0;
  #longestStall: Duration = 0;
  /** While sends wait: since when no acknowledgement has come. */
  #waitingSince: Instant = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** Sends whose end the application has been told. */
  get ended(): number {
    return this.acked + this.failed + this.unknown;
  }

  /** The longest time for which sends waited and none was acknowledged, the present one included. */
  longestStall(now: Instant): Duration {
    const waits = this.sent > this.ended;
    return waits ? Math.max(this.#longestStall, now - this.#waitingSince) : this.#longestStall;
  }

  /** Records below the high watermarks of what it reads that it has not read yet; or below that of one partition. */
  lag(of?: PartitionName): number {
    return this.#behind(of, ({ highWatermark }) => highWatermark);
  }

  /** The same below what it is let read, as `currentLag` has it (KIP-695): open transactions hide what is behind them. */
  currentLag(of?: PartitionName): number {
    return this.#behind(of, (partition) =>
      this.readsCommitted ? partition.lastStableOffset : partition.highWatermark,
    );
  }

  #behind(of: PartitionName | undefined, endOf: (partition: PartitionView) => Offset): number {
    let behind = 0;
    for (const { partition, position } of this.#reading) {
      if (position < 0 || (of !== undefined && partition.name !== of)) continue;
      behind += Math.max(0, endOf(partition) - position);
    }
    return behind;
  }

  /**
   * The worst of how long it had been behind, in any partition, when it polled: the application polls
   * again at once, so also just before anything comes, and now.
   */
  worstRealtimeLag(now: Instant): Duration {
    let worst = this.#worstRealtimeLag;
    for (const reading of this.#reading) worst = Math.max(worst, realtimeLag(reading, now));
    return worst;
  }

  noteSent(at: Instant): void {
    if (this.sent === this.ended) this.#waitingSince = at;
    this.sent++;
  }

  noteEnded(outcome: "acked" | "failed" | "unknown", records: number, at: Instant): void {
    if (outcome === "acked") {
      this.acked += records;
      this.#longestStall = Math.max(this.#longestStall, at - this.#waitingSince);
      this.#waitingSince = at;
    } else if (outcome === "failed") this.failed += records;
    else this.unknown += records;
  }

  notePolled(
    partition: PartitionView,
    first: Offset,
    last: Offset,
    batches: readonly RecordBatch[],
    at: Instant,
  ): void {
    const reading = this.#readingOf(partition);
    this.#worstRealtimeLag = Math.max(this.#worstRealtimeLag, realtimeLag(reading, at));
    this.read += recordsWithin(batches, first, last);
    if (reading.highest > first) {
      this.again += recordsWithin(batches, first, Math.min(last, reading.highest - 1));
    }
    reading.highest = Math.max(reading.highest, last + 1);
    reading.position = last + 1;
  }

  /** `from`: -1 if it had no position, so that it was not polling. */
  notePosition(partition: PartitionView, from: Offset, to: Offset, at: Instant): void {
    const reading = this.#readingOf(partition);
    if (from >= 0) {
      this.#worstRealtimeLag = Math.max(this.#worstRealtimeLag, realtimeLag(reading, at));
    }
    reading.position = to;
  }

  /** A new process has no position anywhere. */
  noteStarted(): void {
    for (const reading of this.#reading) reading.position = -1;
  }

  /** The partition is another's to read. */
  noteGone(partition: PartitionView): void {
    this.#readingOf(partition).position = -1;
  }

  #readingOf(partition: PartitionView): ReadingView {
    const all = this.#reading;
    for (const one of all) {
      if (one.partition === partition) return one;
    }
    const one = new ReadingView(partition);
    all.push(one);
    return one;
  }
}

/** Without a position it does not know yet where it is to read. */
function realtimeLag({ partition, position }: ReadingView, at: Instant): Duration {
  return position < 0 ? 0 : partition.known.lag(position, at);
}

/** Records of the batches at offsets from `first` to `last`; a batch's offsets have no holes. */
function recordsWithin(batches: readonly RecordBatch[], first: Offset, last: Offset): number {
  let count = 0;
  for (const batch of batches) {
    if (batch.isControl) continue;
    const low = Math.max(first, batch.baseOffset);
    const high = Math.min(last, batch.lastOffset);
    if (high >= low) count += high - low + 1;
  }
  return count;
}

/**
 * The cluster as an observer who hears all facts sees it: the one fold that triggers, targets,
 * expectations and the result table read. It costs a look-up and an assignment for each fact.
 */
export class ClusterView {
  /** The active controller's node.id; NO_LEADER while there is none. */
  controller: BrokerId = NO_LEADER;
  /** By name, in the order in which they were first heard of. */
  readonly partitions: Map<PartitionName, PartitionView> = new Map();
  readonly nodes: Map<string, NodeView> = new Map();
  readonly clients: Map<string, ClientView> = new Map();
  readonly groups: Map<string, GroupView> = new Map();
  readonly #transactionCoordinators = new Map<string, BrokerId>();

  #last: PartitionView | undefined = undefined;
  #lastClient: ClientView | undefined = undefined;

  constructor(facts: FactRecorder) {
    this.#followNodes(facts);
    this.#followMetadata(facts);
    this.#followLogs(facts);
    this.#followClients(facts);
    this.#followGroups(facts);
  }

  /** Who spoke of a transactional id last; undefined before anybody did. */
  transactionCoordinator(transactionalId: string): BrokerId | undefined {
    return this.#transactionCoordinators.get(transactionalId);
  }

  /** The partition; an empty view if nothing was heard of it yet. */
  partition(name: PartitionName): PartitionView {
    // Facts come in runs about one partition: comparing is cheaper than hashing.
    if (name === this.#last?.name) return this.#last;
    let view = this.partitions.get(name);
    if (view === undefined) {
      view = new PartitionView(name);
      this.partitions.set(name, view);
    }
    this.#last = view;
    return view;
  }

  node(name: string): NodeView {
    let view = this.nodes.get(name);
    if (view === undefined) {
      view = new NodeView(name);
      this.nodes.set(name, view);
    }
    return view;
  }

  group(name: string): GroupView {
    let view = this.groups.get(name);
    if (view === undefined) {
      view = new GroupView(name);
      this.groups.set(name, view);
    }
    return view;
  }

  client(name: string): ClientView {
    if (name === this.#lastClient?.name) return this.#lastClient;
    let view = this.clients.get(name);
    if (view === undefined) {
      view = new ClientView(name);
      this.clients.set(name, view);
    }
    this.#lastClient = view;
    return view;
  }

  #followNodes(facts: FactRecorder): void {
    facts.on("node-started", (fact) => {
      const node = this.node(fact.node);
      node.isUp = true;
      node.isPaused = false;
      node.incarnation = fact.incarnation;
      this.clients.get(fact.node)?.noteStarted();
    });
    facts.on("node-stopped", (fact) => {
      const node = this.node(fact.node);
      node.isUp = false;
      node.isPaused = false;
      node.stoppedBy = fact.how;
    });
    facts.on("node-paused", (fact) => {
      this.node(fact.node).isPaused = true;
    });
    facts.on("node-resumed", (fact) => {
      this.node(fact.node).isPaused = false;
    });
  }

  #followMetadata(facts: FactRecorder): void {
    facts.on("controller-elected", (fact) => {
      this.controller = fact.controller;
    });
    facts.on("controller-resigned", (fact) => {
      if (this.controller === fact.controller) this.controller = NO_LEADER;
    });
    facts.on("partition-changed", (fact) => {
      const partition = this.partition(fact.partition);
      partition.isRegistered = true;
      partition.replicas = fact.replicas;
      partition.isr = fact.isr;
      partition.elr = fact.elr;
      partition.leader = fact.leader;
      partition.leaderEpoch = fact.leaderEpoch;
      partition.partitionEpoch = fact.partitionEpoch;
      partition.minInsyncReplicas = fact.minInsyncReplicas;
    });
  }

  #followLogs(facts: FactRecorder): void {
    facts.on("appended", (fact, _at, event) => {
      const log = this.partition(fact.partition).log(fact.broker);
      log.logEndOffset = fact.batch.nextOffset;
      log.appendedIn = event;
    });
    facts.on("high-watermark-moved", (fact) => {
      this.partition(fact.partition).log(fact.broker).highWatermark = fact.highWatermark;
    });
    facts.on("last-stable-offset-moved", ({ partition, broker, lastStableOffset }) => {
      const log = this.partition(partition).log(broker);
      log.heldBackAt = lastStableOffset < log.highWatermark ? lastStableOffset : undefined;
    });
    facts.on("truncated", (fact) => {
      const log = this.partition(fact.partition).log(fact.broker);
      log.logEndOffset = fact.to;
      if (log.highWatermark > fact.to) log.highWatermark = fact.to;
    });
    facts.on("log-loaded", (fact) => {
      const log = this.partition(fact.partition).log(fact.broker);
      log.logEndOffset = fact.logEndOffset;
      log.highWatermark = fact.highWatermark;
    });
    facts.on("became-leader", (fact) => {
      const log = this.partition(fact.partition).log(fact.broker);
      log.heldBackAt = undefined;
      log.logEndOffset = fact.logEndOffset;
      log.highWatermark = fact.highWatermark;
    });
    facts.on("became-follower", (fact) => {
      this.partition(fact.partition).log(fact.broker).logEndOffset = fact.logEndOffset;
    });
  }

  #followClients(facts: FactRecorder): void {
    facts.on("record-sent", (fact, at) => {
      this.client(fact.client).noteSent(at);
    });
    facts.on("send-ended", (fact, at) => {
      const { outcome, baseOffset, values } = fact;
      this.client(fact.client).noteEnded(outcome, values.length, at);
      if (outcome !== "acked" || baseOffset < 0) return;
      this.partition(fact.partition).known.note(baseOffset + values.length - 1, at);
    });
    facts.on("transaction-ended", ({ client, outcome }) => {
      const view = this.client(client);
      if (outcome === "committed") view.committed++;
      else if (outcome === "aborted") view.aborted++;
    });
    facts.on("transaction-state-changed", ({ transactionalId, broker }) => {
      this.#transactionCoordinators.set(transactionalId, broker);
    });
    facts.on("request-failed", (fact) => {
      if (fact.retried) this.client(fact.client).retries++;
    });
    facts.on("polled", (fact, at) => {
      const { firstOffset, lastOffset, batches } = fact;
      const partition = this.partition(fact.partition);
      this.client(fact.client).notePolled(partition, firstOffset, lastOffset, batches, at);
      partition.known.note(lastOffset, at);
    });
    facts.on("call-failed", ({ client }) => {
      this.client(client).failedCalls++;
    });
    facts.on("position-reset", ({ client, partition, from, to }, at) => {
      this.client(client).group?.noteStart(partition, to);
      this.client(client).notePosition(this.partition(partition), from, to, at);
    });
  }

  #followGroups(facts: FactRecorder): void {
    facts.on("partitions-assigned", ({ client, group, partitions }, at) => {
      const view = this.group(group);
      this.client(client).group = view;
      for (const name of partitions) view.ownership.noteOwned(name, client, at);
    });
    for (const kind of ["partitions-revoked", "partitions-lost"] as const) {
      facts.on(kind, ({ client, group, partitions }, at) => {
        const { ownership } = this.group(group);
        for (const name of partitions) {
          this.client(client).noteGone(this.partition(name));
          ownership.noteGone(name, client, at);
        }
      });
    }
    facts.on("node-stopped", ({ node }, at) => {
      this.clients.get(node)?.group?.ownership.noteStopped(node, at);
    });
    facts.on("records-processed", ({ group, partition, firstOffset, lastOffset }) => {
      this.group(group).noteProcessed(partition, firstOffset, lastOffset);
    });
    facts.on("row-stored", ({ client, isNew }) => {
      if (isNew) this.client(client).rows++;
    });
    facts.on("offsets-committed", ({ broker, group, offsets }) => {
      const view = this.group(group);
      // Where the registries are in ZooKeeper there is none.
      if (broker !== NO_LEADER) view.coordinator = broker;
      for (const { partition, offset } of offsets) view.noteCommitted(partition, offset);
    });
    facts.on("zookeeper-rebalance-ended", ({ group, outcome }) => {
      if (outcome === "owned") this.group(group).rebalances++;
    });
    facts.on("group-state-changed", ({ broker, group, from, to }) => {
      const view = this.group(group);
      view.coordinator = broker;
      // A coordinator that has read of a group finds it as it was.
      if (from !== "" && to === "Stable") view.rebalances++;
    });
  }
}
