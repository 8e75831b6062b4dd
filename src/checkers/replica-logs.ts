import type { Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import {
  GROUP_METADATA_TOPIC,
  TRANSACTION_STATE_TOPIC,
} from "../kafka/coordinator/internal-topics.ts";
import type { BrokerId, LeaderEpoch, Offset, PartitionName } from "../kafka/ids.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import type * as facts from "../trace/fact.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import type { BatchNode } from "./batch-tree.ts";
import { NO_NODE, VISIBLE } from "./batch-tree.ts";
import { brokerName, brokerOf } from "./broker-name.ts";
import type { CheckSetup } from "./check-setup.ts";
import { topicOf } from "./check-setup.ts";
import type { Cleaning } from "./cleaning.ts";
import { applyCleaning } from "./cleaning.ts";
import type { Gap } from "./copied-batch.ts";
import { appendAtLeader, appendCopy } from "./copied-batch.ts";
import { HARMS } from "./disk-harms.ts";
import type { LogRole, MarkListener } from "./log-watch.ts";
import { LogWatch } from "./log-watch.ts";
import type { Cut } from "./partition-ghost.ts";
import { PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLog } from "./replica-log.ts";
import type { Waiver } from "./waivers/waiver.ts";

/** `kafka-logs/orders-0/00000000000000000000.timeindex`. */
const TIME_INDEX = /([^/]+)\/[0-9]+[.]timeindex$/;

/** A broker took a partition's lead in a new epoch. */
export interface Election {
  readonly partition: PartitionGhost;
  readonly log: ReplicaLog;
  readonly leaderEpoch: LeaderEpoch;
  /** The epoch of the newest leader before; -1 if it is the first. */
  readonly previousEpoch: LeaderEpoch;
  readonly at: Instant;
  readonly event: number;
}

export type ElectionListener = (election: Election) => void;
export type CutListener = (cut: Cut) => void;
/** Batches canon.nodes[from, to) are now below a presumed leader's high watermark. */
export type CommitListener = (
  partition: PartitionGhost,
  from: number,
  to: number,
  at: Instant,
  event: number,
) => void;

/** A replica's log now begins elsewhere; `log.start` does already. */
export type StartListener = (
  partition: PartitionGhost,
  log: ReplicaLog,
  fact: facts.LogStartMoved,
  at: Instant,
  event: number,
) => void;
/** What compaction took is marked as absent already. */
export type CleaningListener = (cleaning: Cleaning) => void;
/**
 * A replica's batch did not simply follow its log: a hole lies before it, or it is what compaction
 * left of another. `gap`: what compaction does not explain, if anything. Told before the append is.
 */
export type UnevenListener = (
  partition: PartitionGhost,
  log: ReplicaLog,
  batch: RecordBatch,
  gap: Gap | undefined,
  at: Instant,
  event: number,
) => void;

/**
 * The ghost state that guarantees share: which batches stand in which replica's log, and which are
 * committed. A fold over facts; it lives with the checkers, and no broker can see it.
 *
 * Checkers listen here rather than to the recorder where they need the state that a fact led to.
 * They are told of an election, and of a high watermark, before the committed prefix follows.
 */
export class ReplicaLogs {
  readonly partitions: PartitionGhost[] = [];
  readonly watch: LogWatch = new LogWatch();
  readonly #byName = new Map<PartitionName, PartitionGhost>();
  /** The one asked for last. */
  #last: PartitionGhost | undefined = undefined;
  readonly #down = new Set<BrokerId>();
  /** Started, and not unfenced since. */
  readonly #starting = new Map<BrokerId, boolean>();
  /** Brokers whose last stop, or disk, lost what was not flushed: the event at which it did. */
  readonly #powerLost = new Map<BrokerId, number>();
  /** When a power cut last took part of a time index, by `2/orders-0`. */
  readonly #timeIndexLost = new Map<string, { readonly at: Instant; readonly event: number }>();
  /** When the disk last harmed what it held: `2/orders-0`, or of all partitions of a broker, `2`. */
  readonly #diskHarmed = new Map<string, number>();
  readonly #loadedAt = new Map<ReplicaLog, number>();
  readonly #elections: ElectionListener[] = [];
  readonly #cuts: CutListener[] = [];
  readonly #leaderMarks: MarkListener[] = [];
  readonly #commits: CommitListener[] = [];
  readonly #starts: StartListener[] = [];
  readonly #cleanings: CleaningListener[] = [];
  readonly #uneven: UnevenListener[] = [];
  readonly #setup: CheckSetup;

  /** Subscribes: to be made before whatever wants to see the state after a fact. */
  constructor(recorder: FactRecorder, setup: CheckSetup) {
    this.#setup = setup;
    recorder.on("appended", (fact, at, event) => this.#append(fact, at, event));
    recorder.on("high-watermark-moved", (fact, at, event) =>
      this.#moveHighWatermark(fact, at, event),
    );
    recorder.on("truncated", (fact, at, event) => this.#truncate(fact, at, event));
    recorder.on("log-start-moved", (fact, at, event) => this.#moveStart(fact, at, event));
    recorder.on("log-cleaned", (fact, at, event) => this.#clean(fact, at, event));
    recorder.on("log-loaded", (fact, at, event) => this.#load(fact, at, event));
    recorder.on("became-leader", (fact, at, event) => this.#lead(fact, at, event));
    recorder.on("became-follower", (fact) => this.#follow(fact));
    recorder.on("isr-proposed", (fact, _at, event) => {
      const partition = this.partition(fact.partition);
      partition.isrProposals++;
      for (const member of fact.isr) partition.log(member).askedForAt = event;
    });
    recorder.on("partition-changed", (fact, at, event) => this.#register(fact, at, event));
    recorder.on("node-started", ({ node }) => {
      const broker = brokerOf(node);
      this.#down.delete(broker);
      if (broker >= 0) this.#starting.set(broker, false);
    });
    recorder.on("broker-registered", ({ broker }) => {
      if (this.#starting.has(broker)) this.#starting.set(broker, true);
    });
    recorder.on("broker-unfenced", ({ broker }) => {
      // A heartbeat of the process before may come late, and unfence what that was registered as.
      if (this.#starting.get(broker) === true) this.#starting.delete(broker);
    });
    recorder.on("node-stopped", (fact, _at, event) => this.#stop(fact, event));
    recorder.on("unflushed-lost", ({ node, path }, at, event) => {
      this.#powerLost.set(brokerOf(node), event);
      const found = TIME_INDEX.exec(path);
      if (found !== null) this.#timeIndexLost.set(`${brokerOf(node)}/${found[1]}`, { at, event });
    });
    recorder.on("disk-disturbed", ({ node, partition, how }, _at, event) => {
      if (!HARMS.includes(how)) return;
      const broker = brokerOf(node);
      this.#diskHarmed.set(partition === "" ? `${broker}` : `${broker}/${partition}`, event);
    });
  }

  /** Has a power cut taken part of a time index of the replica, so that its records may seem older than they are? */
  waiveTimeIndex(partition: PartitionName, broker: BrokerId): Waiver | undefined {
    const lost = this.#timeIndexLost.get(`${broker}/${partition}`);
    if (lost === undefined) return undefined;
    const when = `at ${formatSeconds(lost.at)}`;
    return {
      text: `power cut of ${brokerName(broker)} ${when}, which tore a time index`,
      cause: lost.event,
    };
  }

  onElected(listener: ElectionListener): void {
    this.#elections.push(listener);
  }

  onCut(listener: CutListener): void {
    this.#cuts.push(listener);
  }

  /** Of each move of a leader's. */
  onLeaderHighWatermark(listener: MarkListener): void {
    this.#leaderMarks.push(listener);
  }

  onCommitted(listener: CommitListener): void {
    this.#commits.push(listener);
  }

  onStartMoved(listener: StartListener): void {
    this.#starts.push(listener);
  }

  onCleaned(listener: CleaningListener): void {
    this.#cleanings.push(listener);
  }

  onUneven(listener: UnevenListener): void {
    this.#uneven.push(listener);
  }

  partition(name: PartitionName): PartitionGhost {
    // Facts come in runs about one partition: comparing is cheaper than hashing.
    if (name === this.#last?.name) return this.#last;
    let partition = this.#byName.get(name);
    if (partition === undefined) {
      const topic = topicOf(name);
      const isCompacted = this.#setup.topics.get(topic)?.isCompacted === true;
      const isInternal = topic === GROUP_METADATA_TOPIC || topic === TRANSACTION_STATE_TOPIC;
      partition = new PartitionGhost(name, this.partitions.length, isCompacted, isInternal);
      this.partitions.push(partition);
      this.#byName.set(name, partition);
    }
    this.#last = partition;
    return partition;
  }

  /** Is its process running? Paused counts as running. */
  isUp(broker: BrokerId): boolean {
    return !this.#down.has(broker);
  }

  #append(fact: facts.Appended, at: Instant, event: number): void {
    const partition = this.partition(fact.partition);
    const log = partition.log(fact.broker);
    const { tree } = partition;
    const { batch, asLeader } = fact;
    const known = tree.count;
    if (partition.isInternal && asLeader && this.#starting.has(fact.broker)) {
      partition.earlyWrite = { broker: fact.broker, at, event };
    }
    let node = NO_NODE;
    // As it nearly always is: a leader's next, or a follower's that its leader has above the same log.
    if (batch.baseOffset === log.end && log.isAnchored) {
      node = asLeader ? log.append(batch) : log.appendKnown(batch);
    }
    if (node === NO_NODE) node = this.#appendApart(partition, log, fact, at, event);
    this.watch.appended(partition, log, node, tree.count > known, fact, at, event);
  }

  #appendApart(
    partition: PartitionGhost,
    log: ReplicaLog,
    { batch, asLeader }: facts.Appended,
    at: Instant,
    event: number,
  ): BatchNode {
    const appended = asLeader ? appendAtLeader(log, batch) : appendCopy(partition, log, batch);
    if (appended.isUneven) {
      for (const listener of this.#uneven) {
        listener(partition, log, batch, appended.gap, at, event);
      }
    }
    return appended.node;
  }

  #moveHighWatermark(fact: facts.HighWatermarkMoved, at: Instant, event: number): void {
    const partition = this.partition(fact.partition);
    const log = partition.log(fact.broker);
    log.highWatermark = fact.highWatermark;
    if (fact.highWatermark > log.peakHighWatermark) log.peakHighWatermark = fact.highWatermark;
    let index = log.indexOf(fact.highWatermark - 1);
    // All that it has is below its start: how that ended, and if within a batch, does not matter.
    if (index < 0 && fact.highWatermark <= log.start) index = log.count - 1;
    this.watch.moved(partition, log, index, fact, at, event);
    if (!fact.asLeader) return;
    for (const listener of this.#leaderMarks) listener(partition, log, index, fact, at, event);
    this.#commit(partition, log, index, fact, at, event);
  }

  #commit(
    partition: PartitionGhost,
    log: ReplicaLog,
    index: number,
    fact: facts.HighWatermarkMoved,
    at: Instant,
    event: number,
  ): void {
    if (fact.highWatermark === 0 || log.count === 0) return;
    // A high watermark beyond the log commits what is there.
    const top = index < 0 ? log.count - 1 : index;
    const { canon, tree } = partition;
    tree.mark(log.nodes[top] as number, VISIBLE);
    if (fact.leaderEpoch < partition.epochFloor) return;
    if (fact.highWatermark <= partition.trueHighWatermark) return;
    if (canon.count > 0 && !log.contains(canon.tip)) {
      // Two leaders committed different records. The newer one is right from now on.
      if (fact.leaderEpoch < partition.canonEpoch) return;
      partition.restartCanon(log);
    }
    const from = canon.count;
    for (let i = from; i <= top; i++) canon.push(log.nodes[i] as number);
    partition.trueHighWatermark = Math.min(fact.highWatermark, log.end);
    partition.canonEpoch = fact.leaderEpoch;
    if (canon.count === from) return;
    for (const listener of this.#commits) listener(partition, from, canon.count, at, event);

    // A leader that is no more committed what the one in office does not have.
    if (fact.leaderEpoch < partition.leaderEpoch && partition.leading) {
      const office = partition.log(partition.leader);
      if (!office.contains(canon.tip)) partition.restartCanon(office);
    }
  }

  #truncate(fact: facts.Truncated, at: Instant, event: number): void {
    const partition = this.partition(fact.partition);
    const log = partition.log(fact.broker);
    const { end: from, tip } = log;
    if (log.cutTo(fact.to) === 0) return;
    const { reason, to } = fact;
    this.#tellCut({
      partition,
      log,
      how: "truncated",
      reason,
      excuse: "none",
      from,
      to,
      tip,
      at,
      event,
    });
    if (reason === "diverging-epoch") followExpired(partition, log, to);
  }

  /** Nothing is cut off: what lies below has expired, which is another matter (see `Expiry`). */
  #moveStart(fact: facts.LogStartMoved, at: Instant, event: number): void {
    const partition = this.partition(fact.partition);
    const log = partition.log(fact.broker);
    const { to, reason } = fact;
    if (reason === "fully-truncated") this.#beginAt(partition, log, to, at, event);
    else log.start = to;
    for (const listener of this.#starts) listener(partition, log, fact, at, event);
  }

  /** The log is empty, and its next offset is `start`. */
  #beginAt(
    partition: PartitionGhost,
    log: ReplicaLog,
    start: Offset,
    at: Instant,
    event: number,
  ): void {
    const { end: from, tip } = log;
    const isBelow = start < log.start;
    log.start = start;
    if (start <= from && !isBelow) {
      log.cutTo(start);
    } else {
      // Emptied because its leader begins later, or ends before it began: what it had is still part of the
      // leader's history, or else was cut off here.
      const { leaderLog, canon } = partition;
      const source = leaderLog === undefined || leaderLog === log ? canon : leaderLog;
      if (isBelow) log.cutTo(start);
      log.count = log.commonCount(source);
    }
    log.isAnchored = start <= from && !isBelow;
    if (tip !== NO_NODE && !log.contains(tip)) {
      this.#tellCut({
        partition,
        log,
        how: "truncated",
        reason: "fully-truncated",
        excuse: "none",
        from,
        to: log.pathEnd,
        tip,
        at,
        event,
      });
    }
    if (!log.isAnchored) followBelow(partition, log, start);
  }

  #clean(fact: facts.LogCleaned, at: Instant, event: number): void {
    const partition = this.partition(fact.partition);
    const cleaning = applyCleaning(partition, partition.log(fact.broker), fact, at, event);
    for (const listener of this.#cleanings) listener(cleaning);
  }

  #load(fact: facts.LogLoaded, at: Instant, event: number): void {
    const partition = this.partition(fact.partition);
    const log = partition.log(fact.broker);
    const { end: from, tip } = log;
    const to = fact.logEndOffset;
    const lastLoad = this.#loadedAt.get(log) ?? -1;
    const excuse = this.#excuseOf(log.broker, partition.name, lastLoad);
    this.#loadedAt.set(log, event);
    takeRole(log, "none", -1);
    log.start = fact.logStartOffset;
    log.highWatermark = fact.highWatermark;
    log.peakHighWatermark = fact.highWatermark;
    if (excuse !== "none" && log.absences !== undefined) log.absences.areUncertain = true;
    // A power-off can also undo a truncation, or bring back what was written over: the epoch of the
    // last batch and the end tell which log it is. Without it, a load can only have cut.
    const lastEpoch = fact.lastEpoch ?? -1;
    if (lastEpoch >= 0 && to > 0) this.#restore(log, to, lastEpoch);
    const before = log.count;
    log.cutTo(to);
    if (tip === NO_NODE || log.contains(tip)) return;
    log.lossySinceJoin = true;
    // A log ends with its last batch, whatever has been cleaned away behind that.
    if (isCleanedFrom(log, before)) return;
    this.#tellCut({
      partition,
      log,
      how: "loaded",
      reason: "",
      excuse,
      from,
      to,
      tip,
      at,
      event,
    });
  }

  /** What has befallen a broker's disk since a log was loaded there the last time, at that event. */
  #excuseOf(broker: BrokerId, partition: PartitionName, lastLoad: number): Cut["excuse"] {
    const harmed = this.#diskHarmed.get(`${broker}`) ?? -1;
    const harmedHere = this.#diskHarmed.get(`${broker}/${partition}`) ?? -1;
    if (Math.max(harmed, harmedHere) > lastLoad) return "disk";
    return (this.#powerLost.get(broker) ?? -1) > lastLoad ? "power" : "none";
  }

  #restore(log: ReplicaLog, end: number, lastEpoch: LeaderEpoch): void {
    const node = log.nodeAt(end - 1);
    if (node !== NO_NODE && log.tree.leaderEpoch[node] === lastEpoch) return;
    const restored = log.tree.findEnd(end - 1, lastEpoch);
    if (restored !== NO_NODE) log.follow(restored);
  }

  #tellCut(cut: Cut): void {
    cut.partition.cuts.push(cut);
    for (const listener of this.#cuts) listener(cut);
  }

  #lead(fact: facts.BecameLeader, at: Instant, event: number): void {
    const partition = this.partition(fact.partition);
    const { leaderEpoch } = fact;
    const previousEpoch = partition.leaderEpoch;
    takeRole(partition.log(fact.broker), "leader", leaderEpoch);
    if (!partition.leaders.has(leaderEpoch)) partition.leaders.set(leaderEpoch, fact.broker);
    // News of an older epoch, from a broker that is behind.
    if (leaderEpoch < previousEpoch) return;
    if (leaderEpoch === previousEpoch && partition.leading) return;

    const log = partition.log(fact.broker);
    if (previousEpoch >= 0) partition.leaderChanges++;
    partition.leader = fact.broker;
    partition.leaderEpoch = leaderEpoch;
    partition.leading = true;
    const election: Election = { partition, log, leaderEpoch, previousEpoch, at, event };
    for (const listener of this.#elections) listener(election);
    if (partition.canon.count > 0 && !log.contains(partition.canon.tip)) {
      partition.restartCanon(log);
    }
  }

  #follow(fact: facts.BecameFollower): void {
    const partition = this.partition(fact.partition);
    takeRole(partition.log(fact.broker), "follower", fact.leaderEpoch);
    if (fact.broker === partition.leader && fact.leaderEpoch >= partition.leaderEpoch) {
      partition.leading = false;
    }
  }

  #stop(fact: facts.NodeStopped, event: number): void {
    const broker = brokerOf(fact.node);
    if (broker < 0) return;
    this.#down.add(broker);
    if (fact.how === "power-off") this.#powerLost.set(broker, event);
    for (const partition of this.partitions) {
      if (partition.leader === broker) partition.leading = false;
    }
  }

  #register(fact: facts.PartitionChanged, at: Instant, event: number): void {
    const partition = this.partition(fact.partition);
    const before = partition.registration;
    partition.registration = fact;
    for (const member of fact.isr) {
      if (before?.isr.includes(member) === true) continue;
      const log = partition.log(member);
      // What was asked for before it started anew lets it in as it was then: until it registers, nobody knows better.
      if (log.askedForAt > (this.#loadedAt.get(log) ?? -1)) log.lossySinceJoin = false;
      if (before !== undefined) partition.isrGrowths++;
    }
    if (fact.isr.length < partition.effectiveMinIsr) partition.wasBelowMinIsr = true;
    const { election, leader, leaderEpoch } = fact;
    if (election === "unclean" || election === "last-known") {
      partition.epochFloor = leaderEpoch;
      partition.uncleanElections.push({ how: election, leader, leaderEpoch, at, event });
    }
  }
}

/**
 * A follower is told to cut at the end of an epoch that its leader does not remember: where the leader's log
 * begins (`LeaderEpochFileCache.endOffsetFor`). If their histories part below, it keeps its own there until its log
 * begins where the leader's does, or the next batch comes. Of what has expired nobody owes anything: it is taken
 * to have the leader's history.
 */
function followExpired(partition: PartitionGhost, log: ReplicaLog, end: Offset): void {
  const { leaderLog } = partition;
  if (leaderLog === undefined || leaderLog === log || log.roleEpoch !== partition.leaderEpoch)
    return;
  if (end > leaderLog.start) return;
  log.count = log.commonCount(leaderLog);
  followBelow(partition, log, end);
}

/** A log that begins at `start` is taken to have the history of its leader; its next batch will tell. */
function followBelow(partition: PartitionGhost, log: ReplicaLog, start: Offset): void {
  const { leaderLog, canon } = partition;
  const source = leaderLog === undefined || leaderLog === log ? canon : leaderLog;
  const index = source.indexOf(start);
  const count = index < 0 ? source.count : index;
  if (count > log.count) log.follow(source.nodes[count - 1] as number);
}

function takeRole(log: ReplicaLog, role: LogRole, epoch: LeaderEpoch): void {
  log.role = role;
  log.roleEpoch = epoch;
}

/** Was there nothing in the batches from the log's end on, of which it had so many? */
function isCleanedFrom(log: ReplicaLog, count: number): boolean {
  const { tree, nodes } = log;
  if (log.absences === undefined) return false;
  for (let i = log.count; i < count; i++) {
    const first = tree.firstValue[nodes[i] as number] as number;
    const end = first + (tree.length[nodes[i] as number] as number);
    for (let place = first; place < end; place++) if (log.hasRecord(place)) return false;
  }
  return true;
}
