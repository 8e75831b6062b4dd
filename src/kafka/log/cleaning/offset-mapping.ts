import type { Offset } from "../../ids.ts";
import type { RecordBatch } from "../record-batch.ts";
import { RecordCursor } from "../record-cursor.ts";
import type { CleanedTransactions } from "./cleaned-transactions.ts";
import type { OffsetMap } from "./offset-map.ts";

/** How reading a segment into the map ended. */
export type MappingResult = "mapped" | "full" | "corrupt";

/**
 * Notes the keys of a segment's batches from `startOffset` on. `nextSegmentOffset` is where the next
 * segment begins, or the part that may be cleaned ends: holes before it count as mapped. Aborted
 * records and markers give no key (Kafka's `Cleaner.buildOffsetMapForSegment`, KAFKA-14055).
 *
 * Kafka reads the first segment from where its offset index leads for `startOffset`, but knows all
 * transactions that were aborted in it. One whose marker it skips stays open: the producer's next
 * transaction of that segment gives no keys either, and less is cleaned.
 */
export function mapSegment(
  batches: readonly RecordBatch[],
  startOffset: Offset,
  nextSegmentOffset: Offset,
  offsets: OffsetMap,
  transactions: CleanedTransactions,
): MappingResult {
  for (const batch of batches) {
    if (batch.isControl) transactions.meetControl(batch);
    else if (!transactions.meetData(batch)) {
      const result = mapBatch(batch, startOffset, offsets);
      if (result !== "mapped") return result;
    }
    if (batch.lastOffset >= startOffset) offsets.latestOffset = batch.lastOffset;
  }
  offsets.latestOffset = nextSegmentOffset - 1;
  return "mapped";
}

function mapBatch(batch: RecordBatch, startOffset: Offset, offsets: OffsetMap): MappingResult {
  const cursor = new RecordCursor(batch);
  while (cursor.next()) {
    if (cursor.keyStart < 0 || cursor.offset < startOffset) continue;
    // Also for a key that is there already: Kafka asks for the size only.
    if (offsets.isFull) return "full";
    const { key } = cursor.decode();
    if (key !== undefined) offsets.put(key, cursor.offset);
  }
  return cursor.malformed ? "corrupt" : "mapped";
}
