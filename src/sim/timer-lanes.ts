import { fail } from "../base/invariant.ts";
import type { Duration, Instant } from "../base/time.ts";
import type { TimerHandle } from "../ports/node.ts";
import type { PoppedEvent } from "./popped-event.ts";

/** Lanes, a power of two; a duration may use any of `PROBES` of them. */
const LANES = 256;
const PROBES = 4;

/** A handle is a slot and, above it, how often the slot was used. */
const SLOT_BITS = 24;
const MOST_SLOTS = 2 ** SLOT_BITS;
const SLOT_MASK = MOST_SLOTS - 1;
const LAST_HANDLE = Number.MAX_SAFE_INTEGER - MOST_SLOTS;

/** Offsets within a slot of 64 bytes: in doubles, */
const SEQUENCE = 1;
const HANDLE = 2;
/** and in 32-bit words. */
const NEXT = 6;
const PREVIOUS = 7;
const LANE = 8;
/** Where the slot is in the heap; only the first of a lane, and those in none, are there. */
const PLACE = 9;
const KIND = 10;
const SUBJECT = 11;
const HAS_PAYLOAD = 12;

const NONE = -1;
/** The kind of a slot that is not in use. */
const UNUSED = -1;

/**
 * The timers, which may be cancelled. Timers of one duration come due in the order in which they
 * were started, so they form a lane: a list, to which starting appends and from which cancelling
 * unlinks, without a search and without a tombstone. A small heap holds the first timer of each
 * lane. A duration for which no lane is free goes into that heap by itself.
 *
 * Fields are `private` for speed, as in the ladder queue.
 */
export class TimerLanes {
  /** The handle of the timer that was popped last. */
  popped: TimerHandle = Number.NaN;

  private readonly out: PoppedEvent;
  private capacity = 64;
  private doubles: Float64Array;
  private words: Int32Array;
  private readonly payloads: unknown[] = [];
  private free = NONE;
  private unused = 0;

  private readonly durations: Float64Array = new Float64Array(LANES).fill(-1);
  private readonly heads: Int32Array = new Int32Array(LANES).fill(NONE);
  private readonly tails: Int32Array = new Int32Array(LANES).fill(NONE);

  /** Slots, the earliest first: a binary heap. */
  private heap: Int32Array = new Int32Array(64);
  private heapSize = 0;

  constructor(out: PoppedEvent) {
    this.out = out;
    const buffer = new ArrayBuffer(this.capacity * 64);
    this.doubles = new Float64Array(buffer);
    this.words = new Int32Array(buffer);
  }

  /** Starts a timer that comes due at `time`, which is now + `duration`. Sequence numbers rise. */
  start(
    time: Instant,
    sequence: number,
    duration: Duration,
    kind: number,
    subject: number,
    payload: unknown,
  ): TimerHandle {
    const slot = this.allocate();
    const doubles = this.doubles;
    const words = this.words;
    const word = slot * 16;
    doubles[slot * 8] = time;
    doubles[slot * 8 + SEQUENCE] = sequence;
    words[word + KIND] = kind;
    words[word + SUBJECT] = subject;
    if (payload === undefined) words[word + HAS_PAYLOAD] = 0;
    else {
      words[word + HAS_PAYLOAD] = 1;
      this.payloads[slot] = payload;
    }
    const lane = this.findLane(duration);
    words[word + LANE] = lane;
    words[word + NEXT] = NONE;
    if (lane < 0) {
      words[word + PREVIOUS] = NONE;
      this.insert(slot);
    } else {
      const tail = this.tails[lane] as number;
      words[word + PREVIOUS] = tail;
      this.tails[lane] = slot;
      if (tail < 0) {
        this.heads[lane] = slot;
        this.insert(slot);
      } else words[tail * 16 + NEXT] = slot;
    }
    return doubles[slot * 8 + HANDLE] as number;
  }

  /** Forgets a timer. One that came due or was cancelled already is ignored. */
  cancel(handle: TimerHandle): void {
    if (!(handle >= 0)) return;
    const slot = handle & SLOT_MASK;
    if (slot < this.unused && this.doubles[slot * 8 + HANDLE] === handle) this.remove(slot);
  }

  /** Forgets every timer of one kind of event. Takes time in proportion to all slots. */
  cancelKind(kind: number): void {
    for (let slot = 0; slot < this.unused; slot++)
      if (this.words[slot * 16 + KIND] === kind) this.remove(slot);
  }

  /** When the first timer comes due; Infinity if there is none. */
  peekTime(): Instant {
    return this.heapSize === 0 ? Infinity : (this.doubles[(this.heap[0] as number) * 8] as number);
  }

  /** The sequence number of the first timer. There must be one. */
  peekSequence(): number {
    return this.doubles[(this.heap[0] as number) * 8 + SEQUENCE] as number;
  }

  /** Takes the first timer out. There must be one. */
  pop(): void {
    const slot = this.heap[0] as number;
    const out = this.out;
    out.time = this.doubles[slot * 8] as number;
    out.kind = this.words[slot * 16 + KIND] as number;
    out.subject = this.words[slot * 16 + SUBJECT] as number;
    out.payload = this.words[slot * 16 + HAS_PAYLOAD] === 0 ? undefined : this.payloads[slot];
    this.popped = this.doubles[slot * 8 + HANDLE] as number;
    this.remove(slot);
  }

  private allocate(): number {
    const slot = this.free;
    if (slot >= 0) {
      this.free = this.words[slot * 16 + NEXT] as number;
      return slot;
    }
    if (this.unused === this.capacity) this.grow();
    this.doubles[this.unused * 8 + HANDLE] = this.unused;
    this.payloads.push(undefined);
    return this.unused++;
  }

  private grow(): void {
    if (this.capacity === MOST_SLOTS) fail(`more than ${MOST_SLOTS} timers at once`);
    this.capacity *= 2;
    const buffer = new ArrayBuffer(this.capacity * 64);
    const words = new Int32Array(buffer);
    words.set(this.words);
    this.doubles = new Float64Array(buffer);
    this.words = words;
  }

  /** The lane of a duration, if need be one that is empty; none if all it may use are taken. */
  private findLane(duration: Duration): number {
    const hash = Math.imul(duration, 0x9e3779b1) >>> 24;
    const durations = this.durations;
    for (let i = 0; i < PROBES; i++) {
      const lane = (hash + i) & (LANES - 1);
      if (durations[lane] === duration) return lane;
    }
    for (let i = 0; i < PROBES; i++) {
      const lane = (hash + i) & (LANES - 1);
      if ((this.heads[lane] as number) < 0) {
        durations[lane] = duration;
        return lane;
      }
    }
    return NONE;
  }

  private remove(slot: number): void {
    const words = this.words;
    const word = slot * 16;
    const lane = words[word + LANE] as number;
    const next = words[word + NEXT] as number;
    const previous = words[word + PREVIOUS] as number;
    if (previous >= 0) {
      words[previous * 16 + NEXT] = next;
      if (next >= 0) words[next * 16 + PREVIOUS] = previous;
      else this.tails[lane] = previous;
    } else {
      const place = words[word + PLACE] as number;
      if (lane >= 0) {
        this.heads[lane] = next;
        if (next < 0) this.tails[lane] = NONE;
      }
      if (next >= 0) {
        words[next * 16 + PREVIOUS] = NONE;
        // The next of a lane is later than the first: it can only sink.
        this.sink(place, next);
      } else this.vacate(place);
    }
    if (words[word + HAS_PAYLOAD] !== 0) this.payloads[slot] = undefined;
    const handle = this.doubles[slot * 8 + HANDLE] as number;
    this.doubles[slot * 8 + HANDLE] = handle > LAST_HANDLE ? slot : handle + MOST_SLOTS;
    words[word + KIND] = UNUSED;
    words[word + NEXT] = this.free;
    this.free = slot;
  }

  private insert(slot: number): void {
    if (this.heapSize === this.heap.length) {
      const heap = new Int32Array(2 * this.heap.length);
      heap.set(this.heap);
      this.heap = heap;
    }
    this.rise(this.heapSize++, slot);
  }

  /** Takes the slot at a place out of the heap. */
  private vacate(place: number): void {
    const last = this.heap[--this.heapSize] as number;
    if (place === this.heapSize) return;
    const parent = this.heap[(place - 1) >> 1] as number;
    if (place > 0 && this.isBefore(last, parent)) this.rise(place, last);
    else this.sink(place, last);
  }

  private rise(from: number, slot: number): void {
    const { heap, words } = this;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const other = heap[parent] as number;
      if (this.isBefore(other, slot)) break;
      heap[at] = other;
      words[other * 16 + PLACE] = at;
      at = parent;
    }
    heap[at] = slot;
    words[slot * 16 + PLACE] = at;
  }

  private sink(from: number, slot: number): void {
    const { heap, words, heapSize } = this;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heapSize) break;
      const right = child + 1;
      if (right < heapSize && this.isBefore(heap[right] as number, heap[child] as number))
        child = right;
      const other = heap[child] as number;
      if (this.isBefore(slot, other)) break;
      heap[at] = other;
      words[other * 16 + PLACE] = at;
      at = child;
    }
    heap[at] = slot;
    words[slot * 16 + PLACE] = at;
  }

  private isBefore(left: number, right: number): boolean {
    const doubles = this.doubles;
    const leftTime = doubles[left * 8] as number;
    const rightTime = doubles[right * 8] as number;
    if (leftTime !== rightTime) return leftTime < rightTime;
    return (doubles[left * 8 + SEQUENCE] as number) < (doubles[right * 8 + SEQUENCE] as number);
  }
}
