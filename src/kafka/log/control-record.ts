import { readInt16, readInt32, writeInt16, writeInt32 } from "../../base/big-endian.ts";

/** What a record of a control batch says, by Kafka's `ControlRecordType`. */
export const CONTROL_TYPES = {
  ABORT: 0,
  COMMIT: 1,
  LEADER_CHANGE: 2,
  SNAPSHOT_HEADER: 3,
  SNAPSHOT_FOOTER: 4,
  KRAFT_VERSION: 5,
  KRAFT_VOTERS: 6,
} as const;

export type ControlType = keyof typeof CONTROL_TYPES;

const NAMES: ReadonlyMap<number, ControlType> = new Map([
  [0, "ABORT"],
  [1, "COMMIT"],
  [2, "LEADER_CHANGE"],
  [3, "SNAPSHOT_HEADER"],
  [4, "SNAPSHOT_FOOTER"],
  [5, "KRAFT_VERSION"],
  [6, "KRAFT_VOTERS"],
]);

/** The key of a control record: version and type. */
export function controlKey(type: ControlType): Uint8Array {
  const key = new Uint8Array(KEY_SIZE);
  writeInt16(key, 2, CONTROL_TYPES[type]);
  return key;
}

/** The number of the type that a key names, which may be of a later Kafka; undefined if it is no such key. */
export function controlTypeId(key: Uint8Array | undefined): number | undefined {
  if (key === undefined || key.length < KEY_SIZE || readInt16(key, 0) < 0) return undefined;
  return readInt16(key, 2);
}

/** Undefined for a type that Kafka 4.3 does not know. */
export function controlTypeName(id: number): ControlType | undefined {
  return NAMES.get(id);
}

/** The end of a producer's transaction in one partition; the key says how it ended. */
export interface EndTransactionMarker {
  readonly type: "ABORT" | "COMMIT";
  /** Of the coordinator that wrote it. */
  readonly coordinatorEpoch: number;
}

/** Kafka's `EndTxnMarker`: the value of an ABORT or COMMIT. */
export function encodeEndTransaction(coordinatorEpoch: number): Uint8Array {
  const value = new Uint8Array(MARKER_SIZE);
  writeInt32(value, 2, coordinatorEpoch);
  return value;
}

/** Undefined if the record is no marker. Later versions may be longer: what they add is not read. */
export function decodeEndTransaction(
  key: Uint8Array | undefined,
  value: Uint8Array | undefined,
): EndTransactionMarker | undefined {
  const id = controlTypeId(key);
  if (id !== CONTROL_TYPES.ABORT && id !== CONTROL_TYPES.COMMIT) return undefined;
  if (value === undefined || value.length < MARKER_SIZE || readInt16(value, 0) < 0)
    return undefined;
  return {
    type: id === CONTROL_TYPES.ABORT ? "ABORT" : "COMMIT",
    coordinatorEpoch: readInt32(value, 2),
  };
}

const KEY_SIZE = 4;
const MARKER_SIZE = 6;
