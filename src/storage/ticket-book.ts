import { fail } from "../base/invariant.ts";

/** Hears how an fsync that it began has ended; `ok` is false if the disk reported an error. */
export interface SyncWaiter {
  synced(ok: boolean): void;
}

/**
 * Who waits for which `syncLater` of one incarnation: all parts of a node that begin fsyncs take
 * their tickets from one book, and the node passes its `onSynced` on to it.
 */
export class TicketBook {
  readonly #waiting = new Map<number, SyncWaiter>();
  #next = 0;

  /** A new ticket for `DiskFile.syncLater`. */
  issue(waiter: SyncWaiter): number {
    const ticket = this.#next++;
    this.#waiting.set(ticket, waiter);
    return ticket;
  }

  /** To be called from the node's `onSynced`. */
  synced(ticket: number, ok: boolean): void {
    const waiter = this.#waiting.get(ticket);
    if (waiter === undefined) fail(`no one waits for sync ticket ${ticket}`);
    this.#waiting.delete(ticket);
    waiter.synced(ok);
  }
}
