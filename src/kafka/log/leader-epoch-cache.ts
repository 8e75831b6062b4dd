import type { LeaderEpoch, Offset } from "../ids.ts";

export const UNDEFINED_EPOCH: LeaderEpoch = -1;
export const UNDEFINED_EPOCH_OFFSET: Offset = -1;

/** A leader epoch and the offset of its first record. */
export interface EpochEntry {
  readonly epoch: LeaderEpoch;
  readonly startOffset: Offset;
}

/** Where an epoch ends; both UNDEFINED (-1) if it cannot be told. */
export interface EpochEnd {
  readonly epoch: LeaderEpoch;
  readonly endOffset: Offset;
}

const UNDEFINED_END: EpochEnd = { epoch: UNDEFINED_EPOCH, endOffset: UNDEFINED_EPOCH_OFFSET };

/**
 * Which leader epoch began at which offset, in the order of both (Kafka's `LeaderEpochFileCache`,
 * KIP-101). Methods that change it tell whether they did; the owner then writes the checkpoint.
 */
export class LeaderEpochCache {
  #entries: EpochEntry[];
  #lastEnd: EpochEnd = UNDEFINED_END;

  constructor(entries: readonly EpochEntry[] = []) {
    this.#entries = [];
    for (const entry of entries) this.assign(entry.epoch, entry.startOffset);
  }

  /** Ascending; not to be changed. */
  get entries(): readonly EpochEntry[] {
    return this.#entries;
  }

  get latestEpoch(): LeaderEpoch | undefined {
    return last(this.#entries)?.epoch;
  }

  /**
   * Notes that `epoch` begins at `startOffset`, unless it is the latest and began no later. Entries
   * that conflict, of the same or a later epoch or offset, are dropped first.
   */
  assign(epoch: LeaderEpoch, startOffset: Offset): boolean {
    const entries = this.#entries;
    const latest = last(entries);
    if (latest !== undefined && latest.epoch === epoch && startOffset >= latest.startOffset) {
      return false;
    }
    let keep = entries.length;
    while (keep > 0) {
      const last = entries[keep - 1] as EpochEntry;
      if (last.epoch < epoch && last.startOffset < startOffset) break;
      keep--;
    }
    entries.length = keep;
    entries.push({ epoch, startOffset });
    return true;
  }

  /** Drops the epochs that begin at `endOffset` or later. */
  truncateFromEnd(endOffset: Offset): boolean {
    const entries = this.#entries;
    let keep = entries.length;
    while (keep > 0 && (entries[keep - 1] as EpochEntry).startOffset >= endOffset) keep--;
    if (keep === entries.length) return false;
    entries.length = keep;
    return true;
  }

  /** Makes `startOffset` the start of the epoch that it lies in, and drops the earlier ones. */
  truncateFromStart(startOffset: Offset): boolean {
    const entries = this.#entries;
    let passed = 0;
    while (passed < entries.length && (entries[passed] as EpochEntry).startOffset <= startOffset) {
      passed++;
    }
    const covering = entries[passed - 1];
    if (covering === undefined) return false;
    if (passed === 1 && covering.startOffset === startOffset) return false;
    this.#entries = [{ epoch: covering.epoch, startOffset }, ...entries.slice(passed)];
    return true;
  }

  /** Drops all; true if there were any. */
  clear(): boolean {
    if (this.#entries.length === 0) return false;
    this.#entries = [];
    return true;
  }

  /**
   * The largest epoch up to `epoch` and where it ends: at the start of the next, or at the log's
   * end if it is the latest. Undefined for an epoch above the latest. For one below the first,
   * itself and the start of the first: what lay before is gone from the log.
   */
  endOffsetFor(epoch: LeaderEpoch, logEndOffset: Offset): EpochEnd {
    if (epoch === UNDEFINED_EPOCH) return UNDEFINED_END;
    const entries = this.#entries;
    const latest = last(entries);
    if (latest === undefined || epoch > latest.epoch) return UNDEFINED_END;
    if (epoch === latest.epoch) {
      // Asked by every fetch, and the answer changes with appends only: one object serves many.
      const last = this.#lastEnd;
      if (last.epoch === epoch && last.endOffset === logEndOffset) return last;
      this.#lastEnd = { epoch, endOffset: logEndOffset };
      return this.#lastEnd;
    }
    // The epochs asked for are nearly always among the last.
    let higher = entries.length - 1;
    while (higher > 0 && (entries[higher - 1] as EpochEntry).epoch > epoch) higher--;
    const endOffset = (entries[higher] as EpochEntry).startOffset;
    return { epoch: entries[higher - 1]?.epoch ?? epoch, endOffset };
  }

  /**
   * The answer that brokers gave before KIP-279: where the next larger epoch starts, whether or not
   * this log ever had the one asked for; undefined for an epoch below the first or above the latest.
   */
  kip101EndOffset(epoch: LeaderEpoch, logEndOffset: Offset): EpochEnd {
    const first = this.#entries[0];
    if (first === undefined || epoch < first.epoch) return UNDEFINED_END;
    const end = this.endOffsetFor(epoch, logEndOffset);
    return end === UNDEFINED_END ? end : { epoch, endOffset: end.endOffset };
  }

  /** The epoch that `offset` belongs to, or would if it lies past the end; undefined below the first. */
  epochAt(offset: Offset): LeaderEpoch | undefined {
    const entries = this.#entries;
    for (let i = entries.length - 1; i >= 0; i--) {
      const entry = entries[i] as EpochEntry;
      if (entry.startOffset <= offset) return entry.epoch;
    }
    return undefined;
  }
}

/** As `at(-1)`, which is a call into the engine: this is asked by every fetch and append. */
function last(entries: readonly EpochEntry[]): EpochEntry | undefined {
  return entries.length === 0 ? undefined : entries[entries.length - 1];
}
