import type {
  BatchEntry,
  ControlContent,
  DumpEntry,
  MessageSetEntry,
  ProducerEntry,
  RecordEntry,
} from "./entry.ts";
import { printable, printableText } from "./printable.ts";

/**
 * An entry as a line, in the columns of Kafka's own dump tool (`DumpLogSegments` of 4.3); undefined if
 * nothing of it is shown. Texts that might break a line or do harm to a terminal are shown as in JSON.
 */
export function entryText(entry: DumpEntry, skipRecordMetadata: boolean): string | undefined {
  switch (entry.kind) {
    case "note":
      return printableText(entry.text);
    case "batch":
      return `${batchText(entry)} ${placeText(entry)}`;
    case "message-set":
      return `offset: ${entry.offset} ${placeText(entry)}`;
    case "record":
      return recordText(entry, skipRecordMetadata);
    case "producer":
      return producerText(entry);
    case "index":
    case "timeindex":
    case "txnindex": {
      const { kind: _, ...fields } = entry;
      return columns(fields);
    }
    case "fields":
      return printableText(columns(entry.fields));
  }
}

/** `name: value name: value`. */
function columns(fields: Readonly<Record<string, string | number | boolean>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`)
    .join(" ");
}

function batchText(batch: BatchEntry): string {
  const { baseOffset, lastOffset, count, baseSequence, lastSequence, producerId } = batch;
  const { producerEpoch, partitionLeaderEpoch, isTransactional, isControl } = batch;
  const deleteHorizonMs = optional(batch.deleteHorizonMs);
  return columns({
    baseOffset,
    lastOffset,
    count,
    baseSequence,
    lastSequence,
    producerId,
    producerEpoch,
    partitionLeaderEpoch,
    isTransactional,
    isControl,
    deleteHorizonMs,
  });
}

function placeText(entry: BatchEntry | MessageSetEntry): string {
  const { position, timestampType, timestamp, size, magic, compresscodec, crc, isvalid } = entry;
  return columns({
    position,
    [timestampType]: timestamp,
    size,
    magic,
    compresscodec,
    crc,
    isvalid,
  });
}

function recordText(record: RecordEntry, skipMetadata: boolean): string | undefined {
  // As in Kafka's tool: a control record is all metadata.
  if (skipMetadata && record.control !== undefined) return undefined;
  const parts: string[] = [];
  if (!skipMetadata) {
    const { offset, timestampType, timestamp, keySize, valueSize } = record;
    parts.push(columns({ offset, [timestampType]: timestamp, keySize, valueSize }));
    if (record.sequence !== undefined) parts.push(`sequence: ${record.sequence}`);
    if (record.headers !== undefined) {
      const names = record.headers.map(([name]) => printableText(name)).join(",");
      parts.push(`headerKeys: [${names}]`);
    }
    if (record.isValid !== undefined) parts.push(`isValid: ${record.isValid} crc: ${record.crc}`);
    if (record.control !== undefined) parts.push(controlText(record.control));
  }
  const { key, payload, decoded } = record;
  if (key !== undefined && decoded === undefined) parts.push(`key: ${printable(key)}`);
  if (decoded !== undefined) parts.push(`payload: ${printableText(decoded)}`);
  else if (payload !== undefined) parts.push(`payload: ${printable(payload)}`);
  return `| ${parts.join(" ")}`;
}

/** Kafka's words before what a control record says. */
const CONTROL_WORDS: Readonly<Record<string, string>> = {
  LEADER_CHANGE: "LeaderChange:",
  SNAPSHOT_HEADER: "SnapshotHeader",
  SNAPSHOT_FOOTER: "SnapshotFooter",
  KRAFT_VERSION: "KRaftVersion",
  KRAFT_VOTERS: "KRaftVoters",
};

function controlText({ type, typeId, fields }: ControlContent): string {
  if (fields === undefined) return `controlType: ${type}(${typeId})`;
  const words = CONTROL_WORDS[type];
  if (words !== undefined) return `${words} ${printableText(JSON.stringify(fields))}`;
  return `endTxnMarker: ${type} ${columns({ coordinatorEpoch: Number(fields["coordinatorEpoch"]) })}`;
}

function producerText(producer: ProducerEntry): string {
  const { producerId, producerEpoch, coordinatorEpoch, lastTimestamp, lastBatch } = producer;
  const currentTxnFirstOffset = optional(producer.currentTxnFirstOffset);
  return columns({
    producerId,
    producerEpoch,
    coordinatorEpoch,
    currentTxnFirstOffset,
    lastTimestamp,
    ...lastBatch,
  });
}

/** As Java prints it. */
function optional(value: number | undefined): string {
  return value === undefined ? "OptionalLong.empty" : `OptionalLong[${value}]`;
}
