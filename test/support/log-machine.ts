import type { Duration, Instant } from "../../src/base/time.ts";
import { MICROSECOND, MILLISECOND, SECOND, toMillis } from "../../src/base/time.ts";
import type { DiskOptions } from "../../src/disk/disk-options.ts";
import { SimulatedDisk } from "../../src/disk/simulated-disk.ts";
import { DiskError } from "../../src/ports/disk.ts";
import type { UnflushedMode } from "../../src/ports/hands.ts";
import type { Network } from "../../src/ports/network.ts";
import type { Node, World } from "../../src/ports/node.ts";
import { Distribution } from "../../src/sim/distribution.ts";
import type { HostWatcher } from "../../src/sim/host.ts";
import { Host } from "../../src/sim/host.ts";
import { Rng } from "../../src/sim/rng.ts";
import { Scheduler } from "../../src/sim/scheduler.ts";
import { DelayedDeletions } from "../../src/storage/delayed-deletion.ts";
import type { CleanerOwner } from "../../src/storage/log-cleaner.ts";
import { LogCleaner } from "../../src/storage/log-cleaner.ts";
import type { CleanedGroup } from "../../src/storage/log-cleaning.ts";
import type { LogConfig } from "../../src/storage/log-config.ts";
import { LogManager } from "../../src/storage/log-manager.ts";
import type { PartitionLog } from "../../src/storage/partition-log.ts";
import { TicketBook } from "../../src/storage/ticket-book.ts";
import type { Interruption } from "./interrupted-disk.ts";
import { Interrupted, InterruptedDisk } from "./interrupted-disk.ts";

const TOPIC = "orders";
const TOPIC_ID = "3Db5QLSqSZieL3rJBUUegA";
export const MACHINE_DIRECTORY = "kafka-logs";

/** What a machine's logs ask and tell. */
export interface MachineOwner {
  readonly highWatermark: number;
  /** How many keys the cleaner can map. */
  readonly mapSlots: number;
  cleaned(group: CleanedGroup): void;
  /** Retention was looked after; `recoveryPoint` is as before. */
  deleted(log: PartitionLog, recoveryPoint: number): void;
}

/** How a process ends: by itself in order, killed, or with its machine's power. */
export type Stop = "exit" | "crash" | UnflushedMode;

/** One log of one broker on a simulated disk, in a real host: what is done to it takes time, and can be cut off. */
export class LogMachine {
  readonly #scheduler = new Scheduler();
  readonly #host: Host;
  readonly #disk: SimulatedDisk;
  readonly #config: LogConfig;
  readonly #owner: MachineOwner;
  readonly #alarm: number;
  #process: LogProcess | undefined;
  /** When the last step is over. */
  #settledAt: Instant = 0;
  #startUpCalls = 0;
  #startUpEnd: Interruption = "death";

  constructor(
    config: LogConfig,
    options: Pick<DiskOptions, "journal">,
    seed: string,
    owner: MachineOwner,
  ) {
    this.#config = config;
    this.#owner = owner;
    const facts = { note: (): void => {} };
    const watchers: HostWatcher[] = [];
    const scheduler = this.#scheduler;
    this.#host = new Host({
      address: 0,
      name: "broker-1",
      scheduler,
      random: new Rng(`${seed}/node`),
      facts,
      program: (world) => this.#start(world),
      network: () => NO_NETWORK,
      disk: () => this.#disk,
      watchers,
    });
    const random = new Rng(`${seed}/disk`);
    const disk = { ...DISK, ...options };
    this.#disk = new SimulatedDisk({ host: this.#host, scheduler, random, options: disk, facts });
    watchers.push(this.#disk);
    this.#alarm = scheduler.register("alarm", { handle: () => {} });
    this.advance(1000 * SECOND);
  }

  get log(): PartitionLog {
    return this.#running.log;
  }

  /** As checkpointed before the last start, within what the log has. */
  get loadedHighWatermark(): number {
    return this.#running.highWatermark;
  }

  get isCleanerIdle(): boolean {
    return this.#running.isCleanerIdle;
  }

  /** Has the process died by itself? */
  get isCutOff(): boolean {
    return this.#running.isCutOff;
  }

  /** By the broker's clock, milliseconds. */
  get nowMs(): number {
    return toMillis(this.#scheduler.now);
  }

  /** Starts the process; false if it was cut off after so many calls to the disk, or the disk failed it. */
  start(calls: number = Number.POSITIVE_INFINITY, how: Interruption = "death"): boolean {
    this.#startUpCalls = calls;
    this.#startUpEnd = how;
    this.#host.start();
    this.settle();
    return this.#running.isUp;
  }

  /** One step of the process, and the time that it takes; an error of its disk comes out of it. */
  step<Result>(body: (process: LogProcess) => Result): Result {
    const { alarm } = this.#running;
    let result: { readonly value: Result } | { readonly problem: unknown } | undefined;
    alarm(() => {
      try {
        result = { value: body(this.#running) };
      } catch (problem) {
        result = { problem };
      }
    });
    while (result === undefined && this.#scheduler.step());
    if (result === undefined) throw new Error("the process is down");
    this.settle();
    if ("problem" in result) throw result.problem;
    return result.value;
  }

  /**
   * Does something that is cut off after so many calls to the disk, and lets time pass for what follows
   * from it. `counts`: from where on the calls are counted. False if there were no more calls.
   */
  interrupt(
    counts: "at once" | "what follows",
    calls: number,
    how: Interruption,
    body: (process: LogProcess) => void,
    duration: Duration,
  ): boolean {
    const process = this.#running;
    this.step(() => {
      if (counts === "at once") process.disk.interruptAfter(calls, how);
      process.guarded(() => body(process));
      if (counts === "what follows") process.disk.interruptAfter(calls, how);
    });
    if (!process.isCutOff) this.advance(duration);
    this.settle();
    process.disk.spare();
    return process.isCutOff;
  }

  /** Lets the steps that have begun end: only then is durable what they have synced. */
  settle(): void {
    while (this.#settledAt > this.#scheduler.now) this.#advanceTo(this.#settledAt);
  }

  /** Lets time pass, and what is under way end. */
  advance(duration: Duration): void {
    this.#advanceTo(this.#scheduler.now + duration);
  }

  /** Ends the process, if it has not ended by itself. */
  stop(how: Stop): void {
    if (how === "exit") {
      this.step(({ cleaner, logs }) => {
        cleaner.stop();
        logs.shutdown(1, () => this.#owner.highWatermark);
      });
      this.#host.crash("it is done");
    } else if (how === "crash") {
      this.#host.crash("test");
    } else {
      this.#disk.powerOffMode = how;
      this.#host.powerOff("test");
    }
    this.#process = undefined;
  }

  #advanceTo(until: Instant): void {
    if (until <= this.#scheduler.now) return;
    this.#scheduler.at(until, this.#alarm, 0, undefined);
    while (this.#scheduler.now < until) this.#scheduler.step();
  }

  get #running(): LogProcess {
    if (this.#process === undefined) throw new Error("the process is down");
    return this.#process;
  }

  #start(world: World): Node {
    const process = new LogProcess(world, this.#config, this.#owner, () => {
      this.#settledAt = Math.max(this.#settledAt, this.#host.departure());
    });
    process.disk.interruptAfter(this.#startUpCalls, this.#startUpEnd);
    this.#process = process;
    return process;
  }
}

/** What runs: a broker's logs with their cleaner, and no more of a broker. */
export class LogProcess implements Node, CleanerOwner {
  readonly disk: InterruptedDisk;
  /** Are the logs open? */
  isUp = false;
  /** It died in the middle of a step, or its disk failed it. */
  isCutOff = false;
  isCleanerIdle = true;
  highWatermark = 0;
  readonly #tickets = new TicketBook();
  readonly #deletions: DelayedDeletions;
  readonly #world: World;
  readonly #config: LogConfig;
  readonly #owner: MachineOwner;
  readonly #onStepped: () => void;
  #logs: LogManager | undefined;
  #cleaner: LogCleaner | undefined;
  #log: PartitionLog | undefined;

  constructor(world: World, config: LogConfig, owner: MachineOwner, onStepped: () => void) {
    this.#onStepped = onStepped;
    this.#world = world;
    this.#config = config;
    this.#owner = owner;
    this.disk = new InterruptedDisk(world.disk);
    this.#deletions = new DelayedDeletions(this.disk, world.timers, DELETION_TIMER, () =>
      this.onDiskError(),
    );
  }

  get logs(): LogManager {
    return this.#logs ?? notOpen();
  }

  get cleaner(): LogCleaner {
    return this.#cleaner ?? notOpen();
  }

  get log(): PartitionLog {
    return this.#log ?? notOpen();
  }

  /** Calls back in a step of its own. */
  readonly alarm = (body: () => void): void => {
    this.#world.timers.start(0, STEP_TIMER, body);
  };

  clean(): void {
    this.isCleanerIdle = false;
    this.cleaner.run();
  }

  onStart(): void {
    this.guarded(() => this.#open());
    this.disk.spare();
    this.isUp = !this.isCutOff;
    this.#onStepped();
  }

  /** Lets it die in the middle; a broker whose only disk fails it halts. */
  guarded(body: () => void): void {
    try {
      body();
    } catch (problem) {
      if (!(problem instanceof Interrupted) && !(problem instanceof DiskError)) throw problem;
      this.isCutOff = true;
    }
  }

  #open(): void {
    const { disk } = this;
    const { clock, random, process } = this.#world;
    const tickets = this.#tickets;
    const logs = new LogManager({
      disk,
      clock,
      tickets,
      random,
      deletions: this.#deletions,
      directories: [MACHINE_DIRECTORY],
      nodeId: 1,
      clusterId: "kafka-sim",
      incarnation: process.incarnation,
      configOf: () => this.#config,
      onDiskError: () => this.onDiskError(),
      onTruncatedBelowActive: (log) => this.cleaner.truncated(log),
      onRemoved: (log, directory) => this.cleaner.removed(log, directory),
    });
    for (const { problem } of logs.failedAtStart) throw problem;
    const limits = { mapSlots: this.#owner.mapSlots, loadFactor: 1 };
    this.#logs = logs;
    this.#cleaner = new LogCleaner({ disk, clock, tickets, logs, ...limits, owner: this });
    const [loaded] = logs.loadAll();
    if (this.isCutOff) return;
    this.highWatermark = loaded?.highWatermark ?? 0;
    const log = logs.getOrCreate(TOPIC, 0, TOPIC_ID);
    this.#log = log;
    // Recovery writes indexes anew, also of segments that are flushed and that nobody recovers again. Kafka
    // leaves that to the system: a power loss right after can leave garbage there for good.
    for (const segment of log.segments) segment.sync();
    // As a minute later: a power loss must not bring the clean-shutdown file back.
    logs.checkpointRecoveryPoints();
  }

  onTimer(kind: number, payload: unknown): void {
    if (kind === STEP_TIMER && typeof payload === "function") payload();
    else if (!this.isCutOff) this.guarded(() => this.#deletions.onTimer(payload));
    this.#onStepped();
  }

  onSynced(ticket: number, ok: boolean): void {
    if (!this.isCutOff) this.guarded(() => this.#tickets.synced(ticket, ok));
    this.#onStepped();
  }

  onConnected(): void {}
  onFrame(): void {}
  onClosed(): void {}
  onShutdown(): void {}

  // What the cleaner asks and tells.

  lastStableOffsetOf(): number {
    return this.#owner.highWatermark;
  }

  onCleaned(_log: PartitionLog, group: CleanedGroup): void {
    this.#owner.cleaned(group);
  }

  deleteOldSegments(log: PartitionLog): void {
    const { recoveryPoint } = log;
    log.deleteOldSegments(this.#owner.highWatermark);
    this.#owner.deleted(log, recoveryPoint);
  }

  onDiskError(): void {
    this.isCutOff = true;
  }

  onCleanerIdle(): void {
    this.isCleanerIdle = true;
  }
}

function notOpen(): never {
  throw new Error("the logs are not open");
}

const STEP_TIMER = 0;
const DELETION_TIMER = 1;

/** Fast enough that little happens by the way, slow enough that a stop can come between. */
const DISK: DiskOptions = {
  write: Distribution.fixed(5 * MICROSECOND),
  read: Distribution.fixed(5 * MICROSECOND),
  fsync: Distribution.uniform(1 * MILLISECOND, 20 * MILLISECOND),
  bandwidth: 250_000_000,
  writeback: 30 * SECOND,
  // Smaller than any real one, so that batches are torn that are small as well.
  sector: 64,
  journal: "writeback",
};

const NO_NETWORK: Network = { connect: () => 0, send: () => {}, close: () => {}, listen: () => {} };
