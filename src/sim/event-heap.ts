import type { PoppedEvent } from "./popped-event.ts";

/** Slots of a heap: a power of two, so that a key holds a sequence number and a slot in one double. */
const SLOTS = 256;
/** The most events that a heap can hold. */
export const HEAP_CAPACITY: number = SLOTS - 1;

/**
 * The pending events while they are few: a binary heap on typed arrays. A key is the pair (time,
 * sequence x 256 + slot); all of a level's choices are computed, not branched on; and a pop leaves a
 * hole at the top, which the next push fills (the handler of an event mostly schedules another).
 * Sequence numbers are exact up to 2^45.
 */
export class EventHeap {
  private readonly out: PoppedEvent;
  /** Interleaved: time, sequence and slot. Infinity beyond the end, so that each node has two children. */
  private readonly keys: Float64Array = new Float64Array(2 * (HEAP_CAPACITY + 2)).fill(Infinity);
  private readonly kinds: Int32Array = new Int32Array(SLOTS);
  private readonly subjects: Int32Array = new Int32Array(SLOTS);
  private readonly payloads: unknown[] = new Array<unknown>(SLOTS).fill(undefined);
  private readonly free: Int32Array = new Int32Array(SLOTS);
  private freeCount = SLOTS;
  /** Entries, the hole included. */
  private length = 0;
  private hole = false;

  constructor(out: PoppedEvent) {
    this.out = out;
    for (let i = 0; i < SLOTS; i++) this.free[i] = SLOTS - 1 - i;
  }

  get size(): number {
    return SLOTS - this.freeCount;
  }

  push(time: number, sequence: number, kind: number, subject: number, payload: unknown): void {
    const slot = this.free[--this.freeCount] as number;
    this.kinds[slot] = kind;
    this.subjects[slot] = subject;
    this.payloads[slot] = payload;
    const key = sequence * SLOTS + slot;
    if (this.hole) {
      this.hole = false;
      this.sink(time, key, this.length);
    } else {
      this.rise(time, key);
    }
  }

  /** The time of the first event; Infinity if there is none. */
  peekTime(): number {
    if (this.hole) this.fill();
    return this.keys[0] as number;
  }

  /** The sequence number of the first event. Call `peekTime` before. */
  peekSequence(): number {
    return Math.floor((this.keys[1] as number) / SLOTS);
  }

  /** Takes the first event out. There must be one. */
  pop(): void {
    if (this.hole) this.fill();
    const keys = this.keys;
    const out = this.out;
    out.time = keys[0] as number;
    const key = keys[1] as number;
    const slot = key - Math.floor(key / SLOTS) * SLOTS;
    out.kind = this.kinds[slot] as number;
    out.subject = this.subjects[slot] as number;
    out.payload = this.payloads[slot];
    this.free[this.freeCount++] = slot;
    this.hole = true;
  }

  private rise(time: number, key: number): void {
    const keys = this.keys;
    let at = this.length++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const parentTime = keys[2 * parent] as number;
      // A new event has the largest sequence number: among equals it stays below.
      if (parentTime <= time) break;
      keys[2 * at] = parentTime;
      keys[2 * at + 1] = keys[2 * parent + 1] as number;
      at = parent;
    }
    keys[2 * at] = time;
    keys[2 * at + 1] = key;
  }

  private sink(time: number, key: number, length: number): void {
    const keys = this.keys;
    const leaves = length >> 1;
    let at = 0;
    while (at < leaves) {
      const left = 2 * at + 1;
      const leftTime = keys[2 * left] as number;
      const rightTime = keys[2 * left + 2] as number;
      const rightFirst =
        +(rightTime < leftTime) |
        (+(rightTime === leftTime) &
          +((keys[2 * left + 3] as number) < (keys[2 * left + 1] as number)));
      const child = left + rightFirst;
      const childTime = keys[2 * child] as number;
      const childKey = keys[2 * child + 1] as number;
      if (time < childTime || (time === childTime && key < childKey)) break;
      keys[2 * at] = childTime;
      keys[2 * at + 1] = childKey;
      at = child;
    }
    keys[2 * at] = time;
    keys[2 * at + 1] = key;
  }

  /** Moves the last entry into the hole. */
  private fill(): void {
    const keys = this.keys;
    const last = --this.length;
    const time = keys[2 * last] as number;
    const key = keys[2 * last + 1] as number;
    keys[2 * last] = Infinity;
    this.hole = false;
    if (last > 0) this.sink(time, key, last);
  }
}
