import { invariant } from "../base/invariant.ts";
import { byText } from "../base/order.ts";
import { MINUTE, toMillis } from "../base/time.ts";
import type { BrokerEpoch, Offset, PartitionName, TopicId } from "../kafka/ids.ts";
import { METADATA_TOPIC, partitionName } from "../kafka/ids.ts";
import type { PartitionOffset } from "../kafka/log/checkpoint-format.ts";
import { formatOffsetCheckpoint, parseOffsetCheckpoint } from "../kafka/log/checkpoint-format.ts";
import type { Uuid } from "../kafka/uuid.ts";
import type { Disk } from "../ports/disk.ts";
import { DiskError } from "../ports/disk.ts";
import type { Clock } from "../ports/node.ts";
import type { Random } from "../ports/random.ts";
import { readCleanShutdown, writeCleanShutdown } from "./clean-shutdown-file.ts";
import type { Deletions } from "./delayed-deletion.ts";
import { ImmediateDeletions } from "./delayed-deletion.ts";
import type { LogConfig } from "./log-config.ts";
import type { DirectoryOwner } from "./meta-properties.ts";
import { ensureMetaProperties } from "./meta-properties.ts";
import type { PartitionLogOptions } from "./partition-log.ts";
import { PartitionLog } from "./partition-log.ts";
import { readText, replaceFile } from "./text-file.ts";
import type { TicketBook } from "./ticket-book.ts";

export interface LogDirectoryOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly tickets: TicketBook;
  /** For the names of directories that are set aside, and for `segment.jitter.ms`. */
  readonly random: Random;
  /** Where files and directories go that are used no more; they are removed at once if absent. */
  readonly deletions?: Deletions;
  /** `log.segment.delete.delay.ms`, of removed partitions; a minute if absent. */
  readonly fileDeleteDelayMs?: number;
  /** The config of a topic's logs; called at loading and at creation. */
  readonly configOf: (topic: string) => LogConfig;
  /** `producer.id.expiration.ms`; a day if absent. */
  readonly producerIdExpirationMs?: number;
  /** `transaction.partition.verification.enable`; false if absent. */
  readonly verifiesTransactions?: boolean;
  /** Hears of a disk error that no caller is to be troubled with: what they asked for is done. */
  readonly onDiskError: (problem: DiskError) => void;
  /** A log was cut below its active segment. Can throw `DiskError`. */
  readonly onTruncatedBelowActive?: (log: PartitionLog) => void;
  /** A log was removed. Can throw `DiskError`. */
  readonly onRemoved?: (log: PartitionLog, directory: LogDirectory) => void;
}

/** One log found on the disk at start. */
export interface LoadedLog {
  readonly log: PartitionLog;
  /** As checkpointed (0 if it was not), clamped to [logStartOffset, logEndOffset]. */
  readonly highWatermark: Offset;
  readonly cleanShutdown: boolean;
  readonly truncatedBytes: number;
}

/**
 * One of a broker's log directories, as a rule one disk: its logs, and the files beside them.
 * `DiskError` reaches the caller from every method; the directory is then to be given up.
 */
export class LogDirectory {
  /** As in `log.dirs`. */
  readonly path: string;
  /** The directory's own id, from its `meta.properties` (KIP-858). */
  readonly id: Uuid;
  /** Was the last stop orderly? */
  readonly cleanShutdown: boolean;
  /** From the clean-shutdown file; -1 without. */
  readonly previousBrokerEpoch: BrokerEpoch;
  readonly #options: LogDirectoryOptions;
  readonly #deletions: Deletions;
  readonly #logs = new Map<PartitionName, PartitionLog>();
  #isLoaded = false;

  /**
   * Formats the directory if it is new, and takes the clean-shutdown file away at once, so that a
   * crash from here on counts as one. The removal is durable only with the next checkpoint: as in
   * Kafka, a power loss right after the start can bring the file back.
   */
  constructor(path: string, owner: DirectoryOwner, options: LogDirectoryOptions) {
    const { disk } = options;
    this.path = path;
    this.#options = options;
    this.#deletions = options.deletions ?? new ImmediateDeletions(disk);
    disk.makeDirectory(path);
    this.id = ensureMetaProperties(disk, path, owner);
    const found = readCleanShutdown(disk, path);
    this.cleanShutdown = found !== undefined;
    this.previousBrokerEpoch = found ?? -1;
  }

  /** Opens every partition in the directory, in name order. To be called once, first. */
  loadAll(): readonly LoadedLog[] {
    const { disk } = this.#options;
    const { cleanShutdown } = this;
    // Without recovery points everything is scanned; without log starts, segments tell.
    const recoveryPoints = this.#readCheckpoint(RECOVERY_POINTS) ?? NO_OFFSETS;
    const logStarts = this.#readCheckpoint(LOG_STARTS) ?? NO_OFFSETS;
    const highWatermarks = this.#readCheckpoint(HIGH_WATERMARKS);
    if (highWatermarks === undefined) throw new DiskError("EIO", this.#path(HIGH_WATERMARKS));
    const loaded: LoadedLog[] = [];
    for (const name of disk.list(this.path)) {
      if (name.endsWith(SET_ASIDE)) this.#removeLater(this.#path(name));
      const [, topic, partition] = PARTITION_DIRECTORY.exec(name) ?? [];
      if (topic === undefined || topic === METADATA_TOPIC) continue;
      const log = this.#open(topic, Number(partition), {
        recoveryPoint: recoveryPoints.get(name) ?? 0,
        logStartOffset: logStarts.get(name) ?? 0,
        cleanShutdown,
      });
      const { truncatedBytes } = log;
      const checkpointed = highWatermarks.get(name) ?? 0;
      const highWatermark = Math.min(Math.max(checkpointed, log.logStartOffset), log.logEndOffset);
      loaded.push({ log, highWatermark, cleanShutdown, truncatedBytes });
    }
    this.#isLoaded = true;
    return loaded;
  }

  /** How many logs it has. */
  get size(): number {
    return this.#logs.size;
  }

  get(partition: PartitionName): PartitionLog | undefined {
    return this.#logs.get(partition);
  }

  /** In name order. */
  all(): readonly PartitionLog[] {
    return [...this.#logs.values()].sort((left, right) => byText(left.name, right.name));
  }

  /** Makes the directory of a partition, to see whether the disk still takes one. */
  makeRoom(topic: string, partition: number): void {
    this.#options.disk.makeDirectory(this.#path(partitionName(topic, partition)));
  }

  create(topic: string, partition: number, topicId: TopicId): PartitionLog {
    return this.#open(topic, partition, {
      topicId,
      recoveryPoint: 0,
      logStartOffset: 0,
      cleanShutdown: true,
    });
  }

  /**
   * Takes a partition out: its directory is renamed to end with `-delete`, and removed with all in it
   * after `log.segment.delete.delay.ms` (`LogManager.asyncDelete`).
   *
   * Simplified: Kafka looks for such directories at intervals, so that they stay up to twice as long.
   */
  remove(partition: PartitionName): void {
    const log = this.#logs.get(partition);
    if (log === undefined) return;
    this.#logs.delete(partition);
    log.abandon();
    this.#options.onRemoved?.(log, this);
    const aside = this.#path(asideName(log, this.#options.random));
    this.#options.disk.rename(log.directory, aside);
    this.#removeLater(aside);
    this.checkpointRecoveryPoints();
    this.checkpointLogStarts();
  }

  #removeLater(path: string): void {
    this.#deletions.schedule([path], this.#options.fileDeleteDelayMs ?? toMillis(MINUTE));
  }

  /** Gives up all its logs: the directory has failed. */
  abandon(): void {
    for (const log of this.#logs.values()) log.abandon();
    this.#logs.clear();
  }

  /** Writes `replication-offset-checkpoint`; every `replica.high.watermark.checkpoint.interval.ms`. */
  checkpointHighWatermarks(highWatermarkOf: (log: PartitionLog) => Offset): void {
    this.#writeCheckpoint(HIGH_WATERMARKS, this.all(), highWatermarkOf);
  }

  /** Writes `recovery-point-offset-checkpoint`; every `log.flush.offset.checkpoint.interval.ms`. */
  checkpointRecoveryPoints(): void {
    this.#writeCheckpoint(RECOVERY_POINTS, this.all(), (log) => log.recoveryPoint);
  }

  /**
   * Writes `log-start-offset-checkpoint`; every `log.flush.start.offset.checkpoint.interval.ms`.
   * Only starts within a segment are written: others the files tell.
   */
  checkpointLogStarts(): void {
    const moved = this.all().filter((log) => log.logStartOffset > (log.segmentBaseOffsets[0] ?? 0));
    this.#writeCheckpoint(LOG_STARTS, moved, (log) => log.logStartOffset);
  }

  /** An orderly stop: closes all logs, writes all checkpoints, then the clean-shutdown file. */
  shutdown(brokerEpoch: BrokerEpoch, highWatermarkOf: (log: PartitionLog) => Offset): void {
    if (this.#isLoaded) this.checkpointHighWatermarks(highWatermarkOf);
    for (const log of this.all()) log.close();
    this.checkpointRecoveryPoints();
    this.checkpointLogStarts();
    // Logs that were not all loaded have not all been recovered.
    if (!this.#isLoaded && !this.cleanShutdown) return;
    writeCleanShutdown(this.#options.disk, this.path, brokerEpoch);
  }

  #open(
    topic: string,
    partition: number,
    state: Pick<
      PartitionLogOptions,
      "topicId" | "recoveryPoint" | "logStartOffset" | "cleanShutdown"
    >,
  ): PartitionLog {
    const { disk, clock, tickets, random, configOf, producerIdExpirationMs } = this.#options;
    const name = partitionName(topic, partition);
    const log = PartitionLog.open({
      disk,
      clock,
      tickets,
      random,
      deletions: this.#deletions,
      directory: this.#path(name),
      topic,
      partition,
      config: configOf(topic),
      onTruncated: (isBelowActive) => this.#truncated(name, isBelowActive),
      ...(producerIdExpirationMs === undefined ? {} : { producerIdExpirationMs }),
      verifiesTransactions: this.#options.verifiesTransactions ?? false,
      ...state,
    });
    invariant(!this.#logs.has(name), () => `${name} is open already`);
    this.#logs.set(name, log);
    return log;
  }

  /** The log is cut by now, and whoever cut it has nothing to do with the checkpoint's failure. */
  #truncated(name: PartitionName, isBelowActive: boolean): void {
    try {
      this.checkpointRecoveryPoints();
      const log = this.#logs.get(name);
      if (isBelowActive && log !== undefined) this.#options.onTruncatedBelowActive?.(log);
    } catch (problem) {
      if (!(problem instanceof DiskError)) throw problem;
      this.#options.onDiskError(problem);
    }
  }

  /** No entries without the file; undefined if it is malformed. */
  #readCheckpoint(name: string): ReadonlyMap<PartitionName, Offset> | undefined {
    const text = readText(this.#options.disk, this.#path(name));
    return text === undefined ? NO_OFFSETS : parseOffsetCheckpoint(text);
  }

  #writeCheckpoint(
    name: string,
    logs: readonly PartitionLog[],
    offsetOf: (log: PartitionLog) => Offset,
  ): void {
    const entries: PartitionOffset[] = [];
    for (const log of logs) {
      entries.push({ topic: log.topic, partition: log.partition, offset: offsetOf(log) });
    }
    replaceFile(this.#options.disk, this.#path(name), formatOffsetCheckpoint(entries));
  }

  #path(name: string): string {
    return `${this.path}/${name}`;
  }
}

const RECOVERY_POINTS = "recovery-point-offset-checkpoint";
const HIGH_WATERMARKS = "replication-offset-checkpoint";
const LOG_STARTS = "log-start-offset-checkpoint";

/** How the directory of a partition that was taken out ends. */
const SET_ASIDE = "-delete";
/** No file system takes a longer name. */
const LONGEST_NAME = 255;

/** `LocalLog.logDeleteDirName`: a name that no partition has, and no other that was taken out. */
function asideName({ topic, partition }: PartitionLog, random: Random): string {
  let id = "";
  for (let i = 0; i < 4; i++) id += random.below(0x1_0000_0000).toString(16).padStart(8, "0");
  const rest = `-${partition}.${id}${SET_ASIDE}`;
  return topic.slice(0, LONGEST_NAME - rest.length) + rest;
}

const PARTITION_DIRECTORY = /^([A-Za-z0-9._-]+)-(\d+)$/;
const NO_OFFSETS: ReadonlyMap<PartitionName, Offset> = new Map();
