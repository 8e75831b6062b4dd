import { MILLISECOND } from "../../src/base/time.ts";
import { resolveConfigs } from "../../src/kafka/config/config-table.ts";
import { CONSUMER_CONFIGS } from "../../src/kafka/config/consumer-configs.ts";
import type { ErrorName } from "../../src/kafka/error-code.ts";
import { ERRORS } from "../../src/kafka/error-code.ts";
import { decodeSubscription, encodeAssignment } from "../../src/kafka/group/consumer-protocol.ts";
import { buildBatch } from "../../src/kafka/log/record-batch.ts";
import {
  CONSUMER_GROUP_HEARTBEAT,
  FETCH,
  FIND_COORDINATOR,
  HEARTBEAT,
  JOIN_GROUP,
  LEAVE_GROUP,
  LIST_OFFSETS,
  OFFSET_COMMIT,
  OFFSET_FETCH,
  SYNC_GROUP,
} from "../../src/kafka/protocol/apis.ts";
import type { FetchPartition } from "../../src/kafka/protocol/fetch.ts";
import { LATEST_TIMESTAMP } from "../../src/kafka/protocol/list-offsets.ts";
import { GroupConsumer } from "../../src/nodes/consumer/group/group-consumer.ts";
import type { GroupConsumerOptions } from "../../src/nodes/consumer/group/group-options.ts";
import { addressOf, FakeCluster, TOPIC, TOPIC_ID } from "./fake-cluster.ts";
import type { FakeRequest } from "./fake-world.ts";
import { FakeWorld } from "./fake-world.ts";
import { ownershipTold } from "./ownership-told.ts";

/** One member of a group, and a coordinator that says what the test wants. Logs are the same at all brokers. */
export class ScriptedGroup {
  readonly world = new FakeWorld();
  readonly cluster: FakeCluster;
  readonly consumer: GroupConsumer;
  /** By partition, how many records there are. */
  readonly ends: number[];
  coordinator = 2;
  generation = 1;
  /** The ids that the coordinator gives, one after the other. */
  readonly ids = ["m1", "m2", "m3"];
  /** Members besides, of whom one leads. */
  others: string[] = [];
  /** Members besides, whom it leads. */
  followers: string[] = [];
  /** What SyncGroup assigns; undefined: what the member has said as the leader. */
  assigned: readonly number[] | undefined = undefined;
  /** In a KIP-848 group: the epoch that members are told, and how often they are to be heard of. */
  epoch = 1;
  heartbeatIntervalMs = 1_000;
  /** What is committed, by partition. */
  readonly committed = new Map<number, number>();
  /** Errors to answer with, once each, before all goes well. */
  readonly errors: Record<
    "find" | "join" | "sync" | "beat" | "commit" | "fetch" | "list",
    ErrorName[]
  > = {
    find: [],
    join: [],
    sync: [],
    beat: [],
    commit: [],
    fetch: [],
    list: [],
  };
  /** What is not answered at all. */
  readonly silent = new Set<string>();
  #given = 0;
  /** What the member of a KIP-848 group was told last. */
  #told: readonly number[] | undefined = undefined;

  constructor(
    configs: Record<string, unknown> = {},
    options: Partial<GroupConsumerOptions> = {},
    partitions = 2,
  ) {
    this.cluster = new FakeCluster(this.world, partitions);
    this.cluster.onRequest = (request, broker) => this.#answer(request, broker);
    this.ends = Array.from({ length: partitions }, () => 0);
    this.consumer = new GroupConsumer(this.world, {
      name: "c1",
      group: "g",
      subscription: { kind: "topics", topics: [TOPIC] },
      work: { pace: undefined, workers: 1 },
      commit: { mode: "auto", when: "after" },
      configs: resolveConfigs(CONSUMER_CONFIGS, { "auto.offset.reset": "earliest" }, configs),
      bootstrap: [addressOf(1), addressOf(2)],
      ...options,
    });
  }

  begin(duration = 0): this {
    this.world.begin(this.consumer);
    this.world.run(duration);
    return this;
  }

  /** The next heartbeat is told that the group rebalances, into the next generation. */
  rebalance(): void {
    this.generation++;
    this.errors.beat.push("REBALANCE_IN_PROGRESS");
  }

  /** What a member of a KIP-848 group owns is to be this from its next heartbeat on. */
  target(...partitions: number[]): void {
    this.epoch++;
    this.assigned = partitions;
  }

  /** What happened to the member's partitions, in order: `assigned 0 1`. */
  get ownership(): string[] {
    return ownershipTold(this.world.notes);
  }

  /** The offsets that the application was given of a partition. */
  polled(partition = 0): number[] {
    return this.world
      .factsOf("polled")
      .filter((fact) => fact.partition === `${TOPIC}-${partition}`)
      .flatMap(({ firstOffset, lastOffset }) =>
        Array.from({ length: lastOffset - firstOffset + 1 }, (_, i) => firstOffset + i),
      );
  }

  /** What calls of its application have returned, in order: `endOffsets 0: 12`. */
  get told(): string[] {
    return this.world
      .factsOf("offset-told")
      .map(({ call, partition, offset = "none" }) => `${call} ${partition.slice(-1)}: ${offset}`);
  }

  /** The names of the requests to the coordinator, in order. */
  get asked(): string[] {
    const apis = [JOIN_GROUP, SYNC_GROUP, LEAVE_GROUP, OFFSET_COMMIT, OFFSET_FETCH];
    return this.world.requests.flatMap((request) =>
      apis.filter((api) => request.frame.apiKey === api.key).map((api) => api.name),
    );
  }

  #error(of: keyof ScriptedGroup["errors"]): number {
    return ERRORS[this.errors[of].shift() ?? "NONE"].code;
  }

  #answer(request: FakeRequest, broker: number): void {
    if (request.is(FIND_COORDINATOR)) {
      const errorCode = this.#error("find");
      const port = addressOf(this.coordinator);
      const found = {
        key: "g",
        nodeId: this.coordinator,
        host: "",
        port,
        errorCode,
        errorMessage: "",
      };
      request.reply(FIND_COORDINATOR, { throttleTimeMs: 0, coordinators: [found] });
    } else if (request.is(FETCH)) this.#fetch(request);
    else if (request.is(LIST_OFFSETS)) this.#listOffsets(request);
    else if (broker !== this.coordinator) this.#refuse(request);
    else this.#coordinate(request);
  }

  /** As a broker does that is not the coordinator. */
  #refuse(request: FakeRequest): void {
    const { code: errorCode } = ERRORS.NOT_COORDINATOR;
    if (request.is(HEARTBEAT)) request.reply(HEARTBEAT, { throttleTimeMs: 0, errorCode });
    else if (request.is(CONSUMER_GROUP_HEARTBEAT)) this.#hear(request, errorCode);
    else if (request.is(JOIN_GROUP)) this.#join(request, errorCode);
    else if (request.is(OFFSET_COMMIT)) this.#commit(request, errorCode);
  }

  #coordinate(request: FakeRequest): void {
    if (request.is(JOIN_GROUP)) {
      if (!this.silent.has("join")) this.#join(request, this.#error("join"));
    } else if (request.is(SYNC_GROUP)) this.#sync(request);
    else if (request.is(HEARTBEAT)) {
      if (this.silent.has("beat")) return;
      request.reply(HEARTBEAT, { throttleTimeMs: 0, errorCode: this.#error("beat") });
    } else if (request.is(CONSUMER_GROUP_HEARTBEAT)) {
      if (!this.silent.has("beat")) this.#hear(request, this.#error("beat"));
    } else if (request.is(LEAVE_GROUP)) {
      request.reply(LEAVE_GROUP, { throttleTimeMs: 0, errorCode: 0, members: [] });
    } else if (request.is(OFFSET_COMMIT)) {
      if (!this.silent.has("commit")) this.#commit(request, this.#error("commit"));
    } else if (request.is(OFFSET_FETCH)) this.#fetchOffsets(request);
  }

  #join(request: FakeRequest, scripted: number): void {
    const { memberId: told, groupInstanceId, protocols } = request.body(JOIN_GROUP);
    const isNew = told === "";
    const memberId = isNew ? (this.ids[this.#given++] ?? "") : told;
    // A static member is told its id with its place (KIP-394).
    const needsId = isNew && groupInstanceId === undefined;
    const errorCode = scripted !== 0 ? scripted : needsId ? ERRORS.MEMBER_ID_REQUIRED.code : 0;
    const [protocol] = protocols;
    const all = [memberId, ...this.followers].map((id) => ({
      memberId: id,
      groupInstanceId: id === memberId ? groupInstanceId : undefined,
      metadata: protocol?.metadata ?? new Uint8Array(),
    }));
    const leader = this.others[0] ?? memberId;
    request.reply(JOIN_GROUP, {
      throttleTimeMs: 0,
      errorCode,
      generationId: errorCode === 0 ? this.generation : -1,
      protocolType: "consumer",
      protocolName: protocol?.name,
      leader,
      skipAssignment: false,
      memberId,
      members: leader === memberId ? all : [],
    });
  }

  /** A heartbeat of KIP-848. Whoever does as he is told is told no more. */
  #hear(request: FakeRequest, errorCode: number): void {
    const { memberEpoch, memberId } = request.body(CONSUMER_GROUP_HEARTBEAT);
    const assigned = this.assigned ?? this.ends.map((_, index) => index);
    const isNews = memberEpoch === 0 || this.#told?.join() !== assigned.join();
    const isIn = errorCode === 0 && memberEpoch >= 0;
    if (isIn) this.#told = assigned;
    request.reply(CONSUMER_GROUP_HEARTBEAT, {
      throttleTimeMs: 0,
      errorCode,
      errorMessage: undefined,
      memberId,
      memberEpoch: memberEpoch < 0 ? memberEpoch : this.epoch,
      heartbeatIntervalMs: this.heartbeatIntervalMs,
      assignment:
        isIn && isNews
          ? assigned.length === 0
            ? []
            : [{ topicId: TOPIC_ID, partitions: assigned }]
          : undefined,
    });
  }

  #sync(request: FakeRequest): void {
    const { assignments, memberId, protocolName } = request.body(SYNC_GROUP);
    const own = assignments.find((one) => one.memberId === memberId)?.assignment;
    const { assigned } = this;
    const scripted =
      assigned &&
      encodeAssignment({ partitions: new Map([[TOPIC, assigned]]), userData: undefined });
    request.reply(SYNC_GROUP, {
      throttleTimeMs: 0,
      errorCode: this.#error("sync"),
      protocolType: "consumer",
      protocolName,
      assignment: scripted ?? own ?? new Uint8Array(),
    });
  }

  #commit(request: FakeRequest, errorCode: number): void {
    const { topics } = request.body(OFFSET_COMMIT);
    for (const { partitionIndex, committedOffset } of topics[0]?.partitions ?? []) {
      if (errorCode === 0) this.committed.set(partitionIndex, committedOffset);
    }
    request.reply(OFFSET_COMMIT, {
      throttleTimeMs: 0,
      topics: topics.map(({ topicId, partitions }) => ({
        topicId,
        partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode })),
      })),
    });
  }

  #fetchOffsets(request: FakeRequest): void {
    const [group] = request.body(OFFSET_FETCH).groups;
    const topics = (group?.topics ?? []).map(({ topicId, partitionIndexes }) => ({
      topicId,
      partitions: partitionIndexes.map((partitionIndex) => ({
        partitionIndex,
        committedOffset: this.committed.get(partitionIndex) ?? -1,
        committedLeaderEpoch: -1,
        metadata: "",
        errorCode: 0,
      })),
    }));
    const errorCode = this.#error("fetch");
    request.reply(OFFSET_FETCH, {
      throttleTimeMs: 0,
      groups: [{ groupId: "g", topics, errorCode }],
    });
  }

  /** The record at each offset has that many milliseconds for a timestamp. */
  #listOffsets(request: FakeRequest): void {
    if (this.silent.has("list")) return;
    const errorCode = this.#error("list");
    const offsetAt = (timestamp: number, end: number): number => {
      if (timestamp === LATEST_TIMESTAMP) return end;
      return timestamp < end ? Math.max(0, timestamp) : -1;
    };
    const [topic] = request.body(LIST_OFFSETS).topics;
    request.reply(LIST_OFFSETS, {
      throttleTimeMs: 0,
      topics: [
        {
          name: TOPIC,
          partitions: (topic?.partitions ?? []).map(({ partitionIndex, timestamp }) => ({
            partitionIndex,
            errorCode,
            timestamp: -1,
            offset: errorCode === 0 ? offsetAt(timestamp, this.ends[partitionIndex] ?? 0) : -1,
            leaderEpoch: 0,
          })),
        },
      ],
    });
  }

  /** Without sessions: each fetch names all. */
  #fetch(request: FakeRequest): void {
    const { maxWaitMs, topics } = request.body(FETCH);
    const asked = topics.flatMap((topic) => topic.partitions);
    const reply = (): void =>
      request.reply(FETCH, {
        throttleTimeMs: 0,
        errorCode: 0,
        sessionId: 0,
        responses: [{ topicId: TOPIC_ID, partitions: asked.map((one) => this.#records(one)) }],
      });
    const hasNews = asked.some((one) => (this.ends[one.partition] ?? 0) > one.fetchOffset);
    if (hasNews) reply();
    else this.world.later(maxWaitMs * MILLISECOND, reply);
  }

  #records({ partition, fetchOffset }: FetchPartition) {
    const end = this.ends[partition] ?? 0;
    const count = Math.max(0, end - fetchOffset);
    const records = Array.from({ length: count }, () => ({
      timestamp: 0,
      value: new Uint8Array(12),
    }));
    return {
      partitionIndex: partition,
      errorCode: 0,
      highWatermark: end,
      lastStableOffset: end,
      logStartOffset: 0,
      divergingEpoch: undefined,
      currentLeader: undefined,
      snapshotId: undefined,
      abortedTransactions: undefined,
      preferredReadReplica: -1,
      records: count === 0 ? [] : [buildBatch(records, {}).withOffsets(fetchOffset, 0)],
    };
  }
}

/** What a member said of itself when it joined: topics, what it owned, its generation. */
export function saidInJoin(metadata: Uint8Array | undefined) {
  return decodeSubscription(metadata ?? new Uint8Array());
}
