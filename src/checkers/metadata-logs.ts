import type { Instant } from "../base/time.ts";
import type { BrokerId, Offset, QuorumEpoch } from "../kafka/ids.ts";
import type { MetadataAppended, MetadataApplied, MetadataTruncated } from "../trace/fact.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import type { BatchNode } from "./batch-tree.ts";
import { BatchTree, NO_NODE } from "./batch-tree.ts";
import { nodeName } from "./broker-name.ts";
import { ReplicaLog } from "./replica-log.ts";

/** One node's metadata: its log, and how far its image has come. */
export class MetadataReplica {
  readonly node: BrokerId;
  readonly log: ReplicaLog;
  readonly isVoter: boolean;
  /** All below is in its image. */
  applied: Offset = 0;
  /**
   * All below was written before its last step, and so is flushed: a step that writes notes what it does at its start,
   * and waits for the flush before it ends. Whether its last step has ended nobody tells.
   */
  flushed: Offset = 0;
  /** Has its power been cut since its log was loaded? */
  powerLost = false;
  /** Has a power cut taken its `quorum-state`, which is only possible in the step that writes it? */
  electionLost = false;
  /** Was that so when its log was loaded last? */
  hasForgotten = false;
  /** Has it written as the leader since its log was loaded? */
  hasLed = false;
  /** The event of its last step, as far as it told. */
  #steppedIn = -1;

  constructor(node: BrokerId, isVoter: boolean, tree: BatchTree) {
    this.node = node;
    this.log = new ReplicaLog(tree, node);
    this.isVoter = isVoter;
  }

  /** It does something in this event: what it did in others before is over. Call it before its log changes. */
  stepIn(event: number): void {
    if (event === this.#steppedIn) return;
    this.#steppedIn = event;
    this.flushed = this.log.end;
  }
}

/** A voter wrote its first batch of a quorum epoch, or its first since a start. */
export interface QuorumTerm {
  readonly epoch: QuorumEpoch;
  readonly replica: MetadataReplica;
  /** What it held before. */
  readonly tip: BatchNode;
  /** Who has written in this epoch already; undefined if nobody else. */
  readonly rival: BrokerId | undefined;
  readonly at: Instant;
  readonly event: number;
}

/** A node took a batch into its image; `node` is the batch as its own log has it, or NO_NODE. */
export interface MetadataApply {
  readonly replica: MetadataReplica;
  readonly node: BatchNode;
  readonly offset: Offset;
  /** Nobody had taken it before. */
  readonly isFirst: boolean;
  /** What was taken there by others; NO_NODE if this is the first. */
  readonly taken: BatchNode;
  readonly at: Instant;
  readonly event: number;
}

export interface MetadataCut {
  readonly replica: MetadataReplica;
  readonly how: "truncated" | "loaded";
  readonly to: Offset;
  /** Below it lies all that it had applied since its last start. */
  readonly applied: Offset;
  /** Below it lies what of that must outlast what has befallen it: a power cut can come before a flush is over. */
  readonly owed: Offset;
  /** The first batch that went, of those that are committed; NO_NODE if there was none. */
  readonly committed: BatchNode;
  /**
   * Did a power cut take what the node had written as the leader? It counts that before it is flushed,
   * as Kafka does (`KafkaRaftClient.flushLeaderLog`).
   */
  readonly isLeadersTail: boolean;
  readonly at: Instant;
  readonly event: number;
}

/** A quorum that goes on without what was committed, and may: what rests on that can be anything from then on. */
export interface MetadataLoss {
  readonly event: number;
  readonly excuse: string;
}

/** The ghost state of the metadata log: every node's replica, and what is committed. */
export class MetadataLogs {
  readonly replicas: Map<BrokerId, MetadataReplica> = new Map();
  readonly tree: BatchTree = new BatchTree("nothing");
  /** What some node has applied. */
  readonly canon: ReplicaLog;
  /** The first, as metadata-kept judges it. */
  loss: MetadataLoss | undefined = undefined;
  readonly #owners = new Map<QuorumEpoch, BrokerId>();
  readonly #terms: ((term: QuorumTerm) => void)[] = [];
  readonly #applies: ((apply: MetadataApply) => void)[] = [];
  readonly #cuts: ((cut: MetadataCut) => void)[] = [];
  readonly #forgets: ((end: Offset) => void)[] = [];

  constructor(recorder: FactRecorder) {
    this.canon = new ReplicaLog(this.tree, -1);
    recorder.on("metadata-loaded", ({ node, isVoter, logEndOffset }, at, event) => {
      const replica = this.#replica(node, isVoter);
      this.#cut(replica, "loaded", logEndOffset, at, event);
      replica.stepIn(event);
      replica.applied = 0;
      replica.powerLost = false;
      replica.hasForgotten = replica.electionLost;
      replica.electionLost = false;
      replica.hasLed = false;
    });
    recorder.on("unflushed-lost", ({ node: name, path }) => {
      for (const replica of this.replicas.values()) {
        if (nodeName(replica.node) !== name) continue;
        replica.powerLost = true;
        if (path.endsWith("quorum-state")) replica.electionLost = true;
      }
    });
    recorder.on("metadata-appended", (fact, at, event) => this.#append(fact, at, event));
    recorder.on("metadata-truncated", (fact, at, event) => this.#truncate(fact, at, event));
    recorder.on("metadata-applied", (fact, at, event) => this.#apply(fact, at, event));
  }

  onTerm(listener: (term: QuorumTerm) => void): void {
    this.#terms.push(listener);
  }

  onApplied(listener: (apply: MetadataApply) => void): void {
    this.#applies.push(listener);
  }

  onCut(listener: (cut: MetadataCut) => void): void {
    this.#cuts.push(listener);
  }

  /** What was committed from offset `end` on is so no more: a leader of the quorum lacks it. */
  onForgotten(listener: (end: Offset) => void): void {
    this.#forgets.push(listener);
  }

  /**
   * May it lead in an epoch below the highest in which it led? The only voter elects itself, and tells of it, in the step
   * in which it writes that down: if its power is cut before that is flushed, nobody has heard of the epoch.
   */
  mayLeadAnew(node: BrokerId): boolean {
    const voters = [...this.replicas.values()].filter(({ isVoter }) => isVoter);
    return voters.length === 1 && this.replicas.get(node)?.hasForgotten === true;
  }

  #replica(node: BrokerId, isVoter = false): MetadataReplica {
    const known = this.replicas.get(node);
    if (known !== undefined) return known;
    const made = new MetadataReplica(node, isVoter, this.tree);
    this.replicas.set(node, made);
    return made;
  }

  #append({ node, batch, asLeader }: MetadataAppended, at: Instant, event: number): void {
    const replica = this.#replica(node);
    replica.stepIn(event);
    const epoch = batch.partitionLeaderEpoch;
    const owner = this.#owners.get(epoch);
    if (asLeader && (owner !== node || !replica.hasLed)) {
      replica.hasLed = true;
      if (owner === undefined) this.#owners.set(epoch, node);
      const rival = owner === node ? undefined : owner;
      const term = { epoch, replica, tip: replica.log.tip, rival, at, event };
      for (const listener of this.#terms) listener(term);
      this.#forgetLacking(replica, epoch, owner === node);
    }
    replica.log.append(batch);
  }

  /**
   * What the leader of a newer epoch lacks has been told, and is committed no more. So has what it lacks
   * of its own epoch: a power cut can take a voter's epoch and first batches before they are flushed, and
   * then it leads in that epoch anew.
   */
  #forgetLacking({ log, node }: MetadataReplica, epoch: QuorumEpoch, isAnew: boolean): void {
    const { canon, tree } = this;
    if (canon.count === 0 || log.contains(canon.tip)) return;
    const last = tree.leaderEpoch[canon.tip] as number;
    if (epoch < last && !this.mayLeadAnew(node)) return;
    if (epoch === last && !isAnew) return;
    canon.count = canon.commonCount(log);
    for (const listener of this.#forgets) listener(canon.end);
  }

  #truncate({ node, to }: MetadataTruncated, at: Instant, event: number): void {
    const replica = this.#replica(node);
    replica.stepIn(event);
    this.#cut(replica, "truncated", to, at, event);
  }

  #cut(
    replica: MetadataReplica,
    how: MetadataCut["how"],
    to: Offset,
    at: Instant,
    event: number,
  ): void {
    const { log, applied, flushed } = replica;
    if (log.cutTo(to) === 0) return;
    // Still there: what was removed lies behind the end.
    const { nodes, count } = log;
    const isCommitted = count < this.canon.count && this.canon.nodes[count] === nodes[count];
    const committed = isCommitted ? (nodes[count] as number) : NO_NODE;
    const isLeadersTail =
      committed !== NO_NODE &&
      replica.powerLost &&
      this.#owners.get(this.tree.leaderEpoch[committed] as number) === replica.node;
    const mayLose = how === "loaded" && replica.powerLost && !isLeadersTail;
    const owed = mayLose ? Math.min(applied, flushed) : applied;
    const cut = { replica, how, to, applied, owed, committed, isLeadersTail, at, event };
    for (const listener of this.#cuts) listener(cut);
  }

  #apply({ node, batch }: MetadataApplied, at: Instant, event: number): void {
    const { canon, tree } = this;
    const replica = this.#replica(node);
    replica.stepIn(event);
    const own = replica.log.nodeAt(batch.lastOffset);
    const held = own !== NO_NODE && tree.matches(own, batch) ? own : NO_NODE;
    const index = canon.indexOf(batch.lastOffset);
    const taken = index < 0 ? NO_NODE : (canon.nodes[index] as number);
    const isFirst = taken === NO_NODE;
    const offset = batch.baseOffset;
    const apply: MetadataApply = { replica, node: held, offset, isFirst, taken, at, event };
    for (const listener of this.#applies) listener(apply);
    if (isFirst && held !== NO_NODE) canon.follow(held);
    replica.applied = batch.nextOffset;
  }
}
