import { byText } from "../../../src/base/order.ts";

const PAGE = 4_096;

/** What a file held when a sync of it began. */
interface Version {
  readonly content: Uint8Array;
  readonly durableAt: number;
  /** The smallest size that the file had since. */
  lowest: number;
}

interface NaiveFile {
  /** As the page cache has it. */
  content: Uint8Array;
  /** Clean pages that an fsync dropped, as the platter has them. */
  dropped: Map<number, Uint8Array>;
  durable: Uint8Array;
  durableLowest: number;
  cutAt: number | undefined;
  syncs: Version[];
  dirtySince: number | undefined;
  /** Which of the states of the names first had it under its name. */
  namedBy: number;
}

type Names = ReadonlyMap<string, NaiveFile>;

/**
 * The simple twin of `SimulatedDisk`: two directories with files in them, every content and every
 * state of the names copied whole, and a power-off that goes back to the right copy.
 */
export class NaiveDisk {
  readonly #writeback: number;
  names: Names = new Map();
  /** All states of the names, with the instant of the operation that made them; the first is durable. */
  #states: { readonly names: Names; readonly at: number; readonly number: number }[];
  #commits: { readonly through: number; readonly durableAt: number }[] = [];
  /** All syncs of any kind: cuts made before one began are durable when it has ended. */
  #began: { readonly began: number; readonly durableAt: number }[] = [];
  #number = 0;
  /** Does the device lie about syncs? */
  #isLying = false;
  /** Names age from then on. */
  #honestSince = 0;

  constructor(writeback: number) {
    this.#writeback = writeback;
    this.#states = [{ names: this.names, at: 0, number: 0 }];
  }

  open(now: number, path: string): NaiveFile {
    const known = this.names.get(path);
    if (known !== undefined) return known;
    const file: NaiveFile = {
      content: new Uint8Array(0),
      dropped: new Map(),
      durable: new Uint8Array(0),
      durableLowest: 0,
      cutAt: undefined,
      syncs: [],
      dirtySince: undefined,
      namedBy: this.#number + 1,
    };
    this.#change(now, new Map([...this.names, [path, file]]));
    return file;
  }

  write(now: number, path: string, position: number, bytes: Uint8Array): void {
    const file = this.open(now, path);
    this.#dirty(now, file);
    if (bytes.length > 0) touch(file, position, position + bytes.length);
    const content = new Uint8Array(Math.max(file.content.length, position + bytes.length));
    content.set(file.content);
    content.set(bytes, position);
    file.content = content;
  }

  truncate(now: number, path: string, size: number): void {
    const file = this.open(now, path);
    if (size === file.content.length) return;
    this.#dirty(now, file);
    if (size < file.content.length) file.cutAt = now;
    touch(file, Math.min(size, file.content.length), Math.max(size, file.content.length));
    file.durableLowest = Math.min(file.durableLowest, size);
    for (const version of file.syncs) version.lowest = Math.min(version.lowest, size);
    const content = new Uint8Array(size);
    content.set(file.content.subarray(0, size));
    file.content = content;
  }

  sync(now: number, path: string, durableAt: number): void {
    const file = this.open(now, path);
    this.#writeBack(now, file);
    if (this.#isLying) return;
    file.syncs.push({ content: platterImage(file), durableAt, lowest: file.content.length });
    this.#began.push({ began: now, durableAt });
    file.dirtySince = undefined;
    this.#commits.push({ through: file.namedBy, durableAt });
  }

  /** The pages that differ from what was last flushed are dropped, and called clean. */
  failSync(now: number, path: string): void {
    const file = this.open(now, path);
    this.#writeBack(now, file);
    const { content } = file;
    const flushed = file.syncs.at(-1)?.content ?? file.durable;
    for (let start = 0; start < content.length; start += PAGE) {
      const page = content.slice(start, start + PAGE);
      if (file.dropped.has(start / PAGE)) continue;
      const before = new Uint8Array(page.length);
      before.set(flushed.slice(start, start + page.length));
      if (before.join() !== page.join()) file.dropped.set(start / PAGE, before);
    }
    this.#settle(file);
  }

  /** The page cache forgets what is clean. */
  evict(): void {
    for (const file of this.names.values()) {
      file.content = platterImage(file);
      file.dropped.clear();
    }
  }

  lie(now: number, isLying: boolean): void {
    for (const { names } of this.#states) {
      for (const file of names.values()) {
        this.#writeBack(now, file);
        if (file.dirtySince !== undefined) file.dirtySince = now;
      }
    }
    this.#age(now);
    this.#isLying = isLying;
    this.#honestSince = now;
  }

  rename(now: number, from: string, to: string): boolean {
    const file = this.names.get(from);
    if (file === undefined) return false;
    if (from === to) return true;
    file.namedBy = this.#number + 1;
    const names = new Map(this.names);
    names.delete(from);
    names.set(to, file);
    this.#change(now, names);
    return true;
  }

  remove(now: number, path: string): void {
    if (!this.names.has(path)) return;
    const names = new Map(this.names);
    names.delete(path);
    this.#change(now, names);
  }

  /** Makes everything up to the last change of a name in the directory durable. */
  syncDirectory(now: number, directory: string, durableAt: number): void {
    if (this.#isLying) return;
    this.#began.push({ began: now, durableAt });
    let last = 0;
    for (const [i, { names, number }] of this.#states.entries()) {
      const previous = this.#states[i - 1];
      if (previous !== undefined && !sameIn(directory, previous.names, names)) last = number;
    }
    this.#commits.push({ through: last, durableAt });
  }

  powerOff(now: number): void {
    this.#age(now);
    this.names = this.#states[0]?.names ?? new Map();
    this.#states = [{ names: this.names, at: 0, number: this.#number }];
    this.#commits = [];
    const ended = this.#began.filter(({ durableAt }) => durableAt <= now);
    const cutsBefore = Math.max(-1, ...ended.map(({ began }) => began));
    this.#began = [];
    for (const file of this.names.values()) {
      this.#writeBack(now, file);
      const version = file.syncs.findLast(({ durableAt }) => durableAt <= now);
      const isCut = file.cutAt !== undefined && file.cutAt <= cutsBefore;
      const lowest = version?.lowest ?? file.durableLowest;
      file.content = version?.content ?? file.durable;
      file.dropped.clear();
      if (isCut) file.content = file.content.slice(0, lowest);
      file.durable = file.content;
      file.durableLowest = file.content.length;
      file.cutAt = undefined;
      file.syncs = [];
      file.dirtySince = undefined;
    }
  }

  #dirty(now: number, file: NaiveFile): void {
    this.#writeBack(now, file);
    file.dirtySince ??= now;
  }

  #writeBack(now: number, file: NaiveFile): void {
    if (file.dirtySince === undefined || now < file.dirtySince + this.#writeback) return;
    if (!this.#isLying) this.#settle(file);
  }

  /** What the page cache calls clean is as durable as it will be. */
  #settle(file: NaiveFile): void {
    file.durable = platterImage(file);
    file.durableLowest = file.content.length;
    file.syncs = [];
    file.dirtySince = undefined;
  }

  /** Forgets the states of the names before the one that is durable. */
  #age(now: number): void {
    const isAging = !this.#isLying && this.#honestSince + this.#writeback <= now;
    const aged = this.#states.filter(({ at }) => isAging && at + this.#writeback <= now);
    const synced = this.#commits.filter(({ durableAt }) => durableAt <= now);
    const through = Math.max(
      this.#states[0]?.number ?? 0,
      ...synced.map((commit) => commit.through),
      ...aged.map(({ number }) => number),
    );
    const durable = this.#states.findLastIndex(({ number }) => number <= through);
    this.#states = this.#states.slice(Math.max(0, durable));
  }

  #change(at: number, names: Names): void {
    this.names = names;
    this.#states.push({ names, at, number: ++this.#number });
  }
}

/** What the platter would hold if all that is dirty were flushed. */
function platterImage({ content, dropped }: NaiveFile): Uint8Array {
  const image = content.slice();
  for (const [page, before] of dropped) image.set(before, page * PAGE);
  return image;
}

/** These bytes are written anew from the page cache, in whole pages. */
function touch({ dropped }: NaiveFile, from: number, to: number): void {
  for (let page = Math.floor(from / PAGE); page * PAGE < to; page++) dropped.delete(page);
}

function sameIn(directory: string, left: Names, right: Names): boolean {
  const inside = (names: Names): string =>
    [...names]
      .filter(([path]) => path.startsWith(`${directory}/`))
      .map(([path, file]) => `${path}=${file.namedBy}`)
      .sort(byText)
      .join();
  return inside(left) === inside(right);
}
