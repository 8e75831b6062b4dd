import { fromMillis, toMillis } from "../../../base/time.ts";
import { coordinatorErrorOf } from "../../../kafka/coordinator/write-error.ts";
import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS } from "../../../kafka/error-code.ts";
import type {
  GroupAnswer,
  GroupNote,
  GroupTimer,
  TimerChange,
} from "../../../kafka/group/group-effects.ts";
import { GroupEffects, timerName } from "../../../kafka/group/group-effects.ts";
import { decodeGroupRecord, encodeGroupRecord } from "../../../kafka/group/group-record-bytes.ts";
import type { GroupsOptions } from "../../../kafka/group/groups.ts";
import { Groups } from "../../../kafka/group/groups.ts";
import type { EndedOffsets } from "../../../kafka/group/offset-book.ts";
import type { Offset } from "../../../kafka/ids.ts";
import { NO_EPOCH, NO_PRODUCER_ID, partitionName } from "../../../kafka/ids.ts";
import { decodeEndTransaction } from "../../../kafka/log/control-record.ts";
import type { RecordBatch } from "../../../kafka/log/record-batch.ts";
import { buildBatch } from "../../../kafka/log/record-batch.ts";
import type { TransactionVerification } from "../../../kafka/log/transaction-verification.ts";
import { JOIN_GROUP, SYNC_GROUP } from "../../../kafka/protocol/apis.ts";
import type { WritableTxnMarker } from "../../../kafka/protocol/write-txn-markers.ts";
import type { TimerHandle } from "../../../ports/node.ts";
import { NO_TIMER } from "../../../ports/node.ts";
import type { CommittedOffset } from "../../../trace/fact.ts";
import type { IncomingRequest } from "../../rpc/rpc-server.ts";
import type { BrokerContext } from "../broker-context.ts";
import { BROKER_TIMER } from "../broker-timers.ts";
import type { CoordinatorLog } from "../coordinator/coordinator-log.ts";
import type { CoordinatorShard } from "../coordinator/coordinator-shard.ts";
import { markerBatch } from "../write-txn-markers-handler.ts";

/** A timer of a group that runs. */
export class RunningGroupTimer {
  readonly shard: GroupShard;
  /** Undefined: it is time to look for offsets that nobody uses. */
  readonly timer: GroupTimer | undefined;
  handle: TimerHandle = NO_TIMER;

  constructor(shard: GroupShard, timer: GroupTimer | undefined) {
    this.shard = shard;
    this.timer = timer;
  }

  onTimer(): void {
    this.shard.onTimer(this);
  }
}

/** Who commits, for the fact that tells of it. */
export interface CommitOrigin {
  readonly group: string;
  readonly member: string;
  readonly generation: number;
}

/** The transaction in which offsets are written. */
export interface OffsetTransaction {
  readonly producerId: number;
  readonly producerEpoch: number;
  /** What the transaction coordinator was asked with. */
  readonly verification: TransactionVerification | undefined;
}

/** Is it so only when it is committed? */
function isOfRecord({ kind }: GroupNote): boolean {
  switch (kind) {
    case "group-assigned":
    case "group-member-assigned":
    case "group-migrated":
    case "offsets-removed":
      return true;
    default:
      return false;
  }
}

/** The groups of one partition on this broker: carries out what their rules decide. */
export class GroupShard implements CoordinatorShard {
  readonly groups: Groups;
  readonly #context: BrokerContext;
  readonly log: CoordinatorLog;
  /** Requests that wait for their group, by their numbers. */
  readonly #parked = new Map<number, IncomingRequest>();
  #nextRequest = 0;
  readonly #timers = new Map<string, RunningGroupTimer>();
  readonly #cleanup: RunningGroupTimer = new RunningGroupTimer(this, undefined);
  #isUnloaded = false;

  constructor(context: BrokerContext, log: CoordinatorLog, options: GroupsOptions) {
    this.groups = new Groups(options);
    this.#context = context;
    this.log = log;
  }

  // The log.

  replay(batch: RecordBatch): void {
    if (batch.isControl) {
      this.#replayMarker(batch);
      return;
    }
    const producerId = batch.isTransactional ? batch.producerId : NO_PRODUCER_ID;
    for (const record of batch.records()) {
      const decoded = decodeGroupRecord(record);
      if (decoded === undefined) continue;
      this.groups.replay(decoded, record.offset, producerId, record.timestamp);
    }
  }

  #replayMarker(batch: RecordBatch): void {
    for (const { key, value } of batch.records()) {
      const marker = decodeEndTransaction(key, value);
      if (marker === undefined) continue;
      this.groups.endTransaction(batch.producerId, marker.type === "COMMIT");
    }
  }

  onLoaded(): void {
    const effects = this.begin();
    this.groups.onLoaded(effects);
    this.perform(effects);
    this.#startCleanup();
  }

  onUnloaded(): void {
    const { timers } = this.#context.world;
    const effects = this.begin();
    this.groups.onUnloaded(effects);
    this.#isUnloaded = true;
    for (const { handle } of this.#timers.values()) timers.cancel(handle);
    this.#timers.clear();
    timers.cancel(this.#cleanup.handle);
    for (const answer of effects.answers) this.#answer(answer);
  }

  /**
   * Writes how a producer's transaction ended, and calls `done` once that is committed, with the error of a
   * coordinator otherwise. Its offsets count from now on, or never.
   */
  completeTransaction(marker: WritableTxnMarker, done: (error: ErrorCode) => void): void {
    const { producerId, transactionResult, transactionVersion } = marker;
    const batch = markerBatch(marker, toMillis(this.#context.now()));
    const at = this.log.appendBatch(batch, { transactionVersion });
    if (typeof at !== "number") {
      done(coordinatorErrorOf(at));
      return;
    }
    const ended = this.groups.endTransaction(producerId, transactionResult);
    this.log.whenCommitted((error) => {
      if (error === ERRORS.NONE) for (const one of ended) this.#noteEnded(one, producerId);
      done(coordinatorErrorOf(error));
    });
  }

  #noteEnded({ group, offsets }: EndedOffsets, producerId: number): void {
    const committed = offsets.map(({ topic, partition, stored }) => {
      return { partition: partitionName(topic, partition), offset: stored.offset };
    });
    this.noteCommitted({ group, member: "", generation: NO_EPOCH }, committed, producerId);
  }

  // Steps.

  begin(): GroupEffects {
    return new GroupEffects(toMillis(this.#context.now()));
  }

  /** Keeps a request until the effects of some step answer it. */
  park(request: IncomingRequest): number {
    const id = this.#nextRequest++;
    this.#parked.set(id, request);
    return id;
  }

  /**
   * Carries out what a step has brought about. With `done` it also waits until all that was written before is
   * committed, or cannot be any more, even if the step has written nothing.
   */
  perform(
    effects: GroupEffects,
    done?: (error: ErrorCode) => void,
    transaction?: OffsetTransaction,
  ): void {
    if (this.#isUnloaded) return;
    const { records } = effects;
    const written = records.length === 0 ? undefined : this.#append(effects, transaction);
    const failure = typeof written === "object" ? coordinatorErrorOf(written) : undefined;
    for (const change of effects.timers) this.#set(change);
    // What records assign and remove is so when they are committed: before, nobody is told.
    const isLater = effects.replays && records.length > 0;
    if (failure === undefined || !effects.replays) {
      this.#note(effects.notes.filter((note) => !isLater || !isOfRecord(note)));
    }
    for (const answer of effects.answers) this.#answer(answer);
    if (failure !== undefined) {
      this.#settle(effects, failure);
      done?.(failure);
    } else if (written !== undefined || done !== undefined || effects.whenCommitted !== undefined) {
      this.log.whenCommitted((error) => {
        const told = coordinatorErrorOf(error);
        if (isLater && error === ERRORS.NONE) this.#note(effects.notes.filter(isOfRecord));
        this.#settle(effects, told);
        done?.(told);
      });
    }
  }

  #note(notes: readonly GroupNote[]): void {
    const { brokerId: broker, facts } = this.#context;
    for (const note of notes) facts.note({ ...note, broker });
  }

  #append(effects: GroupEffects, transaction: OffsetTransaction | undefined): Offset | ErrorCode {
    const { records, replays, nowMs } = effects;
    const encoded = records.map((record) => ({ ...encodeGroupRecord(record), timestamp: nowMs }));
    const batch = buildBatch(encoded, {
      compression: this.#context.configs["offsets.topic.compression.codec"],
      ...(transaction && {
        isTransactional: true,
        producerId: transaction.producerId,
        producerEpoch: transaction.producerEpoch,
      }),
    });
    const at = this.log.appendBatch(batch, transaction);
    if (!replays || typeof at !== "number") return at;
    const producerId = transaction?.producerId ?? NO_PRODUCER_ID;
    for (const [i, record] of records.entries()) {
      this.groups.replay(record, at + i, producerId, nowMs);
    }
    this.groups.replayed(effects);
    return at;
  }

  #settle({ whenCommitted: what }: GroupEffects, error: ErrorCode): void {
    if (what === undefined) return;
    const effects = this.begin();
    this.groups.onCommitted(what, error, effects);
    if (!this.#isUnloaded) this.perform(effects);
    else for (const answer of effects.answers) this.#answer(answer);
  }

  #answer(answer: GroupAnswer): void {
    const request = this.#parked.get(answer.request);
    this.#parked.delete(answer.request);
    if (request === undefined) return;
    if (answer.api === "JoinGroup") request.reply(JOIN_GROUP, answer.body);
    else request.reply(SYNC_GROUP, answer.body);
  }

  /** Offsets are committed: this is what counts now. */
  noteCommitted(
    from: CommitOrigin,
    offsets: readonly CommittedOffset[],
    producerId: number = NO_PRODUCER_ID,
  ): void {
    if (offsets.length === 0) return;
    this.#context.facts.note({
      kind: "offsets-committed",
      broker: this.#context.brokerId,
      ...from,
      offsets,
      producerId,
    });
  }

  // Timers.

  #set({ timer, delayMs, ifAbsent }: TimerChange): void {
    const { timers } = this.#context.world;
    const name = timerName(timer);
    const running = this.#timers.get(name);
    if (ifAbsent && running !== undefined) return;
    if (running !== undefined) timers.cancel(running.handle);
    if (delayMs === undefined) {
      this.#timers.delete(name);
      return;
    }
    const started = new RunningGroupTimer(this, timer);
    started.handle = timers.start(fromMillis(delayMs), BROKER_TIMER.group, started);
    this.#timers.set(name, started);
  }

  #startCleanup(): void {
    const pause = fromMillis(this.#context.configs["offsets.retention.check.interval.ms"]);
    this.#cleanup.handle = this.#context.world.timers.start(
      pause,
      BROKER_TIMER.group,
      this.#cleanup,
    );
  }

  onTimer(due: RunningGroupTimer): void {
    if (this.#isUnloaded) return;
    const effects = this.begin();
    const { timer } = due;
    if (timer === undefined) {
      this.groups.cleanUp(effects);
      this.#startCleanup();
    } else {
      this.#timers.delete(timerName(timer));
      this.groups.onTimer(timer, effects);
    }
    this.perform(effects);
  }
}
