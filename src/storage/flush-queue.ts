import type { Offset } from "../kafka/ids.ts";
import type { Disk, DiskFile } from "../ports/disk.ts";
import { DiskError } from "../ports/disk.ts";
import type { Segment } from "./segment.ts";
import type { SyncWaiter, TicketBook } from "./ticket-book.ts";

/** The log that is flushed. */
export interface FlushedLog {
  readonly directory: string;
  /** The segments that hold something from the recovery point up to `upTo`, ascending. */
  segmentsToFlush(upTo: Offset): readonly Segment[];
  /** Everything below is durable. */
  flushed(upTo: Offset): void;
}

/**
 * The flushes that rolls of one log have begun. They go through its segments one after the other, so that
 * none is durable before an earlier one by its own doing: the recovery point must not pass over what is
 * not, and what an fsync has kept must not stand behind a gap (`LocalLog.flush`, which each of Kafka's
 * background tasks runs from the recovery point on).
 */
export class FlushQueue {
  readonly #disk: Disk;
  readonly #log: FlushedLog;
  readonly #tickets: TicketBook;
  readonly #flushes: Flush[] = [];
  #isClosed = false;

  constructor(disk: Disk, tickets: TicketBook, log: FlushedLog) {
    this.#disk = disk;
    this.#tickets = tickets;
    this.#log = log;
  }

  /** Begins to flush what lies below `upTo`, and the snapshot written with the roll. */
  begin(upTo: Offset, snapshot: DiskFile | undefined): void {
    const flush = new Flush(upTo, (ok) => {
      this.#settle(ok);
    });
    this.#flushes.push(flush);
    if (snapshot !== undefined) snapshot.syncLater(this.#issueTicket(flush));
    if (this.#flushes.length === 1) this.#advance();
  }

  /** The log was cut to `offset`: nothing beyond is worth having been flushed. */
  cutTo(offset: Offset): void {
    for (const flush of this.#flushes) flush.upTo = Math.min(flush.upTo, offset);
  }

  /** What is under way changes nothing more. */
  close(): void {
    this.#isClosed = true;
  }

  #settle(ok: boolean): void {
    if (this.#isClosed) return;
    if (!ok) throw new DiskError("EIO", this.#log.directory);
    this.#advance();
  }

  /** Goes on with the first flush, and with the next if that is done. */
  #advance(): void {
    for (let first = this.#flushes[0]; first?.filesLeft === 0; first = this.#flushes[0]) {
      const { syncedBase, upTo } = first;
      // Asked anew each time: segments may have been cut off or replaced meanwhile.
      const left = this.#log.segmentsToFlush(upTo);
      const next = left.find(({ baseOffset }) => baseOffset > syncedBase);
      if (next === undefined) this.#finish(first);
      else this.#sync(next, first);
    }
  }

  #sync(segment: Segment, flush: Flush): void {
    flush.syncedBase = segment.baseOffset;
    segment.syncLater(() => this.#issueTicket(flush));
  }

  #finish({ upTo }: Flush): void {
    this.#flushes.shift();
    this.#disk.syncDirectory(this.#log.directory);
    this.#log.flushed(upTo);
  }

  #issueTicket(flush: Flush): number {
    flush.filesLeft++;
    return this.#tickets.issue(flush);
  }
}

class Flush implements SyncWaiter {
  upTo: Offset;
  /** Files whose syncs are under way. */
  filesLeft = 0;
  /** Of the segment whose sync was begun last. */
  syncedBase: Offset = -1;
  readonly #onSynced: (ok: boolean) => void;

  constructor(upTo: Offset, onSynced: (ok: boolean) => void) {
    this.upTo = upTo;
    this.#onSynced = onSynced;
  }

  synced(ok: boolean): void {
    this.filesLeft--;
    this.#onSynced(ok);
  }
}
