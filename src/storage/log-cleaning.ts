import type { Offset } from "../kafka/ids.ts";
import type { CleaningRound, LastRecord } from "../kafka/log/cleaning/batch-retention.ts";
import { retain } from "../kafka/log/cleaning/batch-retention.ts";
import { CleanedTransactions } from "../kafka/log/cleaning/cleaned-transactions.ts";
import type { Dirt } from "../kafka/log/cleaning/dirt.ts";
import { segmentsWithin } from "../kafka/log/cleaning/dirt.ts";
import type { OffsetMap } from "../kafka/log/cleaning/offset-map.ts";
import { mapSegment } from "../kafka/log/cleaning/offset-mapping.ts";
import { groupSegments } from "../kafka/log/cleaning/segment-groups.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import type { PartitionLog } from "./partition-log.ts";
import type { Segment } from "./segment.ts";

/** A group of segments written anew, not part of the log yet. */
export interface CleanedGroup {
  readonly replaced: readonly Segment[];
  readonly cleaned: Segment;
  readonly batches: readonly RecordBatch[];
  /** The stretch [from, to) of the log that it is about. */
  readonly from: Offset;
  readonly to: Offset;
}

/**
 * One run of the cleaner over one log, group by group: maps the keys of the dirty part, then copies
 * what stays into `.cleaned` segments (Kafka's `Cleaner`). The log is as it was until each group is
 * swapped in; every method can throw `DiskError`.
 */
export class LogCleaning {
  readonly log: PartitionLog;
  readonly #dirt: Dirt;
  readonly #offsets: OffsetMap;
  readonly #transactions = new CleanedTransactions();
  readonly #nowMs: number;
  #groups: Segment[][] = [];

  /** `offsets` is to be empty; `nowMs` is when the run begins. */
  constructor(log: PartitionLog, dirt: Dirt, offsets: OffsetMap, nowMs: number) {
    this.log = log;
    this.#dirt = dirt;
    this.#offsets = offsets;
    this.#nowMs = nowMs;
  }

  /** Where the next run will begin. */
  get nextDirtyOffset(): Offset {
    return this.#offsets.latestOffset + 1;
  }

  /** Reads the dirty part. False if it cannot be read. */
  map(): boolean {
    const { log } = this;
    const { firstDirtyOffset, firstUncleanableOffset } = this.#dirt;
    const dirty = segmentsWithin(log.segments, firstDirtyOffset, firstUncleanableOffset);
    const transactions = new CleanedTransactions();
    const aborted = log.abortedBetween(firstDirtyOffset, firstUncleanableOffset);
    if (aborted === undefined) return false;
    transactions.add(aborted);
    for (let i = 0; i < dirty.length; i++) {
      const segment = dirty[i] as Segment;
      const all = batchesOf(segment);
      if (all === undefined) return false;
      const batches = behind(all, segment.positionNear(firstDirtyOffset));
      const end = dirty[i + 1]?.baseOffset ?? firstUncleanableOffset;
      const result = mapSegment(batches, firstDirtyOffset, end, this.#offsets, transactions);
      if (result === "corrupt") return false;
      if (result === "full") break;
    }
    this.#groups = groupSegments(
      segmentsWithin(log.segments, 0, this.nextDirtyOffset),
      log.config["segment.bytes"],
      log.config["segment.index.bytes"],
      firstUncleanableOffset,
    );
    return true;
  }

  /** Writes the next group anew; "corrupt" if it cannot be read, undefined if there is none left. */
  cleanNext(): CleanedGroup | "corrupt" | undefined {
    const replaced = this.#groups.shift();
    const first = replaced?.[0];
    if (replaced === undefined || first === undefined) return undefined;
    const { log } = this;
    const cleaned = log.createCleanedSegment(first.baseOffset);
    const retainedBefore = this.#transactions.retained.length;
    const round: CleaningRound = {
      offsets: this.#offsets,
      transactions: this.#transactions,
      producers: lastRecordsOf(log),
      upperBoundOffset: this.#dirt.firstUncleanableOffset,
      nowMs: this.#nowMs,
      deleteRetentionMs: log.config["delete.retention.ms"],
    };
    const kept: RecordBatch[] = [];
    for (let i = 0; i < replaced.length; i++) {
      const segment = replaced[i] as Segment;
      const batches = batchesOf(segment);
      if (batches === undefined) return "corrupt";
      const end = replaced[i + 1]?.baseOffset ?? batches.at(-1)?.nextOffset ?? segment.baseOffset;
      const aborted = log.abortedBetween(segment.baseOffset, end);
      if (aborted === undefined) return "corrupt";
      this.#transactions.add(aborted);
      for (const batch of batches) {
        const left = retain(batch, round);
        if (left === "corrupt") return "corrupt";
        if (left === undefined) continue;
        cleaned.append(left, log.config);
        kept.push(left);
      }
    }
    for (const aborted of this.#transactions.retained.slice(retainedBefore)) {
      cleaned.aborted.append(aborted);
    }
    cleaned.close();
    const next = log.segments[log.segments.indexOf(replaced.at(-1) as Segment) + 1] as Segment;
    return { replaced, cleaned, batches: kept, from: first.baseOffset, to: next.baseOffset };
  }
}

/** How much is read at once: `log.cleaner.io.buffer.size`, of which half is for reading. */
const READ_SIZE = 262_144;

/** All batches of a segment; undefined if it has bytes that are none. */
function batchesOf(segment: Segment): RecordBatch[] | undefined {
  const all: RecordBatch[] = [];
  let from = segment.baseOffset;
  for (;;) {
    const found = segment.read(from, READ_SIZE, Number.POSITIVE_INFINITY, true);
    if (found === undefined) return all;
    const last = found.batches.at(-1);
    // A damaged header can say that its batch lies before what was asked for.
    if (last === undefined || last.nextOffset <= from) return undefined;
    all.push(...found.batches);
    from = last.nextOffset;
  }
}

/** Without those that end at `position` or before. */
function behind(batches: readonly RecordBatch[], position: number): readonly RecordBatch[] {
  let at = 0;
  let skipped = 0;
  while (skipped < batches.length && at < position) {
    at += (batches[skipped] as RecordBatch).sizeInBytes;
    skipped++;
  }
  return skipped === 0 ? batches : batches.slice(skipped);
}

function lastRecordsOf(log: PartitionLog): ReadonlyMap<number, LastRecord> {
  const records = new Map<number, LastRecord>();
  for (const { producerId, epoch, lastBatch } of log.producers.entries()) {
    records.set(producerId, { lastDataOffset: lastBatch?.lastOffset, producerEpoch: epoch });
  }
  return records;
}
