import { describe, expect, test } from "vitest";
import { SECOND } from "../../../../../src/base/time.ts";
import { CoordinatorLog } from "../../../../../src/nodes/broker/coordinator/coordinator-log.ts";
import type { Partition } from "../../../../../src/nodes/broker/partition.ts";
import { BrokerFixture, registration } from "../../../../support/broker-fixture.ts";

const RECORDS = [{ timestamp: 1, key: Uint8Array.of(1), value: Uint8Array.of(2) }];

class Written {
  readonly fixture = new BrokerFixture();
  readonly partition: Partition;
  readonly log: CoordinatorLog;
  readonly told: string[] = [];

  constructor(requiredAcks: -1 | 1 = 1, isr = [1, 2], minIsr = 1) {
    this.partition = this.fixture.lead({ isr }, minIsr);
    this.log = new CoordinatorLog(this.fixture, this.partition, { requiredAcks, timeoutMs: 5_000 });
  }

  wait(name: string): void {
    this.log.whenCommitted((error) => this.told.push(`${name} ${error.name}`));
  }

  fetched(offset: number): void {
    this.fixture.fetch({ fetchOffset: offset, currentLeaderEpoch: 5 }, { replicaId: 2 });
  }
}

describe("a coordinator's write", () => {
  test("is answered when the high watermark has passed it, in the order of the writes", () => {
    const written = new Written();

    expect(written.log.append(RECORDS)).toBe(0);
    written.wait("first");
    expect(written.log.append(RECORDS)).toBe(1);
    written.wait("second");
    written.wait("read");
    expect(written.told).toEqual([]);

    written.fetched(1);
    expect(written.told).toEqual(["first NONE"]);
    written.fetched(2);
    expect(written.told).toEqual(["first NONE", "second NONE", "read NONE"]);
  });

  test("is answered at once where nobody else is in the ISR, and a read where nothing was written", () => {
    const alone = new Written(1, [1]);
    expect(alone.log.append(RECORDS)).toBe(0);
    alone.wait("write");
    expect(alone.told).toEqual(["write NONE"]);

    const unwritten = new Written();
    unwritten.wait("read");
    expect(unwritten.told).toEqual(["read NONE"]);
  });

  test("goes into the log, and is noted, as any leader's", () => {
    const written = new Written();

    written.log.append(RECORDS, { producerId: 7, producerEpoch: 1 });

    expect(written.fixture.world.factsOf("appended")).toMatchObject([
      { partition: "orders-0", asLeader: true, batch: { partitionLeaderEpoch: 5, producerId: 7 } },
    ]);
  });

  test("wakes the followers that wait for something to fetch", () => {
    const written = new Written();
    const parked = written.fixture.fetch({ fetchOffset: 0 }, { replicaId: 2, minBytes: 1 });
    expect(written.fixture.fetched(parked)).toBeUndefined();

    written.log.append(RECORDS);
    written.wait("write");

    expect(written.fixture.fetched(parked)?.records).toHaveLength(1);
  });

  test("of groups is taken below min.insync.replicas, of transactions refused", () => {
    expect(new Written(1, [1], 2).log.append(RECORDS)).toBe(0);
    expect(new Written(-1, [1], 2).log.append(RECORDS)).toMatchObject({
      name: "NOT_ENOUGH_REPLICAS",
    });
  });

  test("that takes too long is told so, and stays in the log", () => {
    const written = new Written();
    written.log.append(RECORDS);
    written.wait("first");
    written.fixture.world.run(4 * SECOND);
    written.log.append(RECORDS);
    written.wait("second");

    written.fixture.world.run(2 * SECOND);
    expect(written.told).toEqual(["first REQUEST_TIMED_OUT"]);
    written.fetched(2);
    expect(written.told).toEqual(["first REQUEST_TIMED_OUT", "second NONE"]);
    expect(written.partition.log.logEndOffset).toBe(2);
  });

  test("is over with leadership, also if it comes back in another epoch", () => {
    const written = new Written();
    written.log.append(RECORDS);
    written.wait("first");

    written.partition.makeFollower(
      registration({ leader: 2, leaderEpoch: 6, partitionEpoch: 8 }),
      1,
    );
    expect(written.told).toEqual([]);
    written.log.close();
    expect(written.told).toEqual(["first NOT_LEADER_OR_FOLLOWER"]);

    written.partition.makeLeader(registration({ leaderEpoch: 7, partitionEpoch: 9 }), 1);
    expect(written.log.append(RECORDS)).toMatchObject({ name: "NOT_LEADER_OR_FOLLOWER" });
  });

  test("is over with its disk", () => {
    const written = new Written();
    written.partition.offline = true;

    expect(written.log.append(RECORDS)).toMatchObject({ name: "KAFKA_STORAGE_ERROR" });
  });
});

test("a coordinator reads its log to the end, from where it is told", () => {
  const written = new Written();
  written.log.append([...RECORDS, ...RECORDS]);
  written.log.append(RECORDS);
  const bases: number[] = [];

  expect(written.log.read(0, 1, ({ baseOffset }) => bases.push(baseOffset))).toBe(3);
  expect(written.log.read(2, 1_000, ({ baseOffset }) => bases.push(baseOffset))).toBe(3);

  expect(bases).toEqual([0, 2, 2]);
});
