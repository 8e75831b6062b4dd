import { describe, expect, test } from "vitest";
import { errorOf } from "../../../../src/kafka/error-code.ts";
import { createPartitions } from "../../../../src/kafka/metadata/create-partitions.ts";
import type { CreatePartitionsTopic } from "../../../../src/kafka/protocol/create-partitions.ts";
import { MetadataFixture, partitionOf } from "../../../support/metadata-fixture.ts";
import { SmallRandom } from "../../../support/small-random.ts";

function fixture(fenced: readonly number[] = []): MetadataFixture {
  return new MetadataFixture({
    brokers: [1, 2, 3],
    fenced,
    partitions: [partitionOf({ replicas: [1, 2] })],
  });
}

function add(metadata: MetadataFixture, topics: CreatePartitionsTopic[], validateOnly = false) {
  const request = { topics, timeoutMs: 1_000, validateOnly };
  const decision = createPartitions(metadata.context, request, new SmallRandom(1));
  const errors = decision.response.results.map(({ errorCode }) => errorOf(errorCode).name);
  return { ...decision, errors };
}

describe("partitions are added", () => {
  test("behind those that there are, with as many replicas as the first has", () => {
    const metadata = fixture();
    const { records, errors } = add(metadata, [{ name: "orders", count: 4 }]);

    metadata.apply(records);

    expect(errors).toEqual(["NONE"]);
    const { partitions } = metadata.image.topicByName("orders") ?? { partitions: [] };
    expect(partitions).toHaveLength(4);
    for (const { replicas, isr, leader, leaderEpoch } of partitions.slice(1)) {
      expect(replicas).toHaveLength(2);
      expect({ isr, leader, leaderEpoch }).toEqual({
        isr: replicas,
        leader: replicas[0],
        leaderEpoch: 0,
      });
    }
  });

  test("and on brokers that are there: who is fenced is not in the ISR", () => {
    const metadata = fixture([3]);
    const { records } = add(metadata, [{ name: "orders", count: 9 }]);

    metadata.apply(records);

    for (const { isr } of metadata.image.topicByName("orders")?.partitions ?? []) {
      expect(isr).not.toContain(3);
    }
  });

  test("only in the mind, if that is all that is wanted", () => {
    expect(add(fixture(), [{ name: "orders", count: 2 }], true)).toMatchObject({
      errors: ["NONE"],
      records: [],
    });
  });
});

describe("none is added", () => {
  test.each([
    [[{ name: "bills", count: 2 }], ["UNKNOWN_TOPIC_OR_PARTITION"]],
    [[{ name: "orders", count: 1 }], ["INVALID_PARTITIONS"]],
    [[{ name: "orders", count: 0 }], ["INVALID_PARTITIONS"]],
    [
      [
        { name: "orders", count: 2 },
        { name: "orders", count: 3 },
      ],
      ["INVALID_REQUEST", "INVALID_REQUEST"],
    ],
  ])("by %j", (topics, errors) => {
    expect(add(fixture(), topics)).toMatchObject({ errors, records: [] });
  });

  test("while all brokers are fenced", () => {
    expect(add(fixture([1, 2, 3]), [{ name: "orders", count: 2 }])).toMatchObject({
      errors: ["INVALID_REPLICATION_FACTOR"],
      records: [],
    });
  });
});
