import { encodeUtf8 } from "../../src/base/utf8.ts";
import type { BatchOptions, RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../src/kafka/log/record-batch.ts";
import type { DiskError } from "../../src/ports/disk.ts";
import type { CleanerOwner } from "../../src/storage/log-cleaner.ts";
import { LogCleaner } from "../../src/storage/log-cleaner.ts";
import type { CleanedGroup } from "../../src/storage/log-cleaning.ts";
import type { LogConfig } from "../../src/storage/log-config.ts";
import { DEFAULT_LOG_CONFIG } from "../../src/storage/log-config.ts";
import { LogManager } from "../../src/storage/log-manager.ts";
import type { PartitionLog } from "../../src/storage/partition-log.ts";
import { TicketBook } from "../../src/storage/ticket-book.ts";
import { HandClock } from "./log-fixture.ts";
import { ScriptedDisk } from "./scripted-disk.ts";
import { SmallRandom } from "./small-random.ts";

/** Where a test lets the process die. */
export class Crash extends Error {}

/** A disk that lets the process die before one of its calls. */
export class CrashingDisk extends ScriptedDisk {
  /** So many calls that change something still succeed. */
  callsLeft: number = Number.POSITIVE_INFINITY;

  override note(call: string, path: string): void {
    if (this.callsLeft-- <= 0) throw new Crash(`${call} ${path}`);
    super.note(call, path);
  }
}

/** A broker's logs with their cleaner, all within the high watermark unless a test says otherwise. */
export class CleanerFixture implements CleanerOwner {
  readonly disk: CrashingDisk = new CrashingDisk();
  readonly clock: HandClock = new HandClock();
  readonly config: LogConfig;
  readonly cleaned: { readonly log: string; readonly group: CleanedGroup }[] = [];
  readonly errors: DiskError[] = [];
  idle = 0;
  highWatermark: number = Number.POSITIVE_INFINITY;
  tickets!: TicketBook;
  logs!: LogManager;
  cleaner!: LogCleaner;

  constructor(config: Partial<LogConfig> = {}) {
    this.config = { ...DEFAULT_LOG_CONFIG, "cleanup.policy": "compact", ...config };
    this.start();
  }

  /** As a new process. */
  start(): void {
    const { disk, clock } = this;
    const tickets = new TicketBook();
    this.tickets = tickets;
    this.logs = new LogManager({
      disk,
      clock,
      tickets,
      random: new SmallRandom(1),
      directories: ["data"],
      nodeId: 2,
      clusterId: "kafka-sim",
      incarnation: 0,
      configOf: () => this.config,
      onDiskError: (problem) => this.onDiskError(problem),
      onTruncatedBelowActive: (log) => this.cleaner.truncated(log),
      onRemoved: (log, directory) => this.cleaner.removed(log, directory),
    });
    const { logs } = this;
    this.cleaner = new LogCleaner({
      disk,
      clock,
      tickets,
      logs,
      mapSlots: 1000,
      loadFactor: 1,
      owner: this,
    });
    logs.loadAll();
  }

  log(name = "orders", partition = 0): PartitionLog {
    return this.logs.getOrCreate(name, partition, `id-of-${name}`);
  }

  /** Runs the cleaner until it is idle, the syncs that it waits for ending as they are begun. */
  clean(): void {
    const { idle } = this;
    this.cleaner.run();
    for (let rounds = 0; this.idle === idle; rounds++) {
      if (rounds > 1000) throw new Error("the cleaner waits for nothing");
      this.endSyncs();
    }
  }

  endSyncs(ok = true): void {
    this.disk.endSyncs((ticket, succeeded) => this.tickets.synced(ticket, succeeded), ok);
  }

  // What the cleaner asks and tells.

  lastStableOffsetOf(log: PartitionLog): number {
    return Math.min(this.highWatermark, log.logEndOffset);
  }

  onCleaned(log: PartitionLog, group: CleanedGroup): void {
    this.cleaned.push({ log: log.name, group });
  }

  deleteOldSegments(log: PartitionLog): void {
    log.deleteOldSegments(this.lastStableOffsetOf(log));
  }

  onDiskError(problem: DiskError): void {
    this.errors.push(problem);
  }

  onCleanerIdle(): void {
    this.idle++;
  }
}

/**
 * Appends a batch as a client would: `a=1 b` is a record of key a and value 1, and a tombstone of b. Each
 * record takes half a second.
 */
export function write(
  log: PartitionLog,
  words: string,
  options: BatchOptions = {},
  epoch = 0,
): void {
  const { error } = log.appendAsLeader(
    [keyedBatch(words, 1_000_000 + log.logEndOffset * 500, options)],
    epoch,
  );
  if (error.code !== 0) throw new Error(`not appended: ${error.name}`);
}

export function keyedBatch(
  words: string,
  timestamp: number,
  options: BatchOptions = {},
): RecordBatch {
  const records = words.split(" ").map((word) => {
    const [key = "", value] = word.split("=");
    return {
      timestamp,
      key: encodeUtf8(key),
      value: value === undefined ? undefined : encodeUtf8(value),
    };
  });
  return buildBatch(records, options);
}

/** All that can be read from the log's start on: `offset:key=value`, a batch without records as `[from-to]`. */
export function contentsOf(log: PartitionLog): string[] {
  const words: string[] = [];
  let at = log.logStartOffset;
  while (at < log.logEndOffset) {
    const { batches, error } = log.read(at, 1, log.logEndOffset, true);
    const [batch] = batches;
    if (batch === undefined) throw new Error(`nothing to read at ${at}: ${error.name}`);
    if (batch.recordCount === 0) words.push(`[${batch.baseOffset}-${batch.lastOffset}]`);
    for (const { offset, key, value } of batch.records()) {
      const text = `${offset}:${Buffer.from(key ?? []).toString()}`;
      words.push(value === undefined ? text : `${text}=${Buffer.from(value).toString()}`);
    }
    at = batch.nextOffset;
  }
  return words;
}
