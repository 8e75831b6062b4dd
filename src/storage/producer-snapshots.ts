import { byNumber } from "../base/order.ts";
import type { Offset } from "../kafka/ids.ts";
import { decodeSnapshot, encodeSnapshot, loadProducer } from "../kafka/log/producer-snapshot.ts";
import type { ProducerState } from "../kafka/log/producer-state.ts";
import { isExpired } from "../kafka/log/producer-state.ts";
import type { Disk, DiskFile } from "../ports/disk.ts";
import { segmentPath } from "./segment-files.ts";

/**
 * The `.snapshot` files of one log: its producers as they stood at some offsets, from which the
 * state is rebuilt without reading the whole log (the file side of Kafka's `ProducerStateManager`).
 */
export class ProducerSnapshots {
  readonly #disk: Disk;
  readonly #directory: string;
  /** Ascending. */
  #offsets: Offset[];
  /** The end offset of the state last written or loaded. */
  #lastOffset: Offset = 0;

  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
    this.#offsets = disk
      .list(directory)
      .filter((name) => /^\d{20}\.snapshot$/.test(name))
      .map((name) => Number(name.slice(0, 20)))
      .sort(byNumber);
  }

  get isEmpty(): boolean {
    return this.#offsets.length === 0;
  }

  /** Writes the state, unless nothing came since the last; the file is undefined then. Not synced. */
  take(state: ProducerState): DiskFile | undefined {
    if (state.endOffset <= this.#lastOffset) return undefined;
    const file = this.#disk.open(segmentPath(this.#directory, state.endOffset, "snapshot"));
    file.truncate(0);
    file.write(0, encodeSnapshot(state));
    if (!this.#offsets.includes(state.endOffset)) {
      this.#offsets.push(state.endOffset);
      this.#offsets.sort(byNumber);
    }
    this.#lastOffset = state.endOffset;
    return file;
  }

  /**
   * Fills the empty `state` from the newest sound snapshot, without the producers that have expired.
   * Its end offset is then the snapshot's, or the log's start if there is none.
   */
  load(state: ProducerState, logStartOffset: Offset, nowMs: number, expirationMs: number): void {
    for (let newest = this.#offsets.at(-1); newest !== undefined; newest = this.#offsets.at(-1)) {
      const file = this.#disk.open(segmentPath(this.#directory, newest, "snapshot"));
      const entries = decodeSnapshot(file.read(0, file.size));
      if (entries === undefined) {
        this.remove(newest);
        continue;
      }
      for (const entry of entries) {
        if (isExpired(entry, nowMs, expirationMs)) continue;
        loadProducer(state, entry);
      }
      this.#restart(state, newest);
      return;
    }
    this.#restart(state, logStartOffset);
  }

  /** Removes those beyond the log's end, and those at its start or before, where nothing precedes. */
  keepWithin(logStartOffset: Offset, logEndOffset: Offset): void {
    for (const offset of this.#offsets.slice()) {
      if (offset > logEndOffset || offset <= logStartOffset) this.remove(offset);
    }
  }

  /** Removes those that belong to no segment, save the one that a clean stop leaves at the log's end. */
  removeStray(segmentBases: readonly Offset[]): void {
    const lastBase = segmentBases.at(-1) ?? 0;
    const newest = this.#offsets.at(-1);
    for (const offset of this.#offsets.slice()) {
      const isAtEnd = offset === newest && offset >= lastBase;
      if (!isAtEnd && !segmentBases.includes(offset)) this.remove(offset);
    }
  }

  /** The log's start has moved: what comes from now on is measured against the newest that is left. */
  logStartMoved(state: ProducerState, logStartOffset: Offset): void {
    state.transactions.settleBelow(logStartOffset);
    if (state.endOffset < logStartOffset) state.endOffset = logStartOffset;
    this.#lastOffset = this.#offsets.at(-1) ?? logStartOffset;
  }

  /** Renames a snapshot to `.deleted`, so that it counts no more; its new path, or undefined without one. */
  setAside(offset: Offset): string | undefined {
    if (!this.#offsets.includes(offset)) return undefined;
    this.#offsets = this.#offsets.filter((other) => other !== offset);
    const path = segmentPath(this.#directory, offset, "snapshot", ".deleted");
    this.#disk.rename(segmentPath(this.#directory, offset, "snapshot"), path);
    return path;
  }

  remove(offset: Offset): void {
    this.#offsets = this.#offsets.filter((other) => other !== offset);
    this.#disk.remove(segmentPath(this.#directory, offset, "snapshot"));
  }

  removeAll(): void {
    for (const offset of this.#offsets.slice()) this.remove(offset);
    this.#lastOffset = 0;
  }

  #restart(state: ProducerState, offset: Offset): void {
    this.#lastOffset = offset;
    state.endOffset = offset;
  }
}
