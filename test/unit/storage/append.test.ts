import { expect, test } from "vitest";
import type { ErrorCode } from "../../../src/kafka/error-code.ts";
import { ERRORS } from "../../../src/kafka/error-code.ts";
import type { RecordBatch } from "../../../src/kafka/log/record-batch.ts";
import { buildBatch, parseBatch } from "../../../src/kafka/log/record-batch.ts";
import { LogFixture } from "../../support/log-fixture.ts";

function refusal(fixture: LogFixture, batch: RecordBatch): ErrorCode {
  const { error, appended } = fixture.log.appendAsLeader([batch], 0);
  expect(appended).toEqual([]);
  return error;
}

/** The batch with one byte of its bytes changed. */
function damaged(batch: RecordBatch, at: number, value: number): RecordBatch {
  const bytes = batch.bytes.slice();
  bytes[at] = value;
  const parsed = parseBatch(bytes);
  if (parsed === undefined) throw new Error("no longer a batch");
  return parsed;
}

test("a leader assigns offsets without gaps and stamps its epoch", () => {
  const fixture = new LogFixture();

  const results = [3, 1, 2].map((count) => fixture.log.appendAsLeader([fixture.batch(count)], 4));

  expect(results.map(({ firstOffset, lastOffset }) => [firstOffset, lastOffset])).toEqual([
    [0, 2],
    [3, 3],
    [4, 5],
  ]);
  expect(fixture.log.logEndOffset).toBe(6);
  expect(fixture.contents().map(({ partitionLeaderEpoch }) => partitionLeaderEpoch)).toEqual([
    4, 4, 4,
  ]);
  expect(fixture.log.epochs.entries).toEqual([{ epoch: 4, startOffset: 0 }]);
});

test("the file is the batches' bytes, one after the other", () => {
  const fixture = new LogFixture();

  const batches = [fixture.append(2), fixture.append(1)];

  const bytes = batches.flatMap((batch) => [...batch.bytes]);
  expect([...fixture.disk.content(fixture.path(0, "log"))]).toEqual(bytes);
});

test("a client's batch is refused in the order of Kafka's checks", () => {
  const fixture = new LogFixture({ "max.message.bytes": 300, "segment.bytes": 250 });
  const nowMs = fixture.clock.time / 1000;
  const big = { timestamp: nowMs, value: new Uint8Array(300) };
  const middling = { timestamp: nowMs, value: new Uint8Array(200) };
  const record = { timestamp: nowMs };

  const misplaced = buildBatch([big], { baseOffset: 1 });
  const tooLarge = damaged(buildBatch([big], { isControl: true }), 200, 9);
  const corrupt = damaged(buildBatch([record], { isControl: true }), 62, 9);
  const control = buildBatch([record], { isControl: true });
  const withoutSequence = buildBatch([record], { producerId: 5, producerEpoch: 0 });
  const early = buildBatch([record, { timestamp: nowMs + 3_600_001 }]);
  const beyondSegment = buildBatch([middling]);

  expect(refusal(fixture, misplaced)).toBe(ERRORS.INVALID_RECORD);
  expect(refusal(fixture, tooLarge)).toBe(ERRORS.MESSAGE_TOO_LARGE);
  expect(refusal(fixture, corrupt)).toBe(ERRORS.CORRUPT_MESSAGE);
  expect(refusal(fixture, control)).toBe(ERRORS.INVALID_RECORD);
  expect(refusal(fixture, withoutSequence)).toBe(ERRORS.INVALID_RECORD);
  expect(refusal(fixture, early)).toBe(ERRORS.INVALID_TIMESTAMP);
  expect(refusal(fixture, beyondSegment)).toBe(ERRORS.RECORD_LIST_TOO_LARGE);
  expect(fixture.log.appendAsLeader([], 0).error).toBe(ERRORS.INVALID_RECORD);
  expect(fixture.log.logEndOffset).toBe(0);
});

test("the count of records must be that of the offsets and of the records that are there", () => {
  const fixture = new LogFixture();
  const two = buildBatch([{ timestamp: 0 }, { timestamp: 0 }]);
  // Both bytes lie behind the CRC, which a lying client would have right.
  const withCrc = (at: number, value: number): RecordBatch => {
    const batch = damaged(two, at, value);
    Object.defineProperty(batch, "isValid", { value: () => true });
    return batch;
  };

  expect(refusal(fixture, withCrc(26, 2))).toBe(ERRORS.INVALID_RECORD);
  expect(refusal(fixture, withCrc(60, 3))).toBe(ERRORS.INVALID_RECORD);
  expect(refusal(fixture, withCrc(61, 0))).toBe(ERRORS.INVALID_RECORD);
});

test("a timestamp may lie so far before and after the leader's clock as the topic allows", () => {
  const fixture = new LogFixture({
    "message.timestamp.before.max.ms": 100,
    "message.timestamp.after.max.ms": 50,
  });
  const nowMs = fixture.clock.time / 1000;
  const errorFor = (timestamp: number): ErrorCode =>
    fixture.log.appendAsLeader([buildBatch([{ timestamp }])], 0).error;

  expect(errorFor(nowMs - 100)).toBe(ERRORS.NONE);
  expect(errorFor(nowMs - 101)).toBe(ERRORS.INVALID_TIMESTAMP);
  expect(errorFor(nowMs + 50)).toBe(ERRORS.NONE);
  expect(errorFor(nowMs + 51)).toBe(ERRORS.INVALID_TIMESTAMP);
  expect(errorFor(-1)).toBe(ERRORS.NONE);
});

test.each(["compact", "compact,delete"])(
  "a topic of %s takes no record without a key",
  (policy) => {
    const fixture = new LogFixture({ "cleanup.policy": policy });
    const timestamp = fixture.clock.time / 1000;
    const key = Uint8Array.of();
    const keyed = buildBatch([
      { timestamp, key },
      { timestamp, key },
    ]);
    const oneWithout = buildBatch([{ timestamp, key }, { timestamp }]);
    const earlyToo = buildBatch([{ timestamp }, { timestamp: timestamp + 3_600_001, key }]);

    expect(refusal(fixture, oneWithout)).toBe(ERRORS.INVALID_RECORD);
    expect(refusal(fixture, earlyToo)).toBe(ERRORS.INVALID_TIMESTAMP);
    expect(fixture.log.appendAsLeader([keyed], 0).error).toBe(ERRORS.NONE);
  },
);

test("LogAppendTime is the leader's clock, whatever the client wrote", () => {
  const fixture = new LogFixture({ "message.timestamp.type": "LogAppendTime" });

  const { logAppendTime, appended } = fixture.log.appendAsLeader(
    [buildBatch([{ timestamp: 5 }])],
    0,
  );
  const stamped = buildBatch([{ timestamp: 5 }], { logAppendTime: 5 });

  expect(logAppendTime).toBe(1_000_000);
  expect(appended[0]?.records()[0]?.timestamp).toBe(1_000_000);
  expect(refusal(fixture, stamped)).toBe(ERRORS.INVALID_TIMESTAMP);
});

test("an idempotent producer's repeated batch is written once and answered with the first offsets", () => {
  const fixture = new LogFixture();
  const sent = fixture.batch(2, { producerId: 7, producerEpoch: 0, baseSequence: 0 });
  fixture.append(5);
  fixture.log.appendAsLeader([sent], 0);
  fixture.append(1);

  const again = fixture.log.appendAsLeader([sent], 0);

  expect(again.error).toBe(ERRORS.NONE);
  expect(again.duplicate).toBe(true);
  expect([again.firstOffset, again.lastOffset]).toEqual([5, 6]);
  expect(fixture.log.logEndOffset).toBe(8);
});

test("a refused sequence has already noted the epoch and may have rolled (KAFKA-7866's order)", () => {
  const fixture = new LogFixture({ "segment.bytes": 200 });
  fixture.append(1, 0, { producerId: 7, producerEpoch: 0, baseSequence: 0 });
  fixture.append(1);

  const gap = fixture.batch(1, { producerId: 7, producerEpoch: 0, baseSequence: 5 });
  const { error } = fixture.log.appendAsLeader([gap], 3);

  expect(error).toBe(ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER);
  expect(fixture.log.segmentBaseOffsets).toEqual([0, 2]);
  expect(fixture.log.latestEpoch).toBe(3);
  expect(fixture.log.logEndOffset).toBe(2);
});

test("a follower stores the leader's own batches and files them in the same bytes", () => {
  const leader = new LogFixture();
  const follower = new LogFixture();
  const batches = [leader.append(2, 1), leader.append(1, 3)];

  const { error, appended } = follower.log.appendAsFollower(batches, 3);

  expect(error).toBe(ERRORS.NONE);
  expect(appended).toBe(batches);
  expect(follower.contents()[1]).toBe(batches[1]);
  expect(follower.disk.content(follower.path(0, "log"))).toEqual(
    leader.disk.content(leader.path(0, "log")),
  );
  expect(follower.log.epochs.entries).toEqual(leader.log.epochs.entries);
});

test("a follower takes nothing of an epoch above the one it fetched in (KAFKA-18723)", () => {
  const leader = new LogFixture();
  const follower = new LogFixture();
  const batches = [leader.append(2, 1), leader.append(1, 3), leader.append(1, 3)];

  const { error, appended } = follower.log.appendAsFollower(batches, 2);

  expect(error).toBe(ERRORS.NONE);
  expect(appended).toEqual(batches.slice(0, 1));
  expect(follower.log.logEndOffset).toBe(2);
  expect(follower.log.latestEpoch).toBe(1);
});

test("a follower takes nothing if any batch is corrupt or does not continue its log", () => {
  const leader = new LogFixture();
  const follower = new LogFixture();
  const batches = [leader.append(2, 1), leader.append(1, 1)];
  const [first, second] = batches as [RecordBatch, RecordBatch];

  const corrupt = follower.log.appendAsFollower([first, damaged(second, 70, 255)], 1);
  const repeated = follower.log.appendAsFollower([first, first], 1);

  expect(corrupt.error).toBe(ERRORS.CORRUPT_MESSAGE);
  expect(repeated.error).toBe(ERRORS.UNKNOWN_SERVER_ERROR);
  expect(follower.log.logEndOffset).toBe(0);
  expect(follower.disk.content(follower.path(0, "log"))).toEqual(new Uint8Array(0));
});

test("the metadata log takes its leader's batches as they are", () => {
  const fixture = new LogFixture();
  const batches = [0, 1].map((n) =>
    buildBatch([{ timestamp: 1 }], { baseOffset: n, partitionLeaderEpoch: 6, isControl: n === 0 }),
  );

  const result = fixture.log.appendAsLeader(batches, 6, "raft");

  expect(result.error).toBe(ERRORS.NONE);
  expect([result.firstOffset, result.lastOffset]).toEqual([0, 1]);
  const bytesOf = (found: readonly RecordBatch[]) => found.map(({ bytes }) => [...bytes]);
  expect(bytesOf(fixture.contents())).toEqual(bytesOf(batches));
  expect(fixture.contents()[0]).toBe(result.appended[0]);
});
