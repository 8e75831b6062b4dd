import { unreachable } from "../base/invariant.ts";
import type { Instant } from "../base/time.ts";
import type { UnflushedMode } from "../ports/hands.ts";
import type { Random } from "../ports/random.ts";
import type { CachedFile, Remains } from "./cached-file.ts";
import { PAGE_SIZE, pageOf } from "./cached-file.ts";
import type { DirectoryTree } from "./directory-tree.ts";

/** What a power-off took of the file at a path: bytes that are gone or differ. */
export interface Loss {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Turns the power off at an instant: unflushed pages `lost` fall back to what is durable, `kept` had
 * all just been written. With `random-prefix` some beginning of what was appended to a file
 * survives. With `torn` each page for itself is kept, lost, or cut at a sector into a new beginning
 * and an old rest; if any file has an unflushed tail, at least one tail is cut.
 *
 * Names: `lost` undoes every operation that is not durable, `torn` all after some point of the
 * journal, the others none. Losses come in the order of their paths, and so do draws.
 */
export function losePageCache(
  tree: DirectoryTree,
  mode: UnflushedMode,
  sector: number,
  random: Random,
  now: Instant,
): Loss[] {
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
    const remains = remainsOf(file, mode, file === torn, sector, random);
    if (remains === undefined) file.makeDurable();
    else lost.set(file, file.fallBack(remains));
  }

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
      return pending === 0 ? 0 : random.between(0, pending);
    case "kept":
    case "random-prefix":
      return pending;
    default:
      return unreachable(mode);
  }
}

/** `undefined` if everything remains. */
function remainsOf(
  file: CachedFile,
  mode: UnflushedMode,
  tearTail: boolean,
  sector: number,
  random: Random,
): Remains | undefined {
  switch (mode) {
    case "lost":
      return durableOnly(file);
    case "kept":
      return undefined;
    case "random-prefix":
      return randomPrefix(file, random);
    case "torn":
      return tornPages(file, tearTail, sector, random);
    default:
      return unreachable(mode);
  }
}

function durableOnly(file: CachedFile): Remains {
  const pages = file.changedPages();
  const size = file.durableSize;
  return { size, oldSize: size, pages, fresh: pages.map(() => 0) };
}

/**
 * Simplified: in the order of a file's history all overwriting and cutting comes before the first
 * appended byte; if none of those survives, neither does the rest.
 */
function randomPrefix(file: CachedFile, random: Random): Remains {
  const start = file.tailStart;
  const survive = random.between(0, file.size - start);
  if (survive === 0) return durableOnly(file);
  return { size: start + survive, oldSize: start, pages: [], fresh: [] };
}

function hasTail(file: CachedFile): boolean {
  return !file.isDurable && file.dataEnd > file.tailStart;
}

/** What becomes of one unflushed page. */
type Fate = "kept" | "lost" | "torn";
const FATES: readonly Fate[] = ["kept", "lost", "torn"];

function tornPages(file: CachedFile, tearTail: boolean, sector: number, random: Random): Remains {
  const start = file.tailStart;
  const tears = new Tears(sector, random);
  // Cutting a file is one entry of the journal: it happened as a whole, or not at all.
  if (start < file.durableSize && !tearTail && random.chance(1, 2)) {
    for (const page of file.changedPages()) {
      if (page < pageOf(start)) tears.tear(page, 0, PAGE_SIZE, tears.draw());
      else tears.tear(page, 0, 0, "lost");
    }
    return tears.remains(file.durableSize, file.durableSize);
  }
  const firstOfTail = hasTail(file) ? pageOf(start) : Number.POSITIVE_INFINITY;
  for (const page of file.changedPages()) {
    if (page >= firstOfTail || page * PAGE_SIZE >= start) break;
    tears.tear(page, 0, PAGE_SIZE, tears.draw());
  }
  if (!hasTail(file)) {
    const isExtended = file.size > start && random.chance(1, 2);
    return tears.remains(isExtended ? file.size : start, start);
  }
  const lastOfTail = pageOf(file.dataEnd - 1);
  let size = start;
  for (let page = firstOfTail; page <= lastOfTail; page++) {
    const pageStart = page * PAGE_SIZE;
    const from = Math.max(0, start - pageStart);
    const drawn = tears.draw();
    const fate = tearTail && page === lastOfTail ? "torn" : drawn;
    // The size reaches as far as pages came through: a lost one before that reads as zeros.
    if (fate !== "lost") size = page === lastOfTail ? file.size : pageStart + PAGE_SIZE;
    tears.tear(page, from, Math.min(PAGE_SIZE, file.dataEnd - pageStart), fate);
  }
  return tears.remains(size, start);
}

/** Collects what is left of torn pages. */
class Tears {
  readonly #sector: number;
  readonly #random: Random;
  readonly #pages: number[] = [];
  readonly #fresh: number[] = [];

  constructor(sector: number, random: Random) {
    this.#sector = sector;
    this.#random = random;
  }

  draw(): Fate {
    return FATES[this.#random.below(FATES.length)] ?? "lost";
  }

  /** A page whose unflushed bytes are [from, to): a torn one gets some of their sectors, not all. */
  tear(page: number, from: number, to: number, fate: Fate): void {
    if (fate === "kept") return;
    this.#pages.push(page);
    this.#fresh.push(fate === "lost" ? 0 : this.#freshBytes(from, to));
  }

  remains(size: number, oldSize: number): Remains {
    return { size, oldSize, pages: this.#pages, fresh: this.#fresh };
  }

  #freshBytes(from: number, to: number): number {
    const first = Math.floor(from / this.#sector);
    const last = Math.ceil(to / this.#sector);
    // Of a single unflushed sector nothing came through, though the file's size covers it.
    const cut = last - first > 1 ? this.#random.between(first + 1, last - 1) : first;
    return cut * this.#sector;
  }
}
