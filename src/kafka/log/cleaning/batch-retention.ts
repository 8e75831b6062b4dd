import type { Offset } from "../../ids.ts";
import { MAGIC_V2 } from "../batch-header.ts";
import type { NewRecord, RecordBatch } from "../record-batch.ts";
import { buildBatch, buildEmptyBatch } from "../record-batch.ts";
import type { DecodedRecord } from "../record-cursor.ts";
import { RecordCursor } from "../record-cursor.ts";
import type { CleanedTransactions } from "./cleaned-transactions.ts";
import type { OffsetMap } from "./offset-map.ts";

/** What a log knows of a producer that it has not forgotten. */
export interface LastRecord {
  /** Undefined if nothing but markers is known of it. */
  readonly lastDataOffset: Offset | undefined;
  readonly producerEpoch: number;
}

/** One run over a log: what decides, beside the bytes, which records stay. */
export interface CleaningRound {
  readonly offsets: OffsetMap;
  readonly transactions: CleanedTransactions;
  /** By producer id. */
  readonly producers: ReadonlyMap<number, LastRecord>;
  /** Where the part that may be cleaned ends. */
  readonly upperBoundOffset: Offset;
  /** When the run began, milliseconds. */
  readonly nowMs: number;
  /** `delete.retention.ms` */
  readonly deleteRetentionMs: number;
}

/**
 * What is left of a batch: itself, a smaller one, an empty one, or nothing. Batches are to come in
 * the log's order. "corrupt" if its records cannot be told apart (Kafka's `MemoryRecords.filterTo`
 * with the filter of `Cleaner.cleanInto`). The CRC is not looked at, as in Kafka: what is written
 * anew gets one that agrees.
 *
 * Simplified: a message set of magic 0 or 1, which nobody writes any more, stays whole if a record of it
 * does, and its tombstones stay.
 *
 * A tombstone stays until the delete horizon of its batch, and so does the marker of a transaction of
 * which nothing is left; the first run that meets them sets it (KIP-534).
 */
export function retain(
  batch: RecordBatch,
  round: CleaningRound,
): RecordBatch | "corrupt" | undefined {
  const { isControl } = batch;
  const { transactions } = round;
  const isOver = isControl ? transactions.meetControl(batch) : transactions.meetData(batch);
  const isDropped = isOver && (!isControl || isPastHorizon(batch, round.nowMs));
  const mayVanish = !keepsState(batch, round);
  if (isDropped && mayVanish) return undefined;

  const records = decode(batch);
  if (records === undefined) return "corrupt";
  const retained = isDropped
    ? []
    : records.filter((record) => isControl || isRetained(record, batch, round));
  if (retained.length === 0) return mayVanish ? undefined : emptied(batch);
  if (batch.magic < MAGIC_V2) return batch;
  const needsHorizon =
    !batch.hasDeleteHorizon && ((isControl && isOver) || retained.some(isTombstone));
  if (retained.length === records.length && !needsHorizon) return batch;
  return rebuilt(
    batch,
    retained,
    needsHorizon ? round.nowMs + round.deleteRetentionMs : horizonOf(batch),
  );
}

/**
 * Must something of the batch stay, even without records? The last batch of a producer holds its last
 * sequence, and the last of a run the log's end, which would else be forgotten (KAFKA-17076).
 */
function keepsState(batch: RecordBatch, { producers, upperBoundOffset }: CleaningRound): boolean {
  if (batch.nextOffset === upperBoundOffset) return true;
  if (!batch.hasProducerId) return false;
  const last = producers.get(batch.producerId);
  if (last === undefined) return false;
  if (last.lastDataOffset !== undefined) return batch.lastOffset === last.lastDataOffset;
  return batch.isControl && batch.producerEpoch === last.producerEpoch;
}

function isRetained(record: DecodedRecord, batch: RecordBatch, round: CleaningRound): boolean {
  const { offset, key } = record;
  if (offset > round.offsets.latestOffset) return true;
  if (key === undefined || offset < round.offsets.get(key)) return false;
  return !isTombstone(record) || !isPastHorizon(batch, round.nowMs);
}

function isTombstone(record: DecodedRecord): boolean {
  return record.value === undefined;
}

function isPastHorizon(batch: RecordBatch, nowMs: number): boolean {
  return batch.hasDeleteHorizon && batch.baseTimestamp <= nowMs;
}

function horizonOf(batch: RecordBatch): number | undefined {
  return batch.hasDeleteHorizon ? batch.baseTimestamp : undefined;
}

/** Undefined if the records are malformed. */
function decode(batch: RecordBatch): readonly DecodedRecord[] | undefined {
  const cursor = new RecordCursor(batch);
  const records: DecodedRecord[] = [];
  while (cursor.next()) records.push(cursor.decode());
  return cursor.malformed ? undefined : records;
}

function rebuilt(
  batch: RecordBatch,
  retained: readonly DecodedRecord[],
  deleteHorizon: number | undefined,
): RecordBatch {
  const records: NewRecord[] = retained.map(({ offset, timestamp, key, value, headers }) => ({
    offsetDelta: offset - batch.baseOffset,
    timestamp,
    key,
    value,
    headers,
  }));
  return buildBatch(records, {
    ...stateOf(batch),
    compression: batch.compression,
    ...(deleteHorizon === undefined ? {} : { deleteHorizon }),
  });
}

function emptied(batch: RecordBatch): RecordBatch {
  return buildEmptyBatch({ ...stateOf(batch), maxTimestamp: batch.maxTimestamp });
}

/** What of the header says nothing of the records. */
function stateOf(batch: RecordBatch) {
  return {
    baseOffset: batch.baseOffset,
    lastOffset: batch.lastOffset,
    partitionLeaderEpoch: batch.partitionLeaderEpoch,
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    baseSequence: batch.baseSequence,
    isTransactional: batch.isTransactional,
    isControl: batch.isControl,
    ...(batch.isLogAppendTime ? { logAppendTime: batch.maxTimestamp } : {}),
  };
}
