import { toMillis } from "../base/time.ts";
import { isCompacted } from "../kafka/config/topic-configs.ts";
import type { Offset } from "../kafka/ids.ts";
import type { Dirt } from "../kafka/log/cleaning/dirt.ts";
import { dirtOf, dirtyRatio, isWorthCleaning } from "../kafka/log/cleaning/dirt.ts";
import { OffsetMap } from "../kafka/log/cleaning/offset-map.ts";
import type { Disk } from "../ports/disk.ts";
import { DiskError } from "../ports/disk.ts";
import type { Clock } from "../ports/node.ts";
import { CleanerCheckpoint } from "./cleaner-checkpoint.ts";
import type { CleanedGroup } from "./log-cleaning.ts";
import { LogCleaning } from "./log-cleaning.ts";
import type { LogDirectory } from "./log-directory.ts";
import type { LogManager } from "./log-manager.ts";
import type { PartitionLog } from "./partition-log.ts";
import { removeSegmentFiles } from "./segment-files.ts";
import type { TicketBook } from "./ticket-book.ts";

export interface LogCleanerOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly tickets: TicketBook;
  readonly logs: LogManager;
  /** `log.cleaner.dedupe.buffer.size`, in keys (`slotsOf`). */
  readonly mapSlots: number;
  /** `log.cleaner.io.buffer.load.factor` */
  readonly loadFactor: number;
  readonly owner: CleanerOwner;
}

/** What the cleaner needs of its broker, and tells it. */
export interface CleanerOwner {
  /** Nothing from here on may be cleaned. */
  lastStableOffsetOf(log: PartitionLog): Offset;
  /** A stretch of the log has been replaced by what the group holds. */
  onCleaned(log: PartitionLog, group: CleanedGroup): void;
  /** Retention of compacted logs is the cleaner's task: by their start, and by time and size if their policy says so. */
  deleteOldSegments(log: PartitionLog): void;
  /** A disk has failed under the cleaner. */
  onDiskError(problem: DiskError): void;
  /** There is nothing to clean: `run` is to be called again after `log.cleaner.backoff.ms`. */
  onCleanerIdle(): void;
}

/**
 * Compacts the logs of one broker, the dirtiest first (Kafka's `LogCleaner`, `LogCleanerManager`).
 *
 * Simplified: one thread (`log.cleaner.threads`) without a throttle, which reads and writes a group of
 * segments in one step, waits for the new segment's fsync, and then swaps it in.
 */
export class LogCleaner {
  readonly #options: LogCleanerOptions;
  readonly #checkpoints = new Map<LogDirectory, CleanerCheckpoint>();
  /** Logs that could not be read: they are left alone from then on. */
  #uncleanable: PartitionLog[] = [];
  #cleaning: LogCleaning | undefined;
  #pending: PendingSwap | undefined;
  #isAborted = false;
  #isStopped = false;

  constructor(options: LogCleanerOptions) {
    this.#options = options;
  }

  /** Cleans one log after the other until there is nothing left to do (`CleanerThread.doWork`). */
  run(): void {
    if (this.#isStopped || this.#cleaning !== undefined) return;
    this.#uncleanable = this.#uncleanable.filter((log) => this.#isThere(log));
    this.#attempt(() => {
      const chosen = this.#choose();
      if (chosen !== undefined) {
        this.#begin(chosen.log, chosen.dirt);
        return;
      }
      this.#deleteOldSegments();
      this.#options.owner.onCleanerIdle();
    });
  }

  /**
   * A log was cut below its active segment. A run over it is given up, since the segments that it copies
   * are no more what they were, and the next begins where the active one does, at the latest
   * (`LogManager.truncateTo`). Can throw `DiskError`.
   */
  truncated(log: PartitionLog): void {
    if (this.#cleaning?.log === log) this.#isAborted = true;
    const directory = this.#options.logs.directoryOf(log.directory);
    if (directory === undefined || !isCompacted(log.config)) return;
    const active = log.segments.at(-1)?.baseOffset ?? log.logEndOffset;
    this.#checkpointOf(directory).lower(log, active, directory.all());
  }

  /** A log has been removed from a directory. Can throw `DiskError`. */
  removed(log: PartitionLog, directory: LogDirectory): void {
    this.#checkpointOf(directory).remove(log, directory.all());
  }

  /** Everything is left as it is: what was begun is undone at the next start. */
  stop(): void {
    this.#isStopped = true;
  }

  /** The dirtiest of the logs that are worth it; of equals the first by name. */
  #choose(): Candidate | undefined {
    const { logs, clock } = this.#options;
    const nowMs = toMillis(clock.now());
    let dirtiest: Candidate | undefined;
    for (const log of logs.all()) {
      if (!isCompacted(log.config) || this.#uncleanable.includes(log)) continue;
      const directory = logs.directoryOf(log.directory);
      if (directory === undefined) continue;
      const dirt = this.#judge(log, directory, nowMs);
      if (!isWorthCleaning(dirt, log.config)) continue;
      if (dirtiest === undefined || dirtyRatio(dirt) > dirtyRatio(dirtiest.dirt)) {
        dirtiest = { log, dirt };
      }
    }
    return dirtiest;
  }

  #judge(log: PartitionLog, directory: LogDirectory, nowMs: number): Dirt {
    const checkpoint = this.#checkpointOf(directory);
    const { segments, logStartOffset, logEndOffset, config } = log;
    const lastStableOffset = this.#options.owner.lastStableOffsetOf(log);
    const judged = { segments, logStartOffset, logEndOffset, lastStableOffset };
    const dirt = dirtOf(judged, config, checkpoint.get(log.name), nowMs);
    if (dirt.isCheckpointInvalid) checkpoint.set(log, dirt.firstDirtyOffset, directory.all());
    return dirt;
  }

  #begin(log: PartitionLog, dirt: Dirt): void {
    const { clock, mapSlots, loadFactor } = this.#options;
    const nowMs = toMillis(clock.now());
    const cleaning = new LogCleaning(log, dirt, new OffsetMap(mapSlots, loadFactor), nowMs);
    this.#cleaning = cleaning;
    this.#isAborted = false;
    if (this.#canMap(cleaning)) this.#cleanNext(cleaning);
    else this.#giveUp(log);
  }

  /** An error in reading for the map does not take the directory offline, unlike one in copying. */
  #canMap(cleaning: LogCleaning): boolean {
    try {
      return cleaning.map();
    } catch (problem) {
      if (!(problem instanceof DiskError)) throw problem;
      return false;
    }
  }

  #cleanNext(cleaning: LogCleaning): void {
    const group = cleaning.cleanNext();
    if (group === "corrupt") {
      this.#giveUp(cleaning.log);
    } else if (group === undefined) {
      this.#done(cleaning);
    } else {
      const pending: PendingSwap = { cleaning, group, syncsLeft: 0 };
      const waiter = { synced: (ok: boolean): void => this.#synced(pending, ok) };
      this.#pending = pending;
      group.cleaned.syncLater(() => {
        pending.syncsLeft++;
        return this.#options.tickets.issue(waiter);
      });
    }
  }

  #synced(pending: PendingSwap, ok: boolean): void {
    pending.syncsLeft--;
    if (this.#isStopped || this.#pending !== pending) return;
    this.#attempt(() => {
      if (!ok) throw new DiskError("EIO", pending.cleaning.log.directory);
      if (pending.syncsLeft === 0) this.#swap(pending);
    });
  }

  #swap({ cleaning, group }: PendingSwap): void {
    this.#pending = undefined;
    const { log } = cleaning;
    if (!this.#isThere(log)) {
      this.#next();
    } else if (this.#isAborted) {
      removeSegmentFiles(this.#options.disk, log.directory, group.from, ".cleaned");
      this.#next();
    } else {
      log.replaceSegments(group.cleaned, group.replaced);
      this.#options.owner.onCleaned(log, group);
      this.#cleanNext(cleaning);
    }
  }

  #done({ log, nextDirtyOffset }: LogCleaning): void {
    const directory = this.#options.logs.directoryOf(log.directory);
    if (directory !== undefined) {
      this.#checkpointOf(directory).set(log, nextDirtyOffset, directory.all());
    }
    this.#next();
  }

  /** The log is not looked at again; there is a pause, as after an error. */
  #giveUp(log: PartitionLog): void {
    this.#cleaning = undefined;
    this.#uncleanable.push(log);
    this.#options.owner.onCleanerIdle();
  }

  /** One log is done with. */
  #next(): void {
    this.#cleaning = undefined;
    this.#deleteOldSegments();
    this.run();
  }

  /** Of all compacted logs, after each run (`CleanerThread.cleanFilthiestLog`). */
  #deleteOldSegments(): void {
    const { logs, owner } = this.#options;
    for (const log of logs.all()) {
      if (!isCompacted(log.config) || this.#uncleanable.includes(log)) continue;
      owner.deleteOldSegments(log);
    }
  }

  /** Lets no disk error out: it ends the run, and concerns the directory. */
  #attempt(action: () => void): void {
    try {
      action();
    } catch (problem) {
      if (!(problem instanceof DiskError)) throw problem;
      this.#cleaning = undefined;
      this.#pending = undefined;
      const { owner } = this.#options;
      owner.onDiskError(problem);
      owner.onCleanerIdle();
    }
  }

  #isThere(log: PartitionLog): boolean {
    return this.#options.logs.get(log.name) === log;
  }

  #checkpointOf(directory: LogDirectory): CleanerCheckpoint {
    let checkpoint = this.#checkpoints.get(directory);
    if (checkpoint === undefined) {
      checkpoint = new CleanerCheckpoint(this.#options.disk, directory.path);
      this.#checkpoints.set(directory, checkpoint);
    }
    return checkpoint;
  }
}

interface Candidate {
  readonly log: PartitionLog;
  readonly dirt: Dirt;
}

/** A group that waits for its fsyncs. */
interface PendingSwap {
  readonly cleaning: LogCleaning;
  readonly group: CleanedGroup;
  syncsLeft: number;
}
