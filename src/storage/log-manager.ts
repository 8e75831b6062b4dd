import { byText } from "../base/order.ts";
import type { BrokerEpoch, BrokerId, Offset, PartitionName, TopicId } from "../kafka/ids.ts";
import { partitionName } from "../kafka/ids.ts";
import type { Uuid } from "../kafka/uuid.ts";
import { DiskError } from "../ports/disk.ts";
import type { LoadedLog, LogDirectoryOptions } from "./log-directory.ts";
import { LogDirectory } from "./log-directory.ts";
import type { PartitionLog } from "./partition-log.ts";
import { RefusedStart } from "./refused-start.ts";

export interface LogManagerOptions extends LogDirectoryOptions {
  /** `log.dirs`: at least one, all different. */
  readonly directories: readonly string[];
  readonly nodeId: BrokerId;
  readonly clusterId: string;
  /** How often the process was started before. */
  readonly incarnation: number;
}

/** A log directory that could not be opened at the start. */
export interface FailedDirectory {
  readonly path: string;
  readonly problem: DiskError;
}

/**
 * All logs of one broker, in its log directories (Kafka's `LogManager`). What concerns one log throws
 * `DiskError`; what concerns all does what it can, and tells `onDiskError` the rest. Whoever hears of
 * an error has the directory that it names taken out, by `fail`.
 */
export class LogManager {
  /** Those that could not be opened at the start; their logs, if any, are not known. */
  readonly failedAtStart: readonly FailedDirectory[];
  /**
   * From the clean-shutdown files, if all directories have the same: tells the controller whether
   * anything may be lost (KIP-966); else -1.
   */
  readonly previousBrokerEpoch: BrokerEpoch;
  readonly #options: LogManagerOptions;
  /** Those that are online, in the order of `log.dirs`. */
  readonly #directories: LogDirectory[] = [];

  /** Throws `RefusedStart`. */
  constructor(options: LogManagerOptions) {
    const { directories, nodeId, clusterId, incarnation } = options;
    this.#options = options;
    const failed: FailedDirectory[] = [];
    for (const [place, path] of directories.entries()) {
      try {
        const owner = { nodeId, clusterId, place, incarnation };
        this.#directories.push(new LogDirectory(path, owner, options));
      } catch (problem) {
        if (!(problem instanceof DiskError)) throw problem;
        failed.push({ path, problem });
      }
    }
    this.failedAtStart = failed;
    const epochs = new Set(this.#directories.map((one) => one.previousBrokerEpoch));
    const isTold = failed.length === 0 && epochs.size === 1;
    this.previousBrokerEpoch = isTold ? (this.#directories[0]?.previousBrokerEpoch ?? -1) : -1;
  }

  /** The directories that are online, in the order of `log.dirs`. */
  get directories(): readonly LogDirectory[] {
    return this.#directories;
  }

  /** The online directory in which a path lies. */
  directoryOf(path: string): LogDirectory | undefined {
    return this.#directories.find((one) => path === one.path || path.startsWith(`${one.path}/`));
  }

  /** Is there a directory with which nothing can be done, and may it have a log that is not known? */
  get hasOffline(): boolean {
    return this.#directories.length < this.#options.directories.length;
  }

  /**
   * Opens every partition, directory by directory. To be called once, first. Throws `RefusedStart` if
   * one partition is in two of them, as it can be when a failed disk comes back.
   */
  loadAll(): readonly LoadedLog[] {
    const loaded: LoadedLog[] = [];
    const places = new Map<PartitionName, string>();
    this.#each((directory) => {
      const found = directory.loadAll();
      for (const { log } of found) {
        const other = places.get(log.name);
        if (other !== undefined) {
          throw new RefusedStart(`${log.name} is in both ${other} and ${directory.path}`);
        }
        places.set(log.name, directory.path);
      }
      loaded.push(...found);
    });
    return loaded;
  }

  get(partition: PartitionName): PartitionLog | undefined {
    for (const directory of this.#directories) {
      const log = directory.get(partition);
      if (log !== undefined) return log;
    }
    return undefined;
  }

  /** In name order. */
  all(): readonly PartitionLog[] {
    return this.#directories
      .flatMap((directory) => directory.all())
      .sort((left, right) => byText(left.name, right.name));
  }

  /**
   * The log of a partition; a new one comes into the directory of this id, or if that is none of them,
   * into the one with the fewest logs (`nextLogDirs`). Throws `DiskError` also if there is no directory
   * left. A log that exists may be of another topic id than the one given: compare `topicId`.
   */
  getOrCreate(
    topic: string,
    partition: number,
    topicId: TopicId,
    directoryId?: Uuid,
  ): PartitionLog {
    const existing = this.get(partitionName(topic, partition));
    if (existing !== undefined) return existing;
    const wanted = this.#directories.find(({ id }) => id === directoryId);
    const candidates = wanted === undefined ? this.#emptiestFirst() : [wanted];
    // A disk that takes no directory is found out here, and the next one is tried.
    if (candidates.length > 1) {
      for (const candidate of candidates) {
        if (this.#attempt(() => candidate.makeRoom(topic, partition))) {
          return candidate.create(topic, partition, topicId);
        }
      }
    }
    const [only] = candidates;
    if (only === undefined || candidates.length > 1) {
      throw new DiskError("EIO", this.#options.directories.join(","));
    }
    return only.create(topic, partition, topicId);
  }

  /** Removes the partition's directory with all in it. */
  remove(partition: PartitionName): void {
    for (const directory of this.#directories) directory.remove(partition);
  }

  /** Writes `replication-offset-checkpoint`; every `replica.high.watermark.checkpoint.interval.ms`. */
  checkpointHighWatermarks(highWatermarkOf: (log: PartitionLog) => Offset): void {
    this.#each((directory) => directory.checkpointHighWatermarks(highWatermarkOf));
  }

  /** Writes `recovery-point-offset-checkpoint`; every `log.flush.offset.checkpoint.interval.ms`. */
  checkpointRecoveryPoints(): void {
    this.#each((directory) => directory.checkpointRecoveryPoints());
  }

  /** Writes `log-start-offset-checkpoint`; every `log.flush.start.offset.checkpoint.interval.ms`. */
  checkpointLogStarts(): void {
    this.#each((directory) => directory.checkpointLogStarts());
  }

  /** Takes a directory out: its disk has failed. Its logs are not to be used again. */
  fail(directory: LogDirectory): void {
    const at = this.#directories.indexOf(directory);
    if (at < 0) return;
    this.#directories.splice(at, 1);
    directory.abandon();
  }

  /** An orderly stop. A directory whose disk fails meanwhile is left as after a crash. */
  shutdown(brokerEpoch: BrokerEpoch, highWatermarkOf: (log: PartitionLog) => Offset): void {
    this.#each((directory) => directory.shutdown(brokerEpoch, highWatermarkOf));
  }

  #emptiestFirst(): LogDirectory[] {
    return [...this.#directories].sort((left, right) => left.size - right.size);
  }

  /** In all directories that are online, though some may fail meanwhile. */
  #each(action: (directory: LogDirectory) => void): void {
    for (const directory of [...this.#directories]) this.#attempt(() => action(directory));
  }

  /** False if the disk failed. */
  #attempt(action: () => void): boolean {
    try {
      action();
      return true;
    } catch (problem) {
      if (!(problem instanceof DiskError)) throw problem;
      this.#options.onDiskError(problem);
      return false;
    }
  }
}
