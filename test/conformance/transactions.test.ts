import { describe, expect, test } from "vitest";
import {
  controlKey,
  controlTypeId,
  controlTypeName,
  decodeEndTransaction,
  encodeEndTransaction,
} from "../../src/kafka/log/control-record.ts";
import {
  ABORTED_TRANSACTION_SIZE,
  decodeAbortedTransaction,
  encodeTransactionIndex,
} from "../../src/kafka/log/transaction-index-format.ts";
import { markerBatch } from "../../src/nodes/broker/write-txn-markers-handler.ts";
import { batchesIn, RELEASES, RealKafka } from "./real-kafka.ts";

describe.each(RELEASES)("of the transactions that %s wrote", (release) => {
  const kafka = new RealKafka(release);
  const segments = kafka.partitions.flatMap(([name, told]) =>
    told.segments.map((segment) => {
      const path = `${name}/${String(segment.baseOffset).padStart(20, "0")}`;
      return [path, segment] as const;
    }),
  );
  const indexed = segments.filter(([, told]) => told.abortedTransactions !== undefined);

  test.each(indexed)("%s.txnindex is read, and written again byte for byte", (path, told) => {
    const bytes = kafka.bytes(`${path}.txnindex`);
    const entries = Array.from({ length: bytes.length / ABORTED_TRANSACTION_SIZE }, (_, i) =>
      decodeAbortedTransaction(bytes, i * ABORTED_TRANSACTION_SIZE),
    );
    expect(entries.length).toBeGreaterThan(0);
    expect(entries).toEqual(told.abortedTransactions);
    expect(encodeTransactionIndex(told.abortedTransactions ?? [])).toEqual(bytes);
  });

  test("two logs have an index", () => {
    expect(indexed.map(([path]) => path.split("/")[0])).toEqual([
      "compacted-transactional-0",
      "transactional-0",
    ]);
  });

  test("every marker is read as Kafka reads it, and written again byte for byte", () => {
    const met = new Set<string>();
    for (const [path, told] of segments) {
      for (const [i, batch] of batchesIn(kafka.bytes(`${path}.log`)).entries()) {
        if (!batch.isControl || !batch.isTransactional) continue;
        const [record] = batch.records();
        const type = controlTypeName(controlTypeId(record?.key) ?? -1);
        expect(type).toBe(told.batches[i]?.records[0]?.controlType);
        const marker = decodeEndTransaction(record?.key, record?.value);
        expect(marker?.type).toBe(type);
        if (marker === undefined) continue;
        expect(controlKey(marker.type)).toEqual(record?.key);
        expect(encodeEndTransaction(marker.coordinatorEpoch)).toEqual(record?.value);
        met.add(`${marker.type} ${marker.coordinatorEpoch}`);
      }
    }
    expect(met).toEqual(new Set(["ABORT 0", "ABORT 2", "COMMIT 0"]));
  });

  test("each whole batch of a marker is what our brokers write for its coordinator", () => {
    let count = 0;
    for (const [path] of segments) {
      for (const batch of batchesIn(kafka.bytes(`${path}.log`))) {
        // What was cleaned has another base timestamp: its delete horizon.
        if (!batch.isControl || !batch.isTransactional || batch.hasDeleteHorizon) continue;
        const [record] = batch.records();
        const told = decodeEndTransaction(record?.key, record?.value);
        if (told === undefined) continue;
        const { producerId, producerEpoch, baseOffset, partitionLeaderEpoch } = batch;
        const { type, coordinatorEpoch } = told;
        const transactionResult = type === "COMMIT";
        const asked = { producerId, producerEpoch, transactionResult, coordinatorEpoch };
        const marker = { ...asked, topics: [], transactionVersion: 2 };
        const ours = markerBatch(marker, batch.maxTimestamp);
        expect(ours.withOffsets(baseOffset, partitionLeaderEpoch).bytes).toEqual(batch.bytes);
        count++;
      }
    }
    expect(count).toBeGreaterThan(10);
  });
});
