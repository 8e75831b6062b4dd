import { formatEpochCheckpoint, parseEpochCheckpoint } from "../kafka/log/checkpoint-format.ts";
import type { EpochEntry } from "../kafka/log/leader-epoch-cache.ts";
import type { Disk } from "../ports/disk.ts";
import { DiskError } from "../ports/disk.ts";
import { moveIntoPlace, readText, replaceFile, writeTemporary } from "./text-file.ts";
import type { TicketBook } from "./ticket-book.ts";

/**
 * The file `leader-epoch-checkpoint` of one log. A new epoch is durable before the log goes on; what
 * a truncation leaves is written in the background, since loading cuts stale entries anyway.
 */
export class EpochCheckpoint {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #tickets: TicketBook;
  /** Counts writes: a background write that another one overtook does nothing more. */
  #writes = 0;

  constructor(disk: Disk, directory: string, tickets: TicketBook) {
    this.#disk = disk;
    this.#path = `${directory}/leader-epoch-checkpoint`;
    this.#tickets = tickets;
  }

  /** Throws `DiskError` if the file is malformed: Kafka then takes the log directory offline. */
  read(): readonly EpochEntry[] {
    const text = readText(this.#disk, this.#path);
    if (text === undefined) return [];
    const entries = parseEpochCheckpoint(text);
    if (entries === undefined) throw new DiskError("EIO", this.#path);
    return entries;
  }

  /** Durable on return. */
  write(entries: readonly EpochEntry[]): void {
    this.#writes++;
    replaceFile(this.#disk, this.#path, formatEpochCheckpoint(entries));
  }

  /** Replaces the file once the new content is synced. */
  writeLater(entries: readonly EpochEntry[]): void {
    const file = writeTemporary(this.#disk, this.#path, formatEpochCheckpoint(entries));
    const write = ++this.#writes;
    const ticket = this.#tickets.issue({
      synced: (ok) => {
        if (write !== this.#writes) return;
        if (!ok) throw new DiskError("EIO", this.#path);
        moveIntoPlace(this.#disk, this.#path);
      },
    });
    file.syncLater(ticket);
  }

  /** Leaves the file as it is: its log is closed. */
  close(): void {
    this.#writes++;
  }
}
