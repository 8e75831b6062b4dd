import { describe, expect, test } from "vitest";
import { SECOND } from "../../../../src/base/time.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import type { FetchPartition } from "../../../../src/kafka/protocol/fetch.ts";
import type { Partition } from "../../../../src/nodes/broker/partition.ts";
import { BrokerFixture, epochOf, registration } from "../../../support/broker-fixture.ts";

/** A follower's fetch, as far as its progress goes. */
function fetchAt(fetchOffset: number): FetchPartition {
  return {
    partition: 0,
    currentLeaderEpoch: 5,
    fetchOffset,
    lastFetchedEpoch: -1,
    logStartOffset: 0,
    partitionMaxBytes: 1000,
    highWatermark: -1,
  };
}

/** The follower fetched, as its broker of that epoch would. */
function fetched(
  broker: BrokerFixture,
  partition: Partition,
  follower: number,
  offset: number,
  brokerEpoch: number = epochOf(follower),
): string {
  const replica = partition.remote(follower);
  if (replica === undefined) throw new Error(`${follower} is no replica`);
  const { logEndOffset } = partition;
  return partition.followerFetched(
    replica,
    fetchAt(offset),
    logEndOffset,
    brokerEpoch,
    broker.now(),
  ).name;
}

describe("a leader", () => {
  test("notes where its epoch begins in the log before it writes anything", () => {
    const broker = new BrokerFixture();
    broker.addPartition([3, 3]);

    const partition = broker.lead({ leaderEpoch: 5 });

    expect(partition.epochStartOffset).toBe(2);
    expect(partition.log.epochs.entries.at(-1)).toEqual({ epoch: 5, startOffset: 2 });
    expect(broker.world.factsOf("became-leader")).toMatchObject([
      { leaderEpoch: 5, logEndOffset: 2, isr: [1, 2, 3] },
    ]);
  });

  test("knows nothing of its followers at first, so that its high watermark stands", () => {
    const broker = new BrokerFixture();
    broker.addPartition([3, 3]);

    const partition = broker.lead({ leaderEpoch: 5 });

    expect(partition.highWatermark).toBe(0);
    expect(partition.remotes.map(({ brokerId }) => brokerId)).toEqual([2, 3]);
    expect(partition.remote(2)).toMatchObject({ logEndOffset: -1, brokerEpoch: undefined });
  });

  test("has all it holds below the high watermark if its ISR is itself alone", () => {
    const broker = new BrokerFixture();
    broker.addPartition([3, 3]);

    const partition = broker.lead({ isr: [1] });

    expect(partition.highWatermark).toBe(2);
  });

  test("keeps what it knows of its followers through a change in the same epoch", () => {
    const broker = new BrokerFixture();
    broker.addPartition([3]);
    const partition = broker.lead({});
    fetched(broker, partition, 2, 1);

    broker.lead({ isr: [1, 2], partitionEpoch: 8 });

    expect(partition.remote(2)?.logEndOffset).toBe(1);
    expect(partition.isr).toMatchObject({ kind: "committed", isr: [1, 2] });
    expect(partition.highWatermark).toBe(1);
    expect(broker.world.factsOf("became-leader")).toHaveLength(1);
  });

  test("takes no step back: metadata of an older partition epoch are ignored", () => {
    const broker = new BrokerFixture();
    const partition = broker.lead({ partitionEpoch: 7 });

    broker.lead({ partitionEpoch: 6, isr: [1], leaderEpoch: 4 });
    const followed = partition.makeFollower(registration({ partitionEpoch: 6, leader: 2 }), 1);

    expect(partition.isr.isr).toEqual([1, 2, 3]);
    expect(partition.isLeader).toBe(true);
    expect(followed).toBe(false);
  });

  test("asks no more of an ISR than there are replicas", () => {
    const broker = new BrokerFixture();

    const partition = broker.lead({ replicas: [1, 2], isr: [1, 2] }, 3);

    expect(partition.effectiveMinIsr).toBe(2);
  });
});

describe("a follower", () => {
  test("begins to follow anew only in a newer leader epoch", () => {
    const broker = new BrokerFixture();
    const partition = broker.addPartition();
    const as = (leaderEpoch: number, partitionEpoch: number): boolean =>
      partition.makeFollower(registration({ leader: 2, leaderEpoch, partitionEpoch }), 1);

    expect(as(5, 7)).toBe(true);
    expect(as(5, 8)).toBe(false);
    expect(as(6, 9)).toBe(true);
    expect(broker.world.factsOf("became-follower")).toHaveLength(2);
  });

  test("takes the leader's high watermark as far as its own log goes, also a lower one", () => {
    const broker = new BrokerFixture();
    broker.addPartition([3, 3, 3]);
    const partition = broker.follow();

    partition.followHighWatermark(9);
    expect(partition.highWatermark).toBe(3);

    partition.followHighWatermark(1);
    expect(partition.highWatermark).toBe(1);
  });

  test("has no high watermark below where its log starts", () => {
    const broker = new BrokerFixture();
    const partition = broker.follow();
    partition.truncateFully(5, "offset-out-of-range");

    partition.followHighWatermark(2);

    expect(partition.highWatermark).toBe(5);
  });

  test("that cuts its log cuts its high watermark too, and tells why", () => {
    const broker = new BrokerFixture();
    broker.addPartition([3, 3, 3]);
    const partition = broker.follow();
    partition.followHighWatermark(3);

    partition.truncateTo(1, "diverging-epoch");

    expect(partition.highWatermark).toBe(1);
    expect(broker.world.factsOf("truncated")).toMatchObject([
      { from: 3, to: 1, reason: "diverging-epoch" },
    ]);
  });

  test("that is cut below its log's start is empty from there on, and tells so", () => {
    const broker = new BrokerFixture();
    broker.addPartition([3, 3, 3, 3]);
    const partition = broker.follow();
    partition.followHighWatermark(4);
    partition.advanceLogStart(3, "leader");

    partition.truncateTo(2, "diverging-epoch");

    expect(partition.log).toMatchObject({ logStartOffset: 2, logEndOffset: 2 });
    expect(broker.world.factsOf("truncated")).toMatchObject([{ from: 4, to: 2 }]);
    expect(broker.world.factsOf("log-start-moved")).toMatchObject([
      { from: 0, to: 3, reason: "leader" },
      { from: 3, to: 2, reason: "fully-truncated" },
    ]);
    expect(partition.highWatermark).toBe(2);
  });

  test("that lets old segments go tells where its log begins, and why", () => {
    const broker = new BrokerFixture();
    broker.addPartition([3, 3, 3]);
    const partition = broker.follow();
    partition.log.updateConfig({ ...partition.log.config, "retention.ms": 1000 });
    partition.followHighWatermark(3);
    broker.world.now += 2_000_000;

    partition.deleteOldSegments();

    expect(broker.world.factsOf("log-start-moved")).toEqual([
      {
        kind: "log-start-moved",
        broker: 1,
        partition: "orders-0",
        from: 0,
        to: 3,
        reason: "retention-time",
      },
    ]);
  });

  test("that has nothing to cut tells nothing", () => {
    const broker = new BrokerFixture();
    broker.addPartition([3]);
    const partition = broker.follow();

    partition.truncateTo(1, "diverging-epoch");

    expect(broker.world.factsOf("truncated")).toEqual([]);
  });
});

describe("a request that names a leader epoch", () => {
  test("is refused if the epoch is older or newer, before it matters who leads", () => {
    const broker = new BrokerFixture();
    const partition = broker.follow({ leaderEpoch: 5 });

    expect(partition.checkLeader(4)).toBe(ERRORS.FENCED_LEADER_EPOCH);
    expect(partition.checkLeader(6)).toBe(ERRORS.UNKNOWN_LEADER_EPOCH);
    expect(partition.checkLeader(5)).toBe(ERRORS.NOT_LEADER_OR_FOLLOWER);
  });

  test("is not judged by it if it names none, or fencing is off", () => {
    const unfenced = new BrokerFixture({ switches: { "fetch.epoch-fencing": false } });

    expect(new BrokerFixture().lead({}).checkLeader(-1)).toBe(ERRORS.NONE);
    expect(unfenced.lead({}).checkLeader(4)).toBe(ERRORS.NONE);
  });

  test("meets a storage error once the disk has failed", () => {
    const partition = new BrokerFixture().lead({});
    partition.offline = true;

    expect(partition.checkLeader(5)).toBe(ERRORS.KAFKA_STORAGE_ERROR);
  });
});

describe("a follower is eligible for the ISR", () => {
  function eligible(broker: BrokerFixture, brokerEpoch: number = epochOf(2)): boolean {
    const partition = broker.lead({});
    const replica = partition.remote(2);
    if (replica === undefined) throw new Error("2 is no replica");
    replica.fetched(0, 0, broker.now(), 0, brokerEpoch);
    return partition.isEligibleForIsr(replica);
  }

  test("if it fetches with the epoch of its registration, or with none to tell", () => {
    expect(eligible(new BrokerFixture())).toBe(true);
    expect(eligible(new BrokerFixture(), -1)).toBe(true);
  });

  test("not if it fetches with another life's epoch", () => {
    expect(eligible(new BrokerFixture(), epochOf(2) + 1)).toBe(false);
  });

  test("not before it has fetched at all", () => {
    const partition = new BrokerFixture().lead({});

    expect(partition.remotes.map((one) => partition.isEligibleForIsr(one))).toEqual([false, false]);
  });

  test("not while it is fenced or in a controlled shutdown", () => {
    const fenced = new BrokerFixture();
    fenced.register(2, epochOf(2), true);
    const retiring = new BrokerFixture();
    retiring.retire(2);

    expect(eligible(fenced)).toBe(false);
    expect(eligible(retiring)).toBe(false);
  });
});

describe("a follower's fetch", () => {
  test("moves the high watermark once every member has gone that far", () => {
    const broker = new BrokerFixture();
    broker.addPartition([3, 3]);
    const partition = broker.lead({});

    fetched(broker, partition, 2, 2);
    expect(partition.highWatermark).toBe(0);

    fetched(broker, partition, 3, 1);
    expect(partition.highWatermark).toBe(1);
    expect(broker.world.factsOf("high-watermark-moved")).toMatchObject([
      { highWatermark: 1, leaderEpoch: 5, asLeader: true },
    ]);
  });

  test("of an earlier life of a live broker is refused and moves nothing", () => {
    const broker = new BrokerFixture();
    broker.addPartition([3, 3]);
    const partition = broker.lead({});
    broker.register(2, 500);

    expect(fetched(broker, partition, 2, 2)).toBe("NOT_LEADER_OR_FOLLOWER");
    expect(partition.remote(2)?.logEndOffset).toBe(-1);
  });

  test("of an earlier life is not told apart while its broker is fenced", () => {
    const broker = new BrokerFixture();
    broker.addPartition([3, 3]);
    const partition = broker.lead({});
    broker.register(2, 500, true);

    expect(fetched(broker, partition, 2, 2)).toBe("NONE");
  });
});

describe("laggards", () => {
  test("are members that lack something and were not caught up for replica.lag.time.max.ms", () => {
    const broker = new BrokerFixture();
    broker.addPartition([3, 3]);
    const partition = broker.lead({});
    broker.world.run(20 * SECOND);
    fetched(broker, partition, 2, 2);
    fetched(broker, partition, 3, 1);

    expect(partition.laggards(broker.now())).toEqual([]);
    broker.world.run(10 * SECOND + 1);
    expect(partition.laggards(broker.now())).toEqual([3]);
  });

  test("are not looked for by a follower, nor outside the ISR", () => {
    const broker = new BrokerFixture();
    broker.addPartition([3]);
    const partition = broker.lead({ isr: [1, 2] });
    broker.world.run(60 * SECOND);

    expect(partition.laggards(broker.now())).toEqual([2]);
    broker.follow({ leaderEpoch: 6, partitionEpoch: 8 });
    expect(partition.laggards(broker.now())).toEqual([]);
  });
});
