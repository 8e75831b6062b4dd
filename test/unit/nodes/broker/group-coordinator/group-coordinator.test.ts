import { describe, expect, test } from "vitest";
import { SECOND } from "../../../../../src/base/time.ts";
import { errorOf } from "../../../../../src/kafka/error-code.ts";
import {
  CONSUMER_GROUP_HEARTBEAT,
  END_TXN,
  FIND_COORDINATOR,
  HEARTBEAT,
  INIT_PRODUCER_ID,
  JOIN_GROUP,
  LEAVE_GROUP,
  METADATA,
  OFFSET_COMMIT,
  OFFSET_FETCH,
  SYNC_GROUP,
  TXN_OFFSET_COMMIT,
} from "../../../../../src/kafka/protocol/apis.ts";
import type { ConsumerGroupHeartbeatResponse } from "../../../../../src/kafka/protocol/consumer-group-heartbeat.ts";
import type { JoinGroupResponse } from "../../../../../src/kafka/protocol/group-membership.ts";
import type { InitProducerIdResponse } from "../../../../../src/kafka/protocol/init-producer-id.ts";
import { AskedCluster } from "../../../../support/asked-cluster.ts";
import { protocol } from "../../../../support/group-fixture.ts";

const GROUP = "readers";
const CONFIGS = { "offsets.topic.num.partitions": 4 };

class Client {
  readonly cluster: AskedCluster;

  constructor(configs: Readonly<Record<string, unknown>> = CONFIGS) {
    this.cluster = new AskedCluster({ configs });
  }

  /** What broker 1 says of the coordinator: a broker, or an error. */
  lookUp(via = 1): number | string {
    const body = { keyType: 0, coordinatorKeys: [GROUP] };
    const [found] = this.cluster.answer(via, FIND_COORDINATOR, body).coordinators;
    return found?.errorCode === 0 ? found.nodeId : errorOf(found?.errorCode ?? -1).name;
  }

  /** Asks for the coordinator until there is one. */
  coordinator(via = 1): number {
    for (let i = 0; i < 100; i++) {
      const found = this.lookUp(via);
      if (typeof found === "number") return found;
      this.cluster.run(SECOND / 10);
    }
    throw new Error("there is no coordinator");
  }

  join(broker: number, memberId: string): JoinGroupResponse {
    return this.cluster.answer(broker, JOIN_GROUP, {
      groupId: GROUP,
      sessionTimeoutMs: 10_000,
      rebalanceTimeoutMs: 60_000,
      memberId,
      groupInstanceId: undefined,
      protocolType: "consumer",
      protocols: [protocol("range")],
      reason: undefined,
    });
  }

  /** A stable group with one member, which it leads. */
  stable(broker: number): string {
    const first = this.join(broker, "");
    const { memberId, generationId } = this.join(broker, first.memberId);
    const { errorCode } = this.cluster.answer(broker, SYNC_GROUP, {
      groupId: GROUP,
      generationId,
      memberId,
      groupInstanceId: undefined,
      protocolType: "consumer",
      protocolName: "range",
      assignments: [{ memberId, assignment: Uint8Array.of(0, 0, 0, 0, 0, 0, 255, 255, 255, 255) }],
    });
    expect(errorCode).toBe(0);
    return memberId;
  }

  /** A heartbeat of the only member of KIP-848, which joins with the epoch 0. */
  beat(broker: number, memberEpoch: number): ConsumerGroupHeartbeatResponse {
    return this.cluster.answer(broker, CONSUMER_GROUP_HEARTBEAT, {
      groupId: GROUP,
      memberId: "m1",
      memberEpoch,
      instanceId: undefined,
      rackId: undefined,
      rebalanceTimeoutMs: 60_000,
      subscribedTopicNames: ["orders"],
      subscribedTopicRegex: undefined,
      serverAssignor: undefined,
      topicPartitions: [],
    });
  }

  heartbeat(broker: number, memberId: string): string {
    const body = { groupId: GROUP, generationId: 1, memberId, groupInstanceId: undefined };
    return errorOf(this.cluster.answer(broker, HEARTBEAT, body).errorCode).name;
  }

  topicId(): string {
    const body = { topics: undefined, allowAutoTopicCreation: false };
    const { topics } = this.cluster.answer(1, METADATA, body);
    return topics.find(({ name }) => name === "orders")?.topicId ?? "";
  }

  commit(broker: number, memberId: string, offset: number): string {
    const partition = {
      partitionIndex: 0,
      committedOffset: offset,
      committedLeaderEpoch: -1,
      committedMetadata: undefined,
    };
    const { topics } = this.cluster.answer(broker, OFFSET_COMMIT, {
      groupId: GROUP,
      generationIdOrMemberEpoch: 1,
      memberId,
      groupInstanceId: undefined,
      topics: [{ topicId: this.topicId(), partitions: [partition] }],
    });
    return errorOf(topics[0]?.partitions[0]?.errorCode ?? -1).name;
  }

  /** Asks for the coordinator of a transactional id until there is one. */
  transactionCoordinator(id: string): number {
    for (let i = 0; i < 100; i++) {
      const body = { keyType: 1, coordinatorKeys: [id] };
      const [found] = this.cluster.answer(1, FIND_COORDINATOR, body).coordinators;
      if (found?.errorCode === 0) return found.nodeId;
      this.cluster.run(SECOND / 10);
    }
    throw new Error("there is no coordinator");
  }

  /** Begins to be a transactional producer, which the coordinator may take some time for. */
  initProducer(broker: number, transactionalId: string): InitProducerIdResponse {
    for (let i = 0; i < 100; i++) {
      const answer = this.cluster.answer(broker, INIT_PRODUCER_ID, {
        transactionalId,
        transactionTimeoutMs: 60_000,
        producerId: -1,
        producerEpoch: -1,
      });
      if (answer.errorCode === 0) return answer;
      this.cluster.run(SECOND / 10);
    }
    throw new Error("there is no producer id");
  }

  committed(broker: number): number | string {
    const topics = [{ topicId: this.topicId(), partitionIndexes: [0] }];
    const group = { groupId: GROUP, memberId: undefined, memberEpoch: -1, topics };
    const body = { groups: [group], requireStable: true };
    const [answer] = this.cluster.answer(broker, OFFSET_FETCH, body).groups;
    if (answer?.errorCode !== 0) return errorOf(answer?.errorCode ?? -1).name;
    const partition = answer.topics[0]?.partitions[0];
    if (partition?.errorCode !== 0) return errorOf(partition?.errorCode ?? -1).name;
    return partition.committedOffset;
  }
}

describe("the coordinator of a group", () => {
  test("is the leader of its partition of a topic that is created when it is first asked for", () => {
    const client = new Client();
    expect(client.cluster.factsOf("coordinator-loaded")).toEqual([]);
    expect(client.lookUp()).toBe("COORDINATOR_NOT_AVAILABLE");

    const coordinator = client.coordinator();

    const loaded = client.cluster.factsOf("coordinator-loaded");
    expect(new Set(loaded.map(({ partition }) => partition)).size).toBe(4);
    // "readers".hashCode() is 1_080_410_128 in Java.
    expect(loaded.find(({ partition }) => partition === "__consumer_offsets-0")?.broker).toBe(
      coordinator,
    );
  });

  test("is not there while there are fewer brokers than its topic needs replicas", () => {
    const client = new Client({ ...CONFIGS, "offsets.topic.replication.factor": 4 });
    for (let i = 0; i < 5; i++) {
      expect(client.lookUp()).toBe("COORDINATOR_NOT_AVAILABLE");
      client.cluster.run(SECOND);
    }
    expect(client.cluster.factsOf("coordinator-loaded")).toEqual([]);
  });

  test("is no other broker", () => {
    const client = new Client();
    const other = (client.coordinator() % 3) + 1;

    expect(errorOf(client.join(other, "").errorCode).name).toBe("NOT_COORDINATOR");
    expect(client.heartbeat(other, "m")).toBe("NOT_COORDINATOR");
    expect(client.committed(other)).toBe("NOT_COORDINATOR");
  });
});

describe("a group in a cluster", () => {
  test("comes together, keeps its offsets, and is left", () => {
    const client = new Client();
    const broker = client.coordinator();
    const memberId = client.stable(broker);
    expect(client.heartbeat(broker, memberId)).toBe("NONE");
    expect(client.committed(broker)).toBe(-1);

    expect(client.commit(broker, memberId, 42)).toBe("NONE");
    expect(client.committed(broker)).toBe(42);
    expect(client.cluster.factsOf("offsets-committed")).toMatchObject([
      {
        group: GROUP,
        member: memberId,
        generation: 1,
        offsets: [{ partition: "orders-0", offset: 42 }],
      },
    ]);

    const members = [{ memberId, groupInstanceId: undefined, reason: undefined }];
    client.cluster.answer(broker, LEAVE_GROUP, { groupId: GROUP, members });
    expect(client.cluster.factsOf("group-state-changed").map(({ to }) => to)).toEqual([
      "PreparingRebalance",
      "CompletingRebalance",
      "Stable",
      "PreparingRebalance",
      "Empty",
    ]);
  });

  test("is known to the next coordinator when the broker dies", () => {
    const client = new Client();
    const broker = client.coordinator();
    const memberId = client.stable(broker);
    client.commit(broker, memberId, 42);
    client.cluster.cluster.hosts[broker - 1]?.crash("a test");
    const witness = (broker % 3) + 1;
    client.cluster.run(12 * SECOND);

    const next = client.coordinator(witness);

    expect(next).not.toBe(broker);
    expect(client.heartbeat(next, memberId)).toBe("NONE");
    expect(client.committed(next)).toBe(42);
  });

  test("moves with leadership, and is told by who led before", () => {
    const client = new Client();
    const broker = client.coordinator();
    const memberId = client.stable(broker);
    client.cluster.cluster.hosts[broker - 1]?.shutdown();
    client.cluster.run(SECOND / 2);
    const witness = (broker % 3) + 1;

    const next = client.coordinator(witness);

    expect(next).not.toBe(broker);
    expect(client.heartbeat(next, memberId)).toBe("NONE");
    expect(client.cluster.factsOf("coordinator-unloaded").length).toBeGreaterThan(0);
  });
});

describe("offsets in a transaction", () => {
  test.each([
    [true, 42],
    [false, -1],
  ])("are told when it is over: committed %s", (isCommit, offset) => {
    const client = new Client({ ...CONFIGS, "transaction.state.log.num.partitions": 2 });
    const broker = client.coordinator();
    const coordinator = client.transactionCoordinator("t1");
    const { producerId, producerEpoch } = client.initProducer(coordinator, "t1");
    const partition = {
      partitionIndex: 0,
      committedOffset: 42,
      committedLeaderEpoch: -1,
      committedMetadata: undefined,
    };
    const { topics } = client.cluster.answer(broker, TXN_OFFSET_COMMIT, {
      transactionalId: "t1",
      groupId: GROUP,
      producerId,
      producerEpoch,
      generationId: -1,
      memberId: "",
      groupInstanceId: undefined,
      topics: [{ name: "orders", partitions: [partition] }],
    });
    expect(topics[0]?.partitions[0]?.errorCode).toBe(0);
    expect(client.committed(broker)).toBe("UNSTABLE_OFFSET_COMMIT");

    const { errorCode } = client.cluster.answer(coordinator, END_TXN, {
      transactionalId: "t1",
      producerId,
      producerEpoch,
      committed: isCommit,
    });
    expect(errorCode).toBe(0);
    client.cluster.run(SECOND);

    expect(client.committed(broker)).toBe(offset);
    expect(client.cluster.factsOf("offsets-committed")).toHaveLength(isCommit ? 1 : 0);
  });
});

test("a group of KIP-848 comes together in a cluster, and is known to the next coordinator", () => {
  const client = new Client();
  const broker = client.coordinator();

  const first = client.beat(broker, 0);
  expect(first).toMatchObject({ errorCode: 0, memberEpoch: 1, heartbeatIntervalMs: 5_000 });
  expect(first.assignment).toEqual([{ topicId: client.topicId(), partitions: [0] }]);

  client.cluster.cluster.hosts[broker - 1]?.crash("a test");
  client.cluster.run(12 * SECOND);
  const next = client.coordinator((broker % 3) + 1);
  expect(client.beat(next, 1)).toMatchObject({ errorCode: 0, memberEpoch: 1 });
});

test("a group migrates in a cluster, and is known to the next coordinator while it does", () => {
  const client = new Client();
  const broker = client.coordinator();
  const memberId = client.stable(broker);
  expect(client.beat(broker, 0)).toMatchObject({ errorCode: 0, memberEpoch: 2 });
  expect(client.heartbeat(broker, memberId)).toBe("REBALANCE_IN_PROGRESS");

  client.cluster.cluster.hosts[broker - 1]?.crash("a test");
  client.cluster.run(9 * SECOND);
  const next = client.coordinator((broker % 3) + 1);
  expect(client.heartbeat(next, memberId)).toBe("REBALANCE_IN_PROGRESS");
  expect(client.join(next, memberId)).toMatchObject({ errorCode: 0, generationId: 2, leader: "" });
  expect(client.beat(next, -1)).toMatchObject({ errorCode: 0 });

  const downgraded = { kind: "group-migrated", to: "classic", generation: 2, broker: next };
  expect(client.cluster.factsOf("group-migrated").at(-1)).toMatchObject(downgraded);
  expect(client.join(next, memberId)).toMatchObject({ generationId: 3, leader: memberId });
});
