import { describe, expect, test } from "vitest";
import { encodeUtf8 } from "../../src/base/utf8.ts";
import type { LastRecord } from "../../src/kafka/log/cleaning/batch-retention.ts";
import type { BatchOptions, NewRecord, RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../src/kafka/log/record-batch.ts";
import { cleanBatches } from "../support/clean-batches.ts";
import type { ToldBatch, ToldSegment } from "./real-kafka.ts";
import { batchesIn, RELEASES, RealKafka } from "./real-kafka.ts";

const DAY_MS = 86_400_000;

describe.each(RELEASES)("what %s cleaned", (release) => {
  const kafka = new RealKafka(release);

  test("is left of `compacted` by our cleaner too, byte for byte", () => {
    const [kept, active] = segmentsOf(kafka, "compacted-0");
    const told = kept.batches;
    const [shadowed, one] = [told[0], told[1]].map((batch) => batch?.producerId ?? -1);
    const horizon = told.find((batch) => batch.deleteHorizon !== undefined)?.deleteHorizon ?? 0;
    const written = compacted(kafka.told.baseTimestamp, shadowed as number, one as number);

    const { batches, nextDirty } = cleanBatches(
      { segments: [written], end: active.baseOffset, producers: producersOf(written) },
      0,
      horizon - DAY_MS,
    );

    expect(batches.map(hex)).toEqual(
      batchesIn(kafka.bytes("compacted-0/00000000000000000000.log")).map(hex),
    );
    expect(nextDirty).toBe(checkpointed(kafka, "compacted"));
  });

  test("is left of `compacted-transactional` by our cleaner too, byte for byte", () => {
    const [kept, active] = segmentsOf(kafka, "compacted-transactional-0");
    const written = transactional(kafka.told.baseTimestamp, kept.batches);
    const aborted = kept.abortedTransactions ?? [];

    const cleaned = cleanBatches(
      { segments: [written], end: active.baseOffset, aborted, producers: producersOf(written) },
      0,
      kafka.told.readAt,
    );

    expect(cleaned.batches.map(hex)).toEqual(
      batchesIn(kafka.bytes("compacted-transactional-0/00000000000000000000.log")).map(hex),
    );
    expect(cleaned.aborted).toEqual(aborted);
    expect(cleaned.nextDirty).toBe(checkpointed(kafka, "compacted-transactional"));
  });
});

/** As `WriteFixture.compacted` has it written, the batch of the active segment apart. */
function compacted(base: number, shadowed: number, one: number): readonly RecordBatch[] {
  const batches: RecordBatch[] = [];
  const first = [0, 1, 2].map((i) => record(base + i, `k${i}`, "shadowed"));
  batches.push(batch(0, first, { producerId: shadowed, producerEpoch: 0, baseSequence: 0 }));
  for (let i = 0; i < 24; i++) {
    const records: NewRecord[] = [];
    for (let j = 0; j < 4; j++) {
      const key = (i * i + j * 3) % 12;
      const value = key === 7 && i > 15 ? undefined : `compacted ${i}.${j}`;
      records.push(record(base + i * 1000 + j, `k${key}`, value));
    }
    const options = { producerId: one, producerEpoch: 0, baseSequence: i * 4 };
    batches.push(batch(3 + i * 4, records, options));
  }
  return batches;
}

/** As `WriteFixture.compactedTransactional` has it; the markers, all of which stayed, as they are told. */
function transactional(base: number, kept: readonly ToldBatch[]): readonly RecordBatch[] {
  const batches: RecordBatch[] = [];
  const markers = kept.filter(({ control }) => control);
  for (const [i, marker] of markers.entries()) {
    // Each end of a transaction takes the producer one epoch further (transaction.version 2).
    const { producerId, producerEpoch } = marker;
    for (let j = 0; j < 3; j++) {
      const options = {
        producerId,
        producerEpoch: producerEpoch - 1,
        baseSequence: j,
        isTransactional: true,
      };
      const value = record(base + i * 1000, `v${i}`, `v${i}${j}`);
      batches.push(batch(i * 4 + j, [value], options));
    }
    batches.push(
      buildBatch(
        marker.records.map(({ timestamp, key, value }) => ({
          timestamp,
          key: Buffer.from(String(key), "hex"),
          value: Buffer.from(String(value), "hex"),
        })),
        {
          baseOffset: marker.baseOffset,
          partitionLeaderEpoch: marker.leaderEpoch,
          producerId,
          producerEpoch,
          isTransactional: true,
          isControl: true,
        },
      ),
    );
  }
  return batches;
}

function record(timestamp: number, key: string, value: string | undefined): NewRecord {
  return {
    timestamp,
    key: encodeUtf8(key),
    value: value === undefined ? undefined : encodeUtf8(value),
  };
}

function batch(
  baseOffset: number,
  records: readonly NewRecord[],
  options: BatchOptions,
): RecordBatch {
  return buildBatch(records, { baseOffset, partitionLeaderEpoch: 0, ...options });
}

/** What the log knows of its producers: their last data, or that they are in a new epoch since. */
function producersOf(batches: readonly RecordBatch[]): ReadonlyMap<number, LastRecord> {
  const producers = new Map<number, LastRecord>();
  for (const { producerId, producerEpoch, lastOffset, isControl } of batches) {
    const before = producers.get(producerId);
    const isSame = before?.producerEpoch === producerEpoch;
    const lastDataOffset = isControl ? (isSame ? before.lastDataOffset : undefined) : lastOffset;
    producers.set(producerId, { lastDataOffset, producerEpoch });
  }
  return producers;
}

function segmentsOf(kafka: RealKafka, partition: string): readonly [ToldSegment, ToldSegment] {
  const [kept, active] = kafka.told.partitions[partition]?.segments ?? [];
  if (kept === undefined || active === undefined) throw new Error(`no ${partition}`);
  return [kept, active];
}

function checkpointed(kafka: RealKafka, topic: string): number {
  const line = new RegExp(`^${topic} 0 (\\d+)$`, "m").exec(kafka.text("cleaner-offset-checkpoint"));
  return Number(line?.[1]);
}

function hex({ bytes }: RecordBatch): string {
  return Buffer.from(bytes).toString("hex");
}
