import type { Offset, QuorumEpoch } from "../../kafka/ids.ts";
import type { NewRecord, RecordBatch } from "../../kafka/log/record-batch.ts";
import { buildBatch } from "../../kafka/log/record-batch.ts";
import { encodeMetadataRecord } from "../../kafka/metadata/record-codec.ts";
import type { MetadataRecord } from "../../kafka/metadata/records.ts";

/** `KafkaRaftClient.MAX_BATCH_SIZE_BYTES`. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

/** What a record takes in a batch beyond its value, at most. */
const RECORD_OVERHEAD = 32;

/**
 * What a leader will append when its linger is over. Records that were given together stay together
 * in one batch, which is committed as a whole (Kafka's `BatchAccumulator`).
 */
export class BatchAccumulator {
  readonly #epoch: QuorumEpoch;
  #nextOffset: Offset;
  #batches: RecordBatch[] = [];
  #records: NewRecord[] = [];
  #bytes = 0;

  constructor(epoch: QuorumEpoch, nextOffset: Offset) {
    this.#epoch = epoch;
    this.#nextOffset = nextOffset;
  }

  get isEmpty(): boolean {
    return this.#records.length === 0 && this.#batches.length === 0;
  }

  /** Returns the offset that the last record will have. `timestamp` is in milliseconds. */
  append(records: readonly MetadataRecord[], timestamp: number): Offset {
    const added = records.map((record) => newRecord(record, timestamp));
    let bytes = 0;
    for (const { value } of added) bytes += value.length + RECORD_OVERHEAD;
    if (this.#bytes + bytes > MAX_BATCH_BYTES) this.#close();
    if (this.#records.length === 0) this.#records = added;
    else for (const record of added) this.#records.push(record);
    this.#bytes += bytes;
    this.#nextOffset += records.length;
    return this.#nextOffset - 1;
  }

  /** Hands over all that was gathered, as batches in offset order. */
  drain(): readonly RecordBatch[] {
    this.#close();
    const batches = this.#batches;
    this.#batches = [];
    return batches;
  }

  #close(): void {
    if (this.#records.length === 0) return;
    const baseOffset = this.#nextOffset - this.#records.length;
    // The copy lies among what is stored: what producers build is dropped soon.
    this.#batches.push(buildBatch(this.#records).withOffsets(baseOffset, this.#epoch));
    this.#records = [];
    this.#bytes = 0;
  }
}

interface MetadataNewRecord extends NewRecord {
  readonly value: Uint8Array;
}

function newRecord(record: MetadataRecord, timestamp: number): MetadataNewRecord {
  // An idle controller writes nothing else, twice a second.
  const value = record.type === "NoOpRecord" ? NO_OP : encodeMetadataRecord(record);
  return { timestamp, value };
}

const NO_OP = encodeMetadataRecord({ type: "NoOpRecord" });
