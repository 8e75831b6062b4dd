import { describe, expect, test } from "vitest";
import { MILLISECOND, SECOND } from "../../../../src/base/time.ts";
import type { ErrorName } from "../../../../src/kafka/error-code.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import type { PartitionRegistration } from "../../../../src/kafka/metadata/partition-registration.ts";
import type {
  AlterPartitionData,
  AlterPartitionDataResponse,
} from "../../../../src/kafka/protocol/alter-partition.ts";
import { ALTER_PARTITION } from "../../../../src/kafka/protocol/apis.ts";
import type { Partition } from "../../../../src/nodes/broker/partition.ts";
import { BrokerFixture, CONTROLLER, epochOf, TOPIC_ID } from "../../../support/broker-fixture.ts";
import type { FakeRequest } from "../../../support/fake-world.ts";

/** orders-0 with two records, led by broker 1; 2 has all, 3 has none. ISR as given. */
function leading(isr: readonly number[], more: Partial<PartitionRegistration> = {}): Situation {
  const broker = new BrokerFixture();
  broker.addPartition([3, 3]);
  const partition = broker.lead({ isr, ...more });
  for (const [follower, offset] of [
    [2, 2],
    [3, 0],
  ] as const) {
    partition.remote(follower)?.fetched(offset, 0, broker.now(), 2, epochOf(follower));
  }
  return new Situation(broker, partition);
}

class Situation {
  readonly broker: BrokerFixture;
  readonly partition: Partition;

  constructor(broker: BrokerFixture, partition: Partition) {
    this.broker = broker;
    this.partition = partition;
  }

  /** Proposes, and lets the request arrive at the controller. */
  propose(change: { joining: number } | { leaving: readonly number[] }): this {
    const { isrChannel } = this.broker;
    if ("joining" in change) isrChannel.proposeExpand(this.partition, change.joining);
    else isrChannel.proposeShrink(this.partition, change.leaving);
    this.broker.world.run(10 * MILLISECOND);
    return this;
  }

  get requests(): FakeRequest[] {
    return this.broker.world.requests.filter((one) => one.is(ALTER_PARTITION));
  }

  /** What the controller was asked for, partition by partition. */
  get asked(): AlterPartitionData[] {
    return this.broker.world
      .requestsOf(ALTER_PARTITION)
      .flatMap(({ topics }) => topics.flatMap(({ partitions }) => partitions));
  }

  /** The proposed members, request by request. */
  get askedIsrs(): number[][] {
    return this.asked.map((one) => one.newIsrWithEpochs.map(({ brokerId }) => brokerId));
  }

  /** The controller answers the last request for orders-0, and the answer arrives. */
  answer(more: Partial<AlterPartitionDataResponse>, topError: ErrorName = "NONE"): this {
    const request = this.requests.at(-1);
    if (request === undefined) throw new Error("nothing was asked");
    const partition = {
      partitionIndex: 0,
      errorCode: 0,
      leaderId: 1,
      leaderEpoch: 5,
      isr: [],
      leaderRecoveryState: 0,
      partitionEpoch: 8,
      ...more,
    };
    const topics = [{ topicId: TOPIC_ID, partitions: [partition] }];
    request.reply(ALTER_PARTITION, {
      throttleTimeMs: 0,
      errorCode: ERRORS[topError].code,
      topics: topError === "NONE" ? topics : [],
    });
    this.broker.world.run(10 * MILLISECOND);
    return this;
  }
}

describe("a proposal", () => {
  test("tells the controller which life of whom is to be in the ISR, and what it changes", () => {
    const { broker, partition } = leading([1, 2]).propose({ joining: 3 });

    const [request] = broker.world.requestsOf(ALTER_PARTITION);
    expect(request).toEqual({
      brokerId: 1,
      brokerEpoch: epochOf(1),
      topics: [
        {
          topicId: TOPIC_ID,
          partitions: [
            {
              partitionIndex: 0,
              leaderEpoch: 5,
              newIsrWithEpochs: [1, 2, 3].map((brokerId) => ({
                brokerId,
                brokerEpoch: epochOf(brokerId),
              })),
              leaderRecoveryState: 0,
              partitionEpoch: 7,
            },
          ],
        },
      ],
    });
    expect(partition.isr.kind).toBe("pendingExpand");
  });

  test("names a member that has not fetched in this term without an epoch", () => {
    const broker = new BrokerFixture();
    const situation = new Situation(broker, broker.lead({})).propose({ leaving: [3] });

    expect(situation.asked[0]?.newIsrWithEpochs).toEqual([
      { brokerId: 1, brokerEpoch: epochOf(1) },
      { brokerId: 2, brokerEpoch: -1 },
    ]);
  });

  test("is noted as a fact when it is made", () => {
    const { broker } = leading([1, 2, 3]).propose({ leaving: [3] });

    expect(broker.world.factsOf("isr-proposed")).toMatchObject([
      { isr: [1, 2], leaderEpoch: 5, partitionEpoch: 7 },
    ]);
  });

  test("is not made while another for the partition is on its way", () => {
    const situation = leading([1, 2, 3])
      .propose({ leaving: [3] })
      .propose({ leaving: [2] });

    expect(situation.askedIsrs).toEqual([[1, 2]]);
  });

  test("waits while no controller is known", () => {
    const situation = leading([1, 2]);
    situation.broker.leader = undefined;
    situation.propose({ joining: 3 });
    expect(situation.asked).toEqual([]);

    situation.broker.leader = CONTROLLER;
    situation.broker.world.run(60 * MILLISECOND);

    expect(situation.askedIsrs).toEqual([[1, 2, 3]]);
  });

  test("names the life that was seen when it was made, however late it goes out", () => {
    const situation = leading([1, 2]);
    situation.broker.leader = undefined;
    situation.propose({ joining: 3 });

    situation.partition.remote(3)?.fetched(0, 0, situation.broker.now(), 2, epochOf(3) + 100);
    situation.broker.leader = CONTROLLER;
    situation.broker.world.run(60 * MILLISECOND);

    expect(situation.asked[0]?.newIsrWithEpochs).toContainEqual({
      brokerId: 3,
      brokerEpoch: epochOf(3),
    });
  });

  test("goes with those of other partitions, one request at a time for the whole broker", () => {
    const situation = leading([1, 2, 3]);
    const others = [1, 2].map((index) => situation.broker.lead({}, 1, index));
    situation.propose({ leaving: [3] });
    for (const other of others) situation.broker.isrChannel.proposeShrink(other, [2]);
    situation.broker.world.run(SECOND);
    expect(situation.requests).toHaveLength(1);

    situation.answer({ isr: [1, 2] });

    expect(situation.requests).toHaveLength(2);
    expect(situation.asked.map(({ partitionIndex }) => partitionIndex)).toEqual([0, 1, 2]);
  });
});

describe("a shrink", () => {
  test("has no effect before it is committed: the high watermark still waits", () => {
    const { partition } = leading([1, 2, 3]).propose({ leaving: [3] });

    expect(partition.isr).toMatchObject({ isr: [1, 2, 3], maximalIsr: [1, 2, 3] });
    partition.maybeAdvanceHighWatermark(0);
    expect(partition.highWatermark).toBe(0);
  });

  test("frees the high watermark and who waits for it once it is committed", () => {
    const situation = leading([1, 2, 3]);
    const { broker, partition } = situation;
    const client = broker.produce(broker.batch(), { timeoutMs: 60_000 });
    partition.remote(2)?.fetched(3, 0, broker.now(), 3, epochOf(2));
    // Member 3 is so far behind that nobody waits for it to come back.
    broker.world.run(31 * SECOND);
    situation.propose({ leaving: [3] });
    expect(broker.produced(client)).toBeUndefined();

    situation.answer({ isr: [1, 2], partitionEpoch: 8 });

    expect(partition.isr).toMatchObject({ kind: "committed", isr: [1, 2], maximalIsr: [1, 2] });
    expect(partition.partitionEpoch).toBe(8);
    expect(partition.highWatermark).toBe(3);
    expect(broker.produced(client)).toMatchObject({ errorCode: 0, baseOffset: 2 });
  });
});

describe("an expansion", () => {
  test("binds at once: the high watermark waits for who joins", () => {
    const { broker, partition } = leading([1, 2]);
    partition.remote(3)?.fetched(1, 0, broker.now(), 2, -1);
    broker.isrChannel.proposeExpand(partition, 3);

    partition.maybeAdvanceHighWatermark(broker.now());

    expect(partition.isr).toMatchObject({ isr: [1, 2], maximalIsr: [1, 2, 3] });
    expect(partition.highWatermark).toBe(1);
  });

  test("is proposed when a follower that fetches has reached the high watermark", () => {
    const { broker, partition } = leading([1, 2]);
    broker.fetch({ fetchOffset: 2, currentLeaderEpoch: 5 }, { replicaId: 3 });
    broker.world.run(10 * MILLISECOND);

    expect(partition.isr).toMatchObject({ kind: "pendingExpand", proposed: [1, 2, 3] });
    expect(broker.world.requestsOf(ALTER_PARTITION)).toHaveLength(1);
  });
});

describe("an answer is ignored", () => {
  test("once metadata have overtaken it", () => {
    const situation = leading([1, 2, 3]).propose({ leaving: [3] });
    situation.broker.lead({ isr: [1, 3], partitionEpoch: 9 });

    situation.answer({ isr: [1, 2], partitionEpoch: 8 });

    expect(situation.partition.isr).toMatchObject({ kind: "committed", isr: [1, 3] });
    expect(situation.partition.partitionEpoch).toBe(9);
  });

  test("once another leader's term has begun", () => {
    const situation = leading([1, 2, 3]).propose({ leaving: [3] });
    situation.broker.follow({ leaderEpoch: 6, partitionEpoch: 8 });

    situation.answer({ isr: [1, 2], partitionEpoch: 9 });

    expect(situation.partition.isr.isr).toEqual([1, 2, 3]);
  });

  test("if it is of another leader epoch, or of an older partition epoch", () => {
    const ofEpoch = leading([1, 2, 3])
      .propose({ leaving: [3] })
      .answer({ leaderEpoch: 6 });
    const older = leading([1, 2, 3])
      .propose({ leaving: [3] })
      .answer({ partitionEpoch: 6 });

    expect(ofEpoch.partition.isr.kind).toBe("pendingShrink");
    expect(older.partition.isr.kind).toBe("pendingShrink");
  });
});

describe("a proposal that is turned down", () => {
  test.each(["INELIGIBLE_REPLICA", "OPERATION_NOT_ATTEMPTED"] as const)(
    "with %s was surely not carried out: the committed ISR holds, and another can be made",
    (name) => {
      const situation = leading([1, 2]).propose({ joining: 3 });

      situation.answer({ errorCode: ERRORS[name].code });

      expect(situation.partition.isr).toMatchObject({ kind: "committed", isr: [1, 2] });
      situation.propose({ joining: 3 });
      expect(situation.askedIsrs).toEqual([
        [1, 2, 3],
        [1, 2, 3],
      ]);
    },
  );

  test.each([
    "UNKNOWN_TOPIC_OR_PARTITION",
    "UNKNOWN_TOPIC_ID",
    "FENCED_LEADER_EPOCH",
    "INVALID_UPDATE_VERSION",
    "INVALID_REQUEST",
    "NEW_LEADER_ELECTED",
  ] as const)("with %s stays pending until newer metadata come", (name) => {
    const situation = leading([1, 2]).propose({ joining: 3 });

    situation.answer({ errorCode: ERRORS[name].code });
    situation.broker.world.run(SECOND);

    expect(situation.partition.isr.kind).toBe("pendingExpand");
    expect(situation.askedIsrs).toHaveLength(1);
    situation.broker.lead({ isr: [1, 2], partitionEpoch: 9 });
    expect(situation.partition.isr.kind).toBe("committed");
  });

  test("with any other error is made again", () => {
    const situation = leading([1, 2]).propose({ joining: 3 });

    situation.answer({ errorCode: ERRORS.UNKNOWN_SERVER_ERROR.code });

    expect(situation.askedIsrs).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });
});

describe("a whole request", () => {
  test.each(["STALE_BROKER_EPOCH", "NOT_CONTROLLER"] as const)(
    "that fails with %s is sent again after 50 ms, with the broker epoch of then",
    (name) => {
      const situation = leading([1, 2]).propose({ joining: 3 });
      situation.broker.brokerEpoch = 900;

      situation.answer({}, name);
      expect(situation.requests).toHaveLength(1);
      situation.broker.world.run(50 * MILLISECOND);

      expect(situation.askedIsrs).toHaveLength(2);
      const epochs = situation.broker.world
        .requestsOf(ALTER_PARTITION)
        .map(({ brokerEpoch }) => brokerEpoch);
      expect(epochs).toEqual([epochOf(1), 900]);
    },
  );

  test("that is lost is sent again after 50 ms", () => {
    const situation = leading([1, 2]).propose({ joining: 3 });

    situation.broker.world.disconnect(CONTROLLER);
    situation.broker.world.run(60 * MILLISECOND);

    expect(situation.askedIsrs).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  test("that failed goes along with the next proposal, if that comes sooner", () => {
    const situation = leading([1, 2]).propose({ joining: 3 });
    const other = situation.broker.lead({}, 1, 1);
    situation.answer({}, "NOT_CONTROLLER");

    situation.broker.isrChannel.proposeShrink(other, [2]);
    situation.broker.world.run(5 * MILLISECOND);

    expect(situation.requests).toHaveLength(2);
    expect(situation.asked.slice(1).map(({ partitionIndex }) => partitionIndex)).toEqual([0, 1]);
    situation.broker.world.run(SECOND);
    expect(situation.requests).toHaveLength(2);
  });

  test("is not sent again for what metadata have settled meanwhile", () => {
    const situation = leading([1, 2]).propose({ joining: 3 });
    situation.broker.lead({ isr: [1, 2, 3], partitionEpoch: 8 });

    situation.broker.world.disconnect(CONTROLLER);
    situation.broker.world.run(SECOND);

    expect(situation.requests).toHaveLength(1);
  });
});
