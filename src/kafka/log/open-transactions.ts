import type { Offset } from "../ids.ts";

/** The end of a producer's transaction in one partition (Kafka's `CompletedTxn`). */
export interface CompletedTransaction {
  readonly producerId: number;
  /** Of its first record. */
  readonly firstOffset: Offset;
  /** Of its marker. */
  readonly lastOffset: Offset;
  readonly isAborted: boolean;
}

/** A producer's transaction in one partition (Kafka's `TxnMetadata`). */
interface Transaction {
  readonly producerId: number;
  readonly firstOffset: Offset;
  /** Of its marker; undefined while it is open. */
  lastOffset: Offset | undefined;
}

/**
 * The transactions that keep a partition's last stable offset back: those that are open, and those whose
 * marker may not be replicated yet (the transactional half of Kafka's `ProducerStateManager`).
 */
export class OpenTransactions {
  /** Both ascending by first offset. */
  readonly #ongoing: Transaction[] = [];
  readonly #unreplicated: Transaction[] = [];
  #firstUnstable: Offset = NONE_UNSTABLE;

  get isEmpty(): boolean {
    return this.#ongoing.length === 0 && this.#unreplicated.length === 0;
  }

  get hasUnreplicated(): boolean {
    return this.#unreplicated.length > 0;
  }

  /** Where the first transaction begins that is open or not replicated; infinite if there is none. */
  get firstUnstableOffset(): Offset {
    return this.#firstUnstable;
  }

  /** Where the first open transaction begins; infinite if there is none. */
  get firstUndecidedOffset(): Offset {
    return this.#ongoing[0]?.firstOffset ?? NONE_UNSTABLE;
  }

  begin(producerId: number, firstOffset: Offset): void {
    insert(this.#ongoing, { producerId, firstOffset, lastOffset: undefined });
    this.#findFirst();
  }

  /**
   * A marker is in the log. Returns the last stable offset as the index of aborted transactions keeps it:
   * where the next open transaction of another producer begins, or the log ends.
   */
  complete({ producerId, firstOffset, lastOffset }: CompletedTransaction): Offset {
    const ongoing = this.#ongoing;
    const isIt = (one: Transaction): boolean =>
      one.firstOffset === firstOffset && one.producerId === producerId;
    const next = ongoing.find((one) => one.producerId !== producerId);
    const at = ongoing.findIndex(isIt);
    if (at >= 0) {
      ongoing.splice(at, 1);
      insert(this.#unreplicated, { producerId, firstOffset, lastOffset });
      this.#findFirst();
    }
    return next?.firstOffset ?? lastOffset + 1;
  }

  /** Forgets the ended transactions whose markers lie below `offset`: the high watermark or the log's start. */
  settleBelow(offset: Offset): void {
    const unreplicated = this.#unreplicated;
    if (unreplicated.length === 0) return;
    let kept = 0;
    for (const one of unreplicated) {
      if (one.lastOffset !== undefined && one.lastOffset < offset) continue;
      unreplicated[kept++] = one;
    }
    if (kept === unreplicated.length) return;
    unreplicated.length = kept;
    this.#findFirst();
  }

  clear(): void {
    this.#ongoing.length = 0;
    this.#unreplicated.length = 0;
    this.#firstUnstable = NONE_UNSTABLE;
  }

  #findFirst(): void {
    const unreplicated = this.#unreplicated[0]?.firstOffset ?? NONE_UNSTABLE;
    this.#firstUnstable = Math.min(this.firstUndecidedOffset, unreplicated);
  }
}

const NONE_UNSTABLE: Offset = Number.POSITIVE_INFINITY;

/** Nearly always at the end: what begins lies behind what began. */
function insert(transactions: Transaction[], added: Transaction): void {
  let at = transactions.length;
  while (at > 0 && (transactions[at - 1] as Transaction).firstOffset > added.firstOffset) at--;
  transactions.splice(at, 0, added);
}
