import type { Offset } from "../kafka/ids.ts";
import type { Disk, DiskFile } from "../ports/disk.ts";
import { DiskError } from "../ports/disk.ts";
import type { Segment } from "./segment.ts";
import type { SyncWaiter, TicketBook } from "./ticket-book.ts";

/**
 * The flushes that rolls of one log have begun, in order. One counts when its files are durable and
 * all before it count: the recovery point must not pass over what is not.
 */
export class FlushQueue {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #tickets: TicketBook;
  readonly #onFlushed: (upTo: Offset) => void;
  readonly #flushes: Flush[] = [];
  #isClosed = false;

  constructor(
    disk: Disk,
    directory: string,
    tickets: TicketBook,
    onFlushed: (upTo: Offset) => void,
  ) {
    this.#disk = disk;
    this.#directory = directory;
    this.#tickets = tickets;
    this.#onFlushed = onFlushed;
  }

  /** Where the last flush under way ends; 0 if there is none. */
  get lastUpTo(): Offset {
    return this.#flushes.at(-1)?.upTo ?? 0;
  }

  /** Begins to flush closed segments, which end at `upTo`, and the snapshot written with the roll. */
  begin(upTo: Offset, segments: readonly Segment[], snapshot: DiskFile | undefined): void {
    const flush = new Flush(upTo, (ok) => {
      this.#settle(ok);
    });
    this.#flushes.push(flush);
    const issueTicket = (): number => {
      flush.filesLeft++;
      return this.#tickets.issue(flush);
    };
    for (const segment of segments) segment.syncLater(issueTicket);
    snapshot?.syncLater(issueTicket());
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
    if (!ok) throw new DiskError("EIO", this.#directory);
    for (let first = this.#flushes[0]; first?.filesLeft === 0; first = this.#flushes[0]) {
      this.#flushes.shift();
      this.#disk.syncDirectory(this.#directory);
      this.#onFlushed(first.upTo);
    }
  }
}

class Flush implements SyncWaiter {
  upTo: Offset;
  filesLeft = 0;
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
