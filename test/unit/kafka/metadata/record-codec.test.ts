import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeMetadataRecord,
  encodeMetadataRecord,
} from "../../../../src/kafka/metadata/record-codec.ts";
import type { MetadataRecord } from "../../../../src/kafka/metadata/records.ts";
import { randomUuid } from "../../../../src/kafka/uuid.ts";
import { SmallRandom } from "../../../support/small-random.ts";

/** 16 bytes: 00 11 22 ... ff. */
const TOPIC_ID = "ABEiM0RVZneImaq7zN3u_w";
const TOPIC_ID_HEX = "00112233445566778899aabbccddeeff";

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

describe("a metadata record is written byte for byte as Kafka writes it:", () => {
  // Each vector: frame version 1, api key, version, then the fields of the schema by hand.
  const vectors: readonly (readonly [MetadataRecord, string])[] = [
    [{ type: "NoOpRecord" }, "01 14 00 00"],
    [
      { type: "FeatureLevelRecord", name: "metadata.version", featureLevel: 30 },
      "01 0c 00 11 6d65746164617461 2e 76657273696f6e 001e 00",
    ],
    [
      { type: "TopicRecord", name: "orders", topicId: TOPIC_ID },
      `01 02 00 07 6f7264657273 ${TOPIC_ID_HEX} 00`,
    ],
    [
      {
        type: "ConfigRecord",
        resourceType: 2,
        resourceName: "t",
        name: "min.insync.replicas",
        value: "2",
      },
      "01 04 00 02 02 74 14 6d696e2e696e73796e632e7265706c69636173 02 32 00",
    ],
    [
      {
        type: "ConfigRecord",
        resourceType: 2,
        resourceName: "t",
        name: "x",
        value: undefined,
      },
      "01 04 00 02 02 74 02 78 00 00",
    ],
    [
      // ISR, leader and ELR changed: tags 0, 1 and 6 in order, each with the size of its content.
      {
        type: "PartitionChangeRecord",
        partitionId: 1,
        topicId: TOPIC_ID,
        isr: [2],
        leader: 2,
        eligibleLeaderReplicas: [3],
      },
      `01 05 02 00000001 ${TOPIC_ID_HEX} 03 00 05 02 00000002 01 04 00000002 06 05 02 00000003`,
    ],
    [
      {
        type: "BrokerRegistrationChangeRecord",
        brokerId: 3,
        brokerEpoch: 258,
        fenced: -1,
        inControlledShutdown: 0,
      },
      "01 11 00 00000003 0000000000000102 01 00 01 ff",
    ],
    [
      { type: "ProducerIdsRecord", brokerId: 1, brokerEpoch: 7, nextProducerId: 1000 },
      "01 0f 00 00000001 0000000000000007 00000000000003e8 00",
    ],
    [{ type: "ClearElrRecord", topicName: "" }, "01 1c 00 01 00"],
  ];

  test.each(vectors)("%j", (record, bytes) => {
    expect(hex(encodeMetadataRecord(record))).toBe(bytes.replaceAll(" ", ""));
  });
});

describe("every metadata record", () => {
  const brokers = fc.array(fc.integer({ min: 0, max: 2 ** 31 - 1 }), { maxLength: 5 });
  const epoch = fc.integer({ min: 0, max: 2 ** 31 - 1 });
  const offset = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
  const text = fc.string({ unit: "grapheme", maxLength: 200 });
  const uuid = fc.integer().map((seed) => randomUuid(new SmallRandom(seed)));
  const leader = fc.integer({ min: -1, max: 1000 });
  const recovery = fc.constantFrom(0 as const, 1 as const);

  const anyRecord: fc.Arbitrary<MetadataRecord> = fc.oneof(
    fc.record({
      type: fc.constant("RegisterBrokerRecord" as const),
      brokerId: epoch,
      incarnationId: uuid,
      brokerEpoch: offset,
      endPoints: fc.array(
        fc.record({
          name: text,
          host: text,
          port: fc.integer({ min: 0, max: 65_535 }),
          securityProtocol: fc.integer({ min: 0, max: 3 }),
        }),
        { maxLength: 3 },
      ),
      features: fc.array(
        fc.record({
          name: text,
          minSupportedVersion: fc.integer({ min: 0, max: 32_767 }),
          maxSupportedVersion: fc.integer({ min: 0, max: 32_767 }),
        }),
        { maxLength: 3 },
      ),
      rack: fc.option(text, { nil: undefined }),
      fenced: fc.boolean(),
      inControlledShutdown: fc.boolean(),
      logDirs: fc.array(uuid, { maxLength: 3 }),
    }),
    fc.record({
      type: fc.constant("PartitionRecord" as const),
      partitionId: epoch,
      topicId: uuid,
      replicas: brokers,
      isr: brokers,
      removingReplicas: brokers,
      addingReplicas: brokers,
      leader,
      leaderRecoveryState: recovery,
      leaderEpoch: epoch,
      partitionEpoch: epoch,
      directories: fc.array(uuid, { maxLength: 3 }),
      eligibleLeaderReplicas: fc.option(brokers, { nil: undefined }),
      lastKnownElr: fc.option(brokers, { nil: undefined }),
    }),
    fc.record(
      {
        type: fc.constant("PartitionChangeRecord" as const),
        partitionId: epoch,
        topicId: uuid,
        isr: brokers,
        leader,
        replicas: brokers,
        removingReplicas: brokers,
        addingReplicas: brokers,
        leaderRecoveryState: recovery,
        directories: fc.array(uuid, { maxLength: 3 }),
        eligibleLeaderReplicas: brokers,
        lastKnownElr: brokers,
      },
      { requiredKeys: ["type", "partitionId", "topicId"] },
    ),
    fc.record({
      type: fc.constant("UnregisterBrokerRecord" as const),
      brokerId: epoch,
      brokerEpoch: offset,
    }),
    fc.record(
      {
        type: fc.constant("BrokerRegistrationChangeRecord" as const),
        brokerId: epoch,
        brokerEpoch: offset,
        fenced: fc.constantFrom(-1 as const, 0 as const, 1 as const),
        inControlledShutdown: fc.constantFrom(0 as const, 1 as const),
        logDirs: fc.array(uuid, { maxLength: 3 }),
        cordonedLogDirs: fc.array(uuid, { maxLength: 3 }),
      },
      { requiredKeys: ["type", "brokerId", "brokerEpoch", "fenced", "inControlledShutdown"] },
    ),
    fc.record({
      type: fc.constant("BeginTransactionRecord" as const),
      name: fc.option(text, { nil: undefined }),
    }),
    fc.constant({ type: "EndTransactionRecord" as const }),
    fc.record({ type: fc.constant("RemoveTopicRecord" as const), topicId: uuid }),
    fc.record({ type: fc.constant("TopicRecord" as const), name: text, topicId: uuid }),
    fc.record({ type: fc.constant("ClearElrRecord" as const), topicName: text }),
  );

  test("is read back as it was written", () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        expect(decodeMetadataRecord(encodeMetadataRecord(record))).toEqual(record);
      }),
      { seed: 42, numRuns: 300 },
    );
  });

  test("that was cut short or of an unknown kind is refused", () => {
    const bytes = encodeMetadataRecord({ type: "TopicRecord", name: "t", topicId: TOPIC_ID });
    expect(() => decodeMetadataRecord(bytes.subarray(0, bytes.length - 1))).toThrow("no 1 bytes");
    expect(() => decodeMetadataRecord(Uint8Array.of(...bytes, 0))).toThrow("left over");
    expect(() => decodeMetadataRecord(Uint8Array.of(0, 2, 0))).toThrow("frame version 0");
    expect(() => decodeMetadataRecord(Uint8Array.of(1, 99, 0))).toThrow("key 99");
  });
});
