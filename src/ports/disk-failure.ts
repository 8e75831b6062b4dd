import type { Offset, PartitionName } from "../kafka/ids.ts";
import type { Ratio } from "./random.ts";

/** Kinds of files in a log directory, by what they are for; `any` is each of them. */
export const DISK_FILES: readonly DiskFileKind[] = [
  "any",
  "log",
  "index",
  "timeindex",
  "txnindex",
  "snapshot",
  "checkpoint",
];
export type DiskFileKind =
  | "any"
  | "log"
  | "index"
  | "timeindex"
  | "txnindex"
  | "snapshot"
  | "checkpoint";

/** Some files of one disk: those that fit all that is given. */
export interface DiskArea {
  /** Only in the directory of this partition. */
  readonly log: PartitionName | undefined;
  readonly file: DiskFileKind;
  /** Only in this log directory. */
  readonly directory: string | undefined;
}

/** Everything on a disk. */
export const WHOLE_DISK: DiskArea = { log: undefined, file: "any", directory: undefined };

/**
 * Calls of a disk that go wrong:
 *
 * - `read-error`: a read that the page cache cannot answer gets EIO;
 * - `write-error`: a write, a cut or a change of names gets EIO;
 * - `fsync-error`: an fsync gets EIO, and the pages that it was to write are called clean all the
 *   same: the next fsync finds nothing to do, and they are gone with the page cache;
 * - `misdirected-read`: a read that the page cache cannot answer gets another page of the area;
 * - `misdirected-write`: a page that is flushed is written over another one of the area.
 */
export type FailingCall =
  | "read-error"
  | "write-error"
  | "fsync-error"
  | "misdirected-read"
  | "misdirected-write";

export interface DiskFailure {
  readonly kind: FailingCall;
  readonly area: DiskArea;
  /** With which probability a call fails. */
  readonly chance: Ratio;
  /** After so many failures it is over. */
  readonly count: number;
  /** Does the page cache forget the area first, but for what is dirty? */
  readonly evict: boolean;
}

/** Bits that flip in what the platter holds. Pages in the page cache are not touched. */
export interface BitRot {
  readonly area: DiskArea;
  /** How many bits, each anywhere in what is durable of the area. */
  readonly bits: number;
  /** Only in batches with one of these offsets: in the `.log` files. */
  readonly offsets: OffsetRange | undefined;
  readonly evict: boolean;
}

/** The offsets [from, to). */
export interface OffsetRange {
  readonly from: Offset;
  readonly to: Offset;
}
