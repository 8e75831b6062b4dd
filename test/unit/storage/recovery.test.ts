import { expect, test } from "vitest";
import type { RecordBatch } from "../../../src/kafka/log/record-batch.ts";
import { DiskError } from "../../../src/ports/disk.ts";
import type { PartitionLogOptions } from "../../../src/storage/partition-log.ts";
import { RefusedStart } from "../../../src/storage/refused-start.ts";
import { LOG_DIRECTORY, LogFixture } from "../../support/log-fixture.ts";

/** A fixture on a copy of the disk, so that harm can be done to it over and over. */
function copyOf(fixture: LogFixture, options: Partial<PartitionLogOptions> = {}): LogFixture {
  return new LogFixture(fixture.config, fixture.disk.clone(), options);
}

function bytesOf(batches: readonly RecordBatch[]): number[][] {
  return batches.map(({ bytes }) => [...bytes]);
}

test("a log that is torn at any byte recovers to its last whole batch", () => {
  const original = new LogFixture();
  const batches = [original.append(2, 0), original.append(1, 1), original.append(3, 4)];
  const path = original.path(0, "log");
  const whole = original.disk.content(path);

  for (let length = 0; length <= whole.length; length++) {
    const fixture = copyOf(original);
    fixture.disk.replace(path, whole.slice(0, length));
    const log = fixture.open();

    let kept = 0;
    let end = 0;
    for (const { sizeInBytes } of batches) {
      if (end + sizeInBytes > length) break;
      end += sizeInBytes;
      kept++;
    }
    expect(bytesOf(fixture.contents())).toEqual(bytesOf(batches.slice(0, kept)));
    expect(log.logEndOffset).toBe(batches[kept - 1]?.nextOffset ?? 0);
    expect(log.truncatedBytes).toBe(length - end);
    expect(fixture.disk.content(path).length).toBe(end);
    expect(log.latestEpoch).toBe(batches[kept - 1]?.partitionLeaderEpoch);
    fixture.append(1, 9);
    expect(fixture.contents()).toHaveLength(kept + 1);
  }
});

test("a bit flipped anywhere behind the magic is found, and the log ends before that batch", () => {
  const original = new LogFixture();
  const batches = [original.append(1), original.append(1), original.append(1)];
  const path = original.path(0, "log");
  const whole = original.disk.content(path);
  const second = batches[0]?.sizeInBytes ?? 0;
  const third = second + (batches[1]?.sizeInBytes ?? 0);

  // What comes before lies outside the CRC, and a magic above 2 is taken for 2, as Kafka takes it.
  for (let at = second + 17; at < third; at++) {
    const fixture = copyOf(original);
    const bytes = whole.slice();
    bytes[at] = (bytes[at] as number) ^ 0x04;
    fixture.disk.replace(path, bytes);
    const log = fixture.open();

    expect(log.logEndOffset).toBe(1);
    expect(log.truncatedBytes).toBe(whole.length - second);
  }
});

test("zeros behind the data, as of a size that was durable before its bytes, are cut off", () => {
  const fixture = new LogFixture();
  fixture.append(3);
  const path = fixture.path(0, "log");
  const bytes = fixture.disk.content(path);
  const extended = new Uint8Array(bytes.length + 4096);
  extended.set(bytes);
  fixture.disk.replace(path, extended);

  const log = fixture.open();

  expect(log.logEndOffset).toBe(3);
  expect(log.truncatedBytes).toBe(4096);
});

test("an offset that goes back is damage: the batch was written to the wrong place", () => {
  const fixture = new LogFixture();
  const [first] = [fixture.append(1), fixture.append(1)];
  const path = fixture.path(0, "log");
  const { bytes } = first as RecordBatch;
  fixture.disk.replace(path, Uint8Array.from([...bytes, ...bytes]));

  const log = fixture.open();

  expect(log.logEndOffset).toBe(1);
});

test("behind the first damage all segments are dropped", () => {
  const original = new LogFixture({ "segment.bytes": 200 });
  for (let i = 0; i < 7; i++) original.append();
  expect(original.log.segmentBaseOffsets).toEqual([0, 2, 4, 6]);
  const fixture = copyOf(original);
  const path = fixture.path(2, "log");
  const sizes = [2, 4, 6].map((base) => fixture.disk.content(fixture.path(base, "log")).length);
  const bytes = fixture.disk.content(path);
  fixture.disk.replace(path, bytes.slice(0, -1));

  const log = fixture.open();

  expect(log.segmentBaseOffsets).toEqual([0, 2]);
  expect(log.logEndOffset).toBe(3);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(log.truncatedBytes).toBe(total - 1 - bytes.length / 2 + 0);
  expect(fixture.disk.list(LOG_DIRECTORY).filter((name) => name.endsWith(".log"))).toEqual([
    "00000000000000000000.log",
    "00000000000000000002.log",
  ]);
});

test("segments below the recovery point are trusted without a look", () => {
  const original = new LogFixture({ "segment.bytes": 200 });
  for (let i = 0; i < 5; i++) original.append();
  const path = original.path(0, "log");
  const bytes = original.disk.content(path);
  bytes[70] = (bytes[70] as number) ^ 1;
  original.disk.replace(path, bytes);

  const trusting = copyOf(original, { recoveryPoint: 2 }).log;
  const scanning = copyOf(original, { recoveryPoint: 1 }).log;

  expect(trusting.logEndOffset).toBe(5);
  expect(scanning.logEndOffset).toBe(0);
});

test("after an orderly stop nothing is scanned", () => {
  const fixture = new LogFixture();
  fixture.append(2);
  fixture.append(2);
  fixture.log.close();
  const path = fixture.path(0, "log");
  const bytes = fixture.disk.content(path);
  bytes[70] = (bytes[70] as number) ^ 1;
  fixture.disk.replace(path, bytes);

  const log = fixture.open({ cleanShutdown: true });

  expect(log.logEndOffset).toBe(4);
  expect(log.recoveryPoint).toBe(4);
  expect(log.truncatedBytes).toBe(0);
  expect(fixture.contents().map((batch) => batch.isValid())).toEqual([false, true]);
});

test("the end of a log that stopped orderly is found from the last index entry", () => {
  const fixture = new LogFixture({ "index.interval.bytes": 100 });
  for (let i = 0; i < 20; i++) fixture.append();
  fixture.log.close();

  expect(fixture.open({ cleanShutdown: true }).logEndOffset).toBe(20);
});

test("after an orderly stop a last batch that claims too many bytes is taken for none, as by Kafka", () => {
  const original = new LogFixture();
  const [first, second] = [original.append(2), original.append(3)];
  const path = original.path(0, "log");
  const bytes = original.disk.content(path);
  const lengthOf = (length: number): LogFixture => {
    new DataView(bytes.buffer).setInt32(first.sizeInBytes + 8, length);
    const fixture = copyOf(original, { cleanShutdown: true });
    fixture.disk.replace(path, bytes);
    return fixture;
  };

  expect(lengthOf(second.sizeInBytes - 12).open({ cleanShutdown: true }).logEndOffset).toBe(5);
  expect(lengthOf(second.sizeInBytes - 11).open({ cleanShutdown: true }).logEndOffset).toBe(2);
  expect(lengthOf(100_000).open({ cleanShutdown: true }).logEndOffset).toBe(2);
  // It can be no batch at all: the broker does not start.
  expect(() => lengthOf(13).open({ cleanShutdown: true })).toThrow(RefusedStart);
});

test("recovery does not move the recovery point: what it read may be in the page cache only", () => {
  const fixture = new LogFixture();
  fixture.append(5);

  expect(fixture.open({ recoveryPoint: 3 }).recoveryPoint).toBe(3);
  expect(fixture.open({ recoveryPoint: 9 }).recoveryPoint).toBe(5);
});

test("recovery builds the indexes that appending had built", () => {
  const fixture = new LogFixture({ "index.interval.bytes": 150, "segment.bytes": 1000 });
  for (let i = 0; i < 30; i++) {
    fixture.clock.advanceMs(i % 3);
    fixture.append(1 + (i % 3));
  }
  fixture.log.close();
  const names = fixture.disk.list(LOG_DIRECTORY).filter((name) => name.endsWith("index"));
  const before = names.map((name) => [name, ...fixture.disk.content(`${LOG_DIRECTORY}/${name}`)]);
  expect(names.length).toBeGreaterThan(4);
  for (const name of names) fixture.disk.replace(`${LOG_DIRECTORY}/${name}`, new Uint8Array(3));

  fixture.open();

  const after = names.map((name) => [name, ...fixture.disk.content(`${LOG_DIRECTORY}/${name}`)]);
  expect(after).toEqual(before);
});

test("recovery cares for nothing that stands in an index, though it is beyond all sense", () => {
  const fixture = new LogFixture({ "index.interval.bytes": 150 });
  for (let i = 0; i < 10; i++) fixture.append();
  const names = ["index", "timeindex"] as const;
  const before = names.map((name) => fixture.disk.content(fixture.path(0, name)));
  // Offsets below the segment's base, positions and timestamps below zero.
  for (const name of names)
    fixture.disk.replace(fixture.path(0, name), new Uint8Array(50).fill(0xff));
  fixture.disk.replace(fixture.path(0, "log"), new Uint8Array(700).fill(0xee));

  const log = fixture.open();

  expect(log.logEndOffset).toBe(0);
  for (let i = 0; i < 10; i++) fixture.append();
  expect(names.map((name) => fixture.disk.content(fixture.path(0, name)))).toEqual(before);
});

test("a lost index is built again even after an orderly stop", () => {
  const fixture = new LogFixture({ "index.interval.bytes": 100 });
  for (let i = 0; i < 10; i++) fixture.append();
  fixture.log.close();
  const path = fixture.path(0, "index");
  const before = fixture.disk.content(path);
  expect(before.length).toBeGreaterThan(0);
  fixture.disk.remove(path);

  const log = fixture.open({ cleanShutdown: true });

  expect(log.logEndOffset).toBe(10);
  expect(fixture.disk.content(path)).toEqual(before);
});

test("an index without its log is removed", () => {
  const fixture = new LogFixture();
  fixture.disk.open(fixture.path(70, "index"));
  fixture.disk.open(fixture.path(70, "timeindex"));

  fixture.open();

  expect(fixture.disk.exists(fixture.path(70, "index"))).toBe(false);
  expect(fixture.disk.exists(fixture.path(70, "timeindex"))).toBe(false);
});

test("epochs that the checkpoint lacks come from the batches, epochs beyond the end are cut", () => {
  const fixture = new LogFixture();
  fixture.append(2, 1);
  fixture.append(2, 3);
  const path = `${LOG_DIRECTORY}/leader-epoch-checkpoint`;
  const set = (text: string): void => {
    fixture.disk.replace(
      path,
      Uint8Array.from(text, (character) => character.charCodeAt(0)),
    );
  };
  const whole = [
    { epoch: 1, startOffset: 0 },
    { epoch: 3, startOffset: 2 },
  ];

  set("0\n1\n1 0\n");
  expect(fixture.open().epochs.entries).toEqual(whole);
  set("0\n3\n1 0\n3 2\n8 4\n");
  expect(fixture.open().epochs.entries).toEqual(whole);
  set("0\n3\n1 0\n");
  expect(() => fixture.open()).toThrow(DiskError);
});

test("a log that ends before its checkpointed start begins anew there", () => {
  const fixture = new LogFixture();
  fixture.append(3, 2);

  const log = fixture.open({ logStartOffset: 8 });

  expect([log.logStartOffset, log.logEndOffset]).toEqual([8, 8]);
  expect(log.segmentBaseOffsets).toEqual([8]);
  expect(log.epochs.entries).toEqual([]);
});

test("a checkpointed start within the log is where it starts, for its epochs too", () => {
  const fixture = new LogFixture();
  fixture.append(3, 2);
  fixture.append(3, 4);

  const log = fixture.open({ logStartOffset: 4 });

  expect([log.logStartOffset, log.logEndOffset]).toEqual([4, 6]);
  expect(log.epochs.entries).toEqual([{ epoch: 4, startOffset: 4 }]);
});

test("over a restart, of an idempotent producer only the last batch is remembered", () => {
  for (const cleanShutdown of [true, false]) {
    const fixture = new LogFixture();
    const sent = [0, 1, 2].map((n) =>
      fixture.batch(1, { producerId: 7, producerEpoch: 0, baseSequence: n }),
    );
    for (const batch of sent) fixture.log.appendAsLeader([batch], 0);
    const isDuplicate = (n: number): boolean =>
      fixture.log.appendAsLeader(sent.slice(n, n + 1), 0).duplicate;
    expect([isDuplicate(0), isDuplicate(1), isDuplicate(2)]).toEqual([true, true, true]);

    if (cleanShutdown) fixture.log.close();
    fixture.open({ cleanShutdown });

    expect([isDuplicate(1), isDuplicate(2)]).toEqual([false, true]);
    expect(fixture.log.logEndOffset).toBe(3);
  }
});

test("producers are rebuilt from the log where snapshots are lost or damaged", () => {
  const original = new LogFixture({ "segment.bytes": 200 });
  for (let n = 0; n < 7; n++) {
    original.append(1, 0, { producerId: 7, producerEpoch: 2, baseSequence: n });
  }
  const lost = copyOf(original);
  const damaged = copyOf(original);
  for (const name of original.disk.list(LOG_DIRECTORY)) {
    if (!name.endsWith(".snapshot")) continue;
    lost.disk.remove(`${LOG_DIRECTORY}/${name}`);
    damaged.disk.replace(`${LOG_DIRECTORY}/${name}`, new Uint8Array(30));
  }

  for (const fixture of [original, lost, damaged]) {
    const { producers } = fixture.open({ recoveryPoint: 6 });
    expect(producers.get(7)?.lastSequence).toBe(6);
    expect(producers.get(7)?.epoch).toBe(2);
    expect(producers.endOffset).toBe(7);
  }
});

test("a producer that was idle for the expiration time is not found again", () => {
  const fixture = new LogFixture();
  fixture.append(1, 0, { producerId: 7, producerEpoch: 0, baseSequence: 0 });
  fixture.log.close();
  fixture.clock.advanceMs(1000);

  const open = (producerIdExpirationMs: number): boolean =>
    fixture.open({ cleanShutdown: true, producerIdExpirationMs }).producers.get(7) !== undefined;

  expect(open(1001)).toBe(true);
  expect(open(1000)).toBe(false);
});

test("the topic id is kept in Kafka's partition.metadata and found again", () => {
  const fixture = new LogFixture();
  fixture.open({ topicId: "3Db5QLSqSZieL3rJBUUegA" });

  expect(fixture.disk.text(`${LOG_DIRECTORY}/partition.metadata`)).toBe(
    "version: 0\ntopic_id: 3Db5QLSqSZieL3rJBUUegA",
  );
  expect(fixture.open().topicId).toBe("3Db5QLSqSZieL3rJBUUegA");
});
