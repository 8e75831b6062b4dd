/** What a disk can answer instead of doing its work. Names are those of POSIX. */
export type DiskErrorCode = "EIO" | "ENOSPC" | "EROFS" | "ENOENT";

/** A failed disk operation, thrown by every call of `Disk` and `DiskFile` that can meet one. */
export class DiskError extends Error {
  override readonly name = "DiskError";
  readonly code: DiskErrorCode;
  readonly path: string;

  constructor(code: DiskErrorCode, path: string) {
    super(`${code}: ${path}`);
    this.code = code;
    this.path = path;
  }
}

/** The bytes[start, end) of an array that must never change from now on. */
export interface ByteRange {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/**
 * An open file, through the page cache. Writes are seen by reads at once, and reach the platter
 * when synced, when the system writes them back, or never. Each call charges its latency to the
 * step that made it: frames sent later in the step depart that much later.
 */
export interface DiskFile {
  readonly path: string;
  /** Length in bytes. */
  readonly size: number;
  /**
   * True while reads are known to return exactly what was written since the file was opened or
   * created in this incarnation; a reader may then use what it remembers of its own writes. A
   * fault that touches the file makes it false for good.
   */
  readonly pristine: boolean;
  /** Writes bytes[start, end) at `position`, extending the file (a gap reads as zeros). */
  write(position: number, bytes: Uint8Array, start?: number, end?: number): void;
  /**
   * As `write`, of bytes that nobody will ever change again: the file may keep them instead of a copy,
   * so that all replicas of a batch are one array. For what is appended; other stretches are copied.
   */
  writeShared(position: number, bytes: Uint8Array, start?: number, end?: number): void;
  /** A copy of up to `length` bytes at `position`; shorter at the end of the file. */
  read(position: number, length: number): Uint8Array;
  /**
   * As `read`, in one call for any length, without copying what was written with `writeShared`: in
   * order, in pieces that nobody may change. Unless a fault has touched the file, what was written
   * with one `writeShared` lies in one piece, which may hold its neighbours too.
   */
  readShared(position: number, length: number): readonly ByteRange[];
  /** Cuts the file to `size`, or extends it with zeros (as preallocation does). */
  truncate(size: number): void;
  /** Waits, within this step, until data and size are durable: fsync. */
  sync(): void;
  /** Begins an fsync and returns at once; `onSynced(ticket, ok)` follows. */
  syncLater(ticket: number): void;
}

/** One node's file systems, path by path; `/` separates, no leading slash, no `.` or `..`. */
export interface Disk {
  exists(path: string): boolean;
  /** Opens for reading and writing, creating the file (and its directories) if absent. */
  open(path: string): DiskFile;
  /** Names directly inside a directory, in code-unit order; empty if there is none. */
  list(directory: string): string[];
  /** Atomically replaces `to`. Works for files and directories. Durable only after `syncDirectory`. */
  rename(from: string, to: string): void;
  /** Removes a file, or a directory with all in it. Absent paths are ignored. */
  remove(path: string): void;
  makeDirectory(path: string): void;
  /** Makes creations, renames and removals inside the directory durable. */
  syncDirectory(directory: string): void;
}
