import { byNumber } from "../base/order.ts";
import type { Instant } from "../base/time.ts";
import type { ByteRange } from "../ports/disk.ts";
import type { Deviation } from "./platter.ts";
import { Platter } from "./platter.ts";
import { SparseBytes } from "./sparse-bytes.ts";
import type { WriteBack } from "./write-back.ts";
import { NEVER } from "./write-back.ts";

/** The unit in which the page cache keeps a file and writes it back. */
export const PAGE_SIZE = 4096;

/** A clean file has no instant of write-back: any write is at or after this one. */
const CLEAN: Instant = -1;

/** A file's content at some instant, held as what must be put back to get there from a later one. */
interface Baseline {
  size: number;
  /** The smallest size that the file had from this baseline to the next. */
  lowest: number;
  /** What a page held, up to `size`, before its first change; zeros where the array is shorter. */
  readonly before: Map<number, Uint8Array>;
  /** When a sync that is under way will have made this content durable. */
  durableAt: Instant;
}

/**
 * What a power-off leaves of a file. Page by page: the first `fresh` bytes are new; the rest is old,
 * zeros where there was nothing; or, where that differs from what was written, garbage.
 */
export interface Remains {
  readonly size: number;
  /** Where the old content ends; beyond it are zeros. */
  readonly oldSize: number;
  /** The pages that are not all new, ascending. Pages that the new size cuts off may be absent. */
  readonly pages: readonly number[];
  readonly fresh: readonly number[];
  readonly isGarbage: readonly boolean[];
  /** Gives so many bytes that mean nothing. */
  readonly garbage: (length: number) => Uint8Array;
}

/** A page that was to be flushed, and what the platter has there. */
export interface UnflushedPage {
  readonly page: number;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

/**
 * One file in the page cache: the bytes that reads see, and how to get back from them to what is
 * durable. An append beyond the durable end leaves nothing to put back, so it costs a copy.
 *
 * The writes of a step happen at its event's instant; its syncs end when the step's work is done.
 *
 * Simplified: Linux wakes its flusher every 5 s and writes all dirty pages of a file whose first
 * one is older than `dirty_expire_centisecs`; here they are durable exactly at that age. Pressure
 * (`dirty_background_ratio`) writes nothing back earlier.
 */
export class CachedFile {
  /** Where the file is now; kept by the directory tree. */
  path: string;
  /** The number of the last directory operation that gave it its name. */
  namedBy = 0;
  /** How often a fault has changed the content behind the back of those who wrote it, or may have. */
  faults = 0;
  /** Was its disk taken away? */
  isLost = false;
  readonly #writeBack: WriteBack;
  /** All zeros from `#dataEnd` on. */
  readonly #bytes = new SparseBytes();
  #size = 0;
  #dataEnd = 0;
  /** The content when the last sync began, or what is durable if none is under way. */
  #baseline: Baseline = baselineAt(0);
  /** Syncs under way, oldest first: the first holds what is durable. */
  #syncs: Baseline[] = [];
  /** Changed since `#baseline`? */
  #dirty = false;
  #writtenBackAt: Instant = CLEAN;
  /** When it was last cut. */
  #cutAt: Instant = CLEAN;

  /** Undefined while the page cache holds all of it, and the platter what was flushed to it. */
  #platter: Platter | undefined = undefined;

  constructor(path: string, writeBack: WriteBack) {
    this.path = path;
    this.#writeBack = writeBack;
  }

  get size(): number {
    return this.#size;
  }

  /** The end of what was ever written: from there to `size` is a hole. */
  get dataEnd(): number {
    return this.#dataEnd;
  }

  write(now: Instant, position: number, bytes: Uint8Array, start: number, end: number): void {
    const stop = position + end - start;
    if (stop === position) return;
    if (now >= this.#writtenBackAt) this.#becomeDirty(now);
    if (this.#platter !== undefined) this.#touch(this.#platter, position, stop);
    if (position < this.#baseline.size) this.#keepBefore(position, stop);
    this.#bytes.write(position, bytes, start, end);
    this.#extend(stop);
  }

  /** As `write`, of bytes that will never change: they are kept, and not copied. */
  writeShared(now: Instant, position: number, bytes: Uint8Array, start: number, end: number): void {
    const stop = position + end - start;
    if (stop === position) return;
    if (now >= this.#writtenBackAt) this.#becomeDirty(now);
    if (this.#platter !== undefined) this.#touch(this.#platter, position, stop);
    if (position < this.#baseline.size) this.#keepBefore(position, stop);
    this.#bytes.share(position, bytes, start, end);
    this.#extend(stop);
  }

  read(position: number, length: number): Uint8Array {
    const end = Math.min(position + length, this.#size);
    if (end <= position) return new Uint8Array(0);
    const bytes = this.#bytes.read(position, end);
    const platter = this.#platter;
    if (platter === undefined) return bytes;
    layOver(platter, position, bytes, true);
    this.#warm(platter, position, end);
    return bytes;
  }

  /** What a read would return, of which nobody learns. */
  peek(position: number, length: number): Uint8Array {
    const end = Math.min(position + length, this.#size);
    if (end <= position) return new Uint8Array(0);
    const bytes = this.#bytes.read(position, end);
    if (this.#platter !== undefined) layOver(this.#platter, position, bytes, false);
    return bytes;
  }

  /** As `read`, in pieces that never change: shared bytes are not copied. */
  readShared(position: number, length: number): ByteRange[] {
    const end = Math.min(position + length, this.#size);
    if (end <= position) return [];
    if (this.#platter === undefined) return this.#bytes.pieces(position, end);
    if (this.#platter.isTrueIn(pageOf(position), pageOf(end - 1))) {
      this.#warm(this.#platter, position, end);
      return this.#bytes.pieces(position, end);
    }
    return [{ bytes: this.read(position, length), start: 0, end: end - position }];
  }

  /** A copy of what was written there, whatever has become of it since. */
  written(position: number, length: number): Uint8Array {
    return this.#bytes.read(position, position + length);
  }

  /** `at`: when the step gets there. */
  truncate(now: Instant, at: Instant, size: number): void {
    if (size === this.#size) return;
    if (size < this.#size) this.#cutAt = at;
    if (now >= this.#writtenBackAt) this.#becomeDirty(now);
    if (this.#platter !== undefined) {
      this.#touch(this.#platter, Math.min(size, this.#size), Math.max(size, this.#size));
    }
    const baseline = this.#baseline;
    // A hole needs no keeping: beyond `lowest`, what is not kept was zeros.
    if (size < baseline.size) this.#keepBefore(size, this.#dataEnd);
    if (size < baseline.lowest) baseline.lowest = size;
    this.#clearFrom(size);
    this.#size = size;
  }

  /** All that was written until now is durable at `durableAt`. */
  beginSync(now: Instant, durableAt: Instant): void {
    this.settle(now);
    if (!this.#dirty && this.#syncs.length === 0) return;
    this.#baseline.durableAt = durableAt;
    this.#syncs.push(this.#baseline);
    this.#baseline = baselineAt(this.#size);
    this.#dirty = false;
    this.#writtenBackAt = CLEAN;
  }

  /** Forgets how to undo what has become durable by now. */
  settle(now: Instant): void {
    if (this.#dirty && now >= this.#writtenBackAt) {
      this.#becomeWrittenBack();
      return;
    }
    const syncs = this.#syncs;
    for (let i = syncs.length - 1; i >= 0; i--) {
      if ((syncs[i] as Baseline).durableAt > now) continue;
      // A later sync covers what an earlier one still writes.
      syncs.splice(0, i + 1);
      return;
    }
  }

  /**
   * All that was written until now becomes durable with something else: when `durableAt` of what is
   * returned is set to an instant, if it has not been written back before. Undefined if it is durable.
   */
  tie(now: Instant): { durableAt: Instant } | undefined {
    this.settle(now);
    if (!this.#dirty) return this.#syncs.at(-1);
    const tied = this.#baseline;
    tied.durableAt = this.#writtenBackAt;
    this.#syncs.push(tied);
    this.#baseline = baselineAt(this.#size);
    this.#dirty = false;
    this.#writtenBackAt = CLEAN;
    return tied;
  }

  /** The device begins to lie, or to be honest again: what is dirty will be written back then. */
  postpone(writtenBackAt: Instant): void {
    if (this.#dirty) this.#writtenBackAt = writtenBackAt;
    for (const sync of this.#syncs) if (sync.durableAt === NEVER) sync.durableAt = writtenBackAt;
  }

  /** If its last cut was before `instant`: no power-off brings back what was cut off. */
  makeCutsDurable(instant: Instant): void {
    if (this.#cutAt === CLEAN || this.#cutAt > instant) return;
    this.#cutAt = CLEAN;
    let lowest = Number.POSITIVE_INFINITY;
    for (const baseline of [...this.#syncs, this.#baseline].reverse()) {
      lowest = Math.min(lowest, baseline.lowest);
      if (baseline.size > lowest) baseline.size = lowest;
    }
  }

  makeDurable(): void {
    this.#syncs = [];
    this.#baseline = baselineAt(this.#size);
    this.#dirty = false;
    this.#writtenBackAt = CLEAN;
  }

  /** The bytes, in whole pages, that a sync would have to write now. */
  get dirtyBytes(): number {
    const { lowest, before } = this.#baseline;
    const tail = pagesBetween(lowest, this.#dataEnd);
    const firstOfTail = tail === 0 ? Number.POSITIVE_INFINITY : pageOf(lowest);
    let pages = tail;
    for (const page of before.keys()) {
      if (page < firstOfTail && page * PAGE_SIZE < this.#size) pages++;
    }
    return pages * PAGE_SIZE;
  }

  /** The pages that a sync would have to write now and that are not on the platter as they are, ascending. */
  unflushedPages(): UnflushedPage[] {
    const { lowest, before } = this.#baseline;
    const numbers = new Set(before.keys());
    const tail = pagesBetween(lowest, this.#dataEnd);
    for (let i = 0; i < tail; i++) numbers.add(pageOf(lowest) + i);
    const pages: UnflushedPage[] = [];
    for (const page of [...numbers].sort(byNumber)) {
      const after = this.#pageOf(page);
      const old = this.#durablePage(page, this.durableSize).subarray(0, after.length);
      if (isBeginning(old, after)) continue;
      const before = new Uint8Array(after.length);
      before.set(old);
      pages.push({ page, before, after });
    }
    return pages;
  }

  /**
   * An fsync has failed: its pages are called clean, and reads still see them, but they did not reach
   * the platter. Returns how many bytes of them differ.
   *
   * Simplified: a flush that was under way already counts as done; the file's size is durable.
   */
  dropUnflushed(met: (page: number) => void): number {
    this.#syncs = [];
    const dropped = this.unflushedPages();
    this.makeDurable();
    let bytes = 0;
    for (const { page, before, after } of dropped) {
      for (let i = 0; i < after.length; i++) if (before[i] !== after[i]) bytes++;
      this.deviate(page, { content: before, isPassing: false, isShown: false, met });
    }
    return bytes;
  }

  // What the platter holds.

  /** Does the page cache lack any of the pages with a byte of [position, end)? */
  isCold(position: number, end: number): boolean {
    const platter = this.#platter;
    const stop = Math.min(end, this.#size);
    if (platter === undefined || stop <= position) return false;
    for (let page = pageOf(position); page <= pageOf(stop - 1); page++) {
      if (platter.isCold(page)) return true;
    }
    return false;
  }

  /** The page cache forgets what of it is not dirty. To be called once settled. */
  evict(): void {
    const dirty = new Set(this.isDurable ? [] : this.changedPages());
    const firstOfTail = this.isDurable ? Number.POSITIVE_INFINITY : pageOf(this.tailStart);
    for (let page = 0; page < pagesBetween(0, this.#size); page++) {
      const isClean = page < firstOfTail && !dirty.has(page);
      // The page in which a tail begins behind a gap is clean if anything deviates there.
      if (isClean || this.#platter?.deviationAt(page) !== undefined) {
        this.#ensurePlatter().chill(page);
      }
    }
  }

  /** The pages that are on the platter as they are in the cache, faults apart. To be called once settled. */
  pagesAtRest(): number[] {
    const dirty = new Set(this.isDurable ? [] : this.changedPages());
    const end = this.isDurable ? this.#dataEnd : Math.min(this.tailStart, this.#dataEnd);
    const pages: number[] = [];
    // Of a page into which the tail reaches, nothing is at rest: it is written whole.
    const whole = this.isDurable ? pagesBetween(0, end) : pageOf(end);
    for (let page = 0; page < whole; page++) if (!dirty.has(page)) pages.push(page);
    return pages;
  }

  /** A copy of what the platter holds of a page at rest. */
  platterPage(page: number): Uint8Array {
    return this.#platter?.deviationAt(page)?.content.slice() ?? this.#pageOf(page);
  }

  /** From now on the platter holds something else at a page. */
  deviate(page: number, deviation: Deviation): void {
    this.faults++;
    this.#ensurePlatter().deviate(page, deviation);
  }

  /** Takes a deviation back, if nothing was written over it. */
  lift(page: number, deviation: Deviation): void {
    this.#platter?.lift(page, deviation);
  }

  // What is durable and what is not, once settled.

  get isDurable(): boolean {
    return !this.#dirty && this.#syncs.length === 0;
  }

  /** The length of the durable content. */
  get durableSize(): number {
    return (this.#syncs[0] ?? this.#baseline).size;
  }

  /** How much of the durable content was never cut off since: what follows is appended and not durable. */
  get tailStart(): number {
    let lowest = this.#baseline.lowest;
    for (const sync of this.#syncs) lowest = Math.min(lowest, sync.lowest);
    return lowest;
  }

  /** Pages with durable content that has changed since, ascending. */
  changedPages(): number[] {
    const pages = new Set(this.#baseline.before.keys());
    for (const sync of this.#syncs) for (const page of sync.before.keys()) pages.add(page);
    // A hole that was cut off and written to.
    const end = Math.min(this.durableSize, this.#dataEnd);
    const rewritten = pagesBetween(this.tailStart, end);
    for (let i = 0; i < rewritten; i++) pages.add(pageOf(this.tailStart) + i);
    return [...pages].sort(byNumber);
  }

  /** Falls back to what a power-off left. Returns how many written bytes are gone or differ. */
  fallBack(remains: Remains): number {
    const { size, oldSize, pages, fresh, isGarbage, garbage } = remains;
    const writtenEnd = this.#dataEnd;
    let lost = Math.max(0, writtenEnd - size);
    for (const [i, page] of pages.entries()) {
      const old = this.#durablePage(page, oldSize);
      const noise = isGarbage[i] === true ? garbage(PAGE_SIZE) : undefined;
      const countedEnd = Math.min(size, writtenEnd);
      lost += this.#restore(page, old, fresh[i] as number, noise, countedEnd);
    }
    this.#clearFrom(size);
    if (lost > 0 || size !== this.#size) this.faults++;
    this.#size = size;
    this.makeDurable();
    this.#platter?.cutFrom(pagesBetween(0, size));
    return lost;
  }

  /** Puts back a page's old content from `fresh` on; counts the bytes before `countedEnd` that it changed. */
  #restore(
    page: number,
    old: Uint8Array,
    fresh: number,
    noise: Uint8Array | undefined,
    countedEnd: number,
  ): number {
    const pageStart = page * PAGE_SIZE;
    const stop = Math.max(pageStart + old.length, Math.min(pageStart + PAGE_SIZE, this.#dataEnd));
    const content = this.#bytes.read(pageStart, stop);
    let differs = false;
    let changed = 0;
    for (let at = fresh; at < content.length; at++) {
      const before = old[at] ?? 0;
      const isWritten = at >= old.length || before !== content[at];
      const byte = noise !== undefined && isWritten ? (noise[at] as number) : before;
      if (byte === content[at]) continue;
      differs = true;
      if (pageStart + at < countedEnd) changed++;
      content[at] = byte;
    }
    if (differs) this.#bytes.write(pageStart, content, 0, content.length);
    this.#dataEnd = Math.max(this.#dataEnd, pageStart + old.length);
    return changed;
  }

  #durablePage(page: number, oldSize: number): Uint8Array {
    const start = page * PAGE_SIZE;
    let length = Math.min(PAGE_SIZE, oldSize - start);
    for (const { before, lowest } of [...this.#syncs, this.#baseline]) {
      if (length <= 0) return new Uint8Array(0);
      const kept = before.get(page);
      if (kept !== undefined) return kept.subarray(0, length);
      length = Math.min(length, lowest - start);
    }
    return this.#bytes.read(start, start + Math.max(0, length));
  }

  /** The first change since the file was clean, or since it was written back. */
  #becomeDirty(now: Instant): void {
    // Nothing changed between the instant of write-back and now, so what it wrote is what is here.
    if (this.#dirty) this.#becomeWrittenBack();
    this.#dirty = true;
    this.#writtenBackAt = this.#writeBack.dueAt(now, this.path);
  }

  #becomeWrittenBack(): void {
    this.#writeBack.watch?.(this);
    this.makeDurable();
  }

  /** The pages of [from, to) are about to be changed in the page cache, and to be flushed from there. */
  #touch(platter: Platter, from: number, to: number): void {
    const { before, size } = this.#baseline;
    for (let page = pageOf(from); page <= pageOf(to - 1); page++) {
      const deviation = platter.take(page);
      if (deviation === undefined) continue;
      const start = page * PAGE_SIZE;
      if (deviation.isShown) {
        // The page cache has read it, or must now to change a part of it.
        const content = deviation.content.subarray(0, Math.max(0, this.#size - start));
        if (content.length > 0) this.#bytes.write(start, content, 0, content.length);
        this.#dataEnd = Math.max(this.#dataEnd, start + content.length);
        deviation.met(page);
      } else if (start < size && !before.has(page)) {
        before.set(page, deviation.content);
      }
    }
    if (platter.isClear) this.#platter = undefined;
  }

  #warm(platter: Platter, position: number, end: number): void {
    for (let page = pageOf(position); page <= pageOf(end - 1); page++) platter.warm(page);
    if (platter.isClear) this.#platter = undefined;
  }

  #ensurePlatter(): Platter {
    this.#platter ??= new Platter();
    return this.#platter;
  }

  /** What the page cache holds of a page, or would if the platter held what was written. */
  #pageOf(page: number): Uint8Array {
    const start = page * PAGE_SIZE;
    return this.#bytes.read(start, Math.max(start, Math.min(start + PAGE_SIZE, this.#size)));
  }

  #keepBefore(from: number, to: number): void {
    const { before, size } = this.#baseline;
    // Nothing in between if `to` is not after `from`.
    const last = pageOf(Math.min(to, size) - 1);
    for (let page = pageOf(from); page <= last; page++) {
      if (before.has(page)) continue;
      const start = page * PAGE_SIZE;
      const end = Math.min(start + PAGE_SIZE, size, this.#dataEnd);
      before.set(page, this.#bytes.read(start, Math.max(start, end)));
    }
  }

  #extend(stop: number): void {
    if (stop <= this.#dataEnd) return;
    this.#dataEnd = stop;
    if (stop > this.#size) this.#size = stop;
  }

  #clearFrom(position: number): void {
    if (position >= this.#dataEnd) return;
    this.#bytes.clearFrom(position);
    this.#dataEnd = position;
  }
}

export function pageOf(position: number): number {
  return Math.floor(position / PAGE_SIZE);
}

/** How many pages hold a byte of [from, to). */
function pagesBetween(from: number, to: number): number {
  return to <= from ? 0 : pageOf(to - 1) - pageOf(from) + 1;
}

function baselineAt(size: number): Baseline {
  return { size, lowest: size, before: new Map(), durableAt: CLEAN };
}

/** Is `old` how `bytes` begin, with zeros following? */
function isBeginning(old: Uint8Array, bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if ((old[i] ?? 0) !== bytes[i]) return false;
  return true;
}

/** Lays what reads see of the platter over the bytes at a position; its deviations are met, or not. */
function layOver(platter: Platter, position: number, bytes: Uint8Array, isMet: boolean): void {
  const end = position + bytes.length;
  for (let page = pageOf(position); page <= pageOf(end - 1); page++) {
    const deviation = platter.deviationAt(page);
    if (deviation?.isShown !== true) continue;
    const start = page * PAGE_SIZE;
    const { content } = deviation;
    const stop = Math.min(end, start + content.length);
    let differs = false;
    for (let at = Math.max(position, start); at < stop; at++) {
      const byte = content[at - start] as number;
      if (byte === bytes[at - position]) continue;
      bytes[at - position] = byte;
      differs = true;
    }
    if (differs && isMet) deviation.met(page);
  }
}
