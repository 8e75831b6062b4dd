import type { Duration } from "../../../base/time.ts";
import { fromMillis } from "../../../base/time.ts";
import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS } from "../../../kafka/error-code.ts";
import type { LeaderEpoch, Offset } from "../../../kafka/ids.ts";
import type { BatchOptions, NewRecord, RecordBatch } from "../../../kafka/log/record-batch.ts";
import { buildBatch } from "../../../kafka/log/record-batch.ts";
import { DiskError } from "../../../ports/disk.ts";
import type { TransactionAppend } from "../../../storage/partition-log.ts";
import type { BrokerContext } from "../broker-context.ts";
import { BROKER_TIMER } from "../broker-timers.ts";
import type { Partition } from "../partition.ts";

/** How a coordinator writes. */
export interface CoordinatorLogOptions {
  /**
   * -1 (transactions): refused while the ISR is below `min.insync.replicas`. 1 (groups): taken all the same;
   * it is committed when the high watermark passes it.
   */
  readonly requiredAcks: -1 | 1;
  /** How long a write may take to be committed. It stays in the log when the time is up. */
  readonly timeoutMs: number;
}

/** What may be told of a batch beside its records: who the transaction's producer is, the codec. */
export type CoordinatorBatchOptions = Pick<
  BatchOptions,
  "producerId" | "producerEpoch" | "isTransactional" | "compression"
>;

/** A write, or a read of what was written, that waits for the high watermark. */
class PendingCommit {
  /** All below must be committed. */
  readonly offset: Offset;
  readonly deadline: Duration;
  readonly done: (error: ErrorCode) => void;

  constructor(offset: Offset, deadline: Duration, done: (error: ErrorCode) => void) {
    this.offset = offset;
    this.deadline = deadline;
    this.done = done;
  }
}

/**
 * One partition of a coordinator's topic, while its broker leads it, in one leader epoch. All that a
 * coordinator knows is a fold of it.
 *
 * To change its state a coordinator calls `append`; if that gives an offset it applies the change; then
 * it calls `whenCommitted` with what is to be answered. In this order, since the last of them lets other
 * requests in: they must find the new state. A change that was appended is never undone: if it is not
 * committed, leadership is lost, and the state with it.
 */
export class CoordinatorLog {
  readonly partition: Partition;
  readonly leaderEpoch: LeaderEpoch;
  readonly #context: BrokerContext;
  readonly #options: CoordinatorLogOptions;
  readonly #timeout: Duration;
  /** By offset, ascending. */
  readonly #pending: PendingCommit[] = [];
  /** Up to where this coordinator has written; what it found in the log it takes for committed. */
  #writtenTo: Offset = 0;
  #hasGrown = false;
  #isClosed = false;
  /** When the timer runs out that sees to what waits for too long; undefined if there is none. */
  #timerAt: Duration | undefined = undefined;

  constructor(context: BrokerContext, partition: Partition, options: CoordinatorLogOptions) {
    this.partition = partition;
    this.leaderEpoch = partition.leaderEpoch;
    this.#context = context;
    this.#options = options;
    this.#timeout = fromMillis(options.timeoutMs);
  }

  /**
   * Appends one batch as the leader, of records that are atomic together. Returns the first one's offset,
   * or the error of the log: see `coordinatorErrorOf` for what clients are told.
   */
  append(records: readonly NewRecord[], more: CoordinatorBatchOptions = {}): Offset | ErrorCode {
    return this.appendBatch(buildBatch(records, more));
  }

  /** As `append`; for transactions, with what the log is to know of them, and for their markers. */
  appendBatch(batch: RecordBatch, transaction?: TransactionAppend): Offset | ErrorCode {
    const { partition, leaderEpoch } = this;
    const refused = this.#refusal();
    if (refused !== undefined) return refused;
    try {
      const { log } = partition;
      const result = log.appendAsLeader([batch], leaderEpoch, "coordinator", transaction);
      if (result.error !== ERRORS.NONE) return result.error;
      for (const appended of result.appended) this.#noteAppended(appended);
      this.#writtenTo = result.lastOffset + 1;
      this.#hasGrown = true;
      log.flushIfMany();
      partition.maybeAdvanceHighWatermark(this.#context.now());
      return result.firstOffset;
    } catch (problem) {
      if (!(problem instanceof DiskError)) throw problem;
      this.#context.diskFailed(problem);
      return ERRORS.KAFKA_STORAGE_ERROR;
    }
  }

  /**
   * Calls `done` once all that was appended so far is committed, which may be at once: NONE; or, each of
   * them a log's error, if leadership is lost first, the disk fails, or the time is up.
   */
  whenCommitted(done: (error: ErrorCode) => void): void {
    const deadline = this.#context.world.clock.elapsed() + this.#timeout;
    this.#pending.push(new PendingCommit(this.#writtenTo, deadline, done));
    if (this.#pending.length === 1) this.partition.produces.add(this);
    if (this.#timerAt === undefined) this.#startTimer(this.#timeout, deadline);
    if (this.#hasGrown) {
      this.#hasGrown = false;
      this.partition.completeDelayed();
    }
    this.tryComplete();
  }

  /**
   * Visits the batches from `from` to the log's end, in order. Returns where that is, or CORRUPT_MESSAGE.
   * Can throw `DiskError`.
   *
   * Simplified: also a wrong CRC ends it, where Kafka goes by what can be decoded.
   */
  read(from: Offset, maxBytes: number, visit: (batch: RecordBatch) => void): Offset | ErrorCode {
    const { log } = this.partition;
    let next = Math.max(from, log.logStartOffset);
    while (next < log.logEndOffset) {
      const { error, batches } = log.read(next, maxBytes, log.logEndOffset, true);
      if (error !== ERRORS.NONE) return error;
      if (batches.length === 0) break;
      for (const batch of batches) {
        if (!batch.isValid() || !batch.isReadable()) return ERRORS.CORRUPT_MESSAGE;
        visit(batch);
        next = batch.nextOffset;
      }
    }
    return next;
  }

  /** Answers what waits if it can be answered now; true if nothing waits any more. */
  tryComplete(): boolean {
    const pending = this.#pending;
    for (let first = pending[0]; first !== undefined; first = pending[0]) {
      const outcome = this.#outcome(first.offset);
      if (outcome === undefined) return false;
      this.#settleFirst(outcome);
    }
    return true;
  }

  /** The timer came due: ends what has waited for too long. */
  onTimer(): void {
    const reached = this.#timerAt ?? 0;
    this.#timerAt = undefined;
    let first = this.#pending[0];
    while (first !== undefined && first.deadline <= reached) {
      this.#settleFirst(ERRORS.REQUEST_TIMED_OUT);
      first = this.#pending[0];
    }
    if (first === undefined || this.#timerAt !== undefined) return;
    const left = first.deadline - this.#context.world.clock.elapsed();
    this.#startTimer(Math.max(left, 0), first.deadline);
  }

  /** Leadership is over: what waits is told so, NOT_LEADER_OR_FOLLOWER, and nothing is appended any more. */
  close(): void {
    this.#isClosed = true;
    this.tryComplete();
  }

  #startTimer(delay: Duration, at: Duration): void {
    this.#timerAt = at;
    this.#context.world.timers.start(delay, BROKER_TIMER.coordinatorCommit, this);
  }

  #settleFirst(error: ErrorCode): void {
    const first = this.#pending.shift();
    if (this.#pending.length === 0) this.partition.produces.delete(this);
    first?.done(error);
  }

  /** Why nothing can be appended now. */
  #refusal(): ErrorCode | undefined {
    const { partition } = this;
    const lost = this.#loss();
    if (lost !== undefined) return lost;
    const isShort = partition.isr.isr.length < partition.effectiveMinIsr;
    return this.#options.requiredAcks === -1 && isShort ? ERRORS.NOT_ENOUGH_REPLICAS : undefined;
  }

  #outcome(offset: Offset): ErrorCode | undefined {
    const { partition } = this;
    if (this.#isClosed) return ERRORS.NOT_LEADER_OR_FOLLOWER;
    if (partition.offline) return ERRORS.KAFKA_STORAGE_ERROR;
    // The coordinator is about to be told, and then tells who waits.
    if (!this.#leads) return undefined;
    if (this.#options.requiredAcks === -1) {
      return this.#context.rules.produceOutcome(partition, offset);
    }
    return partition.highWatermark >= offset ? ERRORS.NONE : undefined;
  }

  #loss(): ErrorCode | undefined {
    if (this.partition.offline) return ERRORS.KAFKA_STORAGE_ERROR;
    return this.#leads && !this.#isClosed ? undefined : ERRORS.NOT_LEADER_OR_FOLLOWER;
  }

  get #leads(): boolean {
    const { isLeader, leaderEpoch } = this.partition;
    return isLeader && leaderEpoch === this.leaderEpoch;
  }

  #noteAppended(batch: RecordBatch): void {
    this.#context.facts.note({
      kind: "appended",
      broker: this.#context.brokerId,
      partition: this.partition.name,
      batch,
      asLeader: true,
    });
  }
}
