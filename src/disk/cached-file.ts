import { byNumber } from "../base/order.ts";
import type { Duration, Instant } from "../base/time.ts";
import type { ByteRange } from "../ports/disk.ts";
import { SparseBytes } from "./sparse-bytes.ts";

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

/** What a power-off leaves of a file. Page by page: the first `fresh` bytes are new, the rest is old. */
export interface Remains {
  readonly size: number;
  /** Where the old content ends; beyond it are zeros. */
  readonly oldSize: number;
  /** The pages that are not all new, ascending. Pages that the new size cuts off may be absent. */
  readonly pages: readonly number[];
  readonly fresh: readonly number[];
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
  /** How often a fault has changed the content behind the back of those who wrote it. */
  faults = 0;
  readonly #writeback: Duration;
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

  constructor(path: string, writeback: Duration) {
    this.path = path;
    this.#writeback = writeback;
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
    if (position < this.#baseline.size) this.#keepBefore(position, stop);
    this.#bytes.write(position, bytes, start, end);
    this.#extend(stop);
  }

  /** As `write`, of bytes that will never change: they are kept, and not copied. */
  writeShared(now: Instant, position: number, bytes: Uint8Array, start: number, end: number): void {
    const stop = position + end - start;
    if (stop === position) return;
    if (now >= this.#writtenBackAt) this.#becomeDirty(now);
    if (position < this.#baseline.size) this.#keepBefore(position, stop);
    this.#bytes.share(position, bytes, start, end);
    this.#extend(stop);
  }

  read(position: number, length: number): Uint8Array {
    const end = Math.min(position + length, this.#size);
    return end > position ? this.#bytes.read(position, end) : new Uint8Array(0);
  }

  /** As `read`, in pieces that never change: shared bytes are not copied. */
  readShared(position: number, length: number): ByteRange[] {
    const end = Math.min(position + length, this.#size);
    return end > position ? this.#bytes.pieces(position, end) : [];
  }

  /** `at`: when the step gets there. */
  truncate(now: Instant, at: Instant, size: number): void {
    if (size === this.#size) return;
    if (size < this.#size) this.#cutAt = at;
    if (now >= this.#writtenBackAt) this.#becomeDirty(now);
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
      this.makeDurable();
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
    const { size, oldSize, pages, fresh } = remains;
    const writtenEnd = this.#dataEnd;
    let lost = Math.max(0, writtenEnd - size);
    for (const [i, page] of pages.entries()) {
      lost += this.#restore(page, fresh[i] as number, oldSize, Math.min(size, writtenEnd));
    }
    this.#clearFrom(size);
    if (lost > 0 || size !== this.#size) this.faults++;
    this.#size = size;
    this.makeDurable();
    return lost;
  }

  /** Puts back a page's old content from `fresh` on; counts the bytes before `countedEnd` that it changed. */
  #restore(page: number, fresh: number, oldSize: number, countedEnd: number): number {
    const pageStart = page * PAGE_SIZE;
    const old = this.#durablePage(page, oldSize);
    const stop = Math.max(pageStart + old.length, Math.min(pageStart + PAGE_SIZE, this.#dataEnd));
    const content = this.#bytes.read(pageStart, stop);
    let differs = false;
    let changed = 0;
    for (let at = fresh; at < content.length; at++) {
      const byte = old[at] ?? 0;
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
    if (this.#dirty) this.makeDurable();
    this.#dirty = true;
    this.#writtenBackAt = now + this.#writeback;
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
