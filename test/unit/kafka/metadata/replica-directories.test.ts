import { describe, expect, test } from "vitest";
import { SECOND } from "../../../../src/base/time.ts";
import { errorOf } from "../../../../src/kafka/error-code.ts";
import { heartbeat } from "../../../../src/kafka/metadata/broker-lifecycle.ts";
import { BrokerSessions } from "../../../../src/kafka/metadata/broker-sessions.ts";
import {
  isDirectoryOnline,
  LOST,
  MIGRATING,
  UNASSIGNED,
} from "../../../../src/kafka/metadata/directory-id.ts";
import { unfenceBroker } from "../../../../src/kafka/metadata/partition-updates.ts";
import { assignReplicas } from "../../../../src/kafka/metadata/replica-directories.ts";
import { numberedUuid } from "../../../../src/kafka/uuid.ts";
import type { FixtureOptions } from "../../../support/metadata-fixture.ts";
import { MetadataFixture, partitionOf, TOPIC_ID } from "../../../support/metadata-fixture.ts";

const [A, B, C] = [numberedUuid(4, 1), numberedUuid(4, 2), numberedUuid(4, 3)];
const OF_1 = numberedUuid(3, 1);
const OF_3 = numberedUuid(3, 3);

/** Brokers 1, 2 and 3, of which 2 has the directories A and B. */
function clusterOf(options: FixtureOptions): MetadataFixture {
  const metadata = new MetadataFixture(options);
  metadata.apply([
    {
      type: "BrokerRegistrationChangeRecord",
      brokerId: 2,
      brokerEpoch: 102,
      fenced: 0,
      inControlledShutdown: 0,
      logDirs: [A, B],
    },
  ]);
  return metadata;
}

/** Broker 2 says with a heartbeat that these directories are offline. */
function fail(metadata: MetadataFixture, ...offlineLogDirs: string[]) {
  const sessions = new BrokerSessions(9 * SECOND);
  sessions.activate(metadata.image, 0);
  const { records, state } = heartbeat(metadata.context, sessions, {
    brokerId: 2,
    brokerEpoch: 102,
    currentMetadataOffset: 1000,
    wantFence: false,
    wantShutDown: false,
    offlineLogDirs,
  });
  metadata.apply(records);
  return { records, state };
}

function assign(metadata: MetadataFixture, directory: string, partitionIndex = 0) {
  const { records, response } = assignReplicas(metadata.context, {
    brokerId: 2,
    brokerEpoch: 102,
    directories: [
      { id: directory, topics: [{ topicId: TOPIC_ID, partitions: [{ partitionIndex }] }] },
    ],
  });
  metadata.apply(records);
  return { records, response };
}

describe("a broker whose log directory fails", () => {
  test("leads and follows no more what was in it, and is not fenced", () => {
    const metadata = clusterOf({
      partitions: [
        partitionOf({ directories: [OF_1, A, OF_3], leader: 2 }),
        partitionOf({ directories: [OF_1, A, OF_3], leader: 3 }),
        partitionOf({ directories: [OF_1, B, OF_3], leader: 2 }),
      ],
    });

    const { state } = fail(metadata, A);

    expect(state).toBe("unfenced");
    const found = [0, 1, 2].map((index) => metadata.partition(index));
    expect(found.map(({ isr, leader, leaderEpoch }) => [isr, leader, leaderEpoch])).toEqual([
      [[1, 3], 1, 6],
      [[1, 3], 3, 5],
      [[1, 2, 3], 2, 5],
    ]);
    expect(metadata.image.brokers.get(2)).toMatchObject({ logDirs: [B], fenced: false });
  });

  test("says so with every heartbeat, which changes nothing more", () => {
    const metadata = clusterOf({ partitions: [partitionOf({ directories: [OF_1, A, OF_3] })] });
    fail(metadata, A);

    expect(fail(metadata, A).records).toEqual([]);
  });

  test("says nothing of a directory that is not its own", () => {
    const metadata = clusterOf({ partitions: [partitionOf({ directories: [OF_1, A, OF_3] })] });

    expect(fail(metadata, OF_1, C).records).toEqual([]);
  });

  test("as the last in sync leaves the ISR for the ELR, and leads again only with its disk", () => {
    const metadata = clusterOf({
      topicConfigs: { "min.insync.replicas": "2" },
      partitions: [partitionOf({ directories: [OF_1, A, OF_3], isr: [2], leader: 2 })],
    });

    fail(metadata, A);
    const during = metadata.partition();
    metadata.apply(unfenceBroker(metadata.context, 2));

    expect(during).toMatchObject({ isr: [], elr: [2], lastKnownElr: [2], leader: -1 });
    expect(metadata.partition().leader).toBe(-1);
  });

  test("as the last in sync stays in the ISR without ELR, but nobody leads", () => {
    const metadata = clusterOf({
      elr: false,
      partitions: [partitionOf({ directories: [OF_1, A, OF_3], isr: [2], leader: 2 })],
    });

    fail(metadata, A);

    expect(metadata.partition()).toMatchObject({ isr: [2], leader: -1, leaderEpoch: 6 });
  });

  test("is not elected for a partition in it while it is offline, though it is in the ISR", () => {
    const metadata = clusterOf({
      elr: false,
      partitions: [partitionOf({ directories: [OF_1, C, OF_3], isr: [2], leader: -1 })],
    });

    metadata.apply(unfenceBroker(metadata.context, 2));

    expect(metadata.partition().leader).toBe(-1);
  });

  test("may be replaced uncleanly, if the topic allows that", () => {
    const metadata = clusterOf({
      elr: false,
      topicConfigs: { "unclean.leader.election.enable": "true" },
      partitions: [partitionOf({ directories: [OF_1, A, OF_3], isr: [2], leader: 2 })],
    });

    fail(metadata, A);

    expect(metadata.partition()).toMatchObject({ isr: [1], leader: 1, leaderRecoveryState: 1 });
  });
});

describe("a broker that tells where its replicas are", () => {
  test("changes that alone", () => {
    const metadata = clusterOf({
      partitions: [partitionOf({ directories: [OF_1, UNASSIGNED, OF_3] })],
    });

    const { response, records } = assign(metadata, B);

    expect(response).toMatchObject({ errorCode: 0 });
    expect(records).toEqual([
      {
        type: "PartitionChangeRecord",
        topicId: TOPIC_ID,
        partitionId: 0,
        directories: [OF_1, B, OF_3],
      },
    ]);
    expect(metadata.partition()).toMatchObject({ leaderEpoch: 5, partitionEpoch: 10 });
  });

  test("and tells it again, changes nothing", () => {
    const metadata = clusterOf({ partitions: [partitionOf({ directories: [OF_1, B, OF_3] })] });

    expect(assign(metadata, B).records).toEqual([]);
  });

  test("leaves the eligible leaders as they are", () => {
    const metadata = clusterOf({
      topicConfigs: { "min.insync.replicas": "2" },
      partitions: [
        partitionOf({ directories: [OF_1, UNASSIGNED, OF_3], isr: [1], elr: [2], leader: 1 }),
      ],
    });

    assign(metadata, A);

    expect(metadata.partition()).toMatchObject({ isr: [1], elr: [2], leader: 1 });
  });

  test("in a directory that has failed meanwhile, leads and follows there no more", () => {
    const metadata = clusterOf({
      partitions: [partitionOf({ directories: [OF_1, UNASSIGNED, OF_3], leader: 2 })],
    });
    fail(metadata, A);
    const before = metadata.partition();

    assign(metadata, A);

    expect(before).toMatchObject({ isr: [1, 2, 3], leader: 2 });
    expect(metadata.partition()).toMatchObject({
      directories: [OF_1, A, OF_3],
      isr: [1, 3],
      leader: 1,
    });
  });

  test("is told what is wrong with each", () => {
    const metadata = clusterOf({
      brokers: [1, 2, 3, 4],
      partitions: [partitionOf(), partitionOf({ replicas: [1, 3, 4], isr: [1, 3, 4] })],
    });
    const { response } = assignReplicas(metadata.context, {
      brokerId: 2,
      brokerEpoch: 102,
      directories: [
        {
          id: A,
          topics: [
            {
              topicId: TOPIC_ID,
              partitions: [0, 1, 2].map((index) => ({ partitionIndex: index })),
            },
            { topicId: numberedUuid(8, 8), partitions: [{ partitionIndex: 0 }] },
          ],
        },
      ],
    });

    const errors = response.directories.flatMap(({ topics }) =>
      topics.flatMap(({ partitions }) =>
        partitions.map(({ errorCode }) => errorOf(errorCode).name),
      ),
    );
    expect(errors).toEqual([
      "NONE",
      "NOT_LEADER_OR_FOLLOWER",
      "UNKNOWN_TOPIC_OR_PARTITION",
      "UNKNOWN_TOPIC_ID",
    ]);
  });

  test("in an earlier life is not heard", () => {
    const metadata = clusterOf({ partitions: [partitionOf()] });

    const { response, records } = assignReplicas(metadata.context, {
      brokerId: 2,
      brokerEpoch: 101,
      directories: [],
    });

    expect(errorOf(response.errorCode).name).toBe("STALE_BROKER_EPOCH");
    expect(records).toEqual([]);
  });

  // KIP-858 tells lost disks from others by their ids alone. What a replica has lost with its disk is
  // not known to the controller any more once the new directory is told: as in Kafka, the last member of
  // an ISR may then lead with an empty log. With ELR it has left the ISR when it registered.
  test("as the last in sync with an empty disk instead of the lost one, does not lead by that", () => {
    const metadata = clusterOf({
      elr: false,
      partitions: [partitionOf({ directories: [OF_1, C, OF_3], isr: [2], leader: -1 })],
    });

    assign(metadata, A);

    expect(metadata.partition()).toMatchObject({ directories: [OF_1, A, OF_3], leader: -1 });
  });
});

test("a directory is online if its broker has it, or nobody can tell", () => {
  expect(isDirectoryOnline(A, [A, B])).toBe(true);
  expect(isDirectoryOnline(C, [A, B])).toBe(false);
  expect(isDirectoryOnline(UNASSIGNED, [A])).toBe(true);
  expect(isDirectoryOnline(MIGRATING, [A])).toBe(true);
  expect(isDirectoryOnline(LOST, [A])).toBe(false);
  expect(isDirectoryOnline(LOST, [])).toBe(false);
  // A broker of a time before KIP-858 told of none.
  expect(isDirectoryOnline(A, [])).toBe(true);
  expect([MIGRATING, UNASSIGNED, LOST]).toEqual([0, 1, 2].map((low) => numberedUuid(0, low)));
});
