import type { EpochEntry } from "../../src/kafka/log/leader-epoch-cache.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import type { CleanedGroup } from "../../src/storage/log-cleaning.ts";
import type { PartitionLog } from "../../src/storage/partition-log.ts";

/** A record as a model keeps it. No two records ever written have the same value, or are the same tombstone. */
interface ModelRecord {
  readonly offset: number;
  readonly key: string | undefined;
  readonly isTombstone: boolean;
  /** All of it, and where it stands. */
  readonly text: string;
}

/** What a stop may have done to a log. */
export interface StopLoss {
  /** Everything below is still there. */
  readonly certain: number;
  /** A truncation was cut off that may have begun to take what lies from here on. */
  readonly cutFrom: number;
  /** Was the power off, so that what is on the disk now is durable? */
  readonly losesPower: boolean;
  /** The log may begin as late as here. */
  readonly start: number;
  /** What was being written when the process stopped. */
  readonly begun: readonly RecordBatch[];
  /** When a cleaning may have come to its swap, milliseconds; undefined if none was under way. */
  readonly cleanedAtMs: number | undefined;
}

/**
 * One log as a list of batches, and what may be true of it: the simple twin of a `PartitionLog` on its
 * disk. It says what each operation must leave, and whether what a stop has left is possible.
 */
export class LogModel {
  /** From the one that holds `start` on. */
  batches: readonly RecordBatch[] = [];
  start = 0;
  end = 0;
  epochs: readonly EpochEntry[] = [];
  highWatermark = 0;
  /** From here on a power loss may bring back what was cut off: cutting is no fsync. */
  #uncertainFrom: number = Number.POSITIVE_INFINITY;
  /** What came back from here on belongs to epochs and producers of which the log knows nothing any more. */
  #doubtfulFrom: number = Number.POSITIVE_INFINITY;
  /**
   * The log's start may be forgotten, but epochs, producers and the recovery point are told of it at once:
   * what then comes back below is nobody's, and may be anything.
   */
  #knownFrom = 0;
  /** The log may begin as late as this again: its start is also in a checkpoint, which may be older. */
  #latestStart = 0;
  #cleaningBeganMs = 0;
  /** Where the last batches of producers ended, when the cleaning began. */
  #lastWhenBegun = new Set<number>();
  /** Where the log ended when it was taken over the last time. */
  #takenOver = 0;
  /** The start has moved past what was not flushed: the recovery point says nothing of that. */
  #isStartAhead = false;
  /** All that ever stood at an offset. */
  readonly #written = new Map<number, Set<string>>();
  /** When a tombstone was first left by a cleaning, milliseconds. */
  readonly #tombstones = new Map<string, number>();
  readonly #deleteRetentionMs: number;

  constructor(deleteRetentionMs: number) {
    this.#deleteRetentionMs = deleteRetentionMs;
  }

  /** Where what is judged begins. */
  get readableFrom(): number {
    return Math.max(this.start, this.#knownFrom);
  }

  /** A batch that is in the log now, or will be if nothing comes between. */
  note(batch: RecordBatch): void {
    for (const { offset, text } of recordsOf(batch)) {
      const texts = this.#written.get(offset) ?? new Set();
      this.#written.set(offset, texts.add(text));
    }
  }

  append(batch: RecordBatch): void {
    this.note(batch);
    const before = this.batches.findLast(({ producerId }) => producerId === batch.producerId);
    if (before !== undefined) this.#lastWhenBegun.delete(before.lastOffset);
    this.assignEpoch(batch.partitionLeaderEpoch, batch.baseOffset);
    this.batches = [...this.batches, batch];
    this.end = batch.nextOffset;
  }

  assignEpoch(epoch: number, startOffset: number): void {
    const latest = this.epochs.at(-1);
    if (latest?.epoch === epoch && startOffset >= latest.startOffset) return;
    const before = this.epochs.filter(
      (entry) => entry.epoch < epoch && entry.startOffset < startOffset,
    );
    this.epochs = [...before, { epoch, startOffset }];
  }

  truncateTo(offset: number): void {
    this.end = offset;
    this.#latestStart = Math.max(this.#latestStart, this.start);
    this.start = Math.min(this.start, offset);
    this.#knownFrom = Math.min(this.#knownFrom, offset);
    const cut = this.batches.find(({ lastOffset }) => lastOffset >= offset);
    this.#uncertainFrom = Math.min(this.#uncertainFrom, offset, cut?.baseOffset ?? offset);
    if (offset <= this.#doubtfulFrom) this.#doubtfulFrom = Number.POSITIVE_INFINITY;
    this.batches = this.batches.filter(({ lastOffset }) => lastOffset < offset);
    this.epochs = this.epochs.filter(({ startOffset }) => startOffset < offset);
    this.highWatermark = Math.min(this.highWatermark, offset);
  }

  startAnewAt(offset: number): void {
    this.batches = [];
    this.epochs = [];
    this.#latestStart = Math.max(this.#latestStart, this.start);
    this.#knownFrom = 0;
    this.start = offset;
    this.end = offset;
    this.highWatermark = offset;
    this.#uncertainFrom = 0;
    this.#doubtfulFrom = Number.POSITIVE_INFINITY;
  }

  /** Where all that the log has begins; `recoveryPoint` is as before. */
  moveStart(offset: number, recoveryPoint: number): void {
    if (offset <= this.start) return;
    this.start = offset;
    this.#knownFrom = Math.max(this.#knownFrom, offset);
    this.#isStartAhead ||= recoveryPoint < offset;
    this.batches = this.batches.filter(({ lastOffset }) => lastOffset >= offset);
    const passed = this.epochs.filter(({ startOffset }) => startOffset <= offset).at(-1);
    if (passed === undefined) return;
    const later = this.epochs.filter(({ startOffset }) => startOffset > offset);
    this.epochs = [{ epoch: passed.epoch, startOffset: offset }, ...later];
  }

  /** The system has written everything back by itself, contents and names. */
  writtenBack(): void {
    this.#uncertainFrom = Number.POSITIVE_INFINITY;
    this.#isStartAhead = false;
  }

  /** Below what of this recovery point is everything flushed? */
  flushedUpTo(recoveryPoint: number): number {
    return this.#isStartAhead || recoveryPoint <= this.start ? 0 : recoveryPoint;
  }

  /** A cleaning begins. */
  beginToClean(nowMs: number): void {
    this.#cleaningBeganMs = nowMs;
    this.#lastWhenBegun = new Set();
    for (const { lastOffset } of lastOfProducers(this.batches)) this.#lastWhenBegun.add(lastOffset);
  }

  /** Takes over what the cleaning made of a stretch, after having judged it. */
  clean({ from, to, batches }: CleanedGroup, nowMs: number): void {
    const { readableFrom } = this;
    const inside = this.batches.filter(({ baseOffset }) => baseOffset >= from && baseOffset < to);
    const before = inside.flatMap(recordsOf).filter(({ offset }) => offset >= readableFrom);
    const left = batches.flatMap(recordsOf).filter(({ offset }) => offset >= readableFrom);
    expectNone("appeared in a cleaning", missing(left, before));
    for (const record of missing(before, left)) {
      if (!this.#mayGo(record, nowMs)) fail(`a cleaning must not take ${record.text}`);
      const revived = left.find(({ key, offset }) => key === record.key && offset < record.offset);
      if (record.key !== undefined && revived !== undefined) {
        fail(`a cleaning took ${record.text} and left ${revived.text}`);
      }
    }
    for (const { lastOffset, producerId } of lastOfProducers(this.batches)) {
      const isHere = lastOffset >= Math.max(from, readableFrom) && lastOffset < to;
      // One that a truncation has made the last again meanwhile was not when the cleaner looked.
      if (
        this.#doubtfulFrom === Number.POSITIVE_INFINITY &&
        isHere &&
        this.#lastWhenBegun.has(lastOffset) &&
        !batches.some((batch) => batch.lastOffset === lastOffset)
      ) {
        fail(`a cleaning took the last sequence of producer ${producerId}, at ${lastOffset}`);
      }
    }
    this.#noteTombstones(left, this.#cleaningBeganMs);
    const kept = batches.filter(({ lastOffset }) => lastOffset >= readableFrom);
    const earlier = this.batches.filter(({ baseOffset }) => baseOffset < from);
    const later = this.batches.filter(({ baseOffset }) => baseOffset >= to);
    this.batches = [...earlier, ...kept, ...later];
  }

  /** A cleaning that began then has left them, and set their delete horizon. */
  #noteTombstones(records: readonly ModelRecord[], beganMs: number): void {
    for (const { isTombstone, text } of records) {
      if (isTombstone && !this.#tombstones.has(text)) this.#tombstones.set(text, beganMs);
    }
  }

  /** May a cleaning take it: without a key, with a later one of its key, or a tombstone that is due? */
  #mayGo({ key, offset, isTombstone, text }: ModelRecord, nowMs: number): boolean {
    if (key === undefined) return true;
    const hasLater = this.batches.some(
      (batch) =>
        batch.lastOffset > offset &&
        batch.baseOffset < this.highWatermark &&
        recordsOf(batch).some((other) => other.key === key && other.offset > offset),
    );
    if (hasLater) return true;
    const since = this.#tombstones.get(text);
    return isTombstone && since !== undefined && nowMs - since >= this.#deleteRetentionMs;
  }

  /** Is the log exactly this? */
  expectSame(log: PartitionLog): void {
    expectEqual("the log's start", log.logStartOffset, this.start);
    expectEqual("the log's end", log.logEndOffset, this.end);
    const found = contentsOf(log, this.readableFrom);
    expectEqual("batches", found.map(textOf).join("\n"), this.batches.map(textOf).join("\n"));
    expectEqual("epochs", epochText(log.epochs.entries), epochText(this.epochs));
    expectRising(log.epochs.entries, this.end);
    for (const { producerId, lastSequence, baseOffset } of lastOfProducers(this.batches)) {
      if (baseOffset < this.#takenOver || baseOffset < this.readableFrom) continue;
      const known = log.producers.get(producerId)?.lastSequence;
      expectEqual(`the last sequence of producer ${producerId}`, known, lastSequence);
    }
  }

  /** Can a stop have left this? Then it is what the model goes on with. */
  takeOver(log: PartitionLog, highWatermark: number, loss: StopLoss): void {
    const { certain, start, begun, cutFrom, cleanedAtMs, losesPower } = loss;
    for (const batch of begun) this.note(batch);
    const { logStartOffset, logEndOffset } = log;
    const from = Math.max(logStartOffset, this.#knownFrom);
    const found = contentsOf(log, from);
    const records = found.flatMap(recordsOf).filter(({ offset }) => offset >= from);
    const mine = this.batches.flatMap(recordsOf).filter(({ offset }) => offset >= from);

    for (const { offset, text } of records) {
      if (this.#written.get(offset)?.has(text) !== true) fail(`never written: ${text}`);
    }
    const begunRecords = begun.flatMap(recordsOf);
    const between = records.filter(
      ({ offset }) => offset >= this.readableFrom && offset < this.#uncertainFrom,
    );
    expectNone("came back", missing(missing(between, mine), begunRecords));
    const kept = mine.filter(({ offset }) => offset < certain);
    const lost = missing(kept, records).filter(
      (record) => cleanedAtMs === undefined || !this.#mayGo(record, cleanedAtMs),
    );
    expectNone(`lost, though everything below ${certain} is certain`, lost);
    const latestStart = Math.max(start, this.start, this.#latestStart);
    if (logStartOffset > latestStart) fail(`it begins at ${logStartOffset}`);
    // Of a log that was cut within a batch, or whose last batch was, nothing tells where it ended.
    const reached = this.batches.filter(({ lastOffset }) => lastOffset < certain).at(-1);
    const least = reached?.nextOffset ?? 0;
    if (logEndOffset < least) fail(`it ends at ${logEndOffset}, flushed up to ${certain}`);
    const limit = Math.max(this.end, latestStart, begun.at(-1)?.nextOffset ?? 0);
    const isUncertain = this.#uncertainFrom < Number.POSITIVE_INFINITY;
    if (logEndOffset > limit && !isUncertain) fail(`it ends at ${logEndOffset}, not ${limit}`);
    this.#doubtfulFrom = Math.min(this.#doubtfulFrom, cutFrom);
    if (losesPower) this.#doubtfulFrom = Math.min(this.#doubtfulFrom, this.#uncertainFrom);
    if (cleanedAtMs !== undefined) this.#noteTombstones(records, this.#cleaningBeganMs);
    this.#expectEpochs(log, found);
    if (this.#doubtfulFrom === Number.POSITIVE_INFINITY) this.#expectProducers(log, found);

    if (losesPower) this.writtenBack();
    else if (log.recoveryPoint <= logStartOffset) this.#isStartAhead = true;
    // What recovery cuts off can come back as well.
    if (log.truncatedBytes > 0) this.#uncertainFrom = Math.min(this.#uncertainFrom, logEndOffset);
    this.#takenOver = logEndOffset;
    this.#knownFrom = Math.min(this.#knownFrom, logEndOffset);
    this.batches = found;
    this.start = logStartOffset;
    this.end = logEndOffset;
    this.epochs = [...log.epochs.entries];
    this.highWatermark = highWatermark;
  }

  /**
   * Epochs rise along the cache, and so do their starts; each batch lies in its epoch, and an epoch ends
   * after its last batch.
   */
  #expectEpochs(log: PartitionLog, found: readonly RecordBatch[]): void {
    expectRising(log.epochs.entries, log.logEndOffset);
    for (const { baseOffset, lastOffset, partitionLeaderEpoch: epoch } of found) {
      if (lastOffset >= this.#doubtfulFrom) return;
      const at = Math.max(baseOffset, log.logStartOffset, this.#knownFrom);
      expectEqual(`the epoch of offset ${at}`, log.epochs.epochAt(at), epoch);
      const { endOffset } = log.endOffsetForEpoch(epoch);
      if (endOffset <= lastOffset)
        fail(`epoch ${epoch} ends at ${endOffset}, not after ${lastOffset}`);
    }
  }

  /** A snapshot may know more than the log has, but never less. */
  #expectProducers(log: PartitionLog, found: readonly RecordBatch[]): void {
    for (const { producerId, lastSequence, baseOffset } of lastOfProducers(found)) {
      if (baseOffset < this.#knownFrom) continue;
      const known = log.producers.get(producerId)?.lastSequence ?? -1;
      if (known < lastSequence) fail(`producer ${producerId}: ${known} is not ${lastSequence}`);
    }
  }
}

/** All batches that can be read, one read after the other, from the one that holds `from`. */
function contentsOf(log: PartitionLog, from: number): RecordBatch[] {
  const all: RecordBatch[] = [];
  let at = from;
  while (at < log.logEndOffset) {
    const { batches, error } = log.read(at, 1, log.logEndOffset, true);
    if (error.code !== 0) fail(`reading at ${at}: ${error.name}`);
    const [batch] = batches;
    if (batch === undefined) break;
    if (batch.lastOffset < at)
      fail(`reading at ${at} gave ${batch.baseOffset}-${batch.lastOffset}`);
    if (!batch.isValid()) fail(`the batch at ${batch.baseOffset} is corrupt`);
    all.push(batch);
    at = batch.nextOffset;
  }
  return all;
}

/** `base-last/epoch/size/crc`: two batches of one text have the same bytes. */
export function textOf({
  baseOffset,
  lastOffset,
  partitionLeaderEpoch,
  sizeInBytes,
  crc,
}: RecordBatch): string {
  return `${baseOffset}-${lastOffset}/${partitionLeaderEpoch}/${sizeInBytes}/${crc}`;
}

function recordsOf(batch: RecordBatch): readonly ModelRecord[] {
  return batch.records().map(({ offset, timestamp, key, value }) => {
    const name = key === undefined ? undefined : Buffer.from(key).toString();
    const content = value === undefined ? "(tombstone)" : Buffer.from(value).toString();
    return {
      offset,
      key: name,
      isTombstone: value === undefined,
      text: `${offset} ${batch.partitionLeaderEpoch} ${timestamp} ${name}=${content}`,
    };
  });
}

/** The last batch of each producer that has one. */
function lastOfProducers(batches: readonly RecordBatch[]): Iterable<RecordBatch> {
  const last = new Map<number, RecordBatch>();
  for (const batch of batches) if (batch.hasProducerId) last.set(batch.producerId, batch);
  return last.values();
}

/** Those of the first that the second lacks. */
function missing(records: readonly ModelRecord[], others: readonly ModelRecord[]): ModelRecord[] {
  const texts = new Set(others.map(({ text }) => text));
  return records.filter(({ text }) => !texts.has(text));
}

/** An epoch may begin where the log ends: nothing is written in it yet. */
function expectRising(entries: readonly EpochEntry[], end: number): void {
  for (const [i, { epoch, startOffset }] of entries.entries()) {
    const before = entries[i - 1];
    const isHigher =
      before === undefined || (before.epoch < epoch && before.startOffset < startOffset);
    if (!isHigher || startOffset > end) fail(`epochs ${epochText(entries)} in a log up to ${end}`);
  }
}

function epochText(entries: readonly EpochEntry[]): string {
  return entries.map(({ epoch, startOffset }) => `${epoch}@${startOffset}`).join(" ");
}

function expectNone(what: string, records: readonly ModelRecord[]): void {
  if (records.length > 0) fail(`${what}: ${records.map(({ text }) => text).join("; ")}`);
}

function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) fail(`${what}: ${String(actual)} is not ${String(expected)}`);
}

function fail(message: string): never {
  throw new Error(message);
}
