import { describe, expect, test } from "vitest";
import { errorOf } from "../../../../src/kafka/error-code.ts";
import { alterPartition } from "../../../../src/kafka/metadata/alter-partition.ts";
import type {
  AlterPartitionData,
  AlterPartitionDataResponse,
} from "../../../../src/kafka/protocol/alter-partition.ts";
import { ZERO_UUID } from "../../../../src/kafka/uuid.ts";
import { MetadataFixture, partitionOf, TOPIC_ID } from "../../../support/metadata-fixture.ts";

/** Brokers 1 to 3 are well, 4 is fenced; 1 leads in leader epoch 5 and partition epoch 9. */
function fixture(): MetadataFixture {
  const partitions = [
    partitionOf({ replicas: [1, 2, 3, 4], isr: [1, 2] }),
    partitionOf({ isr: [1], leaderRecoveryState: 1 }),
  ];
  return new MetadataFixture({ brokers: [1, 2, 3, 4], fenced: [4], partitions });
}

const PROPOSAL: AlterPartitionData = {
  partitionIndex: 0,
  leaderEpoch: 5,
  newIsrWithEpochs: [1, 2, 3].map((brokerId) => ({ brokerId, brokerEpoch: 100 + brokerId })),
  leaderRecoveryState: 0,
  partitionEpoch: 9,
};

function isrOf(...brokers: readonly number[]): Pick<AlterPartitionData, "newIsrWithEpochs"> {
  return {
    newIsrWithEpochs: brokers.map((brokerId) => ({ brokerId, brokerEpoch: 100 + brokerId })),
  };
}

interface Asked {
  readonly brokerId?: number;
  readonly brokerEpoch?: number;
  readonly topicId?: string;
  readonly proposal?: Partial<AlterPartitionData>;
}

function ask(metadata: MetadataFixture, asked: Asked) {
  const { brokerId = 1, topicId = TOPIC_ID } = asked;
  const brokerEpoch = asked.brokerEpoch ?? 100 + brokerId;
  const partitions = [{ ...PROPOSAL, ...asked.proposal }];
  const topics = [{ topicId, partitions }];
  return alterPartition(metadata.context, { brokerId, brokerEpoch, topics });
}

function answerTo(asked: Asked): AlterPartitionDataResponse & { error: string } {
  const decision = ask(fixture(), asked);
  expect(decision.response.errorCode).toBe(0);
  const answer = decision.response.topics[0]?.partitions[0];
  if (answer === undefined) throw new Error("no answer");
  const error = errorOf(answer.errorCode).name;
  if (error !== "NONE") expect(decision.records).toEqual([]);
  return { ...answer, error };
}

describe("AlterPartition", () => {
  test("of another broker epoch is refused as a whole", () => {
    for (const brokerEpoch of [100, 102]) {
      const { records, response } = ask(fixture(), { brokerEpoch });
      expect(errorOf(response.errorCode).name).toBe("STALE_BROKER_EPOCH");
      expect([records, response.topics]).toEqual([[], []]);
    }
    const unknown = ask(fixture(), { brokerId: 9, brokerEpoch: 1 });
    expect(errorOf(unknown.response.errorCode).name).toBe("STALE_BROKER_EPOCH");
  });

  /** Kafka's checks in their order: each row also has what the rows below it would refuse. */
  const worst = { ...isrOf(2, 9), leaderRecoveryState: 1 };
  const rows: readonly (readonly [string, Asked, string])[] = [
    ["an unknown topic", { topicId: ZERO_UUID, proposal: worst }, "UNKNOWN_TOPIC_ID"],
    [
      "an unknown partition",
      { proposal: { ...worst, partitionIndex: 7, leaderEpoch: 6 } },
      "UNKNOWN_TOPIC_OR_PARTITION",
    ],
    [
      "a leader epoch that this controller does not know yet (KAFKA-14154)",
      { proposal: { ...worst, leaderEpoch: 6, partitionEpoch: 8 } },
      "NOT_CONTROLLER",
    ],
    [
      "a partition epoch that this controller does not know yet",
      { proposal: { ...worst, leaderEpoch: 4, partitionEpoch: 10 } },
      "NOT_CONTROLLER",
    ],
    [
      "an older leader epoch",
      { brokerId: 2, proposal: { ...worst, leaderEpoch: 4, partitionEpoch: 8 } },
      "FENCED_LEADER_EPOCH",
    ],
    [
      "a sender that does not lead",
      { brokerId: 2, proposal: { ...worst, partitionEpoch: 8 } },
      "INVALID_REQUEST",
    ],
    [
      "an older partition epoch",
      { proposal: { ...worst, partitionEpoch: 8 } },
      "INVALID_UPDATE_VERSION",
    ],
    ["an ISR with a broker that is no replica", { proposal: isrOf(1, 9) }, "INVALID_REQUEST"],
    ["an ISR with a broker twice", { proposal: isrOf(1, 2, 2) }, "INVALID_REQUEST"],
    ["an empty ISR", { proposal: isrOf() }, "INVALID_REQUEST"],
    ["an ISR without its leader", { proposal: isrOf(2, 4) }, "INVALID_REQUEST"],
    [
      "an ISR that a recovering leader would share",
      { proposal: { ...isrOf(1, 4), leaderRecoveryState: 1 } },
      "INVALID_REQUEST",
    ],
    [
      "a recovered leader that says it is recovering",
      { proposal: { ...isrOf(1), leaderRecoveryState: 1 } },
      "INVALID_REQUEST",
    ],
    ["a member that is fenced", { proposal: isrOf(1, 4) }, "INELIGIBLE_REPLICA"],
    [
      "a member of another broker epoch (KIP-903)",
      {
        proposal: {
          newIsrWithEpochs: [
            { brokerId: 1, brokerEpoch: 101 },
            { brokerId: 3, brokerEpoch: 99 },
          ],
        },
      },
      "INELIGIBLE_REPLICA",
    ],
  ];

  test.each(rows)("with %s is refused", (_, asked, error) => {
    expect(answerTo(asked).error).toBe(error);
  });

  test("with a member that is shutting down is refused", () => {
    const metadata = fixture();
    metadata.apply([
      {
        type: "BrokerRegistrationChangeRecord",
        brokerId: 3,
        brokerEpoch: 103,
        fenced: 0,
        inControlledShutdown: 1,
      },
    ]);
    const answer = ask(metadata, {}).response.topics[0]?.partitions[0];
    expect(errorOf(answer?.errorCode ?? 0).name).toBe("INELIGIBLE_REPLICA");
  });

  test("that is in order changes the ISR, in the next partition epoch", () => {
    const metadata = fixture();
    const { records } = ask(metadata, {});
    expect(answerTo({})).toMatchObject({
      error: "NONE",
      leaderId: 1,
      isr: [1, 2, 3],
      leaderEpoch: 5,
      partitionEpoch: 10,
    });
    metadata.apply(records);
    expect(metadata.partition()).toMatchObject({ isr: [1, 2, 3], leaderEpoch: 5 });
  });

  test("takes a member whose epoch the leader does not know", () => {
    const newIsrWithEpochs = [
      { brokerId: 1, brokerEpoch: -1 },
      { brokerId: 3, brokerEpoch: -1 },
    ];
    expect(answerTo({ proposal: { newIsrWithEpochs } }).isr).toEqual([1, 3]);
  });

  test("that changes nothing writes nothing, and is answered with what is", () => {
    const { records } = ask(fixture(), { proposal: isrOf(1, 2) });
    expect(records).toEqual([]);
    expect(answerTo({ proposal: isrOf(1, 2) })).toMatchObject({ error: "NONE", partitionEpoch: 9 });
  });

  test("of a leader that recovered clears the mark of its unclean election", () => {
    const metadata = fixture();
    const proposal = { ...isrOf(1), partitionIndex: 1, leaderRecoveryState: 0 };
    metadata.apply(ask(metadata, { proposal }).records);
    expect(metadata.partition(1)).toMatchObject({ leaderRecoveryState: 0, isr: [1] });
  });

  test("of two partitions is judged one by one", () => {
    const metadata = fixture();
    const partitions = [
      { ...PROPOSAL, partitionEpoch: 8 },
      { ...PROPOSAL, ...isrOf(1), partitionIndex: 1 },
    ];
    const { records, response } = alterPartition(metadata.context, {
      brokerId: 1,
      brokerEpoch: 101,
      topics: [{ topicId: TOPIC_ID, partitions }],
    });
    const errors = response.topics[0]?.partitions.map(({ errorCode }) => errorOf(errorCode).name);
    expect(errors).toEqual(["INVALID_UPDATE_VERSION", "NONE"]);
    expect(records).toHaveLength(1);
  });

  test("that moves the leadership is made, and its sender told", () => {
    const metadata = fixture();
    // No reassignment is modelled that would do it; an election that always turns to 2 does.
    const rules = {
      ...metadata.context.rules,
      elect: () => ({ leader: 2, unclean: false }),
    };
    const topics = [{ topicId: TOPIC_ID, partitions: [PROPOSAL] }];
    const request = { brokerId: 1, brokerEpoch: 101, topics };
    const { records, response } = alterPartition({ ...metadata.context, rules }, request);
    const answer = response.topics[0]?.partitions[0];
    expect(errorOf(answer?.errorCode ?? 0).name).toBe("NEW_LEADER_ELECTED");
    expect(records).toHaveLength(1);
  });
});
