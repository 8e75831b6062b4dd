import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { crc32c } from "../../src/base/crc32c.ts";
import { fromMillis } from "../../src/base/time.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { parseBatch } from "../../src/kafka/log/record-batch.ts";
import type { AbortedTransaction } from "../../src/kafka/log/transaction-index-format.ts";
import type { LogConfig } from "../../src/storage/log-config.ts";
import { DEFAULT_LOG_CONFIG } from "../../src/storage/log-config.ts";
import type { PartitionLogOptions } from "../../src/storage/partition-log.ts";
import { PartitionLog } from "../../src/storage/partition-log.ts";
import { TicketBook } from "../../src/storage/ticket-book.ts";
import { HandClock } from "../support/log-fixture.ts";
import { ScriptedDisk } from "../support/scripted-disk.ts";

const FIXTURE = "test/conformance/fixture";

/** The brokers whose log directories are kept. */
export const RELEASES: readonly string[] = ["kafka-4.3", "kafka-4.4"];

/** Bytes in hex, or how many they are and their CRC-32C; null if absent. See README.md. */
export type ToldContent = string | { readonly size: number; readonly crc32c: number } | null;

export interface ToldRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: ToldContent;
  readonly value: ToldContent;
  readonly headers?: readonly (readonly [name: string, value: ToldContent])[];
  readonly controlType?: string;
  /** Of the metadata log only. */
  readonly type?: string;
  readonly version?: number;
  readonly fields?: Readonly<Record<string, unknown>>;
}

export interface ToldBatch {
  readonly position: number;
  readonly size: number;
  readonly baseOffset: number;
  readonly lastOffset: number;
  readonly crc: number;
  readonly valid: boolean;
  readonly compression: string;
  readonly timestampType: string;
  readonly baseTimestamp: number;
  readonly maxTimestamp: number;
  readonly deleteHorizon?: number;
  readonly leaderEpoch: number;
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly baseSequence: number;
  readonly lastSequence: number;
  readonly transactional: boolean;
  readonly control: boolean;
  readonly count: number;
  readonly records: readonly ToldRecord[];
}

export interface ToldSegment {
  readonly baseOffset: number;
  readonly batches: readonly ToldBatch[];
  /** From its `.txnindex`. */
  readonly abortedTransactions?: readonly AbortedTransaction[];
  readonly index: readonly (readonly [offset: number, position: number])[];
  readonly timeIndex: readonly (readonly [timestamp: number, offset: number])[];
}

export interface ToldProducer {
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly coordinatorEpoch: number;
  readonly lastTimestamp: number;
  readonly currentTxnFirstOffset?: number;
  readonly batches: readonly {
    readonly firstSequence: number;
    readonly lastSequence: number;
    readonly firstOffset: number;
    readonly lastOffset: number;
  }[];
}

/** What Kafka's log loader made of a log, after closing it again. */
export interface ToldLoad {
  readonly error?: string;
  readonly logStartOffset: number;
  readonly logEndOffset: number;
  readonly recoveryPointAfter: number;
  readonly segmentBaseOffsets: readonly number[];
  readonly epochs: readonly (readonly [epoch: number, startOffset: number])[];
  readonly files: FileSums;
}

/** Length and CRC-32C of each file in a directory. */
export type FileSums = Readonly<Record<string, readonly [size: number, crc32c: number]>>;

export interface ToldTear extends ToldLoad {
  readonly partition: string;
  readonly file: string;
  readonly damage: "cut" | "flip" | "zeros" | "snapshots";
  readonly at: number;
  readonly recoveryPoint: number;
}

export interface ToldPartition {
  readonly segments: readonly ToldSegment[];
  readonly snapshots: Readonly<Record<string, readonly ToldProducer[]>>;
  readonly checkpoints: Readonly<Record<string, readonly ToldBatch[]>>;
  /** From the `.log` files alone, after an unclean stop. */
  readonly rebuilt: ToldLoad;
  /** As it stands, after an orderly stop. */
  readonly reopened: ToldLoad;
}

interface Told {
  readonly clusterId: string;
  readonly baseTimestamp: number;
  readonly readAt: number;
  readonly topicConfigs: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly endOffsetsAtStops: readonly Readonly<Record<string, number>>[];
  readonly partitions: Readonly<Record<string, ToldPartition>>;
  readonly torn: readonly ToldTear[];
}

/** One broker's log directory, and what Kafka reads in it. */
export class RealKafka {
  readonly release: string;
  readonly told: Told;
  readonly #tickets = new WeakMap<PartitionLog, TicketBook>();

  constructor(release: string) {
    this.release = release;
    const told = gunzipSync(readFileSync(`${FIXTURE}/${release}/expected.json.gz`)).toString();
    this.told = JSON.parse(told);
  }

  /** By name, in name order. */
  get partitions(): readonly (readonly [name: string, told: ToldPartition])[] {
    return Object.entries(this.told.partitions);
  }

  /** A file of the log directory. */
  bytes(path: string): Uint8Array {
    return new Uint8Array(readFileSync(`${FIXTURE}/${this.release}/log-dir/${path}`));
  }

  text(path: string): string {
    return readFileSync(`${FIXTURE}/${this.release}/log-dir/${path}`, "latin1");
  }

  /** Names of the files in a partition's directory, or of what is in the log directory itself. */
  list(directory = ""): readonly string[] {
    return readdirSync(`${FIXTURE}/${this.release}/log-dir/${directory}`).sort();
  }

  /** A disk with those of a partition's files that are wanted. */
  diskWith(partition: string, wanted: (file: string) => boolean): ScriptedDisk {
    const disk = new ScriptedDisk();
    for (const file of this.list(partition)) {
      const path = `${partition}/${file}`;
      if (wanted(file)) disk.open(path).write(0, this.bytes(path));
    }
    return disk;
  }

  /** Opens a partition on such a disk, at the time at which the JVM opened its copies. */
  open(disk: ScriptedDisk, partition: string, options: Partial<PartitionLogOptions>): PartitionLog {
    const [, topic = "", digits] = /^(.*)-(\d+)$/.exec(partition) ?? [];
    const clock = new HandClock();
    clock.time = fromMillis(this.told.readAt);
    const tickets = new TicketBook();
    const log = PartitionLog.open({
      disk,
      clock,
      tickets,
      directory: partition,
      topic,
      partition: Number(digits),
      config: this.configOf(topic),
      recoveryPoint: 0,
      logStartOffset: 0,
      cleanShutdown: false,
      ...options,
    });
    this.#tickets.set(log, tickets);
    return log;
  }

  /** An orderly stop, once all syncs begun have ended. */
  close(disk: ScriptedDisk, log: PartitionLog): void {
    disk.endSyncs((ticket, ok) => {
      this.#tickets.get(log)?.synced(ticket, ok);
    });
    log.close();
  }

  /** The config of a topic's log. */
  configOf(topic: string): LogConfig {
    const config: Record<string, unknown> = { ...DEFAULT_LOG_CONFIG };
    for (const [name, text] of Object.entries(this.told.topicConfigs[topic] ?? {})) {
      if (name in config) config[name] = typeof config[name] === "number" ? Number(text) : text;
    }
    return { ...DEFAULT_LOG_CONFIG, ...config };
  }
}

/** The batches of a file, one after another up to its end. */
export function batchesIn(bytes: Uint8Array): readonly RecordBatch[] {
  const batches: RecordBatch[] = [];
  for (let at = 0; at < bytes.length; ) {
    const batch = parseBatch(bytes, at);
    if (batch === undefined) throw new Error(`no batch at ${at} of ${bytes.length}`);
    batches.push(batch);
    at = batch.end;
  }
  return batches;
}

export function toldContent(content: Uint8Array | undefined): ToldContent {
  if (content === undefined) return null;
  if (content.length > 100) return { size: content.length, crc32c: crc32c(content) };
  return Buffer.from(content).toString("hex");
}

/** As an entry of `expected.json` tells the files of a directory. */
export function fileSums(disk: ScriptedDisk, directory: string): FileSums {
  const sums: Record<string, readonly [number, number]> = {};
  for (const name of disk.list(directory)) {
    const file = disk.open(`${directory}/${name}`);
    sums[name] = [file.size, crc32c(file.read(0, file.size))];
  }
  return sums;
}

/** Files without those that Kafka is about to delete. */
export function comparable(files: FileSums): FileSums {
  return Object.fromEntries(Object.entries(files).filter(([name]) => !name.endsWith(".deleted")));
}
