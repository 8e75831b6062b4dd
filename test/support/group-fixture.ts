import type { ErrorCode } from "../../src/kafka/error-code.ts";
import { ERRORS, errorOf } from "../../src/kafka/error-code.ts";
import type { TopicPartitions } from "../../src/kafka/group/assignors/topic-partitions.ts";
import type { ClassicGroup } from "../../src/kafka/group/classic-group.ts";
import type { HeartbeatOutcome } from "../../src/kafka/group/consumer-heartbeats.ts";
import { encodeAssignment, encodeSubscription } from "../../src/kafka/group/consumer-protocol.ts";
import type { GroupNote, GroupTimer, WhenCommitted } from "../../src/kafka/group/group-effects.ts";
import { GroupEffects, timerName } from "../../src/kafka/group/group-effects.ts";
import type { GroupRecord } from "../../src/kafka/group/group-record.ts";
import { decodeGroupRecord, encodeGroupRecord } from "../../src/kafka/group/group-record-bytes.ts";
import type { Committer, GroupsOptions } from "../../src/kafka/group/groups.ts";
import { Groups } from "../../src/kafka/group/groups.ts";
import { MetadataImage } from "../../src/kafka/metadata/image.ts";
import type { ConsumerGroupHeartbeatRequest } from "../../src/kafka/protocol/consumer-group-heartbeat.ts";
import type {
  HeartbeatRequest,
  JoinGroupRequest,
  JoinGroupResponse,
  LeaveGroupRequest,
  LeaveGroupResponse,
  SyncGroupRequest,
  SyncGroupResponse,
} from "../../src/kafka/protocol/group-membership.ts";

export const GROUP = "readers";

const NO_PRODUCER = -1;

/** A group's coordinator without a broker around it: the test is clock, log and clients. */
export class GroupFixture {
  groups: Groups;
  readonly image: MetadataImage = new MetadataImage();
  nowMs = 1_000_000;
  /** All that was written, in order. */
  readonly log: { readonly record: GroupRecord; readonly producerId: number }[] = [];
  readonly notes: GroupNote[] = [];
  /** By name, when they come due. */
  readonly timers = new Map<string, { readonly timer: GroupTimer; readonly at: number }>();
  /** Is what is written committed at once? Otherwise by `commit`. */
  commitsAtOnce = true;
  readonly #options: GroupsOptions;
  readonly #uncommitted: (WhenCommitted | undefined)[] = [];
  readonly #joins = new Map<number, JoinGroupResponse>();
  readonly #syncs = new Map<number, SyncGroupResponse>();
  #nextRequest = 0;
  #draws = 0;

  constructor({
    consumer = {},
    ...options
  }: Partial<Omit<GroupsOptions, "consumer">> & {
    consumer?: Partial<GroupsOptions["consumer"]>;
  } = {}) {
    this.#options = {
      consumer: {
        sessionTimeoutMs: 45_000,
        heartbeatIntervalMs: 5_000,
        maxSize: 2_147_483_647,
        assignmentIntervalMs: 1_000,
        migrationPolicy: "bidirectional",
        ...consumer,
      },
      image: this.image,
      initialRebalanceDelayMs: 3_000,
      maxSize: 2_147_483_647,
      maxOffsetMetadata: 4_096,
      offsetsRetentionMs: 7 * 24 * 3_600_000,
      ...options,
    };
    this.groups = new Groups(this.#options);
  }

  /** Lets time pass, with all timers that come due meanwhile, in order. */
  pass(ms: number): void {
    const end = this.nowMs + ms;
    for (;;) {
      const due = [...this.timers].sort(([, a], [, b]) => a.at - b.at)[0];
      if (due === undefined || due[1].at > end) break;
      const [name, { timer, at }] = due;
      this.timers.delete(name);
      this.nowMs = at;
      this.step((effects) => this.groups.onTimer(timer, effects));
    }
    this.nowMs = end;
  }

  /** Lets the join phase end. */
  gather(): void {
    for (let i = 0; i < 300 && this.state === "PreparingRebalance"; i++) this.pass(1_000);
  }

  /** What was written and waits is committed now, or is not. */
  commit(error: ErrorCode = ERRORS.NONE): void {
    for (const what of this.#uncommitted.splice(0)) this.#settle(what, error);
  }

  step<Result>(act: (effects: GroupEffects) => Result, producerId: number = NO_PRODUCER): Result {
    const effects = new GroupEffects(this.nowMs);
    const result = act(effects);
    for (const record of effects.records) {
      if (effects.replays) this.groups.replay(record, this.log.length, producerId, this.nowMs);
      this.log.push({ record, producerId });
    }
    if (effects.replays) this.groups.replayed(effects);
    for (const { timer, delayMs, ifAbsent } of effects.timers) {
      if (ifAbsent && this.timers.has(timerName(timer))) continue;
      if (delayMs === undefined) this.timers.delete(timerName(timer));
      else this.timers.set(timerName(timer), { timer, at: this.nowMs + delayMs });
    }
    this.notes.push(...effects.notes);
    for (const { api, request, body } of effects.answers) {
      if (api === "JoinGroup") this.#joins.set(request, body);
      else this.#syncs.set(request, body);
    }
    if (this.commitsAtOnce) this.#settle(effects.whenCommitted, ERRORS.NONE);
    else if (effects.records.length > 0 || effects.whenCommitted !== undefined)
      this.#uncommitted.push(effects.whenCommitted);
    return result;
  }

  #settle(what: WhenCommitted | undefined, error: ErrorCode): void {
    if (what !== undefined) this.step((effects) => this.groups.onCommitted(what, error, effects));
  }

  /** Another coordinator, which has read the log, bytes and all; of a compacted one, the last record of each key. */
  reload(isCompacted = false): void {
    this.groups = new Groups(this.#options);
    this.timers.clear();
    const encoded = this.log.map(({ record }) => encodeGroupRecord(record));
    const last = new Map(encoded.map(({ key }, offset) => [key.join(), offset]));
    for (const [offset, { key, value }] of encoded.entries()) {
      if (isCompacted && last.get(key.join()) !== offset) continue;
      const bytes = { key, value, offset, timestamp: this.nowMs, headers: [] };
      const decoded = decodeGroupRecord(bytes);
      if (decoded === undefined) throw new Error(`record ${offset} came back as nothing`);
      this.groups.replay(decoded, offset, this.log[offset]?.producerId ?? -1, this.nowMs);
    }
    this.step((effects) => this.groups.onLoaded(effects));
  }

  // Members.

  /** Sends a JoinGroup; returns the number of the request. */
  join(memberId: string, more: Partial<JoinGroupRequest> = {}): number {
    const request = this.#nextRequest++;
    const body: JoinGroupRequest = {
      groupId: GROUP,
      sessionTimeoutMs: 10_000,
      rebalanceTimeoutMs: 60_000,
      memberId,
      groupInstanceId: undefined,
      protocolType: "consumer",
      protocols: [protocol("range", ["orders"])],
      reason: undefined,
      ...more,
    };
    const from = { request, clientId: "client", clientHost: "/host" };
    const random = { below: (bound: number): number => this.#draws++ % bound };
    this.step((effects) => this.groups.join(body, from, random, effects));
    return request;
  }

  /** The answer to a join; undefined while it is parked. */
  joined(request: number): JoinGroupResponse | undefined {
    return this.#joins.get(request);
  }

  /** A dynamic member gets its id, and joins with it; returns id and request. */
  joinNew(more: Partial<JoinGroupRequest> = {}): { readonly id: string; readonly request: number } {
    const id = this.joined(this.join("", more))?.memberId ?? "";
    return { id, request: this.join(id, more) };
  }

  sync(
    memberId: string,
    assignments: Readonly<Record<string, TopicPartitions>> = {},
    more: Partial<SyncGroupRequest> = {},
  ): number {
    const request = this.#nextRequest++;
    const body: SyncGroupRequest = {
      groupId: GROUP,
      generationId: this.generation,
      memberId,
      groupInstanceId: undefined,
      protocolType: "consumer",
      protocolName: "range",
      assignments: Object.entries(assignments).map(([id, partitions]) => ({
        memberId: id,
        assignment: encodeAssignment({ partitions, userData: undefined }),
      })),
      ...more,
    };
    const from = { request, clientId: "client", clientHost: "/host" };
    this.step((effects) => this.groups.sync(body, from, effects));
    return request;
  }

  synced(request: number): SyncGroupResponse | undefined {
    return this.#syncs.get(request);
  }

  /** A stable group of dynamic members; returns their ids, the leader's first. */
  stable(count = 2, more: Partial<JoinGroupRequest> = {}): string[] {
    const ids = Array.from({ length: count }, () => this.joinNew(more).id);
    this.gather();
    for (const id of ids.slice(1)) this.sync(id);
    this.sync(ids[0] ?? "", { [ids[0] ?? ""]: new Map([["orders", [0, 1]]]) });
    return ids;
  }

  heartbeat(memberId: string, more: Partial<HeartbeatRequest> = {}): string {
    const body = {
      groupId: GROUP,
      generationId: this.generation,
      memberId,
      groupInstanceId: undefined,
      ...more,
    };
    return this.step((effects) => this.groups.heartbeat(body, effects)).name;
  }

  leave(...members: LeaveGroupRequest["members"]): LeaveGroupResponse {
    return this.step((effects) => this.groups.leave({ groupId: GROUP, members }, effects));
  }

  // Members of KIP-848.

  /** A topic comes into being, or gets more partitions. */
  topic(name: string, partitions: number): void {
    const { image } = this;
    const topicId = topicIdOf(name);
    const next = (): number => image.lastOffset + 1;
    if (image.topicByName(name) === undefined) {
      image.replay({ type: "TopicRecord", name, topicId }, next());
    }
    for (let i = image.topicByName(name)?.partitions.length ?? 0; i < partitions; i++) {
      image.replay(
        {
          type: "PartitionRecord",
          partitionId: i,
          topicId,
          replicas: [1],
          isr: [1],
          removingReplicas: [],
          addingReplicas: [],
          leader: 1,
          leaderRecoveryState: 0,
          leaderEpoch: 0,
          partitionEpoch: 0,
          directories: [],
          eligibleLeaderReplicas: undefined,
          lastKnownElr: undefined,
        },
        next(),
      );
    }
  }

  partitions(topic: string): number {
    return this.image.topicByName(topic)?.partitions.length ?? 0;
  }

  beat(body: Partial<ConsumerGroupHeartbeatRequest>): HeartbeatOutcome {
    const request = {
      groupId: GROUP,
      memberId: "m1",
      memberEpoch: 0,
      instanceId: undefined,
      rackId: undefined,
      rebalanceTimeoutMs: -1,
      subscribedTopicNames: undefined,
      subscribedTopicRegex: undefined,
      serverAssignor: undefined,
      topicPartitions: undefined,
      ...body,
    };
    const from = { request: -1, clientId: "client", clientHost: "/host" };
    return this.step((effects) => this.groups.consumerHeartbeat(request, from, effects));
  }

  /** Commits an offset of orders-0. */
  commitOffset(offset: number, from: Partial<Committer> = {}, metadata = ""): string {
    const committer = {
      groupId: GROUP,
      memberId: "",
      groupInstanceId: undefined,
      generation: -1,
      ...from,
    };
    const topics = [offsetOf(offset, metadata)];
    return this.step((effects) => this.groups.commitOffsets(committer, topics, effects)).name;
  }

  /** As `commitOffset`, in a transaction. */
  commitTransactional(offset: number, producerId: number, from: Partial<Committer> = {}): string {
    const committer = {
      groupId: GROUP,
      memberId: "",
      groupInstanceId: undefined,
      generation: -1,
      ...from,
    };
    const topics = [offsetOf(offset, "")];
    return this.step(
      (effects) => this.groups.commitTransactionalOffsets(committer, topics, effects),
      producerId,
    ).name;
  }

  /** The offset of orders-0 that counts. */
  get committed(): number | undefined {
    return this.groups.offsets.get(GROUP, "orders", 0)?.offset;
  }

  get classic(): ClassicGroup | undefined {
    const group = this.groups.get(GROUP);
    return group?.kind === "classic" ? group : undefined;
  }

  get state(): string | undefined {
    return this.groups.get(GROUP)?.state;
  }

  get generation(): number {
    const group = this.groups.get(GROUP);
    return group?.kind === "classic" ? group.generation : -1;
  }
}

/** The id of a topic of the fixture. */
export function topicIdOf(name: string): string {
  return `${name}AAAAAAAAAAAAAAAAAAAAAA`.slice(0, 21).concat("A");
}

export function protocol(
  name: string,
  topics: readonly string[] = ["orders"],
): JoinGroupRequest["protocols"][number] {
  const metadata = encodeSubscription({
    topics,
    userData: undefined,
    ownedPartitions: new Map(),
    generation: undefined,
    rackId: undefined,
  });
  return { name, metadata };
}

/** The name of an answer's error. */
export function errorIn(answer: { readonly errorCode: number } | undefined): string {
  return answer === undefined ? "none yet" : errorOf(answer.errorCode).name;
}

function offsetOf(
  committedOffset: number,
  committedMetadata: string,
): Parameters<Groups["commitOffsets"]>[1][number] {
  return {
    topic: "orders",
    topicId: topicIdOf("orders"),
    partitions: [
      { partitionIndex: 0, committedOffset, committedLeaderEpoch: 3, committedMetadata },
    ],
  };
}
