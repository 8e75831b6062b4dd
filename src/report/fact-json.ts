import { RecordBatch } from "../kafka/log/record-batch.ts";
import type { Fact } from "../trace/fact.ts";

/** A fact as one line of JSON: `atUs`, `event`, `kind`, then its fields; batches by their headers. */
export function factJson(fact: Fact, at: number, event: number): string {
  const { kind, ...fields } = fact;
  return JSON.stringify({ atUs: at, event, kind, ...fields }, (_key, value: unknown) =>
    value instanceof RecordBatch ? header(value) : value,
  );
}

function header(batch: RecordBatch): Record<string, number> {
  return {
    baseOffset: batch.baseOffset,
    lastOffset: batch.lastOffset,
    leaderEpoch: batch.partitionLeaderEpoch,
    records: batch.recordCount,
    bytes: batch.sizeInBytes,
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    baseSequence: batch.baseSequence,
    crc: batch.crc,
  };
}
