import type { Offset } from "../../kafka/ids.ts";

/** One thing that a file holds. The fields have the names that Kafka's own dump tool prints. */
export type DumpEntry =
  | NoteEntry
  | BatchEntry
  | MessageSetEntry
  | RecordEntry
  | OffsetIndexEntry
  | TimeIndexEntry
  | AbortedTransactionEntry
  | ProducerEntry
  | FieldsEntry;

/** A line about the file itself: `Log starting offset: 0`. */
export interface NoteEntry {
  readonly kind: "note";
  readonly text: string;
}

/** A batch of magic 2. */
export interface BatchEntry {
  readonly kind: "batch";
  readonly baseOffset: Offset;
  readonly lastOffset: Offset;
  readonly count: number;
  readonly baseSequence: number;
  readonly lastSequence: number;
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly partitionLeaderEpoch: number;
  readonly isTransactional: boolean;
  readonly isControl: boolean;
  readonly deleteHorizonMs: number | undefined;
  readonly position: number;
  readonly timestampType: string;
  /** Milliseconds: the largest. */
  readonly timestamp: number;
  readonly size: number;
  readonly magic: number;
  readonly compresscodec: string;
  readonly crc: number;
  readonly isvalid: boolean;
}

/** A message of magic 0 or 1, or a compressed set of them. */
export interface MessageSetEntry {
  readonly kind: "message-set";
  readonly offset: Offset;
  readonly position: number;
  readonly timestampType: string;
  /** Milliseconds; -1 in magic 0. */
  readonly timestamp: number;
  readonly size: number;
  readonly magic: number;
  readonly compresscodec: string;
  readonly crc: number;
  readonly isvalid: boolean;
}

export interface RecordEntry {
  readonly kind: "record";
  readonly offset: Offset;
  readonly timestampType: string;
  readonly timestamp: number;
  /** -1 if there is none. */
  readonly keySize: number;
  readonly valueSize: number;
  /** Magic 2 only. */
  readonly sequence?: number;
  readonly headers?: readonly (readonly [key: string, value: Uint8Array | undefined])[];
  /** Magic 0 and 1 only. */
  readonly isValid?: boolean;
  readonly crc?: number;
  /** Of a control record: its type, and what it says. */
  readonly control?: ControlContent;
  /** If contents were asked for. */
  readonly key?: Uint8Array;
  readonly payload?: Uint8Array;
  /** What a decoder made of them, which is then shown instead. */
  readonly decoded?: string;
}

export interface ControlContent {
  /** As Kafka names it; `UNKNOWN` if it does not. */
  readonly type: string;
  readonly typeId: number;
  readonly fields?: Readonly<Record<string, unknown>>;
}

export interface OffsetIndexEntry {
  readonly kind: "index";
  readonly offset: Offset;
  readonly position: number;
}

export interface TimeIndexEntry {
  readonly kind: "timeindex";
  readonly timestamp: number;
  readonly offset: Offset;
}

export interface AbortedTransactionEntry {
  readonly kind: "txnindex";
  readonly version: number;
  readonly producerId: number;
  readonly firstOffset: Offset;
  readonly lastOffset: Offset;
  readonly lastStableOffset: Offset;
}

/** A producer in a `.snapshot`. */
export interface ProducerEntry {
  readonly kind: "producer";
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly coordinatorEpoch: number;
  readonly currentTxnFirstOffset: Offset | undefined;
  readonly lastTimestamp: number;
  readonly lastBatch: ProducerBatch | undefined;
}

export interface ProducerBatch {
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly lastOffset: Offset;
  readonly offsetDelta: number;
  readonly timestamp: number;
}

/** A line of a small text file, taken apart: Kafka's tool has no columns for these. */
export interface FieldsEntry {
  readonly kind: "fields";
  readonly fields: Readonly<Record<string, string | number>>;
}
