import { fail, invariant } from "../base/invariant.ts";
import { DAY, toMillis } from "../base/time.ts";
import type { ErrorCode } from "../kafka/error-code.ts";
import { ERRORS } from "../kafka/error-code.ts";
import type { LeaderEpoch, Offset, PartitionName, TopicId } from "../kafka/ids.ts";
import { partitionName } from "../kafka/ids.ts";
import { MAGIC_V2 } from "../kafka/log/batch-header.ts";
import { validateBatch } from "../kafka/log/batch-validation.ts";
import { decodeEndTransaction } from "../kafka/log/control-record.ts";
import type { EpochEnd, LeaderEpochCache } from "../kafka/log/leader-epoch-cache.ts";
import { assignOffsets } from "../kafka/log/offset-assignment.ts";
import type { CompletedTransaction } from "../kafka/log/open-transactions.ts";
import type { ProducerState, ProducerVerdict } from "../kafka/log/producer-state.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import { NO_TIMESTAMP } from "../kafka/log/record-batch.ts";
import type { AbortedTransaction } from "../kafka/log/transaction-index-format.ts";
import type { TransactionVerification } from "../kafka/log/transaction-verification.ts";
import type { Disk } from "../ports/disk.ts";
import type { Clock } from "../ports/node.ts";
import type { Random } from "../ports/random.ts";
import type { Deletions } from "./delayed-deletion.ts";
import { ImmediateDeletions } from "./delayed-deletion.ts";
import type { EpochCheckpoint } from "./epoch-checkpoint.ts";
import { FlushQueue } from "./flush-queue.ts";
import type { LogConfig } from "./log-config.ts";
import { loadLog } from "./log-loader.ts";
import { readTopicId, writeTopicId } from "./partition-metadata.ts";
import { rebuildProducers } from "./producer-rebuild.ts";
import type { ProducerSnapshots } from "./producer-snapshots.ts";
import type { RetentionReason, RetentionView } from "./retention.ts";
import { countDeletable, retentionReasons } from "./retention.ts";
import { drawRollJitter } from "./roll-jitter.ts";
import type { ReadResult, TimestampAndOffset } from "./segment.ts";
import { NOTHING, Segment } from "./segment.ts";
import { removeSegmentFiles } from "./segment-files.ts";
import { setSegmentsAside, setSnapshotsAside } from "./segment-removal.ts";
import type { TicketBook } from "./ticket-book.ts";
import { searchAborted } from "./transaction-index.ts";

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
  /** `producer.id.expiration.ms`; a day if absent. */
  readonly producerIdExpirationMs?: number;
  /** `transaction.partition.verification.enable`; false if absent. */
  readonly verifiesTransactions?: boolean;
  /** Where the files of segments go that are used no more; they are removed at once if absent. */
  readonly deletions?: Deletions;
  /** Where the jitter of `segment.jitter.ms` is drawn from; there is none if absent. */
  readonly random?: Random;
  /**
   * Called after each truncation: the recovery points are to be checkpointed; if it cut below what was the
   * active segment, what the cleaner knows of the log may be wrong.
   */
  readonly onTruncated?: (isBelowActive: boolean) => void;
}

/** Records below `to` are gone from the log by intent. */
export interface LogStartMove {
  readonly from: Offset;
  readonly to: Offset;
  readonly reason: RetentionReason;
}

/** How a leader's append ended. */
export interface AppendResult {
  readonly error: ErrorCode;
  /** Offsets assigned, or those of the original if `duplicate`; -1 on error. */
  readonly firstOffset: Offset;
  readonly lastOffset: Offset;
  /** Milliseconds: the time of append if the topic's timestamps are LogAppendTime, else -1; of a duplicate, its original's. */
  readonly logAppendTime: number;
  /** An idempotent producer sent it again: nothing was appended. */
  readonly duplicate: boolean;
  /** The batches as stored, offsets and leader epoch assigned. */
  readonly appended: readonly RecordBatch[];
}

export interface FollowerAppendResult {
  /**
   * CORRUPT_MESSAGE: fetch again later. UNKNOWN_SERVER_ERROR: the offsets do not continue the log, and
   * Kafka marks the partition failed. RECORD_LIST_TOO_LARGE: more than a segment may hold.
   */
  readonly error: ErrorCode;
  /** A prefix of the batches given: those of epochs up to the one that was fetched in (KAFKA-18723). */
  readonly appended: readonly RecordBatch[];
}

/**
 * Who has a leader append (Kafka's `AppendOrigin`): a `coordinator` on the same broker may write markers,
 * and records of transactions without sequences; `raft` brings batches with offsets and epoch, which are
 * taken as they are.
 */
export type LeaderAppendOrigin = "client" | "coordinator" | "raft";

/** What an append to a transaction, or of its marker, brings with it. */
export interface TransactionAppend {
  /** What the coordinator was asked with before the first append; undefined if that was not necessary. */
  readonly verification?: TransactionVerification | undefined;
  /** Of a marker: the `transaction.version` by which the coordinator wrote it. */
  readonly transactionVersion?: number;
}

/**
 * One replica of one partition on one disk: segments, indexes, leader epochs, producers
 * (Kafka's `UnifiedLog`). Every method can throw `DiskError`; the log is then to be given up.
 *
 * The high watermark is not here but with the broker's partition, which also decides who may read
 * what. Facts are noted by the caller, from what these methods return.
 */
export class PartitionLog {
  readonly name: PartitionName;
  readonly topic: string;
  readonly partition: number;
  /** Empty if neither the opener nor `partition.metadata` knows it. */
  readonly topicId: TopicId;
  readonly directory: string;
  /** The epochs and where they start; read only, the log writes it. */
  readonly epochs: LeaderEpochCache;
  /** The idempotent producers; read only, the log writes it. */
  readonly producers: ProducerState;
  /** Bytes that recovery cut off at opening: the first torn or corrupt batch and all behind it. */
  readonly truncatedBytes: number;
  readonly #disk: Disk;
  readonly #clock: Clock;
  readonly #epochCheckpoint: EpochCheckpoint;
  readonly #snapshots: ProducerSnapshots;
  readonly #flushes: FlushQueue;
  readonly #deletions: Deletions;
  readonly #random: Random | undefined;
  readonly #producerIdExpirationMs: number;
  readonly #verifiesTransactions: boolean;
  readonly #onTruncated: (isBelowActive: boolean) => void;
  /** Ascending; the last is the active one. */
  #segments: Segment[];
  #active: Segment;
  #config: LogConfig;
  #logStartOffset: Offset;
  #logEndOffset: Offset;
  #recoveryPoint: Offset;
  #lastFlushMs: number;

  /** Opens the log, creating its directory if absent, and recovers it if the last stop was unclean. */
  static open(options: PartitionLogOptions): PartitionLog {
    return new PartitionLog(options);
  }

  private constructor(options: PartitionLogOptions) {
    const { disk, directory, topic, partition } = options;
    const expirationMs = options.producerIdExpirationMs ?? toMillis(DAY);
    const deletions = options.deletions ?? new ImmediateDeletions(disk);
    const parts = loadLog(options, deletions, expirationMs);
    this.name = partitionName(topic, partition);
    this.topic = topic;
    this.partition = partition;
    this.directory = directory;
    this.epochs = parts.epochs;
    this.producers = parts.producers;
    this.truncatedBytes = parts.truncatedBytes;
    this.#disk = disk;
    this.#clock = options.clock;
    this.#epochCheckpoint = parts.epochCheckpoint;
    this.#snapshots = parts.snapshots;
    this.#flushes = new FlushQueue(disk, options.tickets, {
      directory,
      segmentsToFlush: (upTo) => this.#segmentsToFlush(upTo),
      flushed: (upTo) => this.#markFlushed(upTo),
    });
    this.#deletions = deletions;
    this.#random = options.random;
    this.#producerIdExpirationMs = expirationMs;
    this.#verifiesTransactions = options.verifiesTransactions ?? false;
    this.#onTruncated = options.onTruncated ?? ignore;
    this.#segments = parts.segments;
    this.#active = parts.segments.at(-1) as Segment;
    this.#config = options.config;
    this.#logStartOffset = parts.logStartOffset;
    this.#logEndOffset = parts.logEndOffset;
    this.#recoveryPoint = parts.recoveryPoint;
    this.#lastFlushMs = toMillis(options.clock.now());

    const storedId = readTopicId(disk, directory);
    this.topicId = storedId ?? options.topicId ?? "";
    if (storedId === undefined && this.topicId !== "") writeTopicId(disk, directory, this.topicId);
  }

  get logStartOffset(): Offset {
    return this.#logStartOffset;
  }

  get logEndOffset(): Offset {
    return this.#logEndOffset;
  }

  /** Everything below is flushed. */
  get recoveryPoint(): Offset {
    return this.#recoveryPoint;
  }

  get latestEpoch(): LeaderEpoch | undefined {
    return this.epochs.latestEpoch;
  }

  /** Bytes of all segments. */
  get sizeInBytes(): number {
    let size = 0;
    for (const segment of this.#segments) size += segment.sizeInBytes;
    return size;
  }

  /** Where the segments begin, ascending; the last is the active one. */
  get segmentBaseOffsets(): readonly Offset[] {
    return this.#segments.map(({ baseOffset }) => baseOffset);
  }

  /** Ascending; the last is the active one. Read only: the log changes it. */
  get segments(): readonly Segment[] {
    return this.#segments;
  }

  get config(): LogConfig {
    return this.#config;
  }

  updateConfig(config: LogConfig): void {
    this.#config = config;
  }

  /** The largest epoch up to `epoch` and where it ends; both -1 if it cannot be told. */
  endOffsetForEpoch(epoch: LeaderEpoch): EpochEnd {
    return this.epochs.endOffsetFor(epoch, this.#logEndOffset);
  }

  /**
   * Appends as the partition's leader, in the order of Kafka's checks: size, CRC, records; then
   * offsets are assigned, the epoch noted, the segment rolled if it is full, and the producer
   * judged. A refused append can so have rolled a segment. A client sends exactly one batch.
   */
  appendAsLeader(
    batches: readonly RecordBatch[],
    leaderEpoch: LeaderEpoch,
    origin: LeaderAppendOrigin = "client",
    transaction: TransactionAppend = NO_TRANSACTION,
  ): AppendResult {
    if (origin === "raft") return this.#appendPrebuilt(batches, leaderEpoch);
    const config = this.#config;
    const nowMs = toMillis(this.#clock.now());
    const isClient = origin === "client";
    const error = this.#judge(batches, nowMs, isClient);
    if (error !== ERRORS.NONE) return refused(error);

    const sent = batches[0] as RecordBatch;
    const firstOffset = this.#logEndOffset;
    const isStamped = config["message.timestamp.type"] === "LogAppendTime";
    const logAppendTime = isStamped ? nowMs : NO_TIMESTAMP;
    const batch = assignOffsets(sent, config, firstOffset, leaderEpoch, logAppendTime);
    // The topic's own codec may have made it larger.
    if (batch.sizeInBytes > config["max.message.bytes"]) return refused(ERRORS.MESSAGE_TOO_LARGE);
    this.assignEpochStart(leaderEpoch, firstOffset);
    const { sizeInBytes, lastOffset } = batch;
    if (sizeInBytes > config["segment.bytes"]) return refused(ERRORS.RECORD_LIST_TOO_LARGE);
    this.#makeRoom(sizeInBytes, firstOffset, lastOffset, batch.maxTimestamp, nowMs);
    if (batch.hasProducerId) {
      const verdict = this.#judgeProducer(batch, isClient, transaction);
      if (verdict.error !== ERRORS.NONE) return refused(verdict.error);
      const original = verdict.duplicateOf;
      if (original !== undefined) {
        return {
          error: ERRORS.NONE,
          firstOffset: original.baseOffset,
          lastOffset: original.lastOffset,
          logAppendTime: original.maxTimestamp,
          duplicate: true,
          appended: [],
        };
      }
    }
    this.#append(batch);
    return {
      error: ERRORS.NONE,
      firstOffset,
      lastOffset,
      logAppendTime,
      duplicate: false,
      appended: [batch],
    };
  }

  /**
   * Appends what was fetched from the leader: the very same batches, up to the first of an epoch above
   * `maxLeaderEpoch`. Nothing is appended on error.
   */
  appendAsFollower(
    batches: readonly RecordBatch[],
    maxLeaderEpoch: LeaderEpoch,
  ): FollowerAppendResult {
    let count = 0;
    let size = 0;
    let next = this.#logEndOffset;
    let maxTimestamp = NO_TIMESTAMP;
    for (; count < batches.length; count++) {
      const batch = batches[count] as RecordBatch;
      if (batch.partitionLeaderEpoch > maxLeaderEpoch) break;
      if (!batch.isValid()) return CORRUPT;
      // Offsets and epoch lie outside the CRC: a damaged header gets this far.
      if (!continues(next, batch)) return DISCONTINUOUS;
      next = batch.nextOffset;
      size += batch.sizeInBytes;
      if (batch.maxTimestamp > maxTimestamp) maxTimestamp = batch.maxTimestamp;
    }
    if (count === 0) return APPENDED_NONE;
    const appended = count === batches.length ? batches : batches.slice(0, count);
    for (const { partitionLeaderEpoch, baseOffset } of appended) {
      this.assignEpochStart(partitionLeaderEpoch, baseOffset);
    }
    if (size > this.#config["segment.bytes"]) return TOO_LARGE;
    const first = appended[0] as RecordBatch;
    const nowMs = toMillis(this.#clock.now());
    this.#makeRoom(size, first.baseOffset, next - 1, maxTimestamp, nowMs);
    if (count === 1) this.#append(first);
    else this.#appendSet(appended);
    return { error: ERRORS.NONE, appended };
  }

  /**
   * Whole batches from the one that holds `from`, ending below `upTo`, within one segment, of at
   * most `maxBytes`; the first even if larger when `minOneMessage`. `from` must be in
   * [logStartOffset, logEndOffset].
   */
  read(from: Offset, maxBytes: number, upTo: Offset, minOneMessage: boolean): ReadResult {
    // Not an invariant, here and below: its closure would cost an object for each call.
    if (!(from >= this.#logStartOffset && from <= this.#logEndOffset)) {
      fail(`${this.name}: read at ${from} of [${this.#logStartOffset}, ${this.#logEndOffset}]`);
    }
    if (from >= upTo) return NOTHING;
    const segments = this.#segments;
    for (let i = this.#segmentAt(from); i < segments.length; i++) {
      const found = (segments[i] as Segment).read(from, maxBytes, upTo, minOneMessage);
      if (found !== undefined) return found;
    }
    return NOTHING;
  }

  /**
   * What a reader of committed records is told with what was read from `from` on: the transactions that
   * were aborted and overlap it, and perhaps some that lie a little beyond. Undefined if an index cannot
   * be read (`LocalLog.addAbortedTransactions`).
   */
  abortedWithin(from: Offset, { batches, sizeInBytes }: ReadResult): AbortedTransactions {
    const first = batches[0];
    if (first === undefined) return NONE_ABORTED;
    const at = this.#segmentAt(first.baseOffset);
    const next = this.#segments[at + 1]?.baseOffset ?? this.#logEndOffset;
    const beyond = (this.#segments[at] as Segment).offsetBeyond(from, sizeInBytes) ?? next;
    return this.#searchAborted(at, from, beyond);
  }

  /**
   * The aborted transactions that the indexes tell of, of the segment that holds `from` and those behind it,
   * that began before `to` (`LocalLog.collectAbortedTransactions`). Undefined as with `abortedWithin`.
   */
  abortedBetween(from: Offset, to: Offset): AbortedTransactions {
    return this.#searchAborted(this.#segmentAt(from), this.#logStartOffset, to);
  }

  #searchAborted(first: number, from: Offset, to: Offset): AbortedTransactions {
    const segments = this.#segments;
    let all: AbortedTransaction[] | undefined;
    for (let i = first; i < segments.length; i++) {
      const { aborted: index } = segments[i] as Segment;
      if (index.isEmpty) continue;
      const entries = index.entries();
      if (entries === undefined) return undefined;
      const { aborted, isComplete } = searchAborted(entries, from, to);
      if (all === undefined) all = [...aborted];
      else all.push(...aborted);
      if (isComplete) break;
    }
    return all ?? NONE_ABORTED;
  }

  /** Below it nothing is undecided that is replicated (`UnifiedLog.lastStableOffset`). */
  lastStableOffset(highWatermark: Offset): Offset {
    const { firstUnstableOffset } = this.producers.transactions;
    if (firstUnstableOffset >= highWatermark) return highWatermark;
    return Math.max(firstUnstableOffset, this.#logStartOffset);
  }

  /** Transactions that have ended below the high watermark keep the last stable offset back no more. */
  replicatedTo(highWatermark: Offset): void {
    const { transactions } = this.producers;
    if (transactions.hasUnreplicated) transactions.settleBelow(highWatermark);
  }

  /**
   * A client is about to write the first records of a transaction here: what the coordinator must be asked
   * with, or undefined if it need not be.
   */
  beginVerification(
    producerId: number,
    sequence: number,
    epoch: number,
    supportsEpochBump: boolean,
  ): TransactionVerification | undefined {
    const nowMs = toMillis(this.#clock.now());
    return this.producers.beginVerification(producerId, sequence, epoch, supportsEpochBump, nowMs);
  }

  /** Bytes from the batch that holds `from` up to the one that holds `to`. */
  bytesBetween(from: Offset, to: Offset): number {
    const segments = this.#segments;
    const last = this.#segmentAt(to);
    let index = this.#segmentAt(from);
    let bytes = (segments[last] as Segment).positionOf(to);
    bytes -= (segments[index] as Segment).positionOf(from);
    for (; index < last; index++) bytes += (segments[index] as Segment).sizeInBytes;
    return bytes;
  }

  /**
   * The first record that is as late as `timestamp` (ms), from the log's start on, by way of the
   * segments' indexes (`UnifiedLog.searchOffsetInLocalLog`).
   */
  findByTimestamp(timestamp: number): TimestampAndOffset | undefined {
    const segment = this.#segments.find((one) => one.largestTimestamp >= timestamp);
    return segment?.findByTimestamp(timestamp, this.#logStartOffset);
  }

  /** The first record with the largest timestamp of all (KIP-734). */
  findMaxTimestamp(): TimestampAndOffset | undefined {
    let latest = this.#segments[0] as Segment;
    for (const segment of this.#segments) {
      if (segment.maxTimestamp > latest.maxTimestamp) latest = segment;
    }
    return latest.findMaxTimestamp();
  }

  /** Cuts the log to end at `offset`; true if anything was cut. */
  truncateTo(offset: Offset): boolean {
    invariant(offset >= 0, () => `${this.name}: truncation to ${offset}`);
    if (offset >= this.#logEndOffset) {
      // A leader that noted its epoch and appended nothing leaves an entry at the log's end.
      this.#cutEpochs(this.#logEndOffset);
      return false;
    }
    if ((this.#segments[0] as Segment).baseOffset > offset) {
      this.truncateFullyAndStartAt(offset);
      return true;
    }
    const isBelowActive = offset < this.#active.baseOffset;
    let kept = this.#segments.length;
    while ((this.#segments[kept - 1] as Segment).baseOffset > offset) kept--;
    this.#deleteSegments(this.#segments.splice(kept));
    this.#active = this.#segments.at(-1) as Segment;
    this.#active.truncateTo(offset, toMillis(this.#clock.now()));
    this.#endAt(offset);
    this.#flushes.cutTo(offset);
    this.#cutEpochs(offset);
    this.#logStartOffset = Math.min(this.#logStartOffset, offset);
    this.#rebuildProducers();
    this.#onTruncated(isBelowActive);
    return true;
  }

  /** Empties the log; the next offset is `offset`. */
  truncateFullyAndStartAt(offset: Offset): void {
    this.#flushes.cutTo(0);
    setSegmentsAside(this.#segments, this.#deletions, this.#config["file.delete.delay.ms"]);
    this.#active = this.#createSegment(offset);
    this.#segments = [this.#active];
    this.#endAt(offset);
    this.#recoveryPoint = Math.min(this.#recoveryPoint, offset);
    this.epochs.clear();
    this.#epochCheckpoint.write(this.epochs.entries);
    this.producers.clear();
    this.producers.endOffset = offset;
    this.#snapshots.removeAll();
    this.#logStartOffset = offset;
    this.#rebuildProducers();
    this.#onTruncated(true);
  }

  /** A new leader marks where its epoch begins. Durable on return. */
  assignEpochStart(epoch: LeaderEpoch, offset: Offset): void {
    if (!(epoch >= 0 && offset >= 0)) fail(`${this.name}: epoch ${epoch} at ${offset}`);
    if (this.epochs.assign(epoch, offset)) this.#epochCheckpoint.write(this.epochs.entries);
  }

  /** Moves the log start up to `offset`; the caller has checked it against the high watermark. */
  advanceLogStart(offset: Offset): void {
    if (offset <= this.#logStartOffset) return;
    invariant(
      offset <= this.#logEndOffset,
      () => `${this.name}: log start ${offset} beyond the end ${this.#logEndOffset}`,
    );
    this.#logStartOffset = offset;
    // Nothing below needs recovery any more (`UnifiedLog.updateLogStartOffset`).
    if (this.#recoveryPoint < offset) this.#recoveryPoint = offset;
    if (this.epochs.truncateFromStart(offset)) {
      this.#epochCheckpoint.writeLater(this.epochs.entries);
    }
    this.#snapshots.logStartMoved(this.producers, offset);
  }

  /**
   * Deletes the old segments that `cleanup.policy` lets go, of those below the high watermark: the log's
   * start may have moved past them, the log be too large, they be too old, in this order. If all must
   * go, the log goes on in a new one. Returns how its start has moved.
   */
  deleteOldSegments(highWatermark: Offset): readonly LogStartMove[] {
    const moves: LogStartMove[] = [];
    for (const reason of retentionReasons(this.#config)) {
      const count = countDeletable(this.#retentionView(highWatermark), reason);
      if (count === 0) continue;
      if (count === this.#segments.length) this.#roll(this.#logEndOffset);
      const from = this.#logStartOffset;
      this.advanceLogStart((this.#segments[count] as Segment).baseOffset);
      this.#deleteSegments(this.#segments.splice(0, count));
      if (this.#logStartOffset > from) moves.push({ from, to: this.#logStartOffset, reason });
    }
    return moves;
  }

  /**
   * A new, empty segment for what the cleaner keeps of those from `baseOffset` on. Its files end with
   * `.cleaned`, and are no part of the log before `replaceSegments`.
   */
  createCleanedSegment(baseOffset: Offset): Segment {
    removeSegmentFiles(this.#disk, this.directory, baseOffset, ".cleaned");
    const nowMs = toMillis(this.#clock.now());
    const jitterMs = drawRollJitter(this.#config, this.#random);
    return new Segment(this.#disk, this.directory, baseOffset, nowMs, ".cleaned", jitterMs);
  }

  /**
   * Puts a cleaned segment, closed and synced, in the place of a run of segments that it was made from,
   * the active one not among them. A crash in between leaves names by which the next start undoes or
   * finishes it (`LocalLog.replaceSegments`, `finishInterruptedSwap`).
   */
  replaceSegments(cleaned: Segment, replaced: readonly Segment[]): void {
    const { baseOffset } = cleaned;
    const first = this.#segments.indexOf(replaced[0] as Segment);
    const areInLog = replaced.every((segment, i) => segment === this.#segments[first + i]);
    const isInactive = first + replaced.length < this.#segments.length;
    invariant(
      first >= 0 && areInLog && isInactive && replaced[0]?.baseOffset === baseOffset,
      () => `${this.name}: the cleaned segment ${baseOffset} is not of segments in the log`,
    );
    cleaned.rename(".swap");
    setSegmentsAside(replaced, this.#deletions, this.#config["file.delete.delay.ms"]);
    cleaned.rename("");
    this.#segments.splice(first, replaced.length, cleaned);
    this.#disk.syncDirectory(this.directory);
    const bases = replaced.slice(1).map((segment) => segment.baseOffset);
    this.#setSnapshotsAside(bases);
  }

  /** Forgets the producers idle for `producer.id.expiration.ms`. */
  expireProducers(): void {
    this.producers.expire(toMillis(this.#clock.now()), this.#producerIdExpirationMs);
  }

  /** Syncs everything up to the log end before it returns, and moves the recovery point there. */
  flush(): void {
    if (this.#logEndOffset > this.#recoveryPoint) this.#sync();
  }

  /**
   * Syncs if `flush.messages` records have come since the last time; to be called when what was appended
   * is noted: if this fails, it is in the log all the same (KAFKA-7866).
   */
  flushIfMany(): void {
    const unflushed = this.#logEndOffset - this.#recoveryPoint;
    if (unflushed >= this.#config["flush.messages"]) this.flush();
  }

  /** Syncs if `flush.ms` has passed since the last time; to be called on `log.flush.scheduler.interval.ms`. */
  flushIfDue(): void {
    const idle = toMillis(this.#clock.now()) - this.#lastFlushMs;
    if (idle >= this.#config["flush.ms"]) this.flush();
  }

  /** An orderly stop: everything is flushed and the producers are snapshot. The log is not to be used again. */
  close(): void {
    // Even an empty active segment is made durable, so that its file is found again.
    this.#sync();
    this.#snapshots.take(this.producers)?.sync();
    for (const segment of this.#segments) segment.close();
    this.abandon();
  }

  /** The log is given up, its directory failed or removed: syncs that are under way change nothing more. */
  abandon(): void {
    this.#flushes.close();
    this.#epochCheckpoint.close();
  }

  #judge(batches: readonly RecordBatch[], nowMs: number, isClient: boolean): ErrorCode {
    const config = this.#config;
    const only = batches[0];
    // Exactly one, and since 4.0 none of the old formats (`ProduceRequest.validateRecords`).
    if (only === undefined || batches.length > 1 || only.magic < MAGIC_V2) {
      return ERRORS.INVALID_RECORD;
    }
    if (only.baseOffset !== 0) return ERRORS.INVALID_RECORD;
    if (only.sizeInBytes > config["max.message.bytes"]) return ERRORS.MESSAGE_TOO_LARGE;
    if (!only.isValid()) return ERRORS.CORRUPT_MESSAGE;
    return validateBatch(only, config, nowMs, isClient);
  }

  #appendPrebuilt(batches: readonly RecordBatch[], leaderEpoch: LeaderEpoch): AppendResult {
    const firstOffset = this.#logEndOffset;
    let next = firstOffset;
    let size = 0;
    let maxTimestamp = NO_TIMESTAMP;
    for (const batch of batches) {
      const { baseOffset, partitionLeaderEpoch } = batch;
      invariant(
        baseOffset === next && partitionLeaderEpoch === leaderEpoch,
        () => `${this.name}: batch ${baseOffset}/${partitionLeaderEpoch} at ${next}/${leaderEpoch}`,
      );
      next = batch.nextOffset;
      size += batch.sizeInBytes;
      if (batch.maxTimestamp > maxTimestamp) maxTimestamp = batch.maxTimestamp;
    }
    this.assignEpochStart(leaderEpoch, firstOffset);
    if (size > this.#config["segment.bytes"]) return refused(ERRORS.RECORD_LIST_TOO_LARGE);
    const nowMs = toMillis(this.#clock.now());
    this.#makeRoom(size, firstOffset, next - 1, maxTimestamp, nowMs);
    // What stays lies in memory apart from what was built only to be sent.
    const kept = batches.map((batch) => batch.withOffsets(batch.baseOffset, leaderEpoch));
    for (const batch of kept) this.#append(batch);
    return {
      error: ERRORS.NONE,
      firstOffset,
      lastOffset: next - 1,
      logAppendTime: NO_TIMESTAMP,
      duplicate: false,
      appended: kept,
    };
  }

  #judgeProducer(
    batch: RecordBatch,
    isClient: boolean,
    { verification, transactionVersion = 0 }: TransactionAppend,
  ): ProducerVerdict {
    if (!batch.isControl) {
      if (isClient && !batch.isTransactional) return this.producers.check(batch);
      const mustBeVerified = this.#verifiesTransactions;
      return this.producers.check(batch, { isClient, mustBeVerified, verification });
    }
    const [record] = batch.records();
    const marker = decodeEndTransaction(record?.key, record?.value);
    if (marker === undefined) return { error: ERRORS.INVALID_RECORD, duplicateOf: undefined };
    const { producerId, producerEpoch } = batch;
    const { coordinatorEpoch } = marker;
    const error = this.producers.checkMarker(
      producerId,
      producerEpoch,
      coordinatorEpoch,
      transactionVersion,
    );
    return { error, duplicateOf: undefined };
  }

  #append(batch: RecordBatch): void {
    this.#active.append(batch, this.#config);
    this.#logEndOffset = batch.lastOffset + 1;
    const aborted = this.producers.add(batch);
    if (aborted !== undefined) this.#active.aborted.append(aborted);
  }

  /**
   * As Kafka does with what was fetched: first all is in the log, then the transactions end in it. With two
   * aborted ones of one producer in a set, and an open one of another behind them, the index then tells of
   * a last stable offset at which the second is not looked for. A reader of committed records can so be
   * given aborted ones, once the follower leads (seen with the log of Kafka 4.3.1 and 4.4.0).
   */
  #appendSet(batches: readonly RecordBatch[]): void {
    let completed: CompletedTransaction[] | undefined;
    for (const batch of batches) {
      this.#active.append(batch, this.#config);
      this.#logEndOffset = batch.lastOffset + 1;
      const ended = this.producers.note(batch);
      if (ended === undefined) continue;
      if (completed === undefined) completed = [ended];
      else completed.push(ended);
    }
    if (completed === undefined) return;
    for (const ended of completed) {
      const aborted = this.producers.complete(ended);
      if (aborted !== undefined) this.#active.aborted.append(aborted);
    }
  }

  /** Rolls if the active segment must not take a set of batches like this. */
  #makeRoom(
    size: number,
    firstOffset: Offset,
    lastOffset: Offset,
    maxTimestamp: number,
    nowMs: number,
  ): void {
    const active = this.#active;
    if (!active.shouldRoll(this.#config, size, lastOffset, maxTimestamp, nowMs)) return;
    const baseOffset = Math.max(firstOffset, this.#logEndOffset);
    // An empty segment is already new: it was called full because no index entry fits at all.
    if (active.baseOffset !== baseOffset) this.#roll(baseOffset);
  }

  /**
   * Goes on in a new segment. The old one is flushed in the background, and only then does the
   * recovery point move: a power loss shortly after can take all of it.
   */
  #roll(baseOffset: Offset): void {
    this.#active.close();
    this.#active = this.#createSegment(baseOffset);
    // Readers that keep up may still be in the segment before.
    this.#segments.at(-2)?.forget();
    this.#segments.push(this.#active);
    this.producers.endOffset = baseOffset;
    this.#flushes.begin(baseOffset, this.#snapshots.take(this.producers));
  }

  #createSegment(baseOffset: Offset): Segment {
    removeSegmentFiles(this.#disk, this.directory, baseOffset);
    const nowMs = toMillis(this.#clock.now());
    const jitterMs = drawRollJitter(this.#config, this.#random);
    return new Segment(this.#disk, this.directory, baseOffset, nowMs, "", jitterMs);
  }

  #retentionView(highWatermark: Offset): RetentionView {
    return {
      segments: this.#segments,
      logStartOffset: this.#logStartOffset,
      logEndOffset: this.#logEndOffset,
      highWatermark,
      nowMs: toMillis(this.#clock.now()),
      config: this.#config,
    };
  }

  /** Segments that are in the log no more. */
  #deleteSegments(segments: readonly Segment[]): void {
    setSegmentsAside(segments, this.#deletions, this.#config["file.delete.delay.ms"]);
    this.#setSnapshotsAside(segments.map(({ baseOffset }) => baseOffset));
  }

  #setSnapshotsAside(bases: readonly Offset[]): void {
    const delayMs = this.#config["file.delete.delay.ms"];
    setSnapshotsAside(bases, this.#snapshots, this.#deletions, delayMs);
  }

  #endAt(offset: Offset): void {
    this.#logEndOffset = offset;
    this.#recoveryPoint = Math.min(this.#recoveryPoint, offset);
  }

  #cutEpochs(endOffset: Offset): void {
    if (this.epochs.truncateFromEnd(endOffset)) {
      this.#epochCheckpoint.writeLater(this.epochs.entries);
    }
  }

  #rebuildProducers(): void {
    const source = {
      snapshots: this.#snapshots,
      segments: this.#segments,
      logStartOffset: this.#logStartOffset,
      nowMs: toMillis(this.#clock.now()),
      expirationMs: this.#producerIdExpirationMs,
    };
    rebuildProducers(this.producers, source, this.#logEndOffset, false);
  }

  #sync(): void {
    const from = this.#recoveryPoint;
    let hasNew = false;
    for (const segment of this.#segments.slice(this.#segmentAt(from))) {
      segment.sync();
      hasNew ||= segment.baseOffset >= from;
    }
    if (hasNew) this.#disk.syncDirectory(this.directory);
    this.#markFlushed(this.#logEndOffset);
  }

  #segmentsToFlush(upTo: Offset): readonly Segment[] {
    const from = this.#recoveryPoint;
    if (from >= upTo) return [];
    return this.#segments.slice(this.#segmentAt(from)).filter((one) => one.baseOffset < upTo);
  }

  #markFlushed(upTo: Offset): void {
    if (upTo > this.#recoveryPoint) this.#recoveryPoint = upTo;
    this.#lastFlushMs = toMillis(this.#clock.now());
  }

  /** The index of the segment that holds `offset`, or would; the first if it lies before all. */
  #segmentAt(offset: Offset): number {
    const segments = this.#segments;
    let low = 0;
    let high = segments.length - 1;
    if ((segments[high] as Segment).baseOffset <= offset) return high;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((segments[middle] as Segment).baseOffset <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Undefined where an index cannot be read. */
export type AbortedTransactions = readonly AbortedTransaction[] | undefined;

const NONE_ABORTED: readonly AbortedTransaction[] = [];
const NO_TRANSACTION: TransactionAppend = {};

/** A log without a log directory has no checkpoints: the metadata log. */
function ignore(): void {}

function refused(error: ErrorCode): AppendResult {
  return {
    error,
    firstOffset: -1,
    lastOffset: -1,
    logAppendTime: NO_TIMESTAMP,
    duplicate: false,
    appended: [],
  };
}

/** Can a fetched batch stand behind one that ends before `next`? Gaps are as in a compacted log. */
function continues(next: Offset, batch: RecordBatch): boolean {
  return (
    batch.baseOffset >= next &&
    batch.lastOffset >= batch.baseOffset &&
    Number.isSafeInteger(batch.lastOffset) &&
    batch.partitionLeaderEpoch >= 0
  );
}

const APPENDED_NONE: FollowerAppendResult = { error: ERRORS.NONE, appended: [] };
const CORRUPT: FollowerAppendResult = { error: ERRORS.CORRUPT_MESSAGE, appended: [] };
const DISCONTINUOUS: FollowerAppendResult = { error: ERRORS.UNKNOWN_SERVER_ERROR, appended: [] };
const TOO_LARGE: FollowerAppendResult = { error: ERRORS.RECORD_LIST_TOO_LARGE, appended: [] };
