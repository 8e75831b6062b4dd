import type { DiskErrorCode } from "../ports/disk.ts";
import { DiskError } from "../ports/disk.ts";
import type { BitRot, DiskArea, DiskFailure, FailingCall } from "../ports/disk-failure.ts";
import type { Undo } from "../ports/hands.ts";
import type { Random } from "../ports/random.ts";
import type { Scheduler } from "../sim/scheduler.ts";
import type { DiskDisturbed, FactSink } from "../trace/fact.ts";
import { batchRanges } from "./batch-ranges.ts";
import type { CachedFile } from "./cached-file.ts";
import { PAGE_SIZE } from "./cached-file.ts";
import type { DirectoryTree } from "./directory-tree.ts";
import { isInside, partitionOf } from "./disk-area.ts";
import type { Deviation } from "./platter.ts";
import type { WriteBack } from "./write-back.ts";
import { NEVER } from "./write-back.ts";

export interface TroubleSetup {
  /** The node whose disk it is. */
  readonly node: string;
  readonly scheduler: Scheduler;
  readonly tree: DirectoryTree;
  readonly writeBack: WriteBack;
  /** Faults have dice of their own: what they draw must not move the latencies. */
  readonly random: Random;
  readonly facts: FactSink;
}

interface Failing {
  readonly failure: DiskFailure;
  left: number;
}

/** A part of a page at rest, as positions in its file. */
interface Piece {
  readonly file: CachedFile;
  readonly page: number;
  readonly from: number;
  readonly to: number;
}

/** What an fsync comes to, if it is not done as it should be: it `lies`, or it fails. */
export type SyncTrouble = "lies" | DiskErrorCode;

/**
 * All that is wrong with one disk, and what that does to its calls: each is asked about here, before it
 * is done, while anything is wrong. Whatever bites is noted.
 *
 * Simplified: all log directories of a node are on one file system, with one journal and one page cache,
 * though they can fail one by one.
 */
export class DiskTrouble {
  /** Is anything wrong? If not, nothing here needs to be asked. */
  isAny = false;
  readonly #setup: TroubleSetup;
  #failing: readonly Failing[] = [];
  #full: readonly { readonly area: DiskArea; free: number }[] = [];
  #locked: readonly DiskArea[] = [];
  #lying: readonly DiskArea[] = [];
  #lost: readonly DiskArea[] = [];
  /** May files still be open that went with a lost disk? */
  #hasLostFiles = false;

  constructor(setup: TroubleSetup) {
    this.#setup = setup;
  }

  // What faults do. See `Hands`.

  fail(failure: DiskFailure): Undo {
    const { kind, area, evict, count } = failure;
    this.#settleAll();
    for (const file of this.#filesIn(area)) {
      if (evict) file.evict();
      // Whoever remembers what it wrote must ask the disk from now on.
      if (kind === "read-error") file.faults++;
    }
    const failing = { failure, left: count };
    this.#failing = [...this.#failing, failing];
    this.#reckon();
    return () => {
      // What was to be written back until now meets the fault.
      this.#settleAll();
      this.#failing = this.#failing.filter((one) => one !== failing);
      this.#reckon();
    };
  }

  fill(area: DiskArea, free: number): Undo {
    const full = { area, free };
    this.#full = [...this.#full, full];
    this.#reckon();
    return () => {
      this.#full = this.#full.filter((one) => one !== full);
      this.#reckon();
    };
  }

  lock(area: DiskArea): Undo {
    const locked = { ...area };
    this.#locked = [...this.#locked, locked];
    this.#reckon();
    return () => {
      this.#locked = this.#locked.filter((one) => one !== locked);
      this.#reckon();
    };
  }

  lie(area: DiskArea): Undo {
    const { writeBack, scheduler, tree } = this.#setup;
    const lying = { ...area };
    this.#settleAll();
    writeBack.beginLie(lying);
    for (const file of tree.everyFile()) {
      if (!writeBack.isHonest(file.path)) file.postpone(NEVER);
    }
    this.#lying = [...this.#lying, lying];
    this.#reckon();
    return () => {
      const { now } = scheduler;
      writeBack.endLie(now, lying);
      for (const file of tree.everyFile()) {
        if (isInside(file.path, lying) && writeBack.isHonest(file.path)) {
          file.postpone(now + writeBack.age);
        }
      }
      this.#lying = this.#lying.filter((one) => one !== lying);
      this.#reckon();
    };
  }

  lose(area: DiskArea): Undo {
    const lost = { ...area };
    let bytes = 0;
    for (const file of this.#setup.tree.wipe(area.directory)) {
      file.isLost = true;
      file.faults++;
      bytes += file.dataEnd;
      this.#hasLostFiles = true;
    }
    this.#note("disk-lost", area.directory ?? "/", -1, bytes);
    this.#lost = [...this.#lost, lost];
    this.#reckon();
    return () => {
      this.#lost = this.#lost.filter((one) => one !== lost);
      this.#reckon();
    };
  }

  rot({ area, bits, offsets, evict }: BitRot): Undo {
    const { random } = this.#setup;
    this.#settleAll();
    const files = this.#filesIn(area);
    if (evict) for (const file of files) file.evict();
    const pieces =
      offsets === undefined
        ? files.flatMap((file) => piecesAtRest(file))
        : files.flatMap((file) => {
            const ranges = batchRanges(file, offsets);
            return piecesAtRest(file).flatMap((piece) => within(piece, ranges));
          });
    const flipped: { readonly piece: Piece; readonly deviation: Deviation }[] = [];
    for (let i = 0; i < bits && pieces.length > 0; i++) {
      const piece = pieces[random.below(pieces.length)] as Piece;
      const { file, page, from, to } = piece;
      const content = file.platterPage(page);
      const at = random.between(from, to - 1) - page * PAGE_SIZE;
      content[at] = (content[at] as number) ^ (1 << random.below(8));
      const deviation = this.#deviation(file, "bit-rot", content);
      file.deviate(page, deviation);
      flipped.push({ piece, deviation });
    }
    return () => {
      for (const { piece, deviation } of flipped) piece.file.lift(piece.page, deviation);
    };
  }

  // What calls meet. Each throws `DiskError` if the call must not be done.

  /** Is the path on a disk that is not there? */
  isGone(path: string): boolean {
    return this.#lost.some((area) => isInside(path, area));
  }

  atOpen(path: string, isNew: boolean): void {
    this.#refuseLost(path);
    this.#refuseLocked(path);
    if (!isNew) return;
    this.#refuseWrite(path, -1);
    this.#allocate(path, NAME_SIZE, -1);
  }

  atList(path: string): void {
    this.#refuseLost(path);
  }

  /** At a change of names. */
  atChange(path: string): void {
    this.#refuseLost(path);
    this.#refuseLocked(path);
    this.#refuseWrite(path, -1);
  }

  atRemove(path: string): void {
    this.atChange(path);
    if (this.#full.length === 0) return;
    for (const file of this.#setup.tree.files()) {
      if (file.path === path || file.path.startsWith(`${path}/`)) {
        this.#release(file.path, file.dataEnd);
      }
    }
  }

  atWrite(file: CachedFile, position: number, end: number): void {
    const { path } = file;
    this.#refuseLostFile(file);
    this.#refuseLocked(path, position);
    this.#refuseWrite(path, position);
    this.#allocate(path, end - file.dataEnd, position);
  }

  atCut(file: CachedFile, size: number): void {
    const { path } = file;
    this.#refuseLostFile(file);
    this.#refuseLocked(path);
    this.#refuseWrite(path, size);
    this.#release(path, file.dataEnd - size);
  }

  atRead(file: CachedFile, position: number, length: number): void {
    this.#refuseLostFile(file);
    if (this.#failing.length === 0) return;
    const end = position + length;
    if (!file.isCold(position, end)) return;
    if (this.#strikes("read-error", file.path) !== undefined) {
      this.#throw("EIO", "read-error", file.path, position, length);
    }
    const astray = this.#strikes("misdirected-read", file.path);
    if (astray !== undefined) this.#readElsewhere(file, position, end, astray.area);
  }

  /** At an fsync of a file, once settled, that has not begun. */
  atSync(file: CachedFile): SyncTrouble | undefined {
    const { path } = file;
    if (file.isLost || this.isGone(path)) {
      this.#note("disk-lost", path, -1, 0);
      return "EIO";
    }
    if (this.#isLocked(path) && !file.isDurable) {
      this.#note("read-only", path, -1, 0);
      return "EROFS";
    }
    if (this.#strikes("fsync-error", path) !== undefined) {
      const dropped = this.#deviation(file, "fsync-error", NO_BYTES);
      this.#note("fsync-error", path, -1, file.dropUnflushed(dropped.met));
      return "EIO";
    }
    if (!this.#setup.writeBack.isHonest(path)) {
      const { dirtyBytes } = file;
      if (dirtyBytes > 0) this.#note("fsync-lie", path, -1, dirtyBytes);
      return "lies";
    }
    this.#misdirect(file);
    return undefined;
  }

  /** At an fsync of a directory. */
  atDirectorySync(path: string): SyncTrouble | undefined {
    this.#refuseLost(path);
    if (this.#strikes("fsync-error", path) !== undefined) {
      this.#note("fsync-error", path, -1, 0);
      return "EIO";
    }
    return this.#setup.writeBack.isHonest(path) ? undefined : "lies";
  }

  // Calls that fail.

  #refuseLost(path: string): void {
    if (this.isGone(path)) this.#throw("EIO", "disk-lost", path, -1, 0);
  }

  #refuseLostFile(file: CachedFile): void {
    if (file.isLost) this.#throw("EIO", "disk-lost", file.path, -1, 0);
    this.#refuseLost(file.path);
  }

  #isLocked(path: string): boolean {
    return this.#locked.some((area) => isInside(path, area));
  }

  #refuseLocked(path: string, position = -1): void {
    if (this.#isLocked(path)) this.#throw("EROFS", "read-only", path, position, 0);
  }

  #refuseWrite(path: string, position: number): void {
    if (this.#strikes("write-error", path) !== undefined) {
      this.#throw("EIO", "write-error", path, position, 0);
    }
  }

  /** The failure that a call of this kind meets; it counts. Undefined if it meets none. */
  #strikes(kind: FailingCall, path: string): DiskFailure | undefined {
    const { random } = this.#setup;
    for (const failing of this.#failing) {
      const { failure } = failing;
      if (failure.kind !== kind || !isInside(path, failure.area)) continue;
      const { times, outOf } = failure.chance;
      if (times < outOf && !random.chance(times, outOf)) continue;
      failing.left--;
      if (failing.left === 0) {
        this.#failing = this.#failing.filter((one) => one !== failing);
        this.#reckon();
      }
      return failure;
    }
    return undefined;
  }

  // Room.

  #allocate(path: string, growth: number, position: number): void {
    if (growth <= 0 || this.#full.length === 0) return;
    const full = this.#full.filter(({ area }) => isInside(path, area));
    for (const { free } of full) {
      if (free < growth) this.#throw("ENOSPC", "no-space", path, position, growth);
    }
    for (const room of full) room.free -= growth;
  }

  #release(path: string, bytes: number): void {
    if (bytes <= 0) return;
    for (const room of this.#full) if (isInside(path, room.area)) room.free += bytes;
  }

  // Pages that go astray.

  /** The first page that the cache does not have gets the content of another. */
  #readElsewhere(file: CachedFile, position: number, end: number, area: DiskArea): void {
    let page = Math.floor(position / PAGE_SIZE);
    while (!file.isCold(page * PAGE_SIZE, Math.min(end, (page + 1) * PAGE_SIZE))) page++;
    const source = this.#otherPage(file, page, area);
    if (source === undefined) return;
    const content = new Uint8Array(Math.min(PAGE_SIZE, file.size - page * PAGE_SIZE));
    content.set(source.file.platterPage(source.page).subarray(0, content.length));
    file.deviate(page, this.#deviation(file, "misdirected-read", content, true));
  }

  /** A page of what is about to be flushed may be written over another one. */
  #misdirect(file: CachedFile): void {
    const { random } = this.#setup;
    if (!this.#failing.some(({ failure }) => failure.kind === "misdirected-write")) return;
    const pages = file.unflushedPages();
    if (pages.length === 0) return;
    const failure = this.#strikes("misdirected-write", file.path);
    if (failure === undefined) return;
    const astray = pages[random.below(pages.length)] as (typeof pages)[number];
    this.#note("misdirected-write", file.path, astray.page * PAGE_SIZE, astray.after.length);
    file.deviate(astray.page, this.#deviation(file, "misdirected-write", astray.before));
    const target = this.#otherPage(file, astray.page, failure.area);
    if (target === undefined) return;
    const hit = target.file.platterPage(target.page);
    hit.set(astray.after.subarray(0, hit.length));
    target.file.deviate(target.page, this.#deviation(target.file, "misdirected-write", hit));
  }

  /** Any page at rest in the area but this one; undefined if there is none. */
  #otherPage(file: CachedFile, page: number, area: DiskArea): Piece | undefined {
    const { random, scheduler } = this.#setup;
    const pieces = this.#filesIn(area).flatMap((other) => {
      if (other !== file) other.settle(scheduler.now);
      return piecesAtRest(other).filter((piece) => other !== file || piece.page !== page);
    });
    return pieces.length === 0 ? undefined : pieces[random.below(pieces.length)];
  }

  #deviation(
    file: CachedFile,
    how: DiskDisturbed["how"],
    content: Uint8Array,
    isPassing = false,
  ): Deviation {
    let isTold = false;
    const met = (page: number): void => {
      if (isTold) return;
      isTold = true;
      this.#note(how, file.path, page * PAGE_SIZE, content.length);
    };
    return { content, isPassing, met, isShown: false };
  }

  #filesIn(area: DiskArea): CachedFile[] {
    return this.#setup.tree.files().filter(({ path }) => isInside(path, area));
  }

  #settleAll(): void {
    const { tree, scheduler } = this.#setup;
    tree.pending(scheduler.now);
    for (const file of tree.everyFile()) file.settle(scheduler.now);
  }

  #reckon(): void {
    this.isAny =
      this.#failing.length > 0 ||
      this.#full.length > 0 ||
      this.#locked.length > 0 ||
      this.#lying.length > 0 ||
      this.#lost.length > 0 ||
      this.#hasLostFiles;
    const isMisdirecting = this.#failing.some(
      ({ failure }) => failure.kind === "misdirected-write",
    );
    this.#setup.writeBack.watch = isMisdirecting ? (file) => this.#misdirect(file) : undefined;
  }

  #throw(
    code: DiskErrorCode,
    how: DiskDisturbed["how"],
    path: string,
    position: number,
    bytes: number,
  ): never {
    this.#note(how, path, position, bytes);
    throw new DiskError(code, path);
  }

  #note(how: DiskDisturbed["how"], path: string, position: number, bytes: number): void {
    const { node, facts } = this.#setup;
    const partition = partitionOf(path);
    facts.note({ kind: "disk-disturbed", node, path, partition, how, position, bytes });
  }
}

const NO_BYTES = new Uint8Array(0);
/** Bytes that a name takes: not many, but where there are none it cannot be. */
const NAME_SIZE = 1;

function piecesAtRest(file: CachedFile): Piece[] {
  return file.pagesAtRest().map((page) => {
    const from = page * PAGE_SIZE;
    return { file, page, from, to: Math.min(from + PAGE_SIZE, file.dataEnd) };
  });
}

/** The parts of a piece that lie in some ranges of its file. */
function within(
  piece: Piece,
  ranges: readonly { readonly from: number; readonly to: number }[],
): Piece[] {
  const parts: Piece[] = [];
  for (const range of ranges) {
    const from = Math.max(piece.from, range.from);
    const to = Math.min(piece.to, range.to);
    if (from < to) parts.push({ ...piece, from, to });
  }
  return parts;
}
