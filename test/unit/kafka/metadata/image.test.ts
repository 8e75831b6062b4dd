import { describe, expect, test } from "vitest";
import { bootstrapRecords } from "../../../../src/kafka/metadata/bootstrap.ts";
import { effectiveMinInsyncReplicas } from "../../../../src/kafka/metadata/decision.ts";
import { MetadataImage } from "../../../../src/kafka/metadata/image.ts";
import { allocateProducerIds } from "../../../../src/kafka/metadata/producer-id-blocks.ts";
import { PRESENT_FEATURES } from "../../../../src/kafka/protocol-switches.ts";
import { numberedUuid } from "../../../../src/kafka/uuid.ts";
import { MetadataFixture, partitionOf, TOPIC_ID } from "../../../support/metadata-fixture.ts";

describe("the metadata image", () => {
  test("is what its records say, and nothing else changes it", () => {
    const metadata = new MetadataFixture({ partitions: [partitionOf()] });
    metadata.apply([
      { type: "PartitionChangeRecord", partitionId: 0, topicId: TOPIC_ID, isr: [1, 3] },
      { type: "PartitionChangeRecord", partitionId: 0, topicId: TOPIC_ID, leader: 3 },
    ]);
    expect(metadata.partition()).toMatchObject({
      isr: [1, 3],
      leader: 3,
      leaderEpoch: 6,
      partitionEpoch: 11,
    });
  });

  test("lists topics by name, however they came", () => {
    const image = new MetadataImage();
    for (const [offset, name] of ["b", "c", "a"].entries()) {
      image.replay({ type: "TopicRecord", name, topicId: numberedUuid(1, offset) }, offset);
      expect(image.topicByName(name)?.topicId).toBe(numberedUuid(1, offset));
    }
    expect(image.topics.map((topic) => topic.name)).toEqual(["a", "b", "c"]);
  });

  test("copied goes its own way", () => {
    const metadata = new MetadataFixture({ partitions: [partitionOf()] });
    const copy = metadata.image.copy();
    const offset = copy.lastOffset + 1;
    const change = { partitionId: 0, topicId: TOPIC_ID, isr: [1] };
    copy.replay({ type: "PartitionChangeRecord", ...change }, offset);
    copy.replay({ type: "TopicRecord", name: "new", topicId: numberedUuid(1, 1) }, offset + 1);
    expect(copy.topicById(TOPIC_ID)?.partitions[0]?.isr).toEqual([1]);
    expect(metadata.partition().isr).toEqual([1, 2, 3]);
    expect(metadata.image.topics).toHaveLength(1);
    expect(metadata.image.lastOffset).toBe(offset - 1);
  });

  test("forgets a broker that is unregistered, and a config that is removed", () => {
    const topicConfigs = { "min.insync.replicas": "2" };
    const metadata = new MetadataFixture({ partitions: [partitionOf()], topicConfigs });
    metadata.apply([
      { type: "UnregisterBrokerRecord", brokerId: 3, brokerEpoch: 103 },
      {
        type: "ConfigRecord",
        resourceType: 2,
        resourceName: "orders",
        name: "min.insync.replicas",
        value: undefined,
      },
    ]);
    expect([...metadata.image.brokers.keys()]).toEqual([1, 2]);
    expect(metadata.image.topicConfigs("orders")).toEqual({});
  });

  test("clears the ELR of a topic's partitions", () => {
    const partitions = [partitionOf({ isr: [1], elr: [2] }), partitionOf()];
    const metadata = new MetadataFixture({ partitions });
    metadata.apply([{ type: "ClearElrRecord", topicName: "other" }]);
    expect(metadata.partition(0).elr).toEqual([2]);
    metadata.apply([{ type: "ClearElrRecord", topicName: "" }]);
    expect(metadata.partition(0)).toMatchObject({ elr: [], partitionEpoch: 10 });
    expect(metadata.partition(1).partitionEpoch).toBe(9);
  });

  test("refuses records that cannot follow on its state", () => {
    const metadata = new MetadataFixture();
    const { image } = metadata;
    const change = { partitionId: 0, topicId: TOPIC_ID };
    const next = image.lastOffset + 1;
    expect(() => image.replay({ type: "NoOpRecord" }, next - 1)).toThrow("replayed");
    expect(() => image.replay({ type: "PartitionChangeRecord", ...change }, next)).toThrow();
    const stale = { brokerId: 1, brokerEpoch: 7, fenced: 1, inControlledShutdown: 0 } as const;
    expect(() => image.replay({ type: "BrokerRegistrationChangeRecord", ...stale }, next)).toThrow(
      "of epoch 101",
    );
  });
});

test("min.insync.replicas in force is the topic's, else the broker's, the replicas at most", () => {
  const configs = { "min.insync.replicas": 2 };
  const force = (metadata: MetadataFixture): number => {
    const topic = metadata.image.topicById(TOPIC_ID);
    if (topic === undefined) throw new Error("no topic");
    return effectiveMinInsyncReplicas(metadata.image, metadata.context.configs, topic);
  };
  const partitions = [partitionOf()];
  expect(force(new MetadataFixture({ partitions, configs }))).toBe(2);
  const topicConfigs = { "min.insync.replicas": "3" };
  expect(force(new MetadataFixture({ partitions, configs, topicConfigs }))).toBe(3);
  const small = [partitionOf({ replicas: [1] })];
  expect(force(new MetadataFixture({ partitions: small, configs, topicConfigs }))).toBe(1);
});

test("a new cluster begins with its metadata version and the features that are on", () => {
  expect(bootstrapRecords({ ...PRESENT_FEATURES, "eligible.leader.replicas.version": 1 })).toEqual([
    { type: "FeatureLevelRecord", name: "metadata.version", featureLevel: 30 },
    { type: "FeatureLevelRecord", name: "eligible.leader.replicas.version", featureLevel: 1 },
  ]);
  expect(
    bootstrapRecords({ ...PRESENT_FEATURES, "eligible.leader.replicas.version": 0 }),
  ).toHaveLength(1);
});

test("no producer id is given to two brokers", () => {
  const metadata = new MetadataFixture();
  const blocks = [1, 2, 1].map((brokerId) => {
    const request = { brokerId, brokerEpoch: 100 + brokerId };
    const { records, response } = allocateProducerIds(metadata.context, request);
    metadata.apply(records);
    return [response.producerIdStart, response.producerIdLen];
  });
  expect(blocks).toEqual([
    [0, 1000],
    [1000, 1000],
    [2000, 1000],
  ]);
  const stale = allocateProducerIds(metadata.context, { brokerId: 1, brokerEpoch: 1 });
  expect(stale.records).toEqual([]);
  expect(stale.response.errorCode).toBe(77);
});
