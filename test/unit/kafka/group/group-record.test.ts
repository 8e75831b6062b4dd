import { describe, expect, test } from "vitest";
import type { GroupRecord } from "../../../../src/kafka/group/group-record.ts";
import {
  decodeGroupRecord,
  encodeGroupRecord,
} from "../../../../src/kafka/group/group-record-bytes.ts";

const TOPIC_ID = "ls4_1uIQRIS2iiX3AAAAAA";
const group = "readers";

/** Records, and the bytes that `GroupCoordinatorRecordSerde` of Kafka 4.3.1 makes of them, in hex. */
const WRITTEN: readonly (readonly [
  name: string,
  record: GroupRecord,
  bytes: readonly [key: string, value: string | undefined],
])[] = [
  [
    "an offset",
    {
      type: "OffsetCommit",
      group,
      topic: "orders",
      partition: 3,
      value: {
        offset: 42,
        leaderEpoch: 5,
        metadata: "m\u00e9ta",
        commitTimestamp: 1_767_225_600_123,
        topicId: TOPIC_ID,
      },
    },
    [
      "000100077265616465727300066f726465727300000003",
      "0004000000000000002a00000005066dc3a974610000019b76daa87b01001096ce3fd6e2104484b68a25f700000000",
    ],
  ],
  [
    "an offset that is gone",
    { type: "OffsetCommit", group, topic: "orders", partition: 3, value: undefined },
    ["000100077265616465727300066f726465727300000003", undefined],
  ],
  [
    "a generation",
    {
      type: "GroupMetadata",
      group,
      value: {
        protocolType: "consumer",
        generation: 7,
        protocol: "range",
        leader: "m1",
        currentStateTimestamp: 1_767_225_600_456,
        members: [
          {
            memberId: "m1",
            groupInstanceId: undefined,
            clientId: "c",
            clientHost: "/h",
            rebalanceTimeoutMs: 300_000,
            sessionTimeoutMs: 45_000,
            subscription: Uint8Array.of(1, 2),
            assignment: Uint8Array.of(3),
          },
          {
            memberId: "m2",
            groupInstanceId: "i2",
            clientId: "c",
            clientHost: "/h",
            rebalanceTimeoutMs: 1,
            sessionTimeoutMs: 2,
            subscription: new Uint8Array(0),
            assignment: new Uint8Array(0),
          },
        ],
      },
    },
    [
      "0002000772656164657273",
      "00030008636f6e73756d657200000007000572616e676500026d310000019b76daa9c80000000200026d31ffff00016300022f68000493e00000afc8000000020102000000010300026d320002693200016300022f6800000001000000020000000000000000",
    ],
  ],
  [
    "a group without members",
    {
      type: "GroupMetadata",
      group,
      value: {
        protocolType: "",
        generation: 0,
        protocol: undefined,
        leader: undefined,
        currentStateTimestamp: 5,
        members: [],
      },
    },
    ["0002000772656164657273", "0003000000000000ffffffff000000000000000500000000"],
  ],
  [
    "a group epoch",
    { type: "ConsumerGroupMetadata", group, value: { epoch: 9, metadataHash: 1_234_567_890_123 } },
    ["0003000772656164657273", "0000000000090100080000011f71fb04cb"],
  ],
  [
    "a group epoch of no topics",
    { type: "ConsumerGroupMetadata", group, value: { epoch: 9, metadataHash: 0 } },
    ["0003000772656164657273", "00000000000900"],
  ],
  [
    "a member",
    {
      type: "ConsumerGroupMemberMetadata",
      group,
      member: "m1",
      value: {
        instanceId: "i1",
        rackId: undefined,
        clientId: "c",
        clientHost: "/h",
        subscribedTopicNames: ["orders", "payments"],
        subscribedTopicRegex: "",
        rebalanceTimeoutMs: 300_000,
        serverAssignor: "uniform",
        classicMemberMetadata: undefined,
      },
    },
    [
      "000500077265616465727300026d31",
      "0000036931000263032f6803076f7264657273097061796d656e747301000493e008756e69666f726d01000100",
    ],
  ],
  [
    "a member of the classic protocol in such a group",
    {
      type: "ConsumerGroupMemberMetadata",
      group,
      member: "m1",
      value: {
        instanceId: "i1",
        rackId: undefined,
        clientId: "c",
        clientHost: "/h",
        subscribedTopicNames: ["orders", "payments"],
        subscribedTopicRegex: "",
        rebalanceTimeoutMs: 300_000,
        serverAssignor: undefined,
        classicMemberMetadata: {
          sessionTimeoutMs: 45_000,
          supportedProtocols: [
            { name: "range", metadata: Uint8Array.of(1, 2, 3) },
            { name: "cooperative-sticky", metadata: new Uint8Array(0) },
          ],
        },
      },
    },
    [
      "000500077265616465727300026d31",
      "0000036931000263032f6803076f7264657273097061796d656e747301000493e000010027010000afc8030672616e6765040102030013636f6f70657261746976652d737469636b79010000",
    ],
  ],
  [
    "a target epoch",
    {
      type: "ConsumerGroupTargetAssignmentMetadata",
      group,
      value: { epoch: 9, timestamp: 1_767_225_600_000 },
    },
    ["0006000772656164657273", "0000000000090100080000019b76daa800"],
  ],
  [
    "a member's target",
    {
      type: "ConsumerGroupTargetAssignmentMember",
      group,
      member: "m1",
      value: new Map([[TOPIC_ID, [0, 1, 2]]]),
    },
    [
      "000700077265616465727300026d31",
      "00000296ce3fd6e2104484b68a25f700000000040000000000000001000000020000",
    ],
  ],
  [
    "what a member has",
    {
      type: "ConsumerGroupCurrentMemberAssignment",
      group,
      member: "m1",
      value: {
        memberEpoch: 9,
        previousMemberEpoch: 8,
        state: 1,
        assigned: new Map([
          [
            TOPIC_ID,
            new Map([
              [0, 7],
              [1, 9],
            ]),
          ],
        ]),
        revoking: new Map([[TOPIC_ID, new Map([[2, 7]])]]),
      },
    },
    [
      "000800077265616465727300026d31",
      "00000000000900000008010296ce3fd6e2104484b68a25f7000000000300000000000000010100090300000007000000090296ce3fd6e2104484b68a25f7000000000200000002010005020000000700",
    ],
  ],
  [
    "a member that is gone",
    { type: "ConsumerGroupCurrentMemberAssignment", group, member: "m1", value: undefined },
    ["000800077265616465727300026d31", undefined],
  ],
];

describe.each(WRITTEN)("%s", (_, record, [key, value]) => {
  test("is written as Kafka writes it", () => {
    const encoded = encodeGroupRecord(record);

    expect(hex(encoded.key)).toBe(key);
    expect(encoded.value && hex(encoded.value)).toBe(value);
  });

  test("is read from Kafka's bytes", () => {
    const bytes = { key: unhex(key), value: value === undefined ? undefined : unhex(value) };

    expect(decodeGroupRecord({ ...bytes, offset: 0, timestamp: 0, headers: [] })).toEqual(record);
  });
});

test("a record of a later release is passed over", () => {
  const key = Uint8Array.of(0, 99, 0, 1, 65);
  const headers = [] as const;

  expect(
    decodeGroupRecord({ key, value: undefined, offset: 0, timestamp: 0, headers }),
  ).toBeUndefined();
});

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

function unhex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "hex"));
}
