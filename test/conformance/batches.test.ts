import { describe, expect, test } from "vitest";
import { CODECS } from "../../src/kafka/log/compression/codec.ts";
import type { BatchOptions, RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { buildBatch, parseBatch } from "../../src/kafka/log/record-batch.ts";
import { leaderChangeBatch } from "../../src/kafka/quorum/leader-change.ts";
import type { ToldBatch, ToldPartition, ToldRecord } from "./real-kafka.ts";
import { batchesIn, RELEASES, RealKafka, toldContent } from "./real-kafka.ts";

describe.each(RELEASES)("batches that %s wrote", (release) => {
  const kafka = new RealKafka(release);

  test.each(kafka.partitions)("of %s are read as Kafka reads them", (name, partition) => {
    for (const [batch, told] of pairs(kafka, name, partition)) {
      expect(headerOf(batch)).toEqual(toldHeader(told));
      expect(batch.records().map(recordOf)).toEqual(told.records.map(contentsOf));
    }
  });

  test.each(kafka.partitions)("of %s are written again byte for byte", (name, partition) => {
    let written = 0;
    for (const [batch] of pairs(kafka, name, partition)) {
      if (batch.compression !== 0) continue;
      written++;
      expect(again(batch).bytes).toEqual(batch.bytes);
    }
    expect(written).toBeGreaterThan(0);
  });

  test("that are compressed hold the same records when they are written again", () => {
    const partition = kafka.told.partitions["codecs-0"] as ToldPartition;
    const codecs = new Set<string>();
    for (const [batch, told] of pairs(kafka, "codecs-0", partition)) {
      codecs.add(told.compression);
      const ours = parseBatch(again(batch).bytes.slice());
      if (ours === undefined) throw new Error(`no batch at ${batch.baseOffset}`);
      expect(ours.records().map(recordOf)).toEqual(told.records.map(contentsOf));
      // What we compress has another size, and so another CRC.
      expect({ ...headerOf(ours), position: told.position }).toEqual({
        ...toldHeader(told),
        size: ours.sizeInBytes,
        crc: ours.crc,
      });
    }
    expect(codecs).toEqual(new Set(CODECS));
  });

  test("begin each epoch of the metadata log as our leaders do", () => {
    const name = "__cluster_metadata-0";
    const partition = kafka.told.partitions[name] as ToldPartition;
    const beginnings: RecordBatch[] = [];
    for (const [batch, told] of pairs(kafka, name, partition)) {
      // The first stands with the voters and kraft.version in one batch.
      const [first] = told.records;
      if (first?.controlType === "LEADER_CHANGE" && told.count === 1) beginnings.push(batch);
    }
    expect(beginnings.length).toBe(2);
    for (const batch of beginnings) {
      const { baseOffset, partitionLeaderEpoch, baseTimestamp } = batch;
      const change = { leaderId: 1, voters: [1], grantingVoters: [1] };
      const ours = leaderChangeBatch(change, baseOffset, partitionLeaderEpoch, baseTimestamp);
      expect(ours.bytes).toEqual(batch.bytes);
    }
  });
});

/** Each batch of a partition with what Kafka tells of it. */
function* pairs(
  kafka: RealKafka,
  name: string,
  partition: ToldPartition,
): Generator<readonly [RecordBatch, ToldBatch]> {
  for (const { baseOffset, batches: told } of partition.segments) {
    const file = `${name}/${String(baseOffset).padStart(20, "0")}.log`;
    const batches = batchesIn(kafka.bytes(file));
    expect(batches.length).toBe(told.length);
    for (const [i, batch] of batches.entries()) yield [batch, told[i] as ToldBatch];
  }
}

function headerOf(batch: RecordBatch): object {
  return {
    position: batch.start,
    size: batch.sizeInBytes,
    baseOffset: batch.baseOffset,
    lastOffset: batch.lastOffset,
    crc: batch.crc,
    valid: batch.isValid(),
    compression: CODECS[batch.compression],
    timestampType: batch.isLogAppendTime ? "LogAppendTime" : "CreateTime",
    baseTimestamp: batch.baseTimestamp,
    maxTimestamp: batch.maxTimestamp,
    deleteHorizon: batch.hasDeleteHorizon ? batch.baseTimestamp : undefined,
    leaderEpoch: batch.partitionLeaderEpoch,
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    baseSequence: batch.baseSequence,
    lastSequence: batch.lastSequence,
    transactional: batch.isTransactional,
    control: batch.isControl,
    count: batch.recordCount,
  };
}

function toldHeader(told: ToldBatch): object {
  const { magic: _, records: __, ...header } = { magic: 2, ...told };
  return { deleteHorizon: undefined, ...header };
}

function recordOf(record: ReturnType<RecordBatch["records"]>[number]): unknown {
  return {
    offset: record.offset,
    timestamp: record.timestamp,
    key: toldContent(record.key),
    value: toldContent(record.value),
    headers: record.headers.map(({ key, value }) => [key, toldContent(value)]),
  };
}

function contentsOf({ offset, timestamp, key, value, headers = [] }: ToldRecord): unknown {
  return { offset, timestamp, key, value, headers };
}

/** The batch built anew from its decoded records. */
function again(batch: RecordBatch): RecordBatch {
  const options: BatchOptions = {
    baseOffset: batch.baseOffset,
    lastOffset: batch.lastOffset,
    partitionLeaderEpoch: batch.partitionLeaderEpoch,
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    baseSequence: batch.baseSequence,
    isTransactional: batch.isTransactional,
    isControl: batch.isControl,
    compression: batch.compression,
    ...(batch.isLogAppendTime ? { logAppendTime: batch.maxTimestamp } : {}),
    ...(batch.hasDeleteHorizon ? { deleteHorizon: batch.baseTimestamp } : {}),
  };
  // With append time the records keep the producer's; in the fixture all of a batch have the same.
  const records = batch.isLogAppendTime
    ? batch.records().map((record) => ({ ...record, timestamp: batch.baseTimestamp }))
    : batch.records();
  return buildBatch(
    records.map(({ offset, timestamp, key, value, headers }) => ({
      offsetDelta: offset - batch.baseOffset,
      timestamp,
      headers,
      ...(key === undefined ? {} : { key }),
      ...(value === undefined ? {} : { value }),
    })),
    options,
  );
}
