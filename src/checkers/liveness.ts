import type { Duration, Instant } from "../base/time.ts";
import type { BrokerId } from "../kafka/ids.ts";
import { NO_LEADER } from "../kafka/ids.ts";
import type { PartitionChanged, RequestFailed } from "../trace/fact.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import { brokerName, brokerOf } from "./broker-name.ts";
import type { CheckSetup } from "./check-setup.ts";
import type { LivenessBounds } from "./liveness-bounds.ts";
import { boundsOf } from "./liveness-bounds.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLogs } from "./replica-logs.ts";

/** A process, as its host told last. */
export interface NodeState {
  readonly name: string;
  isUp: boolean;
  isPaused: boolean;
  startedAt: Instant;
  /** When it started, stopped, paused or went on last. */
  since: Instant;
  /** Why it stopped. */
  reason: string;
}

/** A log directory that its broker gave up. */
export interface FailedDirectory {
  readonly directory: string;
  readonly at: Instant;
  readonly event: number;
}

/**
 * What the liveness guarantees share: since when nothing more is done to the cluster, for whom that does
 * not hold, and when each part of it made its last step. They judge at the end, once.
 */
export class Liveness {
  bounds: LivenessBounds;
  /** When the cluster began to settle, and in which event; undefined before. */
  settledAt: Instant | undefined = undefined;
  settledIn = 0;
  /** Has any fault struck? Where none has, nothing had to recover. */
  wasDisturbed = false;
  /** The active controller, as far as it has told. */
  controller: BrokerId = NO_LEADER;
  readonly nodes: Map<string, NodeState> = new Map();
  /** Of each client: what it heard last. */
  readonly lastErrors: Map<string, RequestFailed> = new Map();
  readonly failedDirectories: Map<BrokerId, FailedDirectory> = new Map();
  readonly #logs: ReplicaLogs;
  readonly #frozen = new Set<string>();
  /** The nodes that were healed, if not all were. */
  #core: ReadonlySet<string> | undefined = undefined;
  #steppedAt: Instant = 0;
  /** By the partition's index, then the broker: when its log or high watermark moved; only while settling. */
  readonly #movedAt: Instant[][] = [];
  readonly #followsSince: Instant[][] = [];
  readonly #ackedAt: Instant[] = [];
  readonly #ledSince: Instant[] = [];
  readonly #isrStepAt: Instant[] = [];
  /** By client, then the partition's index. */
  readonly #readAt = new Map<string, Instant[]>();
  readonly #appliedAt = new Map<BrokerId, Instant>();
  readonly #shrunk: boolean[] = [];

  constructor(recorder: FactRecorder, logs: ReplicaLogs, setup: CheckSetup) {
    this.#logs = logs;
    this.bounds = boundsOf(setup.brokers, false);
    this.#followFaults(recorder, setup);
    this.#followNodes(recorder);
    this.#followMetadata(recorder);
    this.#followWork(recorder);
  }

  /** Do faults stay with somebody for ever? */
  get isPartial(): boolean {
    return this.#frozen.size > 0;
  }

  /** Do faults stay with the named node for ever? Nothing can be demanded of it. */
  isFrozen(node: string): boolean {
    return this.#frozen.has(node);
  }

  /** Is the broker running, and of those of whom everything can be demanded? */
  isWell(broker: BrokerId): boolean {
    const name = brokerName(broker);
    const state = this.nodes.get(name);
    return state?.isUp === true && !state.isPaused && !this.isFrozen(name);
  }

  /** Has the cluster had the time in which it must have recovered? Otherwise nothing is judged. */
  isJudged(at: Instant): boolean {
    return this.settledAt !== undefined && at - this.settledAt >= this.bounds.quiet;
  }

  /** How long nothing has happened since `last`, the time before the cluster settled not counted. */
  quietFor(last: Instant, at: Instant): Duration {
    return at - Math.max(this.settledAt ?? at, last);
  }

  /** Has nothing happened since `last` for longer than anybody may wait? */
  isQuiet(last: Instant, at: Instant): boolean {
    return this.quietFor(last, at) >= this.bounds.quiet;
  }

  /** The same; or is it over anyway, however much has happened? */
  isOverdue(last: Instant, at: Instant): boolean {
    return this.isQuiet(last, at) || this.quietFor(0, at) >= this.bounds.total;
  }

  /** When the cluster last came closer to health: a process, a broker or a controller is back. */
  get steppedAt(): Instant {
    return this.#steppedAt;
  }

  /** When the replica's log or high watermark moved last since the cluster settled; 0 if never. */
  movedAt(partition: PartitionGhost, broker: BrokerId): Instant {
    return this.#movedAt[partition.index]?.[broker] ?? 0;
  }

  /** When a replica last took up following, in whatever epoch, or was cut to what its leader has. */
  followsSince(partition: PartitionGhost, broker: BrokerId): Instant {
    return this.#followsSince[partition.index]?.[broker] ?? 0;
  }

  /** When the ISR grew, or a leader was found. */
  isrStepAt(partition: PartitionGhost): Instant {
    return this.#isrStepAt[partition.index] ?? 0;
  }

  /** When the controller chose the leader that the partition has. */
  ledSince(partition: PartitionGhost): Instant {
    return this.#ledSince[partition.index] ?? 0;
  }

  ackedAt(partition: PartitionGhost): Instant {
    return this.#ackedAt[partition.index] ?? 0;
  }

  readAt(partition: PartitionGhost, client: string): Instant {
    return this.#readAt.get(client)?.[partition.index] ?? 0;
  }

  /** When the node took metadata into its image last. */
  appliedAt(node: BrokerId): Instant {
    return this.#appliedAt.get(node) ?? 0;
  }

  /** Was a replica ever out of the ISR? */
  wasShrunk(partition: PartitionGhost): boolean {
    return this.#shrunk[partition.index] === true;
  }

  #followFaults(recorder: FactRecorder, { brokers }: CheckSetup): void {
    recorder.on("fault-begun", ({ verb, fault }, at, event) => {
      if (verb === "settle") {
        if (this.settledAt === undefined) this.#followProgress(recorder);
        this.settledAt = at;
        this.settledIn = event;
      } else if (fault >= 0 && verb !== "mark") this.wasDisturbed = true;
    });
    recorder.on("core-drawn", ({ core, frozen }) => {
      this.#core = new Set(core);
      for (const name of frozen) this.#frozen.add(name);
      this.bounds = boundsOf(brokers, true);
    });
    recorder.on("log-directory-failed", ({ broker, directory }, at, event) => {
      this.failedDirectories.set(broker, { directory, at, event });
    });
  }

  #followNodes(recorder: FactRecorder): void {
    recorder.on("node-started", ({ node }, at) => {
      const state = this.#node(node);
      state.isUp = true;
      state.isPaused = false;
      state.startedAt = at;
      state.since = at;
      this.#steppedAt = at;
      this.failedDirectories.delete(brokerOf(node));
    });
    recorder.on("node-stopped", ({ node, reason }, at) => {
      const state = this.#node(node);
      state.isUp = false;
      state.since = at;
      state.reason = reason;
      // It was on its way when the cluster settled, and nobody starts it again.
      if (this.#core?.has(node) === false) this.#frozen.add(node);
    });
    recorder.on("node-paused", ({ node }, at) => {
      const state = this.#node(node);
      state.isPaused = true;
      state.since = at;
    });
    recorder.on("node-resumed", ({ node }, at) => {
      const state = this.#node(node);
      state.isPaused = false;
      state.since = at;
      this.#steppedAt = at;
    });
  }

  #followMetadata(recorder: FactRecorder): void {
    recorder.on("controller-elected", ({ controller }, at) => {
      this.controller = controller;
      this.#steppedAt = at;
    });
    recorder.on("controller-resigned", ({ controller }) => {
      if (this.controller === controller) this.controller = NO_LEADER;
    });
    recorder.on("broker-unfenced", (_fact, at) => {
      this.#steppedAt = at;
    });
    const before = new Map<string, PartitionChanged>();
    recorder.on("partition-changed", (fact, at) => {
      const { index } = this.#logs.partition(fact.partition);
      const known = before.get(fact.partition);
      before.set(fact.partition, fact);
      if (fact.isr.length < fact.replicas.length) this.#shrunk[index] = true;
      if (known?.leader !== fact.leader) this.#ledSince[index] = at;
      const hasGrown = fact.isr.length > (known?.isr.length ?? 0);
      const isLedAgain = known?.leader === NO_LEADER && fact.leader !== NO_LEADER;
      if (hasGrown || isLedAgain) this.#isrStepAt[index] = at;
    });
    recorder.on("metadata-applied", ({ node }, at) => {
      if (this.settledAt !== undefined) this.#appliedAt.set(node, at);
    });
  }

  #followWork(recorder: FactRecorder): void {
    recorder.on("became-follower", ({ partition, broker }, at) => {
      this.#set(this.#followsSince, partition, broker, at);
    });
    recorder.on("truncated", ({ partition, broker }, at) => {
      this.#set(this.#followsSince, partition, broker, at);
    });
    recorder.on("request-failed", (fact) => {
      this.lastErrors.set(fact.client, fact);
    });
  }

  /** What every record makes facts of is listened to only from when the cluster settles. */
  #followProgress(recorder: FactRecorder): void {
    recorder.on("appended", ({ partition, broker }, at) =>
      this.#set(this.#movedAt, partition, broker, at),
    );
    recorder.on("high-watermark-moved", ({ partition, broker }, at) =>
      this.#set(this.#movedAt, partition, broker, at),
    );
    recorder.on("send-ended", ({ partition, outcome }, at) => {
      if (outcome === "acked") this.#ackedAt[this.#logs.partition(partition).index] = at;
    });
    recorder.on("polled", ({ partition, client }, at) => this.#read(partition, client, at));
    recorder.on("position-reset", ({ partition, client }, at) => this.#read(partition, client, at));
  }

  #set(table: Instant[][], name: string, broker: BrokerId, at: Instant): void {
    const { index } = this.#logs.partition(name);
    const row = table[index] ?? [];
    table[index] = row;
    row[broker] = at;
  }

  #read(name: string, client: string, at: Instant): void {
    const row = this.#readAt.get(client) ?? [];
    this.#readAt.set(client, row);
    row[this.#logs.partition(name).index] = at;
  }

  #node(name: string): NodeState {
    const known = this.nodes.get(name);
    if (known !== undefined) return known;
    const made: NodeState = {
      name,
      isUp: false,
      isPaused: false,
      startedAt: 0,
      since: 0,
      reason: "",
    };
    this.nodes.set(name, made);
    return made;
  }
}

/** Is it a broker or a controller, of which settling demands that it runs? */
export function isServer({ name }: NodeState): boolean {
  return brokerOf(name) >= 0 || name.startsWith("controller-");
}
