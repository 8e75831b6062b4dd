import type { Offset } from "../kafka/ids.ts";
import type { AbortedTransaction } from "../kafka/log/transaction-index-format.ts";
import {
  ABORTED_TRANSACTION_SIZE,
  decodeAbortedTransaction,
  encodeTransactionIndex,
} from "../kafka/log/transaction-index-format.ts";
import type { Disk, DiskFile } from "../ports/disk.ts";
import { DiskError } from "../ports/disk.ts";

/**
 * A segment's `.txnindex`: the aborted transactions whose markers lie in it, in the order of their markers
 * (Kafka's `TransactionIndex`). There is no file before the first of them.
 */
export class TransactionIndex {
  readonly #disk: Disk;
  /** Where the file is, or would be. */
  #path: string;
  #file: DiskFile | undefined;
  /** Undefined where the file holds what is of no version known. */
  #entries: readonly AbortedTransaction[] | undefined = NOTHING;
  #isDirty = false;

  constructor(disk: Disk, path: string) {
    this.#disk = disk;
    this.#path = path;
    this.#file = disk.exists(path) ? disk.open(path) : undefined;
    if (this.#file !== undefined) this.#entries = entriesOf(this.#file);
  }

  get isEmpty(): boolean {
    return this.#file === undefined || this.#file.size === 0;
  }

  /** The entries; undefined if they cannot be read. */
  entries(): readonly AbortedTransaction[] | undefined {
    if (this.#file === undefined || this.#file.pristine) return this.#entries;
    try {
      return entriesOf(this.#file);
    } catch (problem) {
      // Kafka tells the reader, and does not give the log directory up.
      if (!(problem instanceof DiskError)) throw problem;
      return undefined;
    }
  }

  append(aborted: AbortedTransaction): void {
    this.#file ??= this.#disk.open(this.#path);
    this.#file.write(this.#file.size, encodeTransactionIndex([aborted]));
    this.#isDirty = true;
    if (this.#entries !== undefined) this.#entries = [...this.#entries, aborted];
  }

  /** Drops the transactions whose markers lie at `offset` or above. */
  truncateTo(offset: Offset): void {
    if (this.#file === undefined) return;
    const entries = this.entries() ?? NOTHING;
    const keep = entries.findIndex(({ lastOffset }) => lastOffset >= offset);
    if (keep < 0) return;
    this.#entries = entries.slice(0, keep);
    this.#cut(keep * ABORTED_TRANSACTION_SIZE);
  }

  clear(): void {
    this.#entries = NOTHING;
    if (!this.isEmpty) this.#cut(0);
  }

  /** The segment's files have been given another ending. */
  renamed(path: string): void {
    this.#path = path;
  }

  sync(): void {
    if (this.#isDirty) this.#file?.sync();
    this.#isDirty = false;
  }

  /** Begins the sync of the file, if there is one; `issueTicket` is called for it then. */
  syncLater(issueTicket: () => number): void {
    this.#file?.syncLater(issueTicket());
  }

  #cut(size: number): void {
    this.#file?.truncate(size);
    this.#isDirty = true;
  }
}

/** Undefined if one is of a version that is not known; an entry that is cut short is not looked at. */
function entriesOf(file: DiskFile): readonly AbortedTransaction[] | undefined {
  const bytes = file.read(0, file.size);
  const entries: AbortedTransaction[] = [];
  for (let at = 0; at + ABORTED_TRANSACTION_SIZE <= bytes.length; at += ABORTED_TRANSACTION_SIZE) {
    const entry = decodeAbortedTransaction(bytes, at);
    if (entry === undefined) return undefined;
    entries.push(entry);
  }
  return entries;
}

const NOTHING: readonly AbortedTransaction[] = [];

/** What a search in the indexes of a log's segments found. */
export interface AbortedSearch {
  readonly aborted: readonly AbortedTransaction[];
  /** Can no later segment hold more? */
  readonly isComplete: boolean;
}

/**
 * The transactions of one index that overlap [from, to). A later index holds none once all that
 * began before `to` is known to have ended (`TransactionIndex.collectAbortedTxns`).
 */
export function searchAborted(
  entries: readonly AbortedTransaction[],
  from: Offset,
  to: Offset,
): AbortedSearch {
  const aborted: AbortedTransaction[] = [];
  for (const entry of entries) {
    if (entry.lastOffset >= from && entry.firstOffset < to) aborted.push(entry);
    if (entry.lastStableOffset >= to) return { aborted, isComplete: true };
  }
  return { aborted, isComplete: false };
}
