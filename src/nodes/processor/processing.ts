import { invariant } from "../../base/invariant.ts";
import type { Instant } from "../../base/time.ts";
import { Payload } from "../../kafka/client/payload.ts";
import type { Offset, PartitionName } from "../../kafka/ids.ts";
import { RecordCursor } from "../../kafka/log/record-cursor.ts";
import type { TimerHandle, World } from "../../ports/node.ts";
import { NO_TIMER } from "../../ports/node.ts";
import type { TakenRecords } from "../consumer/group/completed-fetch.ts";
import type { PolledWork } from "../consumer/group/polled-work.ts";
import { notePolled } from "../consumer/group/work.ts";
import { VALUES_PER_INCARNATION } from "../producer/application.ts";
import type { KafkaProducer } from "../producer/kafka-producer.ts";
import type { GroupMetadata, OffsetToCommit } from "../producer/transaction/send-offsets.ts";
import { TransactionLoop } from "../producer/transaction/transaction-loop.ts";
import type { ProcessorOptions } from "./processor-options.ts";

/** The timer kinds of its parts; `transactionEnd` is never started. */
export interface ProcessingTimers {
  readonly work: number;
  readonly block: number;
  readonly transactionEnd: number;
}

/** A record that is to be worked on. */
interface Input {
  readonly partition: PartitionName;
  readonly offset: Offset;
  readonly key: Uint8Array | undefined;
}

/**
 * - `opening`: waits until a transaction can be begun.
 * - `working`: on one record after another.
 * - `flushing`: waits until all that was sent is acknowledged, or given up.
 * - `sending-offsets`: how far it has come is on its way into the transaction.
 * - `ending`: waits for the end of the transaction, whichever it is.
 */
type Stage = "idle" | "opening" | "working" | "flushing" | "sending-offsets" | "ending";

/**
 * What an application that reads and writes does with each poll: makes a record, a row, or both of each record,
 * and sees to it that they are committed as it promises. If they cannot be, it goes back to where its group has
 * committed, as Kafka's ExactlyOnceMessageProcessor does.
 */
export class Processing implements PolledWork {
  readonly #world: World;
  readonly #options: ProcessorOptions;
  /** Undefined if it writes to no topic. */
  readonly #producer: KafkaProducer | undefined;
  readonly #loop: TransactionLoop | undefined;
  readonly #groupMetadata: () => GroupMetadata;
  readonly #timers: ProcessingTimers;
  readonly #firstValue: number;
  #made = 0;
  #stage: Stage = "idle";
  #taken: readonly TakenRecords[] = [];
  #inputs: readonly Input[] = [];
  #next = 0;
  /** The record's work is done, and its record is to be sent: `send` may block. */
  #isSendDue = false;
  #failuresBefore = 0;
  #workTimer: TimerHandle = NO_TIMER;
  #blockTimer: TimerHandle = NO_TIMER;
  hasFailed = false;

  constructor(
    world: World,
    options: ProcessorOptions,
    producer: KafkaProducer | undefined,
    groupMetadata: () => GroupMetadata,
    timers: ProcessingTimers,
  ) {
    this.#world = world;
    this.#options = options;
    this.#producer = producer;
    this.#groupMetadata = groupMetadata;
    this.#timers = timers;
    // As with producers: a new process starts anew, but its records must be told from those of the old one.
    this.#firstValue = world.process.incarnation * VALUES_PER_INCARNATION;
    const transaction = producer?.transaction;
    this.#loop =
      transaction === undefined
        ? undefined
        : new TransactionLoop(world, options.name, PLAN, transaction, timers.transactionEnd);
  }

  get isOver(): boolean {
    return this.#stage === "idle";
  }

  start(): void {
    this.#loop?.start();
  }

  polled(taken: readonly TakenRecords[]): void {
    for (const one of taken) notePolled(this.#world, this.#options.name, one);
    this.#taken = taken;
    this.#inputs = taken.flatMap(inputsOf);
    this.#next = 0;
    this.hasFailed = false;
  }

  begin(isCommitted: boolean): void {
    if (this.#options.guarantee === "at-most-once" && !isCommitted) {
      // Perhaps they are committed nevertheless, and perhaps they are somebody else's by now.
      this.hasFailed = true;
      return;
    }
    this.#failuresBefore = this.#producer?.failures ?? 0;
    if (this.#loop === undefined) this.#work();
    else this.#stage = "opening";
  }

  /** The work on one record is done. */
  done(): undefined {
    this.#workTimer = NO_TIMER;
    this.#isSendDue = true;
  }

  /** `send` has blocked for max.block.ms: it throws. */
  giveUp(): void {
    this.#blockTimer = NO_TIMER;
    if (!this.#isSendDue) return;
    this.#producer?.giveUp(this.#value);
    this.#sent();
  }

  run(now: Instant): void {
    this.#producer?.run(now);
    while (this.#step(now)) this.#producer?.run(now);
  }

  /** True if something changed, so that another step may follow. */
  #step(now: Instant): boolean {
    if (this.#loop?.resume() === true) {
      // Another has its transactional id, or something else is wrong for good: the application gives up.
      if (this.#loop.isOver) {
        const error = this.#producer?.transaction?.lastError.name;
        this.#world.process.exit(`its producer is of no use any more: ${error}`);
        return false;
      }
      return true;
    }
    switch (this.#stage) {
      case "idle":
        return false;
      case "opening":
        if (this.#loop?.admit() !== true) return false;
        this.#work();
        return true;
      case "working":
        return this.#stepOfWork(now);
      case "flushing":
        if (this.#producer?.isIdle === false) return false;
        this.#end(this.#hasLost && this.#options.guarantee !== "at-most-once");
        return true;
      case "sending-offsets":
        if (!this.#isInTransaction) {
          this.#stage = "ending";
          return true;
        }
        if (this.#producer?.transaction?.isSendingOffsets === true) return false;
        this.#loop?.end();
        this.#stage = "ending";
        return true;
      case "ending":
        if (this.#loop?.isIdle !== true) return false;
        this.#end(this.#loop.outcome !== "committed");
        return true;
    }
  }

  get #isInTransaction(): boolean {
    return this.#producer?.transaction?.state === "IN_TRANSACTION";
  }

  /** Has something that was sent since `begin` been given up? */
  get #hasLost(): boolean {
    return (this.#producer?.failures ?? 0) > this.#failuresBefore;
  }

  get #value(): number {
    return this.#firstValue + this.#made;
  }

  #work(): void {
    this.#stage = "working";
    this.#startNext();
  }

  #startNext(): void {
    const { work } = this.#options;
    if (this.#next >= this.#inputs.length) return;
    if (work === undefined) this.#isSendDue = true;
    else {
      this.#workTimer = this.#world.timers.start(work.draw(this.#world.random), this.#timers.work);
    }
  }

  #stepOfWork(now: Instant): boolean {
    if (this.#loop !== undefined && !this.#isInTransaction) {
      // It is being aborted: there is no use in going on.
      this.#stopWork();
      this.#stage = "ending";
      return true;
    }
    const input = this.#inputs[this.#next];
    if (input === undefined) {
      if (this.#loop === undefined) this.#stage = "flushing";
      else this.#sendOffsets();
      return true;
    }
    if (!this.#isSendDue) return false;
    if (!this.#trySend(input, now)) {
      const maxBlock = this.#producer?.settings.maxBlock ?? 0;
      if (this.#blockTimer === NO_TIMER) {
        this.#blockTimer = this.#world.timers.start(maxBlock, this.#timers.block);
      }
      return false;
    }
    this.#sent();
    return true;
  }

  /** False if `send` blocks. */
  #trySend({ partition, offset, key }: Input, now: Instant): boolean {
    const producer = this.#producer;
    if (producer === undefined) return true;
    const { address, group, name, recordSize } = this.#options;
    const value = this.#value;
    const payload = new Payload(address, value, recordSize);
    if (!producer.trySend(value, key, payload, now)) return false;
    this.#world.facts.note({
      kind: "record-derived",
      client: name,
      group,
      partition,
      offset,
      value,
    });
    return true;
  }

  /** What it had to send for a record has been taken, or given up. */
  #sent(): void {
    const { partition, offset } = this.#inputs[this.#next] as Input;
    const { group, name, store } = this.#options;
    const { facts, timers } = this.#world;
    timers.cancel(this.#blockTimer);
    this.#blockTimer = NO_TIMER;
    this.#isSendDue = false;
    this.#made++;
    if (store !== undefined) {
      const isNew = store.put(partition, offset);
      const row = { client: name, group, store: store.name, partition, offset, isNew };
      facts.note({ kind: "row-stored", ...row });
    }
    facts.note({
      kind: "records-processed",
      client: name,
      group,
      partition,
      firstOffset: offset,
      lastOffset: offset,
    });
    this.#next++;
    this.#startNext();
  }

  #stopWork(): void {
    const { timers } = this.#world;
    timers.cancel(this.#workTimer);
    timers.cancel(this.#blockTimer);
    this.#workTimer = NO_TIMER;
    this.#blockTimer = NO_TIMER;
    this.#isSendDue = false;
  }

  #sendOffsets(): void {
    const transaction = this.#producer?.transaction;
    invariant(transaction !== undefined, () => "offsets are sent with a transaction");
    const offsets = new Map<PartitionName, OffsetToCommit>();
    for (const { partition } of this.#taken) {
      const { name, topic, position } = partition;
      const { offset, offsetEpoch: leaderEpoch } = position;
      offsets.set(name, {
        topic: topic.name,
        partition: partition.partition,
        offset,
        leaderEpoch,
      });
    }
    transaction.sendOffsetsToTransaction(offsets, this.#groupMetadata());
    this.#stage = "sending-offsets";
  }

  #end(hasFailed: boolean): void {
    this.hasFailed = hasFailed;
    this.#stage = "idle";
  }
}

/** A transaction is what one poll gave: nothing else ends it. */
const PLAN = { records: undefined, time: undefined, abort: undefined };

function inputsOf({ partition, offsets, batches }: TakenRecords): Input[] {
  const { name } = partition;
  const first = offsets[0] as Offset;
  const last = offsets[offsets.length - 1] as Offset;
  const inputs: Input[] = [];
  for (const batch of batches) {
    const cursor = new RecordCursor(batch);
    while (cursor.next()) {
      const { offset, keyStart, keyEnd, buffer } = cursor;
      if (offset < first || offset > last) continue;
      const key = keyStart < 0 ? undefined : buffer.slice(keyStart, keyEnd);
      inputs.push({ partition: name, offset, key });
    }
  }
  return inputs;
}
