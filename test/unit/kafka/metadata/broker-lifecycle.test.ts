import { describe, expect, test } from "vitest";
import { SECOND } from "../../../../src/base/time.ts";
import { errorOf } from "../../../../src/kafka/error-code.ts";
import type {
  BrokerState,
  HeartbeatSigns,
} from "../../../../src/kafka/metadata/broker-lifecycle.ts";
import {
  heartbeat,
  nextBrokerState,
  registerBroker,
} from "../../../../src/kafka/metadata/broker-lifecycle.ts";
import { BrokerSessions } from "../../../../src/kafka/metadata/broker-sessions.ts";
import {
  electPreferredLeaders,
  electUncleanLeaders,
  fenceBroker,
  unfenceBroker,
} from "../../../../src/kafka/metadata/partition-updates.ts";
import type { BrokerRegistrationRequest } from "../../../../src/kafka/protocol/broker-lifecycle.ts";
import { numberedUuid } from "../../../../src/kafka/uuid.ts";
import { MetadataFixture, partitionOf } from "../../../support/metadata-fixture.ts";

const SESSION = 9 * SECOND;

function sessionsOf(metadata: MetadataFixture, now = 0): BrokerSessions {
  const sessions = new BrokerSessions(SESSION);
  sessions.activate(metadata.image, now);
  return sessions;
}

describe("a broker that registers", () => {
  function register(
    metadata: MetadataFixture,
    fields: Partial<BrokerRegistrationRequest>,
    now = 0,
    sessions: BrokerSessions = sessionsOf(metadata),
  ) {
    const request = {
      brokerId: 2,
      clusterId: "cluster",
      incarnationId: numberedUuid(9, 9),
      listeners: [{ name: "PLAINTEXT", host: "broker-2", port: 1, securityProtocol: 0 }],
      features: [],
      rack: undefined,
      logDirs: [],
      previousBrokerEpoch: -1,
      ...fields,
    };
    const next = metadata.image.lastOffset + 1;
    return registerBroker(metadata.context, sessions, "cluster", request, next, now);
  }

  const dead = SESSION + 1;

  test("for another cluster is refused", () => {
    const { response, records } = register(new MetadataFixture(), { clusterId: "other" });
    expect(errorOf(response.errorCode).name).toBe("INCONSISTENT_CLUSTER_ID");
    expect(records).toEqual([]);
  });

  test("while its id has a live session of another process is refused", () => {
    const metadata = new MetadataFixture();
    const { response } = register(metadata, {}, SESSION);
    expect(errorOf(response.errorCode).name).toBe("DUPLICATE_BROKER_REGISTRATION");
    expect(errorOf(register(metadata, {}, dead).response.errorCode).name).toBe("NONE");
  });

  test("after it was fenced need not wait", () => {
    const metadata = new MetadataFixture({ fenced: [2] });
    expect(register(metadata, {}, 1).response.errorCode).toBe(0);
  });

  test("as the same process keeps epoch and standing (KAFKA-16952)", () => {
    const metadata = new MetadataFixture({ partitions: [partitionOf()] });
    const { records, response, isNewIncarnation } = register(metadata, {
      incarnationId: numberedUuid(2, 2),
    });
    expect(isNewIncarnation).toBe(false);
    expect(response.brokerEpoch).toBe(102);
    expect(records).toMatchObject([{ type: "RegisterBrokerRecord", fenced: false }]);
  });

  test("as a new process is fenced, and its epoch is the offset of the decision", () => {
    const metadata = new MetadataFixture({ partitions: [partitionOf()] });
    const next = metadata.image.lastOffset + 1;
    const { records, response } = register(metadata, {}, dead);
    expect(response.brokerEpoch).toBe(next);
    metadata.apply(records);
    expect(metadata.image.brokers.get(2)).toMatchObject({ brokerEpoch: next, fenced: true });
    // The registration comes last: what it must have applied before it is unfenced.
    expect(metadata.image.brokers.get(2)?.registrationOffset).toBe(metadata.image.lastOffset);
  });

  test("leaves the ISRs also after a clean stop, for the ELR if one is short", () => {
    const partitions = [
      partitionOf({ isr: [1, 2, 3] }),
      partitionOf({ isr: [2], leader: 2 }),
      partitionOf({ isr: [1], elr: [2] }),
    ];
    const topicConfigs = { "min.insync.replicas": "2" };
    const metadata = new MetadataFixture({ partitions, topicConfigs });
    metadata.apply(register(metadata, { previousBrokerEpoch: 102 }, dead).records);
    expect(metadata.partition(0)).toMatchObject({ isr: [1, 3], elr: [], leader: 1 });
    expect(metadata.partition(1)).toMatchObject({ isr: [], elr: [2], leader: -1 });
    expect(metadata.partition(2)).toMatchObject({ isr: [1], elr: [2] });
  });

  test("after an unclean stop leaves ISRs and ELRs, even as the last", () => {
    const partitions = [partitionOf({ isr: [2], leader: 2 }), partitionOf({ isr: [1], elr: [2] })];
    const topicConfigs = { "min.insync.replicas": "2" };
    const metadata = new MetadataFixture({ partitions, topicConfigs });
    const decision = register(metadata, { previousBrokerEpoch: 50 }, dead);
    expect(decision.isCleanShutdown).toBe(false);
    metadata.apply(decision.records);
    expect(metadata.partition(0)).toMatchObject({ isr: [], elr: [], lastKnownElr: [2] });
    expect(metadata.partition(1)).toMatchObject({ isr: [1], elr: [] });
  });

  test("without ELR stays the last member of an ISR", () => {
    const partitions = [partitionOf({ isr: [2], leader: 2 })];
    const metadata = new MetadataFixture({ partitions, elr: false });
    metadata.apply(register(metadata, {}, dead).records);
    expect(metadata.partition()).toMatchObject({ isr: [2], elr: [], leader: -1 });
  });
});

describe("the state of a broker", () => {
  const calm: HeartbeatSigns = {
    wantFence: false,
    wantShutDown: false,
    isCaughtUp: true,
    hasLeaderships: true,
    othersCaughtUp: false,
  };
  const rows: readonly (readonly [BrokerState, Partial<HeartbeatSigns>, BrokerState])[] = [
    ["fenced", {}, "unfenced"],
    ["fenced", { isCaughtUp: false }, "fenced"],
    ["fenced", { wantFence: true }, "fenced"],
    ["fenced", { wantShutDown: true }, "shutdown-now"],
    ["unfenced", {}, "unfenced"],
    ["unfenced", { wantFence: true }, "fenced"],
    ["unfenced", { wantFence: true, wantShutDown: true }, "shutdown-now"],
    ["unfenced", { wantShutDown: true }, "controlled-shutdown"],
    ["unfenced", { wantShutDown: true, hasLeaderships: false }, "shutdown-now"],
    ["controlled-shutdown", { othersCaughtUp: true }, "controlled-shutdown"],
    ["controlled-shutdown", { hasLeaderships: false }, "controlled-shutdown"],
    ["controlled-shutdown", { hasLeaderships: false, othersCaughtUp: true }, "shutdown-now"],
  ];

  test.each(rows)("%s with %j becomes %s", (before, signs, expected) => {
    expect(nextBrokerState(before, { ...calm, ...signs })).toBe(expected);
  });
});

describe("a heartbeat", () => {
  function beat(
    metadata: MetadataFixture,
    sessions: BrokerSessions,
    brokerId: number,
    fields: object = {},
  ) {
    const decision = heartbeat(metadata.context, sessions, {
      brokerId,
      brokerEpoch: 100 + brokerId,
      currentMetadataOffset: metadata.image.lastOffset,
      wantFence: false,
      wantShutDown: false,
      offlineLogDirs: [],
      ...fields,
    });
    metadata.apply(decision.records);
    return decision;
  }

  test("of another epoch, or of nobody, is refused", () => {
    const metadata = new MetadataFixture();
    const sessions = sessionsOf(metadata);
    for (const fields of [{ brokerEpoch: 101 }, { brokerId: 9 }]) {
      const { response, state } = beat(metadata, sessions, 2, fields);
      expect(errorOf(response.errorCode).name).toBe("STALE_BROKER_EPOCH");
      expect(state).toBeUndefined();
    }
  });

  test("unfences a broker that has applied its registration, and it may lead at once", () => {
    const partitions = [partitionOf({ isr: [2], leader: -1 })];
    const metadata = new MetadataFixture({ fenced: [2], partitions });
    const sessions = sessionsOf(metadata);
    const registered = metadata.image.brokers.get(2)?.registrationOffset ?? 0;
    const early = beat(metadata, sessions, 2, { currentMetadataOffset: registered - 1 });
    expect(early.response).toMatchObject({ isCaughtUp: false, isFenced: true });
    const { response } = beat(metadata, sessions, 2, { currentMetadataOffset: registered });
    expect(response).toMatchObject({ isCaughtUp: true, isFenced: false });
    expect(metadata.image.brokers.get(2)?.fenced).toBe(false);
    expect(metadata.partition()).toMatchObject({ leader: 2, isr: [2], leaderEpoch: 6 });
  });

  test("takes a broker through its controlled shutdown: others lead, others know, it goes", () => {
    const partitions = [partitionOf({ replicas: [2, 1, 3] })];
    const metadata = new MetadataFixture({ partitions });
    const sessions = sessionsOf(metadata);
    const leave = { wantShutDown: true };

    const first = beat(metadata, sessions, 2, leave);
    expect(first.response).toMatchObject({ isFenced: false, shouldShutDown: false });
    sessions.beginShutdown(2, metadata.image.lastOffset);
    expect(metadata.image.brokers.get(2)?.inControlledShutdown).toBe(true);
    expect(metadata.partition()).toMatchObject({ leader: 1, isr: [1, 3], leaderEpoch: 6 });

    // Broker 3 has not applied it yet.
    sessions.touch(1, metadata.image.lastOffset, false, 1);
    sessions.touch(3, metadata.image.lastOffset - 1, false, 1);
    expect(beat(metadata, sessions, 2, leave).response.shouldShutDown).toBe(false);
    sessions.touch(3, metadata.image.lastOffset, false, 2);
    const last = beat(metadata, sessions, 2, leave);
    expect(last.response).toMatchObject({ isFenced: true, shouldShutDown: true });
    expect(metadata.image.brokers.get(2)?.fenced).toBe(true);
  });

  test("lets a broker that leads nothing go at once", () => {
    const metadata = new MetadataFixture({ partitions: [partitionOf()] });
    const decision = beat(metadata, sessionsOf(metadata), 3, { wantShutDown: true });
    expect(decision.response.shouldShutDown).toBe(true);
    expect(metadata.partition()).toMatchObject({ isr: [1, 2] });
  });
});

describe("sessions", () => {
  test("end the timeout after the last contact, the longest silent first", () => {
    const metadata = new MetadataFixture({ fenced: [3] });
    const sessions = sessionsOf(metadata);
    sessions.touch(1, 0, false, 2 * SECOND);
    sessions.touch(2, 0, false, SECOND);
    expect(sessions.stalest(metadata.image, 10 * SECOND)).toBeUndefined();
    expect(sessions.stalest(metadata.image, 10 * SECOND + 1)).toBe(2);
    expect(sessions.stalest(metadata.image, 20 * SECOND)).toBe(2);
    metadata.apply(fenceBroker(metadata.context, 2));
    expect(sessions.stalest(metadata.image, 20 * SECOND)).toBe(1);
  });

  test("begin for all brokers when a controller becomes active (KAFKA-18138)", () => {
    const metadata = new MetadataFixture();
    const sessions = sessionsOf(metadata, 100 * SECOND);
    expect(sessions.isAlive(metadata.image, 1, 100 * SECOND + SESSION)).toBe(true);
    expect(sessions.stalest(metadata.image, 100 * SECOND + SESSION)).toBeUndefined();
  });
});

describe("the end and the return of brokers", () => {
  test("fencing takes a broker out of every ISR and moves what it led", () => {
    const partitions = [
      partitionOf(),
      partitionOf({ replicas: [2, 3, 1], isr: [2, 3, 1] }),
      partitionOf({ replicas: [1, 2], isr: [1], leader: 1 }),
    ];
    const metadata = new MetadataFixture({ partitions, elr: false });
    metadata.apply(fenceBroker(metadata.context, 1));
    expect(metadata.partition(0)).toMatchObject({ leader: 2, isr: [2, 3], leaderEpoch: 6 });
    expect(metadata.partition(1)).toMatchObject({ leader: 2, isr: [2, 3], leaderEpoch: 5 });
    expect(metadata.partition(2)).toMatchObject({ leader: -1, isr: [1], leaderEpoch: 6 });
    metadata.apply(unfenceBroker(metadata.context, 1));
    expect(metadata.partition(2)).toMatchObject({ leader: 1, isr: [1], leaderEpoch: 7 });
    expect(metadata.partition(0)).toMatchObject({ leader: 2, isr: [2, 3] });
  });

  test("fencing does not elect the broker that is being fenced, unclean or not", () => {
    const partitions = [partitionOf({ replicas: [1, 2], isr: [1], leader: 1 })];
    const topicConfigs = { "unclean.leader.election.enable": "true" };
    const metadata = new MetadataFixture({ partitions, topicConfigs, elr: false });
    metadata.apply(fenceBroker(metadata.context, 1));
    expect(metadata.partition()).toMatchObject({ leader: 2, isr: [2], leaderRecoveryState: 1 });
  });

  test("a broker config allows unclean elections where the topic does not say", () => {
    const partitions = [partitionOf({ isr: [1], leader: -1 })];
    const configs = { "unclean.leader.election.enable": true };
    const allowed = new MetadataFixture({ partitions, configs, fenced: [1], elr: false });
    expect(electUncleanLeaders(allowed.context, 10)).toMatchObject([{ leader: 2, isr: [2] }]);
    const topicConfigs = { "unclean.leader.election.enable": "false" };
    const denied = new MetadataFixture({ partitions, configs, topicConfigs, fenced: [1] });
    expect(electUncleanLeaders(denied.context, 10)).toEqual([]);
  });

  test("partitions go back to their preferred leaders, so many at a time", () => {
    const moved = partitionOf({ leader: 2 });
    const partitions = [moved, partitionOf(), partitionOf({ leader: 3, isr: [3, 2] }), moved];
    const metadata = new MetadataFixture({ partitions });
    expect(electPreferredLeaders(metadata.context, 1)).toMatchObject([{ partitionId: 0 }]);
    const records = electPreferredLeaders(metadata.context, 10);
    expect(records).toMatchObject([
      { partitionId: 0, leader: 1 },
      { partitionId: 3, leader: 1 },
    ]);
  });
});
