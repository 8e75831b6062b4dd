import type { ByteSource } from "./byte-source.ts";

/** What is asked of a dump, by the names of Kafka's own tool. */
export interface DumpOptions {
  /** Records too, not only batches. */
  readonly deepIteration: boolean;
  /** Keys and values too; asks for records by itself. */
  readonly printDataLog: boolean;
  /** Of records only key and value. */
  readonly skipRecordMetadata: boolean;
  /** Values are records of the metadata log, as in `__cluster_metadata` and KRaft snapshots. */
  readonly clusterMetadata: boolean;
  /** Checks an index as a starting broker does, and shows no entries. */
  readonly indexSanityCheck: boolean;
  /** Compares an index with its log, and shows no entries. */
  readonly verifyIndexOnly: boolean;
  /** How much of a log is read. */
  readonly maxBytes: number;
}

/** What is asked if nothing is. */
export const PLAIN_DUMP: DumpOptions = {
  deepIteration: false,
  printDataLog: false,
  skipRecordMetadata: false,
  clusterMetadata: false,
  indexSanityCheck: false,
  verifyIndexOnly: false,
  maxBytes: Number.MAX_SAFE_INTEGER,
};

/** A file that is to be dumped. */
export interface DumpTarget {
  /** As it is shown. */
  readonly path: string;
  /** Its last part: what the file is. */
  readonly name: string;
  readonly source: ByteSource;
  /** Another file of the same directory; undefined if there is none. */
  beside(name: string): ByteSource | undefined;
}
