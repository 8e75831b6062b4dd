import type { Duration, Instant } from "../../src/base/time.ts";
import { fromMillis } from "../../src/base/time.ts";
import type { BatchOptions, RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../src/kafka/log/record-batch.ts";
import type { LogConfig } from "../../src/storage/log-config.ts";
import { DEFAULT_LOG_CONFIG } from "../../src/storage/log-config.ts";
import type { PartitionLogOptions } from "../../src/storage/partition-log.ts";
import { PartitionLog } from "../../src/storage/partition-log.ts";
import { TicketBook } from "../../src/storage/ticket-book.ts";
import { ScriptedDisk } from "./scripted-disk.ts";

export const LOG_DIRECTORY = "data/orders-0";

/** A clock that a test turns by hand. */
export class HandClock {
  time: Instant = fromMillis(1_000_000);

  now(): Instant {
    return this.time;
  }

  elapsed(): Duration {
    return this.time;
  }

  advanceMs(milliseconds: number): void {
    this.time += fromMillis(milliseconds);
  }
}

/** One log on a disk in memory, and what it takes to stop and open it again. */
export class LogFixture {
  readonly disk: ScriptedDisk;
  readonly clock: HandClock = new HandClock();
  readonly config: LogConfig;
  tickets: TicketBook = new TicketBook();
  log: PartitionLog;

  constructor(
    config: Partial<LogConfig> = {},
    disk: ScriptedDisk = new ScriptedDisk(),
    options: Partial<PartitionLogOptions> = {},
  ) {
    this.disk = disk;
    this.config = { ...DEFAULT_LOG_CONFIG, ...config };
    this.log = this.open(options);
  }

  /** Opens the log as a new process would, by default after an unclean stop. */
  open(options: Partial<PartitionLogOptions> = {}): PartitionLog {
    this.tickets = new TicketBook();
    this.log = PartitionLog.open({
      disk: this.disk,
      clock: this.clock,
      tickets: this.tickets,
      directory: LOG_DIRECTORY,
      topic: "orders",
      partition: 0,
      config: this.config,
      recoveryPoint: 0,
      logStartOffset: 0,
      cleanShutdown: false,
      ...options,
    });
    return this.log;
  }

  /** Ends the background syncs begun so far. */
  endSyncs(ok = true): void {
    this.disk.endSyncs((ticket, succeeded) => {
      this.tickets.synced(ticket, succeeded);
    }, ok);
  }

  /** Appends a batch of `count` records, as a client would have it appended. */
  append(count = 1, epoch = 0, options: BatchOptions = {}): RecordBatch {
    const { error, appended } = this.log.appendAsLeader([this.batch(count, options)], epoch);
    const [batch] = appended;
    if (batch === undefined) throw new Error(`not appended: ${error.name}`);
    return batch;
  }

  /** A client's batch, its records of some 20 bytes stamped now. */
  batch(count = 1, options: BatchOptions = {}): RecordBatch {
    const timestamp = this.clock.time / 1000;
    const value = Uint8Array.from({ length: 20 }, (_, i) => (i * 7 + count) & 255);
    return buildBatch(
      Array.from({ length: count }, () => ({ timestamp, value })),
      options,
    );
  }

  /** All batches that can be read, one read after the other. */
  contents(): RecordBatch[] {
    const { log } = this;
    const all: RecordBatch[] = [];
    let at = log.logStartOffset;
    while (at < log.logEndOffset) {
      const { batches } = log.read(at, 1, log.logEndOffset, true);
      const [batch] = batches;
      if (batch === undefined) break;
      all.push(batch);
      at = batch.nextOffset;
    }
    return all;
  }

  /** The path of a file in the log's directory. */
  path(baseOffset: number, suffix: string): string {
    return `${LOG_DIRECTORY}/${String(baseOffset).padStart(20, "0")}.${suffix}`;
  }
}
