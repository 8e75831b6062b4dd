import type { Instant } from "../../base/time.ts";
import { Payload } from "../../kafka/client/payload.ts";
import type { TimerHandle, World } from "../../ports/node.ts";
import { NO_TIMER } from "../../ports/node.ts";
import type { KafkaProducer } from "./kafka-producer.ts";
import type { KeyPlan, ProducerOptions } from "./producer-options.ts";
import { TransactionLoop } from "./transaction/transaction-loop.ts";

/** Checkers keep a value in 32 bits: room for 255 restarts of 16 million records each. */
export const VALUES_PER_INCARNATION = 0x100_0000;

/** The timer kinds of the application. */
export interface ApplicationTimers {
  readonly arrival: number;
  readonly block: number;
  readonly transactionEnd: number;
}

/** A record whose `send` has not returned yet. */
interface BlockedSend {
  readonly value: number;
  readonly key: Uint8Array | undefined;
  readonly payload: Payload | undefined;
}

/**
 * The program that uses the producer: one thread that makes a record, sends it, and waits for the
 * next to arrive. While `send` blocks nothing arrives.
 */
export class Application {
  readonly #world: World;
  readonly #options: ProducerOptions;
  readonly #producer: KafkaProducer;
  readonly #timers: ApplicationTimers;
  /** A new incarnation starts anew, but its records must be told from those of the old one. */
  readonly #firstValue: number;
  readonly #keys: Uint8Array[] = [];
  /** Its transactions, if its producer has a transactional id. */
  readonly #loop: TransactionLoop | undefined;
  #made = 0;
  #isStopped = false;
  #blocked: BlockedSend | undefined = undefined;
  #arrivalTimer: TimerHandle = NO_TIMER;
  #blockTimer: TimerHandle = NO_TIMER;

  constructor(
    world: World,
    options: ProducerOptions,
    producer: KafkaProducer,
    timers: ApplicationTimers,
  ) {
    this.#world = world;
    this.#options = options;
    this.#producer = producer;
    this.#timers = timers;
    this.#firstValue = world.process.incarnation * VALUES_PER_INCARNATION;
    const { name, transaction: plan } = options;
    const { transaction } = producer;
    this.#loop =
      transaction === undefined || plan === undefined
        ? undefined
        : new TransactionLoop(world, name, plan, transaction, timers.transactionEnd);
  }

  /** Nothing is under way but what the producer has taken. */
  get isIdle(): boolean {
    return this.#loop === undefined || this.#loop.isIdle;
  }

  start(): void {
    this.#loop?.start();
    this.awaitArrival();
  }

  /** Waits for the next record; unless there is to be none, which ends what is open. */
  awaitArrival(): void {
    const { arrival, records } = this.#options;
    if (this.#isStopped || (records !== undefined && this.#made >= records)) {
      this.#loop?.end();
      return;
    }
    const pause = typeof arrival === "number" ? arrival : arrival.draw(this.#world.random);
    this.#arrivalTimer = this.#world.timers.start(pause, this.#timers.arrival);
  }

  /** The arrival timer came due: makes a record and sends it. */
  arrive(now: Instant): void {
    const value = this.#firstValue + this.#made;
    const key = this.#key();
    const payload = this.#payload(value);
    this.#made++;
    const send = { value, key, payload };
    if (this.#trySend(send, now)) this.awaitArrival();
    else this.#blocked = send;
  }

  /** Something happened: perhaps a `send` that blocked can return. True if it did. */
  resume(now: Instant): boolean {
    if (this.#loop?.resume() === true) {
      if (this.#loop.isOver) this.#cease();
      return true;
    }
    const blocked = this.#blocked;
    if (blocked === undefined || !this.#trySend(blocked, now)) return false;
    this.#unblock();
    return true;
  }

  /** The timer of a transaction's end came due. */
  endTransaction(): void {
    this.#loop?.timeIsUp();
  }

  /** The block timer came due, or the producer is closed: `send` throws. */
  giveUp(): void {
    const blocked = this.#blocked;
    if (blocked === undefined) return;
    this.#producer.giveUp(blocked.value);
    this.#unblock();
  }

  /** To be called from outside: what is open ends with a step of its own. */
  stop(): void {
    this.#isStopped = true;
    this.#world.timers.cancel(this.#arrivalTimer);
    this.#arrivalTimer = NO_TIMER;
    if (this.#loop !== undefined) this.#world.timers.start(0, this.#timers.transactionEnd);
  }

  /** The producer is closed. */
  close(): void {
    this.stop();
    this.giveUp();
    this.#loop?.close();
  }

  /** False if the call blocks: on a transaction that is not open yet, or in `send`, for max.block.ms. */
  #trySend({ value, key, payload }: BlockedSend, now: Instant): boolean {
    if (this.#loop?.admit() === false) return false;
    if (this.#producer.trySend(value, key, payload, now)) {
      this.#loop?.sent();
      return true;
    }
    if (this.#blockTimer === NO_TIMER) {
      const { maxBlock } = this.#producer.settings;
      this.#blockTimer = this.#world.timers.start(maxBlock, this.#timers.block);
    }
    return false;
  }

  /** The producer has had a fatal error: there is no use in going on. */
  #cease(): void {
    this.#isStopped = true;
    this.#world.timers.cancel(this.#arrivalTimer);
    this.#arrivalTimer = NO_TIMER;
    const blocked = this.#blocked;
    if (blocked === undefined) return;
    this.#producer.giveUp(blocked.value, this.#producer.transaction?.lastError);
    this.#unblock();
  }

  #unblock(): void {
    this.#blocked = undefined;
    this.#world.timers.cancel(this.#blockTimer);
    this.#blockTimer = NO_TIMER;
    this.awaitArrival();
  }

  /** Undefined for a tombstone. */
  #payload(value: number): Payload | undefined {
    const { address, recordSize, tombstones } = this.#options;
    const { random } = this.#world;
    if (tombstones !== undefined && random.chance(tombstones.times, tombstones.outOf)) {
      return undefined;
    }
    return new Payload(address, value, recordSize);
  }

  #key(): Uint8Array | undefined {
    const plan = this.#options.keys;
    if (plan.kind === "none") return undefined;
    const key = this.#keyNumber(plan);
    const known = this.#keys[key];
    if (known !== undefined) return known;
    const bytes = asciiOf(key);
    // Of very many keys each is used seldom: not worth its memory.
    if (key < KEYS_KEPT) this.#keys[key] = bytes;
    return bytes;
  }

  #keyNumber(plan: Exclude<KeyPlan, { kind: "none" }>): number {
    return plan.kind === "cycle" ? this.#made % plan.count : this.#world.random.below(plan.count);
  }
}

/** The number in decimal digits. */
function asciiOf(number: number): Uint8Array {
  const digits = String(number);
  const bytes = new Uint8Array(digits.length);
  for (let i = 0; i < digits.length; i++) bytes[i] = digits.charCodeAt(i);
  return bytes;
}

const KEYS_KEPT = 65_536;
