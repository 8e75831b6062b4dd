import type { Offset } from "../../kafka/ids.ts";

/** What a file in a log directory is, told by its name alone, as Kafka tells it. */
export type FileKind =
  | "log"
  | "kraft-snapshot"
  | "offset-index"
  | "time-index"
  | "transaction-index"
  | "producer-snapshot"
  | "leader-epochs"
  | "offsets"
  | "partition-metadata"
  | "meta-properties"
  | "clean-shutdown"
  | "quorum-state";

const BY_NAME: Readonly<Record<string, FileKind>> = {
  "leader-epoch-checkpoint": "leader-epochs",
  "recovery-point-offset-checkpoint": "offsets",
  "replication-offset-checkpoint": "offsets",
  "log-start-offset-checkpoint": "offsets",
  "cleaner-offset-checkpoint": "offsets",
  "partition.metadata": "partition-metadata",
  "meta.properties": "meta-properties",
  ".kafka_cleanshutdown": "clean-shutdown",
  "quorum-state": "quorum-state",
};

const BY_SUFFIX: Readonly<Record<string, FileKind>> = {
  ".log": "log",
  ".checkpoint": "kraft-snapshot",
  ".index": "offset-index",
  ".timeindex": "time-index",
  ".txnindex": "transaction-index",
  ".snapshot": "producer-snapshot",
};

/** What a name gets while the file is being made or about to go. */
const IN_BETWEEN = /\.(deleted|cleaned|swap|tmp|part)$/;

/** Undefined for a name that Kafka gives to no file. */
export function kindOf(name: string): FileKind | undefined {
  const settled = settledName(name);
  const suffix = /\.[a-z]+$/.exec(settled)?.[0] ?? "";
  return own(BY_NAME, settled) ?? own(BY_SUFFIX, suffix);
}

/** The names that are not told by a suffix, and the suffixes: what may have been meant. */
export const KNOWN_NAMES: readonly string[] = [...Object.keys(BY_NAME), ...Object.keys(BY_SUFFIX)];

/** The base offset in the name of a segment's file; undefined if it has none. */
export function baseOffsetOf(name: string): Offset | undefined {
  const digits = /^(\d{1,20})\./.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The name of another file of the same segment, in the same state. */
export function besides(name: string, suffix: string): string {
  const settled = settledName(name);
  return settled.slice(0, settled.lastIndexOf(".")) + suffix + name.slice(settled.length);
}

function settledName(name: string): string {
  return name.replace(IN_BETWEEN, "");
}

function own<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
