import type { TimerHandle, World } from "../../../ports/node.ts";
import { NO_TIMER } from "../../../ports/node.ts";
import type { TransactionPlan } from "../producer-options.ts";
import type { TransactionManager } from "./transaction-manager.ts";

/**
 * An application's use of transactions, one after the other: begin, send, commit or abort. An error aborts what
 * is open, and the application goes on; after a fatal one it does no more.
 *
 * Simplified: initTransactions, commitTransaction and abortTransaction are called again and again when
 * max.block.ms is over, so they end only with an answer.
 */
export class TransactionLoop {
  readonly #world: World;
  readonly #client: string;
  readonly #plan: TransactionPlan;
  readonly #manager: TransactionManager;
  readonly #timerKind: number;
  /** Of the next one. */
  #number: number;
  #isOpen = false;
  #sent = 0;
  #aborts = false;
  /** The application asked for the end, or the error did. */
  #isEnding = false;
  #isCommitting = false;
  /** Why the transaction is not what it was to be. */
  #error = "NONE";
  #isOver = false;
  /** How the last ended; undefined while one is open, and before the first. */
  outcome: "committed" | "aborted" | "unknown" | undefined = undefined;
  #timer: TimerHandle = NO_TIMER;

  /** With `plan.time`, a timer of `timerKind` that comes due is to be passed on to `end`. */
  constructor(
    world: World,
    client: string,
    plan: TransactionPlan,
    manager: TransactionManager,
    timerKind: number,
  ) {
    this.#world = world;
    this.#client = client;
    this.#plan = plan;
    this.#manager = manager;
    this.#timerKind = timerKind;
    this.#number = world.process.incarnation * NUMBERS_PER_INCARNATION;
  }

  /** Nothing is open, and nothing will be opened by what goes on. */
  get isIdle(): boolean {
    return !this.#isOpen;
  }

  /** The producer has had a fatal error. */
  get isOver(): boolean {
    return this.#isOver;
  }

  start(): void {
    this.#manager.initTransactions();
  }

  /** May a record be sent now? A transaction is begun for it if none is open. */
  admit(): boolean {
    if (this.#isOpen) return this.#manager.state === "IN_TRANSACTION";
    if (this.#manager.state !== "READY") return false;
    this.#begin();
    return true;
  }

  /** A record was sent. */
  sent(): void {
    this.#sent++;
    if (this.#sent === this.#plan.records) this.end();
  }

  /** The application is through with what is open: commits it, or aborts it as it had in mind. */
  end(): void {
    if (!this.#isOpen || this.#isEnding || this.#manager.state !== "IN_TRANSACTION") return;
    this.#isEnding = true;
    this.#isCommitting = !this.#aborts;
    if (this.#isCommitting) this.#manager.commitTransaction();
    else this.#manager.abortTransaction();
  }

  /** The producer is closed: what is open is aborted (`Sender.run`). */
  close(): void {
    if (!this.#isOpen || this.#manager.state !== "IN_TRANSACTION") return;
    this.#isEnding = true;
    this.#isCommitting = false;
    this.#manager.abortTransaction();
  }

  /** Something happened: true if the application did something about it. */
  resume(): boolean {
    const manager = this.#manager;
    switch (manager.state) {
      case "READY":
        if (!this.#isOpen) return false;
        this.#ended(this.#isCommitting ? "committed" : "aborted");
        return true;
      case "ABORTABLE_ERROR":
        this.#isEnding = true;
        this.#isCommitting = false;
        this.#error = manager.lastError.name;
        manager.abortTransaction();
        return true;
      case "FATAL_ERROR":
        if (this.#isOver) return false;
        this.#isOver = true;
        this.#error = manager.lastError.name;
        if (this.#isOpen) this.#ended(manager.wasCommitSent ? "unknown" : "aborted");
        return true;
      default:
        return false;
    }
  }

  /** The timer came due. */
  timeIsUp(): void {
    this.#timer = NO_TIMER;
    this.end();
  }

  #begin(): void {
    const { time, abort } = this.#plan;
    const { random, timers, facts } = this.#world;
    this.#manager.beginTransaction();
    this.#isOpen = true;
    this.outcome = undefined;
    this.#sent = 0;
    this.#isEnding = false;
    this.#isCommitting = false;
    this.#error = "NONE";
    this.#aborts = abort !== undefined && random.chance(abort.times, abort.outOf);
    if (time !== undefined) {
      const pause = typeof time === "number" ? time : time.draw(random);
      this.#timer = timers.start(pause, this.#timerKind);
    }
    const { transactionalId, sequences } = this.#manager.parts;
    facts.note({
      kind: "transaction-begun",
      client: this.#client,
      transactionalId,
      transaction: this.#number,
      producerId: sequences.producerId,
      producerEpoch: sequences.producerEpoch,
    });
  }

  #ended(outcome: "committed" | "aborted" | "unknown"): void {
    this.#world.timers.cancel(this.#timer);
    this.#timer = NO_TIMER;
    this.#isOpen = false;
    this.outcome = outcome;
    const { transactionalId } = this.#manager.parts;
    this.#world.facts.note({
      kind: "transaction-ended",
      client: this.#client,
      transactionalId,
      transaction: this.#number,
      outcome,
      error: this.#error,
    });
    this.#number++;
  }
}

/** As many transactions as records: more than a run has. */
const NUMBERS_PER_INCARNATION = 0x100_0000;
