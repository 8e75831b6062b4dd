import { byText } from "../../../src/base/order.ts";

/** What a file held when a sync of it began. */
interface Version {
  readonly content: Uint8Array;
  readonly durableAt: number;
  /** The smallest size that the file had since. */
  lowest: number;
}

interface NaiveFile {
  content: Uint8Array;
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

  constructor(writeback: number) {
    this.#writeback = writeback;
    this.#states = [{ names: this.names, at: 0, number: 0 }];
  }

  open(now: number, path: string): NaiveFile {
    const known = this.names.get(path);
    if (known !== undefined) return known;
    const file: NaiveFile = {
      content: new Uint8Array(0),
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
    file.durableLowest = Math.min(file.durableLowest, size);
    for (const version of file.syncs) version.lowest = Math.min(version.lowest, size);
    const content = new Uint8Array(size);
    content.set(file.content.subarray(0, size));
    file.content = content;
  }

  sync(now: number, path: string, durableAt: number): void {
    const file = this.open(now, path);
    this.#writeBack(now, file);
    file.syncs.push({ content: file.content.slice(), durableAt, lowest: file.content.length });
    this.#began.push({ began: now, durableAt });
    file.dirtySince = undefined;
    this.#commits.push({ through: file.namedBy, durableAt });
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
    this.#began.push({ began: now, durableAt });
    let last = 0;
    for (const [i, { names, number }] of this.#states.entries()) {
      const previous = this.#states[i - 1];
      if (previous !== undefined && !sameIn(directory, previous.names, names)) last = number;
    }
    this.#commits.push({ through: last, durableAt });
  }

  powerOff(now: number): void {
    const through = Math.max(
      this.#states[0]?.number ?? 0,
      ...this.#commits.filter(({ durableAt }) => durableAt <= now).map((commit) => commit.through),
      ...this.#states.filter(({ at }) => at + this.#writeback <= now).map(({ number }) => number),
    );
    this.names = this.#states.findLast(({ number }) => number <= through)?.names ?? new Map();
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
    file.durable = file.content.slice();
    file.durableLowest = file.content.length;
    file.syncs = [];
    file.dirtySince = undefined;
  }

  #change(at: number, names: Names): void {
    this.names = names;
    this.#states.push({ names, at, number: ++this.#number });
  }
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
