import type { Duration } from "../base/time.ts";
import { MICROSECOND, MILLISECOND, SECOND } from "../base/time.ts";
import type { DurationSource } from "../ports/random.ts";
import { Distribution } from "../sim/distribution.ts";

/** How fast a disk is, and what its operating system does by itself. */
export interface DiskOptions {
  /** The latency of a write into the page cache, and of a change of names. */
  readonly write: DurationSource;
  /** The latency of a read from the page cache. */
  readonly read: DurationSource;
  /** The latency of an fsync, the transfer of its bytes not included. */
  readonly fsync: DurationSource;
  /** Bytes a second that a flush writes. */
  readonly bandwidth: number;
  /** The age at which the system writes back what is dirty. */
  readonly writeback: Duration;
  /** Bytes that the device writes whole: a torn page is cut at a multiple of it. */
  readonly sector: number;
  readonly journal: JournalMode;
}

/**
 * What a name or a size that is durable says of data: `ordered`, that it is on the platter too; or
 * `writeback`, nothing: it may be zeros or garbage (ext4's `data=`).
 */
export type JournalMode = "ordered" | "writeback";

/**
 * A network-attached SSD of a cloud. A call into the page cache is a system call and a small copy,
 * and costs the same each time, so that the hot path draws nothing; an fsync waits for the device,
 * with a long tail; 250 MB/s is what such volumes give without paying for more; 30 s is Linux's
 * `dirty_expire_centisecs`; 512 bytes is the sector that a device promises to write whole; and of data
 * that nobody synced POSIX promises nothing, which is the mode `writeback`.
 */
export const DEFAULT_DISK: DiskOptions = {
  write: Distribution.fixed(5 * MICROSECOND),
  read: Distribution.fixed(5 * MICROSECOND),
  fsync: Distribution.lognormal(2 * MILLISECOND, 20 * MILLISECOND),
  bandwidth: 250_000_000,
  writeback: 30 * SECOND,
  sector: 512,
  journal: "writeback",
};
