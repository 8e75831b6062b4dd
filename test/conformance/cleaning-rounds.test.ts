import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { fromMillis } from "../../src/base/time.ts";
import type { Offset } from "../../src/kafka/ids.ts";
import type { LastRecord } from "../../src/kafka/log/cleaning/batch-retention.ts";
import { dirtOf } from "../../src/kafka/log/cleaning/dirt.ts";
import { OffsetMap } from "../../src/kafka/log/cleaning/offset-map.ts";
import { ProducerState } from "../../src/kafka/log/producer-state.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import type { AbortedTransaction } from "../../src/kafka/log/transaction-index-format.ts";
import {
  ABORTED_TRANSACTION_SIZE,
  decodeAbortedTransaction,
} from "../../src/kafka/log/transaction-index-format.ts";
import { LogCleaning } from "../../src/storage/log-cleaning.ts";
import type { LogConfig } from "../../src/storage/log-config.ts";
import { DEFAULT_LOG_CONFIG } from "../../src/storage/log-config.ts";
import { OffsetIndex } from "../../src/storage/offset-index.ts";
import { PartitionLog } from "../../src/storage/partition-log.ts";
import { TicketBook } from "../../src/storage/ticket-book.ts";
import { cleanBatches } from "../support/clean-batches.ts";
import { HandClock } from "../support/log-fixture.ts";
import { ScriptedDisk } from "../support/scripted-disk.ts";
import { batchesIn } from "./real-kafka.ts";

/** What Kafka's cleaner found and left in one run; of files, in hex, those that changed. */
interface ToldRound {
  readonly highWatermark: Offset;
  readonly nowMs: number;
  readonly cleanBytes: number;
  readonly cleanableBytes: number;
  /** The first offset that may not be cleaned. */
  readonly bound: Offset;
  /** Where the next run begins; -1 if there was none yet. */
  readonly checkpoint: Offset;
  readonly changed: Readonly<Record<string, string | null>>;
}

interface ToldLog {
  readonly transactional: boolean;
  readonly before: Readonly<Record<string, string>>;
  readonly segmentBytes: number;
  readonly indexIntervalBytes: number;
  readonly deleteRetentionMs: number;
  readonly mapSlots: number;
  readonly logEndOffset: Offset;
  readonly aborted: readonly (readonly [number, Offset, Offset, Offset])[];
  readonly rounds: readonly ToldRound[];
}

const { cases }: { cases: readonly ToldLog[] } = JSON.parse(
  gunzipSync(readFileSync("test/conformance/fixture/cleaned.json.gz")).toString(),
);

describe("random logs, cleaned round after round by Kafka's cleaner", () => {
  test("have the same files after each round of ours", () => {
    let runs = 0;
    for (const [number, told] of cases.entries()) {
      let files = new Files(told.before);
      const ours = new OurLog(told);
      expect(ours.log.logEndOffset).toBe(told.logEndOffset);
      for (const [i, round] of told.rounds.entries()) {
        files = files.after(round);
        expect(ours.clean(round), `log ${number}, round ${i}`).toEqual({
          cleanBytes: round.cleanBytes,
          cleanableBytes: round.cleanableBytes,
          bound: round.bound,
          checkpoint: round.checkpoint,
          files: files.all,
        });
        if (round.cleanableBytes > 0) runs++;
      }
    }
    expect(runs).toBeGreaterThan(100);
  });

  test("have the same batches and aborted transactions, by our rules, where there were transactions", () => {
    let runs = 0;
    for (const [number, told] of cases.entries()) {
      if (!told.transactional) continue;
      let files = new Files(told.before);
      const producers = lastRecords(files.batches());
      let aborted = told.aborted.map(abortedTransaction);
      let checkpoint: Offset | undefined;
      for (const [i, round] of told.rounds.entries()) {
        const before = files;
        files = before.after(round);
        if (round.cleanableBytes === 0) continue;
        const bases = before.bases.filter((base) => base < round.bound);
        const log = {
          segments: bases.map((base) => before.batchesOf(base)),
          bases,
          end: round.bound,
          aborted,
          producers,
          skipped: (segment: Offset, offset: Offset) => before.skippedOf(segment, offset),
        };
        const firstDirty = checkpoint ?? bases[0] ?? 0;
        const { deleteRetentionMs, mapSlots: mapCapacity } = told;
        const ours = cleanBatches(log, firstDirty, round.nowMs, { deleteRetentionMs, mapCapacity });
        const untouched = before.batches().filter(({ baseOffset }) => baseOffset >= round.bound);
        checkpoint = round.checkpoint;
        aborted = files.bases.flatMap((base) => files.abortedOf(base));
        const cleaned = files.bases.filter((base) => base < round.checkpoint);
        expect(
          {
            nextDirty: ours.nextDirty,
            batches: [...ours.batches, ...untouched].map(hexOf),
            aborted: ours.aborted,
          },
          `log ${number}, round ${i}`,
        ).toEqual({
          nextDirty: round.checkpoint,
          batches: files.batches().map(hexOf),
          aborted: cleaned.flatMap((base) => files.abortedOf(base)),
        });
        runs++;
      }
    }
    expect(runs).toBeGreaterThan(50);
  });
});

/** The files of a partition, as Kafka left them once. */
class Files {
  readonly #files: ReadonlyMap<string, string>;
  /** Where the segments begin, in order. */
  readonly bases: readonly Offset[];

  constructor(files: Readonly<Record<string, string>>) {
    this.#files = new Map(Object.entries(files));
    const logs = Object.keys(files).filter((name) => name.endsWith(".log"));
    this.bases = logs.map((name) => Number.parseInt(name, 10)).sort((left, right) => left - right);
  }

  after({ changed }: ToldRound): Files {
    const files: Record<string, string> = Object.fromEntries(this.#files);
    for (const [name, content] of Object.entries(changed)) {
      if (content === null) delete files[name];
      else files[name] = content;
    }
    return new Files(files);
  }

  batches(): readonly RecordBatch[] {
    return this.bases.flatMap((base) => this.batchesOf(base));
  }

  batchesOf(base: Offset): readonly RecordBatch[] {
    return batchesIn(this.#bytes(nameOf(base, "log")));
  }

  /** How many batches of a segment its index skips on the way to an offset. */
  skippedOf(base: Offset, offset: Offset): number {
    const disk = new ScriptedDisk();
    const name = nameOf(base, "index");
    disk.open(name).write(0, this.#bytes(name));
    const position = new OffsetIndex(disk, name, base).lookup(offset);
    let at = 0;
    return this.batchesOf(base).filter(({ sizeInBytes }) => {
      at += sizeInBytes;
      return at <= position;
    }).length;
  }

  abortedOf(base: Offset): readonly AbortedTransaction[] {
    const bytes = this.#bytes(nameOf(base, "txnindex"));
    const aborted: AbortedTransaction[] = [];
    for (let at = 0; at < bytes.length; at += ABORTED_TRANSACTION_SIZE) {
      const entry = decodeAbortedTransaction(bytes, at);
      if (entry !== undefined) aborted.push(entry);
    }
    return aborted;
  }

  /** By name. */
  get all(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#files);
  }

  #bytes(name: string): Uint8Array {
    return new Uint8Array(Buffer.from(this.#files.get(name) ?? "", "hex"));
  }
}

/** The same log on our side, and its cleaner. */
class OurLog {
  readonly log: PartitionLog;
  readonly #disk = new ScriptedDisk();
  readonly #config: LogConfig;
  readonly #mapSlots: number;
  #checkpoint: Offset | undefined;

  constructor(told: ToldLog) {
    for (const [name, content] of Object.entries(told.before)) {
      this.#disk.open(`orders-0/${name}`).write(0, Buffer.from(content, "hex"));
    }
    const clock = new HandClock();
    clock.time = fromMillis(told.rounds[0]?.nowMs ?? 0);
    this.#mapSlots = told.mapSlots;
    this.#config = {
      ...DEFAULT_LOG_CONFIG,
      "cleanup.policy": "compact",
      "segment.bytes": told.segmentBytes,
      "index.interval.bytes": told.indexIntervalBytes,
      "delete.retention.ms": told.deleteRetentionMs,
    };
    this.log = PartitionLog.open({
      disk: this.#disk,
      clock,
      tickets: new TicketBook(),
      directory: "orders-0",
      topic: "orders",
      partition: 0,
      config: this.#config,
      recoveryPoint: 0,
      logStartOffset: 0,
      cleanShutdown: false,
    });
  }

  clean(round: ToldRound): object {
    const { log } = this;
    const { segments, logStartOffset, logEndOffset } = log;
    log.replicatedTo(round.highWatermark);
    const extent = {
      segments,
      logStartOffset,
      logEndOffset,
      lastStableOffset: log.lastStableOffset(round.highWatermark),
    };
    const dirt = dirtOf(extent, this.#config, this.#checkpoint, round.nowMs);
    if (dirt.cleanableBytes > 0) this.#clean(dirt, round.nowMs);
    return {
      cleanBytes: dirt.cleanBytes,
      cleanableBytes: dirt.cleanableBytes,
      bound: dirt.firstUncleanableOffset,
      checkpoint: this.#checkpoint ?? -1,
      files: this.#files(),
    };
  }

  #clean(dirt: ReturnType<typeof dirtOf>, nowMs: number): void {
    const cleaning = new LogCleaning(this.log, dirt, new OffsetMap(this.#mapSlots, 1), nowMs);
    if (!cleaning.map()) throw new Error("corrupt");
    for (let group = cleaning.cleanNext(); group !== undefined; group = cleaning.cleanNext()) {
      if (group === "corrupt") throw new Error("corrupt");
      group.cleaned.sync();
      this.log.replaceSegments(group.cleaned, group.replaced);
    }
    this.#checkpoint = cleaning.nextDirtyOffset;
  }

  #files(): object {
    const files: Record<string, string> = {};
    const active = this.log.segments.at(-1)?.baseOffset ?? 0;
    for (const name of this.#disk.list("orders-0")) {
      if (!/\.(log|index|timeindex|txnindex)$/.test(name)) continue;
      if (/\.(index|timeindex)$/.test(name) && Number.parseInt(name, 10) === active) continue;
      files[name] = Buffer.from(this.#disk.content(`orders-0/${name}`)).toString("hex");
    }
    return files;
  }
}

function nameOf(base: Offset, extension: string): string {
  return `${String(base).padStart(20, "0")}.${extension}`;
}

function abortedTransaction(told: ToldLog["aborted"][number]): AbortedTransaction {
  const [producerId, firstOffset, lastOffset, lastStableOffset] = told;
  return { producerId, firstOffset, lastOffset, lastStableOffset };
}

function lastRecords(batches: readonly RecordBatch[]): ReadonlyMap<number, LastRecord> {
  const state = new ProducerState();
  for (const batch of batches) state.add(batch);
  return new Map(
    Array.from(state.entries(), ({ producerId, epoch, lastBatch }) => [
      producerId,
      { lastDataOffset: lastBatch?.lastOffset, producerEpoch: epoch },
    ]),
  );
}

function hexOf({ bytes }: RecordBatch): string {
  return Buffer.from(bytes).toString("hex");
}
