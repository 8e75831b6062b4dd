import type { PoppedEvent } from "./popped-event.ts";

/** A bucket with more events than this is spread over a rung of its own rather than sorted. */
const SORT_AT_MOST = 48;
/** A bottom with more events than this becomes a rung. */
const BOTTOM_AT_MOST = 256;
/** Rungs at most: each is finer than the one above by the number of its buckets. */
const RUNGS = 8;
/** Buckets a rung has at least. */
const BUCKETS_AT_LEAST = 16;
/** Room kept before the bottom's first event, so that an urgent one is put in front cheaply. */
const FRONT_ROOM = 16;

/** Offsets within a slot of 32 bytes: in doubles, and in 32-bit words. */
const SEQUENCE = 1;
const NEXT = 4;
const KIND = 5;
const SUBJECT = 6;
const HAS_PAYLOAD = 7;

/** Offsets within a bucket of four words. */
const TAIL = 1;
const LENGTH = 2;

const NONE = -1;

/** One row of buckets of equal width, a power of two, so that indexes are exact. */
class Rung {
  start: number = Number.NaN;
  width: number = Number.NaN;
  /** 1 / width. */
  inverse: number = Number.NaN;
  /** Buckets in use. */
  buckets = 0;
  /** The next bucket to be emptied, and where its time begins: earlier events belong further down. */
  current = 0;
  currentTime: number = Number.NaN;
  /** Events in the rung. */
  size = 0;
  /** Interleaved, four words a bucket: first slot, last slot and length of its list. */
  table: Int32Array = new Int32Array(256);
}

/**
 * The pending events when they are many: a ladder queue (Tang, Goh and Thng 2005). Far events wait
 * unsorted in the top; when their time comes near they are spread over the buckets of a rung, a full
 * bucket over a finer rung, and a small bucket is sorted into the bottom, from which events are
 * popped. Push and pop cost O(1) on average for any distribution, ties included. An event is a
 * slot of 32 bytes, so it costs one cache line.
 *
 * Every list holds events of equal time in the order of their sequence numbers: pushes append, and
 * a spread keeps the order. So only times are compared.
 *
 * Fields are `private` and not `#private`, and doubles begin as NaN, here and in the other classes
 * of the inner loop: V8 (Node 20) reads private names slowly where objects of two shapes meet, and
 * a field that begins as a small integer changes shape with its first double. Both cost a factor 5.
 */
export class LadderQueue {
  private readonly out: PoppedEvent;
  size = 0;

  private capacity = 256;
  private doubles: Float64Array;
  private words: Int32Array;
  private payloads: unknown[] = [];
  /** Slots given back, as a list; then those never used, from `unused`. */
  private free = NONE;
  private unused = 0;

  /** Events at or after `topStart`: a list. */
  private topHead = NONE;
  private topTail = NONE;
  private topSize = 0;
  private topStart = -Infinity;
  private topMin = Infinity;
  private topMax = -Infinity;

  private readonly rungs: Rung[] = [];
  private rungCount = 0;

  /** Events before every rung, in order: times and slots in [#first, #end). */
  private times: Float64Array = new Float64Array(1024);
  private slots: Int32Array = new Int32Array(1024);
  private first = FRONT_ROOM;
  private end = FRONT_ROOM;

  constructor(out: PoppedEvent) {
    this.out = out;
    const buffer = new ArrayBuffer(this.capacity * 32);
    this.doubles = new Float64Array(buffer);
    this.words = new Int32Array(buffer);
    for (let i = 0; i < RUNGS; i++) this.rungs.push(new Rung());
  }

  push(time: number, sequence: number, kind: number, subject: number, payload: unknown): void {
    let slot = this.free;
    if (slot >= 0) this.free = this.words[slot * 8 + NEXT] as number;
    else {
      if (this.unused === this.capacity) this.grow();
      slot = this.unused++;
      this.payloads.push(undefined);
    }
    const words = this.words;
    this.doubles[slot * 4] = time;
    this.doubles[slot * 4 + SEQUENCE] = sequence;
    words[slot * 8 + KIND] = kind;
    words[slot * 8 + SUBJECT] = subject;
    // Most events need no payload; then its array is not touched, which saves a cache miss.
    if (payload === undefined) words[slot * 8 + HAS_PAYLOAD] = 0;
    else {
      words[slot * 8 + HAS_PAYLOAD] = 1;
      this.payloads[slot] = payload;
    }
    this.size++;
    if (time >= this.topStart) {
      words[slot * 8 + NEXT] = NONE;
      if (this.topSize++ === 0) this.topHead = slot;
      else words[this.topTail * 8 + NEXT] = slot;
      this.topTail = slot;
      if (time < this.topMin) this.topMin = time;
      if (time > this.topMax) this.topMax = time;
      return;
    }
    const count = this.rungCount;
    for (let i = 0; i < count; i++) {
      const rung = this.rungs[i] as Rung;
      if (time >= rung.currentTime) {
        this.drop(rung, slot, time);
        return;
      }
    }
    this.insert(slot, time);
  }

  /** The time of the first event; Infinity if there is none. */
  peekTime(): number {
    if (this.first === this.end) {
      if (this.size === 0) return Infinity;
      this.refill();
    }
    return this.times[this.first] as number;
  }

  /** The sequence number of the first event. Call `peekTime` before. */
  peekSequence(): number {
    return this.doubles[(this.slots[this.first] as number) * 4 + SEQUENCE] as number;
  }

  /** Takes the first event out. There must be one. */
  pop(): void {
    if (this.first === this.end) this.refill();
    const at = this.first++;
    const slot = this.slots[at] as number;
    const words = this.words;
    const out = this.out;
    out.time = this.times[at] as number;
    out.kind = words[slot * 8 + KIND] as number;
    out.subject = words[slot * 8 + SUBJECT] as number;
    if (words[slot * 8 + HAS_PAYLOAD] === 0) out.payload = undefined;
    else {
      out.payload = this.payloads[slot];
      this.payloads[slot] = undefined;
    }
    words[slot * 8 + NEXT] = this.free;
    this.free = slot;
    this.size--;
  }

  /** Back to the state of a new one; it must be empty. Slots are numbered from 0 again. */
  reset(): void {
    this.free = NONE;
    this.unused = 0;
    this.payloads.length = 0;
    this.topStart = -Infinity;
    this.rungCount = 0;
    this.first = FRONT_ROOM;
    this.end = FRONT_ROOM;
  }

  private grow(): void {
    this.capacity *= 2;
    const buffer = new ArrayBuffer(this.capacity * 32);
    const doubles = new Float64Array(buffer);
    const words = new Int32Array(buffer);
    words.set(this.words);
    this.doubles = doubles;
    this.words = words;
  }

  private drop(rung: Rung, slot: number, time: number): void {
    const words = this.words;
    const table = rung.table;
    const bucket = (((time - rung.start) * rung.inverse) | 0) << 2;
    const length = table[bucket + LENGTH] as number;
    words[slot * 8 + NEXT] = NONE;
    if (length === 0) table[bucket] = slot;
    else words[(table[bucket + TAIL] as number) * 8 + NEXT] = slot;
    table[bucket + TAIL] = slot;
    table[bucket + LENGTH] = length + 1;
    rung.size++;
  }

  /** Puts a new event into the bottom, after those of the same time: its number is the largest. */
  private insert(slot: number, time: number): void {
    if (this.end === this.times.length) this.makeRoom();
    const times = this.times;
    const slots = this.slots;
    const first = this.first;
    if (first > 0 && first < this.end && time < (times[(first + this.end) >> 1] as number)) {
      let at = --this.first;
      while ((times[at + 1] as number) <= time) {
        times[at] = times[at + 1] as number;
        slots[at] = slots[at + 1] as number;
        at++;
      }
      times[at] = time;
      slots[at] = slot;
    } else {
      let at = this.end++;
      while (at > first && (times[at - 1] as number) > time) {
        times[at] = times[at - 1] as number;
        slots[at] = slots[at - 1] as number;
        at--;
      }
      times[at] = time;
      slots[at] = slot;
    }
    if (this.end - this.first > BOTTOM_AT_MOST) this.spill();
  }

  /** The bottom has grown too long to insert into: makes it the innermost rung. */
  private spill(): void {
    const times = this.times;
    const first = this.first;
    const end = this.end;
    const start = times[first] as number;
    if (this.rungCount === RUNGS || start === times[end - 1]) return;
    const limit =
      this.rungCount > 0 ? (this.rungs[this.rungCount - 1] as Rung).currentTime : this.topStart;
    const rung = this.addRung(start, limit, end - first);
    for (let i = first; i < end; i++) this.drop(rung, this.slots[i] as number, times[i] as number);
    this.first = FRONT_ROOM;
    this.end = FRONT_ROOM;
  }

  /** Opens a rung for times in [start, limit), of which about `count` are expected. */
  private addRung(start: number, limit: number, count: number): Rung {
    const wanted = (limit - start) / Math.max(count, BUCKETS_AT_LEAST);
    let width = 1;
    let inverse = 1;
    while (width < wanted) {
      width *= 2;
      inverse *= 0.5;
    }
    const rung = this.rungs[this.rungCount++] as Rung;
    const buckets = Math.ceil((limit - start) * inverse);
    if (4 * buckets > rung.table.length)
      rung.table = new Int32Array(Math.max(4 * buckets, 2 * rung.table.length));
    else rung.table.fill(0, 0, 4 * buckets);
    rung.start = start;
    rung.width = width;
    rung.inverse = inverse;
    rung.buckets = buckets;
    rung.current = 0;
    rung.currentTime = start;
    rung.size = 0;
    return rung;
  }

  /** Brings the next events into the bottom, which is empty. There must be some. */
  private refill(): void {
    for (;;) {
      while (this.rungCount > 0 && (this.rungs[this.rungCount - 1] as Rung).size === 0)
        this.rungCount--;
      if (this.rungCount === 0) {
        if (this.openTop()) return;
        continue;
      }
      if (this.openBucket(this.rungs[this.rungCount - 1] as Rung)) return;
    }
  }

  /** Spreads the top over a rung, or loads it if it is small. True if the bottom is filled. */
  private openTop(): boolean {
    const slot = this.topHead;
    const count = this.topSize;
    const min = this.topMin;
    const max = this.topMax;
    this.topSize = 0;
    this.topStart = max + 1;
    this.topMin = Infinity;
    this.topMax = -Infinity;
    if (count <= SORT_AT_MOST || min === max) {
      if (min === max) this.loadEqual(slot, count, min);
      else this.load(slot, count);
      return true;
    }
    this.spread(this.addRung(min, max + 1, count), slot);
    return false;
  }

  /** Empties the next bucket of the innermost rung. True if the bottom is filled. */
  private openBucket(rung: Rung): boolean {
    const table = rung.table;
    let bucket = rung.current;
    while (table[4 * bucket + LENGTH] === 0) bucket++;
    const slot = table[4 * bucket] as number;
    const count = table[4 * bucket + LENGTH] as number;
    table[4 * bucket + LENGTH] = 0;
    const start = rung.start + bucket * rung.width;
    rung.size -= count;
    rung.current = bucket + 1;
    rung.currentTime = start + rung.width;
    if (count > SORT_AT_MOST && rung.width > 1 && this.rungCount < RUNGS) {
      this.spread(this.addRung(start, rung.currentTime, count), slot);
      return false;
    }
    if (rung.width === 1) this.loadEqual(slot, count, start);
    else this.load(slot, count);
    return true;
  }

  private spread(rung: Rung, first: number): void {
    let slot = first;
    while (slot >= 0) {
      const next = this.words[slot * 8 + NEXT] as number;
      this.drop(rung, slot, this.doubles[slot * 4] as number);
      slot = next;
    }
  }

  /** Moves a list of events of one time into the empty bottom. */
  private loadEqual(list: number, count: number, time: number): void {
    this.makeBottom(count);
    const times = this.times;
    const slots = this.slots;
    const words = this.words;
    let slot = list;
    for (let at = FRONT_ROOM; at < this.end; at++) {
      times[at] = time;
      slots[at] = slot;
      slot = words[slot * 8 + NEXT] as number;
    }
  }

  /** Sorts a list into the empty bottom. */
  private load(list: number, count: number): void {
    this.makeBottom(count);
    const doubles = this.doubles;
    const words = this.words;
    const times = this.times;
    const slots = this.slots;
    if (count > SORT_AT_MOST) {
      // Every rung is in use, and these times lie too close for the finest.
      let slot = list;
      for (let at = FRONT_ROOM; at < this.end; at++) {
        slots[at] = slot;
        slot = words[slot * 8 + NEXT] as number;
      }
      slots.subarray(FRONT_ROOM, this.end).sort((left, right) => {
        const difference = (doubles[left * 4] as number) - (doubles[right * 4] as number);
        if (difference !== 0) return difference;
        return (doubles[left * 4 + SEQUENCE] as number) - (doubles[right * 4 + SEQUENCE] as number);
      });
      for (let at = FRONT_ROOM; at < this.end; at++)
        times[at] = doubles[(slots[at] as number) * 4] as number;
      return;
    }
    let end = FRONT_ROOM;
    for (let slot = list; slot >= 0; slot = words[slot * 8 + NEXT] as number) {
      const time = doubles[slot * 4] as number;
      let at = end++;
      while (at > FRONT_ROOM && (times[at - 1] as number) > time) {
        times[at] = times[at - 1] as number;
        slots[at] = slots[at - 1] as number;
        at--;
      }
      times[at] = time;
      slots[at] = slot;
    }
  }

  /** An empty bottom that has room for so many events. */
  private makeBottom(count: number): void {
    this.first = FRONT_ROOM;
    this.end = FRONT_ROOM + count;
    if (this.end <= this.times.length) return;
    this.times = new Float64Array(2 * this.end);
    this.slots = new Int32Array(2 * this.end);
  }

  /** Makes room at the end of the bottom's arrays. */
  private makeRoom(): void {
    const live = this.end - this.first;
    let times = this.times;
    let slots = this.slots;
    if (2 * (live + FRONT_ROOM) > times.length) {
      times = new Float64Array(2 * times.length);
      slots = new Int32Array(2 * times.length);
    }
    times.set(this.times.subarray(this.first, this.end), FRONT_ROOM);
    slots.set(this.slots.subarray(this.first, this.end), FRONT_ROOM);
    this.times = times;
    this.slots = slots;
    this.first = FRONT_ROOM;
    this.end = FRONT_ROOM + live;
  }
}
