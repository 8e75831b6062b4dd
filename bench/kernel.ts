import type { TimerHandle } from "../src/ports/node.ts";
import { EventQueue } from "../src/sim/event-queue.ts";
import type { EventHandler } from "../src/sim/scheduler.ts";
import { Scheduler } from "../src/sim/scheduler.ts";
import type { TextbookEvent } from "../test/support/textbook-heap.ts";
import { byTimeAndSequence, TextbookHeap } from "../test/support/textbook-heap.ts";
import type { Contender, Duel, Outcome } from "./measure.ts";
import { collectGarbage, timed } from "./measure.ts";

const MILLISECOND = 1_000;
const TIMEOUT = 30_000 * MILLISECOND;

/** What the kernel is measured by, with the floors and goals of docs/performance.md. */
export function kernelDuels(): Duel[] {
  return [
    { ...held(10), floor: { ratio: 2, rate: 13 }, goal: { rate: 20 } },
    { ...held(30), floor: { ratio: 2, rate: 13 }, goal: { rate: 20 } },
    { ...held(1_000), floor: { ratio: 3.7, rate: 10 }, goal: { rate: 14 } },
    { ...held(100_000), floor: { ratio: 9, rate: 6.5 }, goal: { rate: 9 } },
    { ...held(1_000_000), floor: { ratio: 11, rate: 3.3 }, goal: { rate: 4.5 } },
    {
      title: "timers, 90 % cancelled (set, cancel, fire)",
      ours: { name: "scheduler", run: cancelInLanes },
      textbook: { name: "textbook, tombstones", run: cancelByTombstones },
      floor: { ratio: 10, rate: 24 },
      goal: { rate: 32 },
    },
    {
      title: "messages among 100 nodes, 1,000 in flight",
      ours: { name: "scheduler", run: deliverByKind },
      textbook: { name: "textbook, closures", run: deliverByClosure },
      floor: { ratio: 2.7, rate: 5 },
      goal: { rate: 7 },
    },
  ];
}

/** Bytes that a pending event takes, at a million pending, without and with a small payload object. */
export function bytesPerPendingEvent(): { readonly bare: number; readonly withPayload: number } {
  const count = 1_000_000;
  const weigh = (payload: (i: number) => unknown): number => {
    const dice = new Dice();
    collectGarbage();
    const before = process.memoryUsage();
    const queue = new EventQueue();
    for (let i = 0; i < count; i++) queue.push(dice.exponential(), i, 1, i & 127, payload(i));
    for (let i = count; i < 2 * count; i++) {
      queue.pop();
      queue.push(queue.out.time + dice.exponential(), i, 1, i & 127, payload(i));
    }
    collectGarbage();
    const after = process.memoryUsage();
    // The queue must outlive the weighing.
    if (queue.size !== count) throw new Error("events were lost");
    return (after.heapUsed - before.heapUsed + after.arrayBuffers - before.arrayBuffers) / count;
  };
  return { bare: weigh(() => undefined), withPayload: weigh((i) => ({ i })) };
}

/** Cheap numbers, the same for both sides. */
class Dice {
  private static readonly quantiles: Float64Array = Float64Array.from({ length: 4096 }, (_, i) =>
    Math.round(-Math.log((i + 0.5) / 4096) * MILLISECOND),
  );
  private state = 12_345;

  next(): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) | 0;
    return this.state >>> 0;
  }

  /** Exponential with mean 1 ms. */
  exponential(): number {
    return Dice.quantiles[this.next() >>> 20] as number;
  }

  /** Uniform between 0.5 and 5 ms. */
  latency(): number {
    return 500 + ((this.next() >>> 12) % 4_501);
  }
}

/** The hold model: takes the first event out and puts another in, an exponential delay later. */
function held(pending: number): { title: string; ours: Contender; textbook: Contender } {
  const operations = pending < 1_000_000 ? 2_000_000 : 1_000_000;
  const warmUp = Math.max(pending, 100_000);
  return {
    title: `events held, ${pending.toLocaleString("en")} pending (pop and push)`,
    ours: { name: "queue", run: () => holdInQueue(pending, warmUp, operations) },
    textbook: { name: "textbook", run: () => holdInTextbook(pending, warmUp, operations) },
  };
}

function holdInQueue(pending: number, warmUp: number, operations: number): Outcome {
  const dice = new Dice();
  const queue = new EventQueue();
  const out = queue.out;
  let sequence = 0;
  for (let i = 0; i < pending; i++)
    queue.push(dice.exponential(), sequence++, 1, i & 127, undefined);
  const hold = (count: number): void => {
    for (let i = 0; i < count; i++) {
      queue.pop();
      queue.push(out.time + dice.exponential(), sequence++, 1, out.subject, undefined);
    }
  };
  hold(warmUp);
  return timed(operations, () => hold(operations));
}

function holdInTextbook(pending: number, warmUp: number, operations: number): Outcome {
  const dice = new Dice();
  const heap = new TextbookHeap<TextbookEvent>(byTimeAndSequence);
  let sequence = 0;
  const push = (time: number, subject: number): void => {
    heap.push({ time, sequence: sequence++, kind: 1, subject, payload: undefined });
  };
  for (let i = 0; i < pending; i++) push(dice.exponential(), i & 127);
  const hold = (count: number): void => {
    for (let i = 0; i < count; i++) {
      const event = heap.pop();
      if (event !== undefined) push(event.time + dice.exponential(), event.subject);
    }
  };
  hold(warmUp);
  return timed(operations, () => hold(operations));
}

const REQUESTS = 1_000_000;
/** Until the first timeouts come due, so that as many fire as are left to fire. */
const REQUESTS_BEFORE = 1_600_000;
const OUTSTANDING = 100;
/** A request is two pushes, a pop, and a cancellation or a timeout. */
const OPERATIONS_PER_REQUEST = 4;

/** 100 requests outstanding, each with a timeout of 30 s that 9 answers of 10 cancel. */
class Requests implements EventHandler {
  answered = 0;
  private readonly scheduler: Scheduler;
  private readonly dice: Dice = new Dice();
  private readonly timers: TimerHandle[] = [];
  private readonly answer: number;
  private readonly timeout: number;

  constructor(scheduler: Scheduler) {
    this.scheduler = scheduler;
    this.answer = scheduler.register("answer", this);
    this.timeout = scheduler.register("timeout", { handle: () => undefined });
    for (let i = 0; i < OUTSTANDING; i++) {
      this.timers.push(0);
      this.send(i);
    }
  }

  handle(subject: number): void {
    this.answered++;
    if (this.dice.next() >>> 16 < 58_982) this.scheduler.cancelTimer(this.timers[subject] ?? -1);
    this.send(subject);
  }

  private send(subject: number): void {
    const scheduler = this.scheduler;
    const delay = 2 * this.dice.exponential();
    scheduler.at(scheduler.now + delay, this.answer, subject, undefined);
    this.timers[subject] = scheduler.startTimer(TIMEOUT, this.timeout, subject, undefined);
  }
}

function cancelInLanes(): Outcome {
  const scheduler = new Scheduler();
  const requests = new Requests(scheduler);
  const answer = (until: number): void => {
    while (requests.answered < until) scheduler.step();
  };
  answer(REQUESTS_BEFORE);
  return timed(REQUESTS * OPERATIONS_PER_REQUEST, () => answer(REQUESTS_BEFORE + REQUESTS));
}

interface Tombstone extends TextbookEvent {
  cancelled: boolean;
}

function cancelByTombstones(): Outcome {
  const dice = new Dice();
  const heap = new TextbookHeap<Tombstone>(byTimeAndSequence);
  const timers: Tombstone[] = [];
  let sequence = 0;
  let answered = 0;
  const push = (time: number, kind: number, subject: number): Tombstone => {
    const payload = undefined;
    const event = { time, sequence: sequence++, kind, subject, payload, cancelled: false };
    heap.push(event);
    return event;
  };
  const send = (now: number, subject: number): void => {
    push(now + 2 * dice.exponential(), 0, subject);
    timers[subject] = push(now + TIMEOUT, 1, subject);
  };
  for (let i = 0; i < OUTSTANDING; i++) send(0, i);
  const answer = (until: number): void => {
    while (answered < until) {
      const event = heap.pop();
      if (event === undefined || event.cancelled || event.kind === 1) continue;
      answered++;
      const timer = timers[event.subject];
      if (timer !== undefined && dice.next() >>> 16 < 58_982) timer.cancelled = true;
      send(event.time, event.subject);
    }
  };
  answer(REQUESTS_BEFORE);
  return timed(REQUESTS * OPERATIONS_PER_REQUEST, () => answer(REQUESTS_BEFORE + REQUESTS));
}

const NODES = 100;
const IN_FLIGHT = 1_000;
const DELIVERIES = 2_000_000;
const DELIVERIES_BEFORE = 100_000;

interface Message {
  readonly from: number;
  readonly hops: number;
}

/** Nodes that answer each message with one to another node. */
class Relays implements EventHandler {
  private readonly scheduler: Scheduler;
  private readonly dice: Dice = new Dice();
  private readonly received: Int32Array = new Int32Array(NODES);
  private readonly kind: number;

  constructor(scheduler: Scheduler) {
    this.scheduler = scheduler;
    this.kind = scheduler.register("message", this);
    for (let i = 0; i < IN_FLIGHT; i++) this.send(i % NODES, 0);
  }

  handle(subject: number, payload: unknown): void {
    this.received[subject] = (this.received[subject] as number) + 1;
    this.send(subject, (payload as Message).hops + 1);
  }

  private send(from: number, hops: number): void {
    const { dice, scheduler } = this;
    const to = (dice.next() >>> 8) % NODES;
    scheduler.at(scheduler.now + dice.latency(), this.kind, to, { from, hops });
  }
}

function deliverByKind(): Outcome {
  const scheduler = new Scheduler();
  new Relays(scheduler);
  const deliver = (count: number): void => {
    for (let i = 0; i < count; i++) scheduler.step();
  };
  deliver(DELIVERIES_BEFORE);
  return timed(DELIVERIES, () => deliver(DELIVERIES));
}

interface Action {
  readonly time: number;
  readonly sequence: number;
  readonly run: () => void;
}

function deliverByClosure(): Outcome {
  const dice = new Dice();
  const heap = new TextbookHeap<Action>(
    (left, right) => left.time - right.time || left.sequence - right.sequence,
  );
  const received = new Int32Array(NODES);
  let sequence = 0;
  let now = 0;
  const send = (from: number, hops: number): void => {
    const to = (dice.next() >>> 8) % NODES;
    const message: Message = { from, hops };
    const run = (): void => {
      received[to] = (received[to] as number) + 1;
      send(to, message.hops + 1);
    };
    heap.push({ time: now + dice.latency(), sequence: sequence++, run });
  };
  for (let i = 0; i < IN_FLIGHT; i++) send(i % NODES, 0);
  const deliver = (count: number): void => {
    for (let i = 0; i < count; i++) {
      const action = heap.pop();
      if (action === undefined) return;
      now = action.time;
      action.run();
    }
  };
  deliver(DELIVERIES_BEFORE);
  return timed(DELIVERIES, () => deliver(DELIVERIES));
}
