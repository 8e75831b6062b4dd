import { unreachable } from "../base/invariant.ts";
import type { Instant } from "../base/time.ts";
import type { UnflushedMode } from "../ports/hands.ts";
import type { Random } from "../ports/random.ts";
import type { CachedFile, Remains } from "./cached-file.ts";
import { PAGE_SIZE, pageOf } from "./cached-file.ts";
import type { DirectoryTree } from "./directory-tree.ts";
import type { DiskOptions } from "./disk-options.ts";

/** What a power-off took of the file at a path: bytes that are gone or differ. */
export interface Loss {
  readonly path: string;
  readonly bytes: number;
}

/** How a disk loses what was not flushed. */
export interface PowerOff {
  readonly mode: UnflushedMode;
  readonly options: Pick<DiskOptions, "sector" | "journal">;
  readonly random: Random;
  readonly now: Instant;
}

/**
 * Turns the power off: unflushed pages `lost` fall back to what is durable, `kept` had all just been
 * written. With `random-prefix` some beginning of what was appended to a file survives. With `torn`
 * each page for itself is kept, lost, or cut at a sector into a new beginning and an old rest; if any
 * file has an unflushed tail, at least one tail is cut. With `zeros` and `garbage` sizes were durable
 * before the data, and that is what stands in its place. With `any` each page for itself meets one of
 * these ends. What was durable stays: a page that is written over is never worse than it was before.
 *
 * In the journal's mode `ordered` no size is durable before the data below it: what did not come through
 * ends the file.
 *
 * Names: `lost` undoes every operation that is not durable, `torn` and `any` all after some point of the
 * journal, the others none. Losses come in the order of their paths, and so do draws.
 */
export function losePageCache(tree: DirectoryTree, powerOff: PowerOff): Loss[] {
  const { mode, random, now } = powerOff;
  const before = tree.files().map((file) => ({ path: file.path, file, bytes: file.dataEnd }));
  const cutsDurableBefore = tree.cutsDurableBefore(now);
  tree.rollBack(now, operationsKept(mode, tree.pending(now), random));

  const files = tree.files();
  for (const file of files) {
    file.settle(now);
    file.makeCutsDurable(cutsDurableBefore);
  }
  const tails = mode === "torn" ? files.filter(hasTail) : [];
  const torn = tails.length === 0 ? undefined : tails[random.below(tails.length)];
  const lost = new Map<CachedFile, number>();
  for (const file of files) {
    if (file.isDurable) continue;
    const remains = remainsOf(file, file === torn, powerOff);
    if (remains === undefined) file.makeDurable();
    else lost.set(file, file.fallBack(remains));
  }
  for (const file of files) file.evict();

  const losses: Loss[] = [];
  const after = new Map(files.map((file) => [file.path, file]));
  for (const { path, file, bytes } of before) {
    const gone = after.get(path) === file ? (lost.get(file) ?? 0) : bytes;
    if (gone > 0) losses.push({ path, bytes: gone });
  }
  return losses;
}

function operationsKept(mode: UnflushedMode, pending: number, random: Random): number {
  switch (mode) {
    case "lost":
      return 0;
    case "torn":
    case "any":
      return pending === 0 ? 0 : random.between(0, pending);
    case "kept":
    case "random-prefix":
    case "zeros":
    case "garbage":
      return pending;
    default:
      return unreachable(mode);
  }
}

/** `undefined` if everything remains. */
function remainsOf(file: CachedFile, tearTail: boolean, powerOff: PowerOff): Remains | undefined {
  switch (powerOff.mode) {
    case "lost":
      return durableOnly(file);
    case "kept":
      return undefined;
    case "random-prefix":
      return randomPrefix(file, powerOff.random);
    case "torn":
      return eachPage(file, TORN, tearTail, powerOff);
    case "zeros":
      return eachPage(file, ["zeros"], false, powerOff);
    case "garbage":
      return eachPage(file, ["garbage"], false, powerOff);
    case "any":
      return eachPage(file, ["kept", "lost", "torn", "zeros", "garbage"], false, powerOff);
    default:
      return unreachable(powerOff.mode);
  }
}

function durableOnly(file: CachedFile): Remains {
  const pages = file.changedPages();
  const size = file.durableSize;
  return allOld(size, size, pages);
}

function allOld(size: number, oldSize: number, pages: readonly number[]): Remains {
  const fresh = pages.map(() => 0);
  return { size, oldSize, pages, fresh, isGarbage: [], garbage: () => new Uint8Array(0) };
}

/**
 * Simplified: in the order of a file's history all overwriting and cutting comes before the first
 * appended byte; if none of those survives, neither does the rest.
 */
function randomPrefix(file: CachedFile, random: Random): Remains {
  const start = file.tailStart;
  const survive = random.between(0, file.size - start);
  if (survive === 0) return durableOnly(file);
  return allOld(start + survive, start, []);
}

function hasTail(file: CachedFile): boolean {
  return !file.isDurable && file.dataEnd > file.tailStart;
}

/**
 * What becomes of one unflushed page. `zeros` differs from `lost` where the page lay beyond what was
 * durable of the file: the file's size covers it.
 */
type Fate = "kept" | "lost" | "torn" | "zeros" | "garbage";
const TORN: readonly Fate[] = ["kept", "lost", "torn"];

function eachPage(
  file: CachedFile,
  fates: readonly Fate[],
  tearTail: boolean,
  powerOff: PowerOff,
): Remains {
  const { random, options } = powerOff;
  const start = file.tailStart;
  const pages = new Pages(fates, powerOff);
  // Cutting a file is one entry of the journal: it happened as a whole, or not at all.
  if (start < file.durableSize && !tearTail && random.chance(1, 2)) {
    for (const page of file.changedPages()) {
      if (page < pageOf(start)) pages.end(page, 0, PAGE_SIZE, pages.draw());
      else pages.end(page, 0, 0, "lost");
    }
    return pages.remains(file.durableSize, file.durableSize);
  }
  const firstOfTail = hasTail(file) ? pageOf(start) : Number.POSITIVE_INFINITY;
  for (const page of file.changedPages()) {
    if (page >= firstOfTail || page * PAGE_SIZE >= start) break;
    pages.end(page, 0, PAGE_SIZE, pages.draw());
  }
  if (!hasTail(file)) {
    const isExtended = file.size > start && random.chance(1, 2);
    return pages.remains(isExtended ? file.size : start, start);
  }
  const isOrdered = options.journal === "ordered";
  const lastOfTail = pageOf(file.dataEnd - 1);
  let size = start;
  for (let page = firstOfTail; page <= lastOfTail; page++) {
    const pageStart = page * PAGE_SIZE;
    const from = Math.max(0, start - pageStart);
    const drawn = pages.draw();
    const fate = tearTail && page === lastOfTail ? "torn" : drawn;
    const fresh = pages.end(page, from, Math.min(PAGE_SIZE, file.dataEnd - pageStart), fate);
    if (isOrdered && fate !== "kept") {
      return pages.remains(Math.max(start, pageStart + fresh), start);
    }
    // The size reaches as far as pages came through: a lost one before that reads as zeros.
    if (fate !== "lost") size = page === lastOfTail ? file.size : pageStart + PAGE_SIZE;
  }
  return pages.remains(size, start);
}

/** Collects what is left of pages. */
class Pages {
  readonly #fates: readonly Fate[];
  readonly #sector: number;
  readonly #random: Random;
  readonly #pages: number[] = [];
  readonly #fresh: number[] = [];
  readonly #isGarbage: boolean[] = [];

  constructor(fates: readonly Fate[], { options, random }: PowerOff) {
    this.#fates = fates;
    this.#sector = options.sector;
    this.#random = random;
  }

  draw(): Fate {
    const { length } = this.#fates;
    return this.#fates[length === 1 ? 0 : this.#random.below(length)] ?? "lost";
  }

  /**
   * A page whose unflushed bytes are [from, to): a torn one gets some of their sectors, not all. Returns
   * how many bytes of the page came through.
   */
  end(page: number, from: number, to: number, fate: Fate): number {
    if (fate === "kept") return PAGE_SIZE;
    const fresh = fate === "torn" ? this.#freshBytes(from, to) : 0;
    this.#pages.push(page);
    this.#fresh.push(fresh);
    this.#isGarbage.push(fate === "garbage");
    return fresh;
  }

  remains(size: number, oldSize: number): Remains {
    return {
      size,
      oldSize,
      pages: this.#pages,
      fresh: this.#fresh,
      isGarbage: this.#isGarbage,
      garbage: (length) => this.#noise(length),
    };
  }

  #freshBytes(from: number, to: number): number {
    const first = Math.floor(from / this.#sector);
    const last = Math.ceil(to / this.#sector);
    // Of a single unflushed sector nothing came through, though the file's size covers it.
    const cut = last - first > 1 ? this.#random.between(first + 1, last - 1) : first;
    return cut * this.#sector;
  }

  #noise(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; at += 4) {
      const word = this.#random.below(0x1_0000_0000);
      bytes[at] = word;
      bytes[at + 1] = word >>> 8;
      bytes[at + 2] = word >>> 16;
      bytes[at + 3] = word >>> 24;
    }
    return bytes;
  }
}
