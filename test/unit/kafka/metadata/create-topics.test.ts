import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { errorOf } from "../../../../src/kafka/error-code.ts";
import { createTopics } from "../../../../src/kafka/metadata/create-topics.ts";
import { UNASSIGNED } from "../../../../src/kafka/metadata/directory-id.ts";
import { placeReplicas } from "../../../../src/kafka/metadata/replica-placement.ts";
import type { CreatableTopic } from "../../../../src/kafka/protocol/create-topics.ts";
import { numberedUuid } from "../../../../src/kafka/uuid.ts";
import { MetadataFixture, partitionOf } from "../../../support/metadata-fixture.ts";
import { SmallRandom } from "../../../support/small-random.ts";

const TOPIC: CreatableTopic = {
  name: "payments",
  numPartitions: 6,
  replicationFactor: 3,
  assignments: [],
  configs: [],
};

function create(metadata: MetadataFixture, fields: Partial<CreatableTopic>, validateOnly = false) {
  const request = { topics: [{ ...TOPIC, ...fields }], timeoutMs: 1_000, validateOnly };
  const decision = createTopics(metadata.context, request, new SmallRandom(1));
  const [result] = decision.response.topics;
  return { ...decision, result, error: errorOf(result?.errorCode ?? -1).name };
}

function assignment(...replicas: readonly (readonly number[])[]): Partial<CreatableTopic> {
  return {
    numPartitions: -1,
    replicationFactor: -1,
    assignments: replicas.map((brokerIds, partitionIndex) => ({ partitionIndex, brokerIds })),
  };
}

describe("a topic", () => {
  test("is created with its configs and partitions, led by their first active replica", () => {
    const metadata = new MetadataFixture({ brokers: [1, 2, 3, 4], fenced: [3] });
    const { records, error, result } = create(metadata, {
      ...assignment([1, 2], [3, 4]),
      configs: [{ name: "min.insync.replicas", value: "2" }],
    });
    expect(error).toBe("NONE");
    expect(result).toMatchObject({ numPartitions: 2, replicationFactor: 2 });
    metadata.apply(records);
    const topic = metadata.image.topicByName("payments");
    expect(topic?.topicId).toBe(result?.topicId);
    expect(metadata.image.topicConfigs("payments")).toEqual({ "min.insync.replicas": "2" });
    expect(topic?.partitions).toMatchObject([
      { replicas: [1, 2], isr: [1, 2], leader: 1, leaderEpoch: 0, partitionEpoch: 0 },
      { replicas: [3, 4], isr: [4], leader: 4 },
    ]);
    expect(topic?.partitions[0]?.directories).toEqual(
      [1, 2].map((id) => metadata.image.brokers.get(id)?.logDirs[0]),
    );
  });

  test("is put into no directory of a broker that has several: it chooses itself (KIP-858)", () => {
    const metadata = new MetadataFixture();
    metadata.apply([
      {
        type: "BrokerRegistrationChangeRecord",
        brokerId: 2,
        brokerEpoch: 102,
        fenced: 0,
        inControlledShutdown: 0,
        logDirs: [numberedUuid(4, 1), numberedUuid(4, 2)],
      },
    ]);

    metadata.apply(create(metadata, assignment([1, 2])).records);

    const [partition] = metadata.image.topicByName("payments")?.partitions ?? [];
    expect(partition?.directories).toEqual([numberedUuid(3, 1), UNASSIGNED]);
  });

  test("that is only validated writes nothing", () => {
    const { records, error } = create(new MetadataFixture(), {}, true);
    expect([records, error]).toEqual([[], "NONE"]);
  });

  test("gets the broker's defaults for what it does not say", () => {
    const configs = { "num.partitions": 4, "default.replication.factor": 2 };
    const metadata = new MetadataFixture({ configs });
    const { result } = create(metadata, { numPartitions: -1, replicationFactor: -1 });
    expect(result).toMatchObject({ numPartitions: 4, replicationFactor: 2 });
  });

  const refusals: readonly (readonly [string, Partial<CreatableTopic>, string])[] = [
    ["a name that exists", { name: "orders" }, "TOPIC_ALREADY_EXISTS"],
    ["an illegal name", { name: "a b" }, "INVALID_TOPIC_EXCEPTION"],
    ["a name of dots", { name: ".." }, "INVALID_TOPIC_EXCEPTION"],
    ["a name that is too long", { name: "a".repeat(250) }, "INVALID_TOPIC_EXCEPTION"],
    ["no replicas", { replicationFactor: 0 }, "INVALID_REPLICATION_FACTOR"],
    ["more replicas than brokers", { replicationFactor: 4 }, "INVALID_REPLICATION_FACTOR"],
    ["no partitions", { numPartitions: 0 }, "INVALID_PARTITIONS"],
    ["too many partitions", { numPartitions: 10_001 }, "POLICY_VIOLATION"],
    ["an unknown config", { configs: [{ name: "x", value: "1" }] }, "INVALID_CONFIG"],
    [
      "a config out of bounds",
      { configs: [{ name: "min.insync.replicas", value: "0" }] },
      "INVALID_CONFIG",
    ],
    [
      "a config without a value",
      { configs: [{ name: "min.insync.replicas", value: undefined }] },
      "INVALID_CONFIG",
    ],
    [
      "compaction lags that exclude each other",
      {
        configs: [
          { name: "min.compaction.lag.ms", value: "11" },
          { name: "max.compaction.lag.ms", value: "10" },
        ],
      },
      "INVALID_CONFIG",
    ],
    ["a broker twice", assignment([1, 1]), "INVALID_REPLICA_ASSIGNMENT"],
    ["an unknown broker", assignment([1, 9]), "INVALID_REPLICA_ASSIGNMENT"],
    ["partitions of different size", assignment([1, 2], [3]), "INVALID_REPLICA_ASSIGNMENT"],
    ["a partition without replicas", assignment([]), "INVALID_REPLICA_ASSIGNMENT"],
    [
      "an assignment and a number of partitions",
      { ...assignment([1]), numPartitions: 1 },
      "INVALID_REQUEST",
    ],
    [
      "a hole in its assignment",
      { ...assignment([1]), assignments: [{ partitionIndex: 1, brokerIds: [1] }] },
      "INVALID_REPLICA_ASSIGNMENT",
    ],
  ];

  test.each(refusals)("with %s is refused", (_, fields, error) => {
    const outcome = create(new MetadataFixture({ partitions: [partitionOf()] }), fields);
    expect(outcome.error).toBe(error);
    expect(outcome.records).toEqual([]);
  });

  test("is refused while all brokers are fenced", () => {
    const metadata = new MetadataFixture({ fenced: [1, 2, 3] });
    expect(create(metadata, {}).error).toBe("INVALID_REPLICATION_FACTOR");
    expect(create(metadata, assignment([1, 2])).error).toBe("INVALID_REPLICA_ASSIGNMENT");
  });

  test("whose name metrics could not tell from another's is refused", () => {
    const metadata = new MetadataFixture();
    metadata.apply(create(metadata, { name: "a.b" }).records);
    expect(create(metadata, { name: "a_b" }).error).toBe("INVALID_TOPIC_EXCEPTION");
  });

  test("does not stand in the way of another in the same request", () => {
    const topics = [TOPIC, { ...TOPIC, name: "bad name" }, { ...TOPIC, name: "other" }, TOPIC];
    const { context } = new MetadataFixture();
    const request = { topics, timeoutMs: 1, validateOnly: false };
    const { response } = createTopics(context, request, new SmallRandom(1));
    const errors = response.topics.map(({ errorCode }) => errorOf(errorCode).name);
    expect(errors).toEqual(["NONE", "INVALID_TOPIC_EXCEPTION", "NONE", "INVALID_REQUEST"]);
  });
});

describe("placement", () => {
  const scenes = fc.record({
    seed: fc.integer(),
    racks: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
    fenced: fc.subarray([1, 2, 3, 4, 5, 6]),
    partitions: fc.integer({ min: 1, max: 30 }),
    replicas: fc.integer({ min: 1, max: 5 }),
  });

  test("puts each replica on a broker of its own, the first on a live one, over all racks", () => {
    fc.assert(
      fc.property(scenes, ({ seed, racks, fenced, partitions, replicas }) => {
        let next = 1;
        const brokers = racks.flatMap((size, rack) =>
          Array.from({ length: size }, () => {
            const id = next++;
            return { id, rack: `rack-${rack}`, fenced: fenced.includes(id) };
          }),
        );
        const live = brokers.filter((broker) => !broker.fenced).map((broker) => broker.id);
        fc.pre(live.length > 0 && replicas <= brokers.length);
        const placed = placeReplicas(brokers, partitions, replicas, new SmallRandom(seed));
        expect(placed).toHaveLength(partitions);
        for (const assigned of placed) {
          expect(new Set(assigned).size).toBe(replicas);
          expect(live).toContain(assigned[0]);
          const used = new Set(assigned.map((id) => brokers[id - 1]?.rack));
          expect(used.size).toBe(Math.min(replicas, racks.length));
        }
      }),
      { seed: 42, numRuns: 500 },
    );
  });

  test("spreads leaders evenly", () => {
    const brokers = [1, 2, 3].map((id) => ({ id, rack: undefined, fenced: false }));
    for (let seed = 0; seed < 20; seed++) {
      const placed = placeReplicas(brokers, 9, 3, new SmallRandom(seed));
      for (const id of [1, 2, 3]) {
        expect(placed.filter(([leader]) => leader === id)).toHaveLength(3);
      }
    }
  });
});
