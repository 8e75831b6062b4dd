import { fail } from "../base/invariant.ts";
import type { ErrorCode } from "../kafka/error-code.ts";
import type { LeaderEpoch, Offset, PartitionName, TopicId } from "../kafka/ids.ts";
import type { LeaderEpochCache } from "../kafka/log/leader-epoch-cache.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import type { Disk } from "../ports/disk.ts";
import type { Clock } from "../ports/node.ts";
import type { LogConfig } from "./log-config.ts";
import type { TicketBook } from "./ticket-book.ts";

/** What a log's owner tells it at opening. */
export interface PartitionLogOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  /** The node's one book; its `onSynced` passes on to it. */
  readonly tickets: TicketBook;
  /** The partition's directory on the disk. */
  readonly directory: string;
  readonly topic: string;
  readonly partition: number;
  /** Undefined: as `partition.metadata` on the disk says. */
  readonly topicId?: TopicId;
  readonly config: LogConfig;
  /** From the checkpoint files; 0 for a new log. */
  readonly recoveryPoint: Offset;
  readonly logStartOffset: Offset;
  /** True if the last stop was orderly, so that no segment needs a scan. */
  readonly cleanShutdown: boolean;
}

/** How a leader's append ended. */
export interface AppendResult {
  readonly error: ErrorCode;
  /** Offsets assigned, or those of the original if `duplicate`; -1 on error. */
  readonly firstOffset: Offset;
  readonly lastOffset: Offset;
  /** Milliseconds, if the topic's timestamps are LogAppendTime, else -1. */
  readonly logAppendTime: number;
  /** An idempotent producer sent it again: nothing was appended. */
  readonly duplicate: boolean;
  /** The batches as stored, offsets and leader epoch assigned. */
  readonly appended: readonly RecordBatch[];
}

export interface FollowerAppendResult {
  readonly error: ErrorCode;
  /** A prefix of the batches given: those of epochs up to the one that was fetched in (KAFKA-18723). */
  readonly appended: readonly RecordBatch[];
}

export interface ReadResult {
  /** CORRUPT_MESSAGE if the bytes at the offset cannot be told apart into batches. */
  readonly error: ErrorCode;
  readonly batches: readonly RecordBatch[];
  readonly sizeInBytes: number;
}

/** Who appends: `raft` takes prebuilt batches as they are, `coordinator` skips the sequence check. */
export type LeaderAppendOrigin = "client" | "coordinator" | "raft";

/**
 * One replica of one partition on one disk: segments, indexes, leader epochs, producers
 * (Kafka's `UnifiedLog`). Every method can throw `DiskError`; the log is then to be closed for good.
 *
 * The high watermark is not here but with the broker's partition, which also decides who may read
 * what. Facts are noted by the caller, from what these methods return.
 */
export class PartitionLog {
  readonly name: PartitionName = "";
  readonly topic: string = "";
  readonly partition: number = 0;
  readonly topicId: TopicId = "";
  readonly directory: string = "";
  /** The epochs and where they start; read only, the log writes it. */
  readonly epochs: LeaderEpochCache = fail("not yet");
  /** Bytes that recovery cut off at opening, torn or corrupt batches and all behind them. */
  readonly truncatedBytes: number = 0;

  /** Opens the log, creating its directory if absent, and recovers it if the last stop was unclean. */
  static open(_options: PartitionLogOptions): PartitionLog {
    return fail("not yet");
  }

  get logStartOffset(): Offset {
    return fail("not yet");
  }

  get logEndOffset(): Offset {
    return fail("not yet");
  }

  /** Everything below is flushed. */
  get recoveryPoint(): Offset {
    return fail("not yet");
  }

  get latestEpoch(): LeaderEpoch | undefined {
    return fail("not yet");
  }

  /** Bytes of all segments. */
  get sizeInBytes(): number {
    return fail("not yet");
  }

  get config(): LogConfig {
    return fail("not yet");
  }

  updateConfig(_config: LogConfig): void {
    fail("not yet");
  }

  /** The largest epoch up to `epoch` and where it ends; both -1 if unknown. */
  endOffsetForEpoch(_epoch: LeaderEpoch): { epoch: LeaderEpoch; endOffset: Offset } {
    return fail("not yet");
  }

  appendAsLeader(
    _batches: readonly RecordBatch[],
    _leaderEpoch: LeaderEpoch,
    _origin: LeaderAppendOrigin = "client",
  ): AppendResult {
    return fail("not yet");
  }

  appendAsFollower(
    _batches: readonly RecordBatch[],
    _maxLeaderEpoch: LeaderEpoch,
  ): FollowerAppendResult {
    return fail("not yet");
  }

  /**
   * Whole batches from the one that holds `from`, ending below `upTo`, within one segment, of at
   * most `maxBytes`; the first even if larger when `minOneMessage`. `from` must be in
   * [logStartOffset, logEndOffset].
   */
  read(_from: Offset, _maxBytes: number, _upTo: Offset, _minOneMessage: boolean): ReadResult {
    return fail("not yet");
  }

  /** Cuts the log to end at `offset`; true if anything was cut. */
  truncateTo(_offset: Offset): boolean {
    return fail("not yet");
  }

  /** Empties the log; the next offset is `offset`. */
  truncateFullyAndStartAt(_offset: Offset): void {
    fail("not yet");
  }

  /** A new leader marks where its epoch begins. Durable on return. */
  assignEpochStart(_epoch: LeaderEpoch, _offset: Offset): void {
    fail("not yet");
  }

  /** Moves the log start up to `offset`; the caller has checked it against the high watermark. */
  advanceLogStart(_offset: Offset): void {
    fail("not yet");
  }

  /** Syncs everything up to the log end before it returns. */
  flush(): void {
    fail("not yet");
  }

  /** Syncs if `flush.ms` has passed since the last flush; to be called on `log.flush.scheduler.interval.ms`. */
  flushIfDue(): void {
    fail("not yet");
  }

  /** An orderly stop: flush and snapshot. The log is not to be used again. */
  close(): void {
    fail("not yet");
  }
}
