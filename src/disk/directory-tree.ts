import { fail, invariant } from "../base/invariant.ts";
import { byText } from "../base/order.ts";
import type { Instant } from "../base/time.ts";
import { DiskError } from "../ports/disk.ts";
import { CachedFile } from "./cached-file.ts";
import type { JournalMode } from "./disk-options.ts";
import type { WriteBack } from "./write-back.ts";

type Entry = Directory | CachedFile;

class Directory {
  readonly entries = new Map<string, Entry>();
  /** The numbers of the last operations that named it, and that changed a name in it. */
  namedBy = 0;
  changedBy = 0;
}

interface Edit {
  readonly directory: Directory;
  readonly name: string;
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
}

interface Operation {
  readonly number: number;
  /** When the step that does it gets there: it may still be waiting for a sync before. */
  readonly at: Instant;
  readonly edits: readonly Edit[];
  /** Data that is durable once the operation is. */
  readonly data: { durableAt: Instant } | undefined;
}

interface Sync {
  readonly began: Instant;
  readonly durableAt: Instant;
}

interface Commit {
  readonly through: number;
  readonly durableAt: Instant;
}

/**
 * The names on a disk, and a journal of the operations on them that are not yet durable. The
 * journal is ordered, as that of ext4 is: an operation is durable only if all before it are, so
 * what a power-off leaves is a state that the tree once had. Syncing a file makes the operation
 * that named it durable, and so all before that; syncing a directory, the last one in it.
 *
 * A step does all its operations within one event, but what it does after a sync happens only when
 * that has ended. So each comes with its instant, `at`, which may lie after `now`; a power-off before
 * it finds the operation not done.
 *
 * Data is no part of the journal. In the mode `ordered` it goes to its place before the operation that
 * gives a file its name is durable; in the mode `writeback` it may come later, or be lost.
 *
 * Simplified: ext4 commits its whole journal every 5 s, and with every fsync. Here an operation
 * that no sync asked for waits for the age of write-back: the least that POSIX promises.
 */
export class DirectoryTree {
  readonly #root = new Directory();
  readonly #writeBack: WriteBack;
  readonly #isOrdered: boolean;
  /** Oldest first. */
  #journal: Operation[] = [];
  #commits: Commit[] = [];
  #lastNumber = 0;
  /** Syncs under way, oldest first, and when the last that has ended began. */
  #syncs: Sync[] = [];
  #lastEndedBegan: Instant = -1;

  constructor(writeBack: WriteBack, journal: JournalMode) {
    this.#writeBack = writeBack;
    this.#isOrdered = journal === "ordered";
  }

  exists(path: string): boolean {
    return this.#find(path) !== undefined;
  }

  /** The file at `path`, which is created, with its directories, if absent. */
  openFile(now: Instant, at: Instant, path: string): CachedFile {
    const { parent, name } = this.#place(now, at, path);
    const entry = parent.entries.get(name);
    if (entry instanceof CachedFile) return entry;
    if (entry !== undefined) fail(`${path} was opened as a file but is a directory`);
    const file = new CachedFile(path, this.#writeBack);
    this.#log(now, at, [this.#link(parent, name, file)]);
    return file;
  }

  makeDirectory(now: Instant, at: Instant, path: string): void {
    const { parent, name } = this.#place(now, at, path);
    this.#subdirectory(now, at, parent, name, path);
  }

  /** In code-unit order; empty if there is no such directory. */
  list(path: string): string[] {
    const entry = this.#find(path);
    return entry instanceof Directory ? [...entry.entries.keys()].sort(byText) : [];
  }

  /** Throws `DiskError` ENOENT if there is no `from`, or no directory for `to`. */
  rename(now: Instant, at: Instant, from: string, to: string): void {
    const source = this.#parentOf(from);
    const moved = source?.parent.entries.get(source.name);
    if (source === undefined || moved === undefined) throw new DiskError("ENOENT", from);
    const target = this.#parentOf(to);
    if (target === undefined) throw new DiskError("ENOENT", to);
    if (from === to) return;
    invariant(!to.startsWith(`${from}/`), () => `${from} was moved into itself: ${to}`);
    const replaced = target.parent.entries.get(target.name);
    if (replaced !== undefined) {
      const fits =
        replaced instanceof Directory
          ? moved instanceof Directory && replaced.entries.size === 0
          : moved instanceof CachedFile;
      invariant(fits, () => `${from} cannot replace ${to}`);
    }
    const data = this.#isOrdered && moved instanceof CachedFile ? moved.tie(now) : undefined;
    const edits = [
      this.#unlink(source.parent, source.name),
      this.#link(target.parent, target.name, moved),
    ];
    this.#log(now, at, edits, data);
    setPaths(moved, to);
  }

  /** A directory goes with all that is in it. Simplified: in one operation, not file by file. */
  remove(now: Instant, at: Instant, path: string): void {
    const place = this.#parentOf(path);
    if (place?.parent.entries.has(place.name) !== true) return;
    this.#log(now, at, [this.#unlink(place.parent, place.name)]);
  }

  /** Removes everything at once and for good, as no operation can; returns the files. */
  wipe(path: string | undefined): CachedFile[] {
    const wiped = this.files().filter((file) => {
      return path === undefined || file.path.startsWith(`${path}/`);
    });
    if (path === undefined) {
      this.#root.entries.clear();
      this.#journal = [];
      this.#commits = [];
    } else {
      const place = this.#parentOf(path);
      place?.parent.entries.delete(place.name);
    }
    return wiped;
  }

  /** Makes the operations that named `file`, and those before, durable at `durableAt`. */
  syncFile(now: Instant, began: Instant, file: CachedFile, durableAt: Instant): void {
    this.#began(now, began, durableAt);
    this.#commit(now, file.namedBy, durableAt);
  }

  /**
   * Cuts of files before this instant are durable: it is when the last sync of any kind began that has
   * ended by `now`. A cut is in the journal of ext4 and XFS as names are, and goes there with the rest.
   */
  cutsDurableBefore(now: Instant): Instant {
    this.#syncs = this.#syncs.filter(({ began, durableAt }) => {
      if (durableAt > now) return true;
      if (began > this.#lastEndedBegan) this.#lastEndedBegan = began;
      return false;
    });
    return this.#lastEndedBegan;
  }

  /** Throws `DiskError` ENOENT if there is no such directory. */
  syncDirectory(now: Instant, began: Instant, path: string, durableAt: Instant): void {
    const entry = this.#find(path);
    if (!(entry instanceof Directory)) throw new DiskError("ENOENT", path);
    this.#began(now, began, durableAt);
    this.#commit(now, Math.max(entry.namedBy, entry.changedBy), durableAt);
  }

  /** All files, in the order of their paths. */
  files(): CachedFile[] {
    const files: CachedFile[] = [];
    collectFiles(this.#root, files);
    return files.sort((left, right) => byText(left.path, right.path));
  }

  /** Files of which an operation that is not durable at this instant made the name, or that of a directory above. */
  unnamed(now: Instant): CachedFile[] {
    this.#settle(now);
    const found: CachedFile[] = [];
    for (const { edits } of this.#journal) {
      for (const { after } of edits) {
        if (after instanceof CachedFile) found.push(after);
        else if (after !== undefined) collectFiles(after, found);
      }
    }
    return found;
  }

  /** Those, and the ones without a name to which a power-off can give theirs back; in no order. */
  everyFile(): Iterable<CachedFile> {
    const files = this.files();
    for (const { edits } of this.#journal) {
      for (const { before } of edits) {
        if (before instanceof CachedFile) files.push(before);
        else if (before !== undefined) collectFiles(before, files);
      }
    }
    return new Set(files);
  }

  /** How many operations are not durable at this instant, of those that have happened. */
  pending(now: Instant): number {
    this.#settle(now);
    return this.#journal.reduce((count, { at }) => (at <= now ? count + 1 : count), 0);
  }

  /**
   * Undoes what has not happened yet, and the operations that are not durable but for the oldest
   * `kept`; what is left is durable.
   */
  rollBack(now: Instant, kept: number): void {
    for (const operation of [...this.#journal].reverse()) {
      if (operation.at > now) undo(operation);
    }
    const happened = this.#journal.filter(({ at }) => at <= now);
    for (const { data } of happened.slice(0, kept)) if (data !== undefined) data.durableAt = now;
    for (const operation of happened.slice(kept).reverse()) undo(operation);
    this.#journal = [];
    this.#commits = [];
    this.#syncs = [];
    this.#lastEndedBegan = -1;
    setPaths(this.#root, "");
  }

  #find(path: string): Entry | undefined {
    let entry: Entry | undefined = this.#root;
    if (path === "") return entry;
    for (const name of path.split("/")) {
      if (!(entry instanceof Directory)) return undefined;
      entry = entry.entries.get(name);
    }
    return entry;
  }

  #parentOf(path: string): { readonly parent: Directory; readonly name: string } | undefined {
    const slash = path.lastIndexOf("/");
    const parent = this.#find(slash < 0 ? "" : path.slice(0, slash));
    return parent instanceof Directory ? { parent, name: path.slice(slash + 1) } : undefined;
  }

  /** The directory that is to hold `path`, created if absent. */
  #place(
    now: Instant,
    at: Instant,
    path: string,
  ): { readonly parent: Directory; readonly name: string } {
    const known = this.#parentOf(path);
    if (known !== undefined) return known;
    const names = path.split("/");
    const name = names.pop() ?? "";
    let parent = this.#root;
    for (const directory of names) parent = this.#subdirectory(now, at, parent, directory, path);
    return { parent, name };
  }

  #subdirectory(
    now: Instant,
    at: Instant,
    parent: Directory,
    name: string,
    path: string,
  ): Directory {
    const entry = parent.entries.get(name);
    if (entry instanceof Directory) return entry;
    if (entry !== undefined) fail(`${name} in ${path} was used as a directory but is a file`);
    const made = new Directory();
    this.#log(now, at, [this.#link(parent, name, made)]);
    return made;
  }

  /** The next operation's link of an entry to a name. */
  #link(directory: Directory, name: string, entry: Entry): Edit {
    const edit = { directory, name, before: directory.entries.get(name), after: entry };
    directory.entries.set(name, entry);
    directory.changedBy = this.#lastNumber + 1;
    entry.namedBy = this.#lastNumber + 1;
    return edit;
  }

  #unlink(directory: Directory, name: string): Edit {
    const edit = { directory, name, before: directory.entries.get(name), after: undefined };
    directory.entries.delete(name);
    directory.changedBy = this.#lastNumber + 1;
    return edit;
  }

  #log(now: Instant, at: Instant, edits: readonly Edit[], data?: { durableAt: Instant }): void {
    this.#settle(now);
    this.#journal.push({ number: ++this.#lastNumber, at, edits, data });
  }

  #began(now: Instant, began: Instant, durableAt: Instant): void {
    if (this.#syncs.length > 0) this.cutsDurableBefore(now);
    this.#syncs.push({ began, durableAt });
  }

  #commit(now: Instant, through: number, durableAt: Instant): void {
    this.#settle(now);
    const oldest = this.#journal[0];
    if (oldest !== undefined && oldest.number <= through)
      this.#commits.push({ through, durableAt });
  }

  /** Forgets how to undo what has become durable by now. */
  #settle(now: Instant): void {
    if (this.#journal.length === 0) return;
    let through = 0;
    for (const commit of this.#commits) {
      if (commit.durableAt <= now) through = Math.max(through, commit.through);
    }
    const { age, honestSince } = this.#writeBack;
    const aged = honestSince > now - age ? Number.NEGATIVE_INFINITY : now - age;
    let looked = 0;
    let durable = 0;
    const yetToCome: Operation[] = [];
    for (const operation of this.#journal) {
      if (operation.at > now) {
        yetToCome.push(operation);
      } else {
        if (operation.number > through && operation.at > aged) break;
        if (operation.data !== undefined) operation.data.durableAt = now;
        durable++;
        through = Math.max(through, operation.number);
      }
      looked++;
    }
    if (durable === 0) return;
    this.#journal.splice(0, looked, ...yetToCome);
    this.#commits = this.#commits.filter((commit) => commit.through > through);
  }
}

/** Where nothing has happened to the name since. */
function undo({ edits }: Operation): void {
  for (const { directory, name, before, after } of edits) {
    if (directory.entries.get(name) !== after) continue;
    if (before === undefined) directory.entries.delete(name);
    else directory.entries.set(name, before);
  }
}

function collectFiles(directory: Directory, files: CachedFile[]): void {
  for (const entry of directory.entries.values()) {
    if (entry instanceof Directory) collectFiles(entry, files);
    else files.push(entry);
  }
}

function setPaths(entry: Entry, path: string): void {
  if (entry instanceof CachedFile) {
    entry.path = path;
    return;
  }
  const prefix = path === "" ? "" : `${path}/`;
  for (const [name, child] of entry.entries) setPaths(child, prefix + name);
}
