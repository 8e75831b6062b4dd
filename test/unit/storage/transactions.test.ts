import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AbortedBatches } from "../../../src/kafka/client/aborted-batches.ts";
import { ERRORS } from "../../../src/kafka/error-code.ts";
import { controlKey, encodeEndTransaction } from "../../../src/kafka/log/control-record.ts";
import type { RecordBatch } from "../../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../../src/kafka/log/record-batch.ts";
import type { PartitionLog } from "../../../src/storage/partition-log.ts";
import { RefusedStart } from "../../../src/storage/refused-start.ts";
import { LOG_DIRECTORY, LogFixture } from "../../support/log-fixture.ts";
import {
  abortedIn,
  committedIn,
  judgeMarker,
  lastStableOffsetOf,
  nextSequence,
} from "../../support/transaction-twin.ts";

const SMALL = { "segment.bytes": 700, "index.interval.bytes": 150 };

/** One log, and those who write transactions to it. */
class Story {
  readonly fixture: LogFixture;
  readonly #epochs = new Map<number, number>();

  constructor(config: Parameters<typeof newFixture>[0] = {}) {
    this.fixture = newFixture(config);
  }

  get log(): PartitionLog {
    return this.fixture.log;
  }

  epochOf(producerId: number): number {
    return this.#epochs.get(producerId) ?? 0;
  }

  write(producerId: number, isTransactional = true): RecordBatch {
    const producerEpoch = this.epochOf(producerId);
    const baseSequence = nextSequence(this.fixture.contents(), producerId, producerEpoch);
    return this.fixture.append(1, 0, {
      producerId,
      producerEpoch,
      baseSequence,
      isTransactional,
    });
  }

  /** By transaction.version 2 the marker brings the next epoch. */
  end(producerId: number, type: "ABORT" | "COMMIT", coordinatorEpoch = 0): void {
    const producerEpoch = this.epochOf(producerId) + 1;
    const error = this.mark(producerId, type, producerEpoch, coordinatorEpoch);
    expect(error).toBe(ERRORS.NONE);
    this.#epochs.set(producerId, producerEpoch);
  }

  mark(
    producerId: number,
    type: "ABORT" | "COMMIT",
    producerEpoch: number,
    coordinatorEpoch = 0,
    transactionVersion = 2,
  ) {
    const key = controlKey(type);
    const value = encodeEndTransaction(coordinatorEpoch);
    const marker = buildBatch([{ timestamp: this.fixture.clock.time / 1000, key, value }], {
      producerId,
      producerEpoch,
      isTransactional: true,
      isControl: true,
    });
    return this.log.appendAsLeader([marker], 0, "coordinator", { transactionVersion }).error;
  }
}

function newFixture(config: ConstructorParameters<typeof LogFixture>[0]): LogFixture {
  return new LogFixture(config);
}

function txnIndexes({ disk }: LogFixture): readonly string[] {
  return disk.list(LOG_DIRECTORY).filter((name) => name.endsWith(".txnindex"));
}

describe("the last stable offset", () => {
  test("stays where the first open transaction begins, and behind its marker's replication", () => {
    const story = new Story();
    story.write(1, false);
    story.write(7);
    story.write(8);

    expect(story.log.lastStableOffset(3)).toBe(1);
    story.end(7, "COMMIT");
    story.log.replicatedTo(3);
    expect(story.log.lastStableOffset(4)).toBe(1);
    story.log.replicatedTo(4);
    expect(story.log.lastStableOffset(4)).toBe(2);
    story.end(8, "ABORT");
    story.log.replicatedTo(5);
    expect(story.log.lastStableOffset(5)).toBe(5);
  });

  test("is never above the high watermark, nor below the log's start", () => {
    const story = new Story();
    for (let n = 0; n < 4; n++) story.write(7);

    expect(story.log.lastStableOffset(0)).toBe(0);
    story.log.advanceLogStart(2);
    expect(story.log.lastStableOffset(4)).toBe(2);
  });

  test("is found again by a new process, from a snapshot or from the batches", () => {
    const story = new Story();
    story.write(7);
    story.write(8);
    story.end(8, "COMMIT");

    story.fixture.open();
    story.log.replicatedTo(3);
    expect(story.log.lastStableOffset(3)).toBe(0);

    story.log.close();
    story.fixture.open({ cleanShutdown: true, recoveryPoint: 3 });
    expect(story.log.lastStableOffset(3)).toBe(0);
    expect(story.log.producers.hasOngoing(7, 0)).toBe(true);
  });

  test("goes back with a truncation that takes a marker away", () => {
    const story = new Story();
    story.write(7);
    story.end(7, "COMMIT");
    story.log.replicatedTo(2);

    story.log.truncateTo(1);

    expect(story.log.lastStableOffset(1)).toBe(0);
  });
});

describe("the index of aborted transactions", () => {
  test("has no file before the first, and none for what was committed", () => {
    const story = new Story();
    story.write(7);
    story.end(7, "COMMIT");
    expect(txnIndexes(story.fixture)).toEqual([]);

    story.write(7);
    story.end(7, "ABORT");
    expect(txnIndexes(story.fixture)).toEqual(["00000000000000000000.txnindex"]);
    const [entry] = story.log.abortedBetween(0, 4) ?? [];
    expect(entry).toEqual({ producerId: 7, firstOffset: 2, lastOffset: 3, lastStableOffset: 4 });
  });

  test("belongs to the segment of the marker, though its transaction began before", () => {
    const story = new Story({ "segment.bytes": 200 });
    story.write(7);
    for (let n = 0; n < 4; n++) story.write(8, false);
    story.end(7, "ABORT");

    const [name] = txnIndexes(story.fixture);
    expect(Number(name?.slice(0, 20))).toBe(story.log.segmentBaseOffsets.at(-1));
    const read = story.log.read(0, 1, 6, true);
    expect(story.log.abortedWithin(0, read)?.map(({ producerId }) => producerId)).toEqual([7]);
  });

  test("a marker without records is not in it", () => {
    const story = new Story();
    story.end(7, "ABORT");
    expect(txnIndexes(story.fixture)).toEqual([]);
  });

  test("goes and stays with its segment", () => {
    const story = new Story({ "segment.bytes": 200, "retention.bytes": 0 });
    story.write(7);
    story.end(7, "ABORT");
    for (let n = 0; n < 4; n++) story.write(8, false);
    expect(txnIndexes(story.fixture)).toHaveLength(1);

    story.log.deleteOldSegments(story.log.logEndOffset);

    expect(txnIndexes(story.fixture)).toEqual([]);
  });

  test("an entry that lies below its segment makes the next start recover the segment", () => {
    const story = new Story({ "segment.bytes": 200 });
    for (let n = 0; n < 4; n++) story.write(8, false);
    story.write(7);
    story.end(7, "ABORT");
    const name = txnIndexes(story.fixture)[0] ?? "";
    const file = story.fixture.disk.open(`${LOG_DIRECTORY}/${name}`);
    const sound = file.read(0, file.size);
    file.write(18, new Uint8Array(8));
    story.log.close();

    story.fixture.open({ cleanShutdown: true, recoveryPoint: 6 });

    expect(file.read(0, file.size)).toEqual(sound);
  });

  test("an entry of a later version refuses the start", () => {
    const story = new Story();
    story.write(7);
    story.end(7, "ABORT");
    story.fixture.disk.open(story.fixture.path(0, "txnindex")).write(0, Uint8Array.of(0, 1));
    story.log.close();

    expect(() => story.fixture.open({ cleanShutdown: true, recoveryPoint: 2 })).toThrow(
      RefusedStart,
    );
  });
});

describe("a marker", () => {
  test("of transaction.version 2 must bring a new epoch while the transaction is open", () => {
    const story = new Story();
    story.write(7);
    expect(story.mark(7, "COMMIT", 0)).toBe(ERRORS.INVALID_PRODUCER_EPOCH);
    expect(story.mark(7, "COMMIT", 1)).toBe(ERRORS.NONE);
    // The coordinator did not hear of it, and tries again.
    expect(story.mark(7, "COMMIT", 1)).toBe(ERRORS.NONE);
    expect(story.log.logEndOffset).toBe(3);
  });

  test("of an earlier version may have the epoch of the records", () => {
    const story = new Story();
    story.write(7);
    expect(story.mark(7, "COMMIT", 0, 0, 1)).toBe(ERRORS.NONE);
    expect(story.log.producers.hasOngoing(7, 0)).toBe(false);
  });

  test("of a coordinator that was followed by another is refused", () => {
    const story = new Story();
    story.write(7);
    story.end(7, "COMMIT", 3);
    expect(story.mark(7, "ABORT", 1, 2)).toBe(ERRORS.TRANSACTION_COORDINATOR_FENCED);
    expect(story.mark(7, "ABORT", 1, 3)).toBe(ERRORS.NONE);
  });

  test("makes the records of the old epoch stale, and the new one begin at 0", () => {
    const story = new Story();
    const { producerEpoch } = story.write(7);
    story.end(7, "ABORT");
    const late = { producerId: 7, isTransactional: true, producerEpoch, baseSequence: 1 };
    const append = (more: object) =>
      story.log.appendAsLeader([story.fixture.batch(1, { ...late, ...more })], 0).error;

    expect(append({})).toBe(ERRORS.INVALID_PRODUCER_EPOCH);
    expect(append({ producerEpoch: 1 })).toBe(ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER);
    expect(append({ producerEpoch: 1, baseSequence: 0 })).toBe(ERRORS.NONE);
  });
});

test("a record outside of the transaction is refused while its producer's transaction is open", () => {
  const story = new Story();
  story.write(7);
  const outside = { producerId: 7, producerEpoch: 0, baseSequence: 1 };
  const { error } = story.log.appendAsLeader([story.fixture.batch(1, outside)], 0);
  expect(error).toBe(ERRORS.INVALID_TXN_STATE);
});

const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("write"), producer: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("plain"), producer: fc.constant(9) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("commit"), producer: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("abort"), producer: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("zombie"), producer: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("replicate"), producer: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("truncate"), producer: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("crash"), producer: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("stop"), producer: fc.nat(1) }) },
);

/** A leader's log, and a follower's, which takes what the leader has in sets of some batches. */
function tell(operations: readonly { kind: string; producer: number }[], setSize: number): void {
  const story = new Story(SMALL);
  const follower = new LogFixture(SMALL);
  let highWatermark = 0;
  for (const { kind, producer } of operations) {
    const { log, fixture } = story;
    const before = fixture.contents();
    const epoch = story.epochOf(producer);
    if (kind === "write" || kind === "plain") story.write(producer, kind === "write");
    else if (kind === "commit" || kind === "abort") {
      story.end(producer, kind === "abort" ? "ABORT" : "COMMIT");
    } else if (kind === "zombie") {
      for (const version of [1, 2]) {
        const marker = { producerId: producer, epoch: epoch - 1 + version, version };
        const twin = judgeMarker(before, { ...marker, coordinatorEpoch: -1 });
        if (twin === "append") continue;
        const expected =
          twin === "stale-epoch"
            ? ERRORS.INVALID_PRODUCER_EPOCH
            : ERRORS.TRANSACTION_COORDINATOR_FENCED;
        expect(story.mark(producer, "ABORT", marker.epoch, -1, version)).toBe(expected);
      }
    } else if (kind === "replicate") {
      highWatermark = Math.min(highWatermark + producer, log.logEndOffset);
      log.replicatedTo(highWatermark);
    } else if (kind === "truncate") {
      const end = Math.max(log.logEndOffset - producer, 0);
      log.truncateTo(end);
      follower.log.truncateTo(end);
      highWatermark = log.logEndOffset;
      log.replicatedTo(highWatermark);
    } else {
      if (kind === "stop") log.close();
      const isClean = kind === "stop";
      fixture.open({ cleanShutdown: isClean, recoveryPoint: isClean ? log.logEndOffset : 0 });
      highWatermark = story.log.logEndOffset;
      story.log.replicatedTo(highWatermark);
    }
    fixture.endSyncs();
    const batches = fixture.contents();
    const behind = batches.filter(({ baseOffset }) => baseOffset >= follower.log.logEndOffset);
    if (behind.length >= setSize) follower.log.appendAsFollower(behind, 0);
    agree(story.log, batches, highWatermark);
    const copied = batches.filter(({ baseOffset }) => baseOffset < follower.log.logEndOffset);
    if (setSize === 1) agree(follower.log, copied, undefined);
    else onlyHidesWhatKafkaHides(follower.log, copied);
  }
}

function agree(
  log: PartitionLog,
  batches: readonly RecordBatch[],
  highWatermark: number | undefined,
): void {
  if (highWatermark !== undefined) {
    expect(log.lastStableOffset(highWatermark)).toBe(lastStableOffsetOf(batches, highWatermark));
  }
  for (let from = 0; from < log.logEndOffset; from += 3) {
    for (const maxBytes of [1, 300, 2_000]) {
      const read = log.read(from, maxBytes, log.logEndOffset, true);
      const to = read.batches.at(-1)?.nextOffset ?? from;
      const told = log.abortedWithin(from, read) ?? [];
      const within = told.filter(({ firstOffset }) => firstOffset < to);
      const asTwin = within.map((one) => [one.producerId, one.firstOffset, one.lastOffset]);
      expect(asTwin).toEqual(abortedIn(batches, from, to));
      const filter = new AbortedBatches(told);
      const seen = read.batches.filter((batch) => !filter.has(batch) && !batch.isControl);
      const committed = committedIn(batches);
      const expected = read.batches.filter(({ baseOffset }) =>
        committed.some((one) => one.baseOffset === baseOffset),
      );
      expect(seen.map(({ baseOffset }) => baseOffset)).toEqual(
        expected.map(({ baseOffset }) => baseOffset),
      );
    }
  }
}

/** What is told is true; what is not told began behind another of the same producer that was aborted. */
function onlyHidesWhatKafkaHides(log: PartitionLog, batches: readonly RecordBatch[]): void {
  for (let from = 0; from < log.logEndOffset; from += 3) {
    const read = log.read(from, 300, log.logEndOffset, true);
    const to = read.batches.at(-1)?.nextOffset ?? from;
    const told = (log.abortedWithin(from, read) ?? []).map(({ lastOffset }) => lastOffset);
    const hidden = abortedIn(batches, from, to).filter(([, , marker]) => !told.includes(marker));
    const all = abortedIn(batches, 0, log.logEndOffset);
    for (const marker of told) expect(all.map(([, , known]) => known)).toContain(marker);
    for (const [producer, first] of hidden) {
      const before = all.filter(([known, , marker]) => known === producer && marker < first);
      expect(before.length).toBeGreaterThan(0);
    }
  }
}

/**
 * As Kafka 4.3.1 and 4.4.0 do when their `UnifiedLog` is given the same batches: the index entry of the
 * first transaction is written with a last stable offset as of the whole set, at which only transactions of
 * other producers count, and so a search that ends below it does not go on to the second.
 */
test("a follower that takes two aborted transactions of one producer at once may hide the second", () => {
  const leader = new Story({ "index.interval.bytes": 0 });
  leader.write(7);
  leader.end(7, "ABORT");
  leader.write(7);
  leader.end(7, "ABORT");
  leader.write(8);
  const batches = leader.fixture.contents();
  const bytes = batches.slice(0, 3).reduce((sum, { sizeInBytes }) => sum + sizeInBytes, 0);
  const told = (log: PartitionLog) =>
    log.abortedWithin(0, log.read(0, bytes, 4, true))?.map(({ firstOffset }) => firstOffset);

  const oneByOne = new LogFixture({ "index.interval.bytes": 0 });
  for (const batch of batches) oneByOne.log.appendAsFollower([batch], 0);
  const together = new LogFixture({ "index.interval.bytes": 0 });
  together.log.appendAsFollower(batches, 0);

  expect(told(leader.log)).toEqual([0, 2]);
  expect(told(oneByOne.log)).toEqual([0, 2]);
  expect(told(together.log)).toEqual([0]);
  expect(
    together.log.abortedBetween(0, 5)?.map(({ lastStableOffset }) => lastStableOffset),
  ).toEqual([4, 4]);
});

describe("over random transactions, cuts, crashes and stops", () => {
  const stories = fc.array(operation, { minLength: 10, maxLength: 50 });

  test("last stable offset, aborted list and what a reader sees are those of a plain list", () => {
    fc.assert(
      fc.property(stories, (operations) => tell(operations, 1)),
      { seed: 42, numRuns: 60 },
    );
  });

  test("a follower that takes many batches at once tells nothing that is not so", () => {
    fc.assert(
      fc.property(stories, (operations) => tell(operations, 7)),
      { seed: 42, numRuns: 60 },
    );
  });
});
