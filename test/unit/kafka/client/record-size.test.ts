import fc from "fast-check";
import { expect, test } from "vitest";
import {
  ABSENT,
  recordSize,
  singleRecordBatchBound,
} from "../../../../src/kafka/client/record-size.ts";
import { HEADER_SIZE } from "../../../../src/kafka/log/batch-header.ts";
import { buildBatch } from "../../../../src/kafka/log/record-batch.ts";

const records = fc.array(
  fc.record({
    timestamp: fc.integer({ min: 0, max: 100_000 }),
    key: fc.option(fc.uint8Array({ maxLength: 80 }), { nil: undefined }),
    value: fc.option(fc.uint8Array({ maxLength: 300 }), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 150 },
);

test("the size of a batch is known before it is built", () => {
  fc.assert(
    fc.property(records, (list) => {
      const base = list[0]?.timestamp ?? 0;
      const size = list.reduce(
        (sum, { key, value, timestamp }, offset) =>
          sum +
          recordSize(key?.length ?? ABSENT, value?.length ?? ABSENT, timestamp - base, offset),
        HEADER_SIZE,
      );
      expect(size).toBe(buildBatch(list).sizeInBytes);
    }),
    { seed: 42, numRuns: 100 },
  );
});

test("a record fits into the bound for a batch of its own", () => {
  fc.assert(
    fc.property(records, (list) => {
      for (const record of list) {
        const { key, value } = record;
        expect(buildBatch([record]).sizeInBytes).toBeLessThanOrEqual(
          singleRecordBatchBound(key?.length ?? ABSENT, value?.length ?? ABSENT),
        );
      }
    }),
    { seed: 42, numRuns: 20 },
  );
});
