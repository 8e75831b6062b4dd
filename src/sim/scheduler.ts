import { fail } from "../base/invariant.ts";
import type { Duration, Instant } from "../base/time.ts";
import type { TimerHandle } from "../ports/node.ts";
import { NO_TIMER } from "../ports/node.ts";
import type { Fact } from "../trace/fact.ts";
import type { EventClock } from "../trace/recorder.ts";
import { CHECKPOINT_INTERVAL, Digest } from "./digest.ts";
import { EventCauses } from "./event-causes.ts";
import { EventQueue } from "./event-queue.ts";
import { mixFactInto } from "./fact-words.ts";
import { TimerLanes } from "./timer-lanes.ts";

/** Handles the events of one kind. */
export interface EventHandler {
  handle(subject: number, payload: unknown): void;
  /** What an event of this kind is, for a listing of events. Has no effect on the run. */
  describe?(subject: number, payload: unknown): string;
}

/** One event as text: what `--verify` compares to name the first that differs. */
export interface EventRecord {
  readonly event: number;
  readonly at: Instant;
  /** The name under which the kind was registered. */
  readonly kind: string;
  readonly subject: number;
  readonly detail: string;
  /** The digest with this event mixed in, before its handler ran. */
  readonly digest: string;
}

/**
 * Virtual time and everything that will happen in it, in strict (instant, sequence) order. One
 * sequence numbers events and timers alike, in the order in which they were scheduled.
 */
export class Scheduler implements EventClock {
  readonly digest: Digest = new Digest();
  private readonly queue: EventQueue = new EventQueue();
  private readonly timers: TimerLanes = new TimerLanes(this.queue.out);
  private readonly handlers: EventHandler[] = [];
  private readonly names: string[] = [];
  private time: Instant = 0;
  private count = 0;
  private sequence = 0;
  private checkpointIn = CHECKPOINT_INTERVAL;
  private fired: TimerHandle = NO_TIMER;
  private recordFrom = Infinity;
  private recordTo = -Infinity;
  private sink: ((record: EventRecord) => void) | undefined;
  private causes: EventCauses | undefined;

  get now(): Instant {
    return this.time;
  }

  get event(): number {
    return this.count;
  }

  /** The handle of the timer that came due last. Within its handler: of that timer, and stale. */
  get firing(): TimerHandle {
    return this.fired;
  }

  /** A new integer event kind. The name is for listings of events. */
  register(name: string, handler: EventHandler): number {
    this.names.push(name);
    return this.handlers.push(handler) - 1;
  }

  /** Schedules an event that cannot be cancelled, at an instant that is not past. */
  at(time: Instant, kind: number, subject: number, payload: unknown): void {
    if (!isDueTime(time, this.time)) fail(`an event at ${time}, and now is ${this.time}`);
    if (this.causes !== undefined) this.causes.scheduled(this.sequence, this.count);
    this.queue.push(time, this.sequence++, kind, subject, payload);
  }

  /** Schedules an event that can be cancelled. */
  startTimer(delay: Duration, kind: number, subject: number, payload: unknown): TimerHandle {
    const time = this.time + delay;
    if (!isDueTime(time, this.time)) fail(`a timer after ${delay}, and now is ${this.time}`);
    if (this.causes !== undefined) this.causes.scheduled(this.sequence, this.count);
    return this.timers.start(time, this.sequence++, delay, kind, subject, payload);
  }

  /** Forgets a timer. A handle that fired, was cancelled or is `NO_TIMER` is ignored. */
  cancelTimer(handle: TimerHandle): void {
    this.timers.cancel(handle);
  }

  /** Forgets every timer of one kind: those of a node that died. */
  cancelTimers(kind: number): void {
    this.timers.cancelKind(kind);
  }

  /** The instant of the next event; Infinity if none is left. */
  nextTime(): Instant {
    return Math.min(this.queue.peekTime(), this.timers.peekTime());
  }

  /** Handles the next event; false if none is left. */
  step(): boolean {
    const { queue, timers } = this;
    const eventTime = queue.peekTime();
    const timerTime = timers.peekTime();
    if (eventTime < timerTime) this.popEvent();
    else if (timerTime < eventTime) this.popTimer();
    else if (eventTime === Infinity) return false;
    else if (timers.peekSequence() < queue.peekSequence()) this.popTimer();
    else this.popEvent();

    const { time, kind, subject, payload } = queue.out;
    this.time = time;
    this.count++;
    this.digest.mixEvent(time, kind, subject);
    if (--this.checkpointIn === 0) {
      this.checkpointIn = CHECKPOINT_INTERVAL;
      this.digest.checkpoint(this.count, time);
    }
    if (this.count >= this.recordFrom) this.record(kind, subject, payload);
    (this.handlers[kind] as EventHandler).handle(subject, payload);
    return true;
  }

  /** Adds a fact to the digest. */
  mixFact(fact: Fact): void {
    mixFactInto(this.digest, fact);
  }

  /** Tells `sink` of each event numbered `from` to `to`, both included, before it is handled. */
  recordEvents(from: number, to: number, sink: (record: EventRecord) => void): void {
    this.recordFrom = from;
    this.recordTo = to;
    this.sink = sink;
  }

  /** From now on keeps, for each event, which one scheduled it. */
  recordCauses(): EventCauses {
    this.causes ??= new EventCauses();
    return this.causes;
  }

  private popEvent(): void {
    if (this.causes !== undefined) this.causes.happened(this.count + 1, this.queue.peekSequence());
    this.queue.pop();
  }

  private popTimer(): void {
    if (this.causes !== undefined) this.causes.happened(this.count + 1, this.timers.peekSequence());
    this.timers.pop();
    this.fired = this.timers.popped;
  }

  private record(kind: number, subject: number, payload: unknown): void {
    if (this.count > this.recordTo) {
      this.recordFrom = Infinity;
      return;
    }
    this.sink?.({
      event: this.count,
      at: this.time,
      kind: this.names[kind] ?? "",
      subject,
      detail: this.handlers[kind]?.describe?.(subject, payload) ?? "",
      digest: this.digest.value(),
    });
  }
}

/** An instant at which something can still happen; false for NaN and fractions too. */
function isDueTime(time: Instant, now: Instant): boolean {
  return time >= now && time <= Number.MAX_SAFE_INTEGER && Math.floor(time) === time;
}
