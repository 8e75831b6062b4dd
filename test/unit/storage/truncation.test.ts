import fc from "fast-check";
import { expect, test } from "vitest";
import { LOG_DIRECTORY, LogFixture } from "../../support/log-fixture.ts";
import { LogTwin } from "../../support/log-twin.ts";

test("a truncation drops whole segments, then cuts the active one", () => {
  const fixture = new LogFixture({ "segment.bytes": 200 });
  for (let i = 0; i < 7; i++) fixture.append(1, i);
  expect(fixture.log.segmentBaseOffsets).toEqual([0, 2, 4, 6]);

  const didCut = fixture.log.truncateTo(3);

  expect(didCut).toBe(true);
  expect(fixture.log.logEndOffset).toBe(3);
  expect(fixture.log.segmentBaseOffsets).toEqual([0, 2]);
  expect(fixture.contents().map(({ baseOffset }) => baseOffset)).toEqual([0, 1, 2]);
  expect(fixture.log.epochs.entries.map(({ epoch }) => epoch)).toEqual([0, 1, 2]);
  const snapshots = fixture.disk.list(LOG_DIRECTORY).filter((name) => name.endsWith("snapshot"));
  expect(snapshots.map((name) => Number(name.slice(0, 20)))).toEqual([2, 3]);
});

test("a truncation at or beyond the end only drops an epoch that nothing was written in", () => {
  const fixture = new LogFixture();
  fixture.append(2, 1);
  fixture.log.assignEpochStart(5, 2);

  expect(fixture.log.truncateTo(2)).toBe(false);

  expect(fixture.log.logEndOffset).toBe(2);
  expect(fixture.log.epochs.entries).toEqual([{ epoch: 1, startOffset: 0 }]);
});

test("a truncation below the first segment empties the log and starts it there", () => {
  const fixture = new LogFixture();
  fixture.log.truncateFullyAndStartAt(10);
  fixture.append(2, 1);

  fixture.log.truncateTo(5);

  expect([fixture.log.logStartOffset, fixture.log.logEndOffset]).toEqual([5, 5]);
  expect(fixture.log.segmentBaseOffsets).toEqual([5]);
});

test("a full truncation forgets batches, epochs and producers, and goes on at the offset given", () => {
  const fixture = new LogFixture({ "segment.bytes": 200 });
  for (let n = 0; n < 5; n++) {
    fixture.append(1, n, { producerId: 7, producerEpoch: 0, baseSequence: n });
  }

  fixture.log.truncateFullyAndStartAt(100);

  expect([fixture.log.logStartOffset, fixture.log.logEndOffset]).toEqual([100, 100]);
  expect(fixture.log.segmentBaseOffsets).toEqual([100]);
  expect(fixture.log.epochs.entries).toEqual([]);
  expect(fixture.log.producers.size).toBe(0);
  expect(fixture.log.recoveryPoint).toBe(0);
  expect(fixture.append(1, 6).baseOffset).toBe(100);
});

test("a truncation takes producers back to what the rest of the log says", () => {
  const fixture = new LogFixture();
  for (let n = 0; n < 6; n++) {
    fixture.append(1, 0, { producerId: 7, producerEpoch: 0, baseSequence: n });
  }

  fixture.log.truncateTo(3);

  expect(fixture.log.producers.get(7)?.lastSequence).toBe(2);
  expect(
    fixture.append(1, 1, { producerId: 7, producerEpoch: 0, baseSequence: 3 }).baseOffset,
  ).toBe(3);
});

test("a truncation lowers the recovery point and has it checkpointed", () => {
  let checkpointed = 0;
  const fixture = new LogFixture();
  fixture.open({
    onTruncated: () => {
      checkpointed++;
    },
  });
  fixture.append(5);
  fixture.log.flush();
  expect(fixture.log.recoveryPoint).toBe(5);
  fixture.append(1);

  fixture.log.truncateTo(0);

  expect(fixture.log.recoveryPoint).toBe(0);
  expect(checkpointed).toBe(1);
});

test("a log start that moves up takes the epochs with it", () => {
  const fixture = new LogFixture();
  fixture.append(3, 1);
  fixture.append(3, 4);

  fixture.log.advanceLogStart(4);
  fixture.log.advanceLogStart(2);

  expect(fixture.log.logStartOffset).toBe(4);
  expect(fixture.log.epochs.entries).toEqual([{ epoch: 4, startOffset: 4 }]);
});

test("over appends, cuts, crashes, power losses and orderly stops the log agrees with a plain list", {
  timeout: 60_000,
}, () => {
  const operation = fc.oneof(
    {
      weight: 10,
      arbitrary: fc.record({
        op: fc.constant("append" as const),
        count: fc.integer({ min: 1, max: 3 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ op: fc.constant("epoch" as const) }) },
    { weight: 3, arbitrary: fc.record({ op: fc.constant("cut" as const), back: fc.nat(6) }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant("cut" as const), back: fc.nat(60) }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant("wipe" as const), ahead: fc.nat(20) }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constant("flush" as const) }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constant("end-syncs" as const) }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constant("crash" as const) }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constant("stop" as const) }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constant("power-off" as const) }) },
  );
  type Operation = Parameters<Parameters<typeof operation.map>[0]>[0];
  const seen = new Map<string, number>();

  const check = (operations: Operation[]): void => {
    const fixture = new LogFixture({ "segment.bytes": 400, "index.interval.bytes": 150 });
    const twin = new LogTwin();
    let epoch = 0;
    let sequence = 0;
    // Is a cut's new file size durable, and the removal of segments?
    let cutIsDurable = true;
    let removalIsDurable = true;
    for (const one of operations) {
      const did =
        one.op === "power-off" && !(cutIsDurable && removalIsDurable) ? "nothing" : one.op;
      seen.set(did, (seen.get(did) ?? 0) + 1);
      const { log } = fixture;
      switch (one.op) {
        case "append": {
          const producer = { producerId: 7, producerEpoch: epoch, baseSequence: sequence };
          twin.append(fixture.append(one.count, epoch, producer));
          sequence += one.count;
          break;
        }
        case "epoch":
          epoch++;
          sequence = 0;
          log.assignEpochStart(epoch, log.logEndOffset);
          twin.assignEpoch(epoch);
          break;
        case "cut": {
          // A leader's truncation points are ends of batches.
          const to = twin.boundary(one.back);
          log.truncateTo(to);
          twin.truncateTo(to);
          cutIsDurable = false;
          removalIsDurable = false;
          break;
        }
        case "wipe": {
          const to = log.logEndOffset + one.ahead;
          log.truncateFullyAndStartAt(to);
          twin.wipe(to);
          cutIsDurable = false;
          removalIsDurable = false;
          break;
        }
        case "flush":
          cutIsDurable ||= log.logEndOffset > log.recoveryPoint;
          log.flush();
          twin.flushed = log.logEndOffset;
          break;
        case "end-syncs":
          fixture.endSyncs();
          twin.flushed = Math.max(twin.flushed, log.recoveryPoint);
          break;
        case "crash": {
          const { recoveryPoint, logStartOffset } = log;
          fixture.disk.crash();
          fixture.open({ recoveryPoint, logStartOffset });
          twin.reopen();
          break;
        }
        case "stop": {
          const { logStartOffset } = log;
          log.close();
          fixture.disk.crash();
          fixture.open({ cleanShutdown: true, logStartOffset });
          twin.flushed = twin.end;
          twin.reopen();
          cutIsDurable = true;
          break;
        }
        case "power-off": {
          // What was cut may come back with the power: see the test below.
          if (did === "nothing") break;
          const { recoveryPoint } = log;
          fixture.disk.powerOff();
          fixture.open({ recoveryPoint });
          twin.loseUnflushed(fixture.contents(), fixture.log.logEndOffset);
          break;
        }
      }
      // A new epoch's checkpoint syncs the directory.
      if (one.op === "append" || one.op === "epoch") removalIsDurable = true;
      // After anything but an append another leader writes, and the producer begins anew.
      if (one.op !== "append") {
        epoch++;
        sequence = 0;
      }

      expect(fixture.log.logEndOffset).toBe(twin.end);
      expect(twin.sameBytes(fixture.contents())).toBe(true);
      expect(fixture.log.epochs.entries).toEqual(twin.epochs);
      expect(fixture.log.recoveryPoint).toBeLessThanOrEqual(twin.end);
      const last = twin.batches.at(-1);
      expect(fixture.log.producers.get(7)?.lastSequence).toBe(last?.lastSequence);
      expect(fixture.log.producers.endOffset).toBe(twin.end);
    }
  };
  fc.assert(fc.property(fc.array(operation, { maxLength: 40, size: "max" }), check), {
    seed: 42,
    numRuns: 200,
  });
  expect(Math.min(...seen.values())).toBeGreaterThan(100);
});

test("a power loss can bring back what was cut, until the cut is flushed", () => {
  const fixture = new LogFixture();
  const old = [fixture.append(1, 0), fixture.append(1, 0)];
  fixture.log.flush();
  fixture.log.truncateTo(1);
  fixture.append(1, 3);
  const { recoveryPoint } = fixture.log;

  fixture.disk.powerOff();
  fixture.open({ recoveryPoint });

  expect(fixture.contents().map(({ bytes }) => [...bytes])).toEqual(
    old.map(({ bytes }) => [...bytes]),
  );
});

test("a segment that power loss takes whole leaves a hole, which recovery does not notice", () => {
  const fixture = new LogFixture({ "segment.bytes": 200 });
  for (let i = 0; i < 3; i++) fixture.append();
  // The new epoch's checkpoint makes the names in the directory durable, not the contents.
  fixture.log.assignEpochStart(1, 3);

  fixture.disk.powerOff();
  fixture.open();

  expect(fixture.log.segmentBaseOffsets).toEqual([0, 2]);
  expect(fixture.log.logEndOffset).toBe(2);
  expect(fixture.contents()).toEqual([]);
});
