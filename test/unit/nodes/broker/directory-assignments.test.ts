import { describe, expect, test } from "vitest";
import { MILLISECOND, SECOND } from "../../../../src/base/time.ts";
import type { ErrorName } from "../../../../src/kafka/error-code.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { ASSIGN_REPLICAS_TO_DIRS } from "../../../../src/kafka/protocol/apis.ts";
import type { AssignReplicasToDirsRequest } from "../../../../src/kafka/protocol/assign-replicas.ts";
import { BROKER_TIMER } from "../../../../src/nodes/broker/broker-timers.ts";
import { DirectoryAssignments } from "../../../../src/nodes/broker/directory-assignments.ts";
import { BrokerFixture, epochOf, SELF, TOPIC_ID } from "../../../support/broker-fixture.ts";
import type { FakeRequest } from "../../../support/fake-world.ts";

/** A broker that has put its replicas somewhere; the test plays the controller. */
class Assigning extends BrokerFixture {
  readonly assignments = new DirectoryAssignments(this, this.controller);
  /** The error of the whole answer. */
  error: ErrorName = "NONE";
  /** Errors of single partitions, by their index. */
  readonly errors = new Map<number, ErrorName>();

  constructor(partitions: number) {
    super();
    for (let partitionId = 0; partitionId < partitions; partitionId++) {
      this.image.replay(
        {
          type: "PartitionRecord",
          partitionId,
          topicId: TOPIC_ID,
          replicas: [SELF, 2],
          isr: [SELF, 2],
          removingReplicas: [],
          addingReplicas: [],
          leader: SELF,
          leaderRecoveryState: 0,
          leaderEpoch: 0,
          partitionEpoch: 0,
          directories: [],
          eligibleLeaderReplicas: undefined,
          lastKnownElr: undefined,
        },
        this.image.lastOffset + 1,
      );
    }
    this.world.onRequest = (request) => this.#answer(request);
  }

  #answer(request: FakeRequest): void {
    const { directories } = request.body(ASSIGN_REPLICAS_TO_DIRS);
    request.reply(ASSIGN_REPLICAS_TO_DIRS, {
      throttleTimeMs: 0,
      errorCode: ERRORS[this.error].code,
      directories: directories.map(({ id, topics }) => ({
        id,
        topics: topics.map(({ topicId, partitions }) => ({
          topicId,
          partitions: partitions.map(({ partitionIndex }) => ({
            partitionIndex,
            errorCode: ERRORS[this.errors.get(partitionIndex) ?? "NONE"].code,
          })),
        })),
      })),
    });
  }

  override onTimer(kind: number, payload: unknown): void {
    if (kind === BROKER_TIMER.directoryAssignments) this.assignments.onTimer();
    else super.onTimer(kind, payload);
  }

  get asked(): AssignReplicasToDirsRequest[] {
    return this.world.requestsOf(ASSIGN_REPLICAS_TO_DIRS);
  }

  /** `A: 0 2, B: 1`: which partitions each request put where. */
  get told(): string[] {
    return this.asked.map(({ directories }) =>
      directories
        .map(({ id, topics }) => {
          const indexes = topics.flatMap((topic) =>
            topic.partitions.map((one) => one.partitionIndex),
          );
          return `${id}: ${indexes.join(" ")}`;
        })
        .join(", "),
    );
  }

  /** The milliseconds between a request and the next. */
  get pauses(): number[] {
    const times = this.world.requests.map(({ at }) => at);
    return times.slice(1).map((at, i) => Math.round((at - (times[i] ?? 0)) / MILLISECOND));
  }
}

describe("a broker that has put replicas into directories", () => {
  test("tells the controller of all of a tenth of a second in one request", () => {
    const broker = new Assigning(3);
    broker.assignments.assign(TOPIC_ID, 0, "A");
    broker.world.run(50 * MILLISECOND);
    broker.assignments.assign(TOPIC_ID, 1, "B");
    broker.assignments.assign(TOPIC_ID, 2, "A");

    broker.world.run(10 * SECOND);

    expect(broker.told).toEqual(["A: 0 2, B: 1"]);
    expect(broker.asked[0]).toMatchObject({ brokerId: SELF, brokerEpoch: epochOf(SELF) });
  });

  test("tells where a replica is now, not where it was to be before", () => {
    const broker = new Assigning(1);
    broker.assignments.assign(TOPIC_ID, 0, "A");
    broker.assignments.assign(TOPIC_ID, 0, "B");

    broker.world.run(10 * SECOND);

    expect(broker.told).toEqual(["B: 0"]);
  });

  test("tells again what was refused, and that alone", () => {
    const broker = new Assigning(2);
    broker.errors.set(1, "UNKNOWN_TOPIC_OR_PARTITION");
    broker.assignments.assign(TOPIC_ID, 0, "A");
    broker.assignments.assign(TOPIC_ID, 1, "A");
    broker.world.run(150 * MILLISECOND);
    broker.errors.clear();

    broker.world.run(10 * SECOND);

    expect(broker.told).toEqual(["A: 0 1", "A: 1"]);
  });

  test("tells all again after an error of the whole, ever later, ten seconds at most", () => {
    const broker = new Assigning(1);
    broker.error = "STALE_BROKER_EPOCH";
    broker.assignments.assign(TOPIC_ID, 0, "A");
    broker.world.run(60 * SECOND);
    const { pauses } = broker;
    broker.error = "NONE";
    broker.world.run(60 * SECOND);

    expect(pauses[0]).toBeGreaterThan(190);
    expect(pauses[0]).toBeLessThan(220);
    expect(pauses.every((pause, i) => pause > (pauses[i - 1] ?? 0) * 0.95)).toBe(true);
    expect(Math.max(...pauses)).toBeLessThan(10_100);
    expect(broker.told.at(-1)).toBe("A: 0");
    expect(broker.asked.length).toBe(pauses.length + 2);
  });

  test("tells again when the connection breaks", () => {
    const broker = new Assigning(1);
    broker.world.refused.add(broker.leader ?? -1);
    broker.assignments.assign(TOPIC_ID, 0, "A");
    broker.world.run(SECOND);
    broker.world.refused.clear();

    broker.world.run(10 * SECOND);

    expect(broker.told).toEqual(["A: 0"]);
  });

  test("does not tell of what is its replica no more", () => {
    const broker = new Assigning(1);
    broker.assignments.assign(TOPIC_ID, 5, "A");
    broker.assignments.assign("another-topic-0000000", 0, "A");

    broker.world.run(10 * SECOND);

    expect(broker.asked).toEqual([]);
  });
});
