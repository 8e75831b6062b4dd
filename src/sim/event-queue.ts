import { EventHeap, HEAP_CAPACITY } from "./event-heap.ts";
import { LadderQueue } from "./ladder-queue.ts";
import { PoppedEvent } from "./popped-event.ts";

/** More pending events than this go into the ladder queue; fewer than that back into the heap. */
const LADDER_ABOVE = 64;
const HEAP_BELOW = 24;

/**
 * Everything that will happen and cannot be cancelled, in strict (time, sequence) order. Two bodies:
 * a heap is the fastest while few events are pending, as in a small cluster; a ladder queue costs
 * the same for a thousand as for a million.
 *
 * Sequence numbers must rise from push to push. Times are integers.
 */
export class EventQueue {
  /** Where `pop` puts the event. */
  readonly out: PoppedEvent = new PoppedEvent();

  private readonly heap: EventHeap = new EventHeap(this.out);
  private readonly ladder: LadderQueue = new LadderQueue(this.out);
  private readonly ladderAbove: number;
  private readonly heapBelow: number;
  private few = true;

  /** Other thresholds than the default are for tests; `ladderAbove` is 254 at most. */
  constructor(ladderAbove: number = LADDER_ABOVE, heapBelow: number = HEAP_BELOW) {
    this.ladderAbove = Math.min(ladderAbove, HEAP_CAPACITY);
    this.heapBelow = heapBelow;
  }

  get size(): number {
    return this.few ? this.heap.size : this.ladder.size;
  }

  push(time: number, sequence: number, kind: number, subject: number, payload: unknown): void {
    if (this.few) {
      if (this.heap.size < this.ladderAbove) {
        this.heap.push(time, sequence, kind, subject, payload);
        return;
      }
      this.toLadder();
    }
    this.ladder.push(time, sequence, kind, subject, payload);
  }

  /** The time of the first event; Infinity if there is none. */
  peekTime(): number {
    return this.few ? this.heap.peekTime() : this.ladder.peekTime();
  }

  /** The sequence number of the first event. Call `peekTime` before. */
  peekSequence(): number {
    return this.few ? this.heap.peekSequence() : this.ladder.peekSequence();
  }

  /** Takes the first event into `out`. There must be one. */
  pop(): void {
    if (this.few) {
      this.heap.pop();
      return;
    }
    this.ladder.pop();
    if (this.ladder.size < this.heapBelow) this.toHeap();
  }

  private toLadder(): void {
    this.few = false;
    const { heap, ladder, out } = this;
    // In order, as the ladder takes the order of pushes for that of the sequence numbers.
    while (heap.size > 0) {
      heap.peekTime();
      const sequence = heap.peekSequence();
      heap.pop();
      ladder.push(out.time, sequence, out.kind, out.subject, out.payload);
    }
  }

  private toHeap(): void {
    this.few = true;
    const { heap, ladder, out } = this;
    const { time, kind, subject, payload } = out;
    while (ladder.size > 0) {
      ladder.peekTime();
      const sequence = ladder.peekSequence();
      ladder.pop();
      heap.push(out.time, sequence, out.kind, out.subject, out.payload);
    }
    ladder.reset();
    out.time = time;
    out.kind = kind;
    out.subject = subject;
    out.payload = payload;
  }
}
