import type { TopicPartitions } from "../../src/kafka/group/assignors/topic-partitions.ts";
import {
  decodeAssignment,
  decodeSubscription,
  encodeSubscription,
} from "../../src/kafka/group/consumer-protocol.ts";
import type { ConsumerGroupHeartbeatRequest } from "../../src/kafka/protocol/consumer-group-heartbeat.ts";
import type {
  JoinGroupRequest,
  JoinGroupResponse,
} from "../../src/kafka/protocol/group-membership.ts";
import type { GroupFixture } from "./group-fixture.ts";
import { errorIn, topicIdOf } from "./group-fixture.ts";

const ORDERS = topicIdOf("orders");

/** A member of a KIP-848 group as its client plays it: it owns what it was told, once it has given up the rest. */
export class HeartbeatClient {
  readonly id: string;
  readonly instance: string | undefined;
  readonly #group: GroupFixture;
  epoch = 0;
  owned: readonly number[] = [];
  assigned: readonly number[] = [];

  constructor(group: GroupFixture, id: string, instance?: string) {
    this.#group = group;
    this.id = id;
    this.instance = instance;
  }

  /** Joins; returns what is wrong, if anything. */
  join(more: Partial<ConsumerGroupHeartbeatRequest> = {}): string {
    return this.#send({
      memberEpoch: 0,
      rebalanceTimeoutMs: 60_000,
      subscribedTopicNames: ["orders"],
      topicPartitions: [],
      ...more,
    });
  }

  beat(more: Partial<ConsumerGroupHeartbeatRequest> = {}): string {
    return this.#send({
      memberEpoch: this.epoch,
      topicPartitions: [{ topicId: ORDERS, partitions: this.owned }],
      ...more,
    });
  }

  /** Gives up what it shall not have, and takes what it shall. */
  obey(): void {
    this.owned = this.assigned;
  }

  #send(body: Partial<ConsumerGroupHeartbeatRequest>): string {
    const outcome = this.#group.beat({ memberId: this.id, instanceId: this.instance, ...body });
    if (!("memberEpoch" in outcome)) return outcome.name;
    this.epoch = outcome.memberEpoch;
    if (outcome.assignment !== undefined) {
      this.assigned = outcome.assignment.flatMap(({ partitions }) => partitions);
    }
    return "NONE";
  }
}

/**
 * A member of the classic protocol as its client plays it: it reads `orders`, and assigns turn by turn if it leads.
 * An eager one gives up everything before it joins, a cooperative one what it shall not have, and joins again then.
 */
export class JoiningClient {
  readonly instance: string | undefined;
  readonly assignor: "range" | "cooperative-sticky";
  readonly #group: GroupFixture;
  id = "";
  generation = -1;
  owned: readonly number[] = [];
  /** The error of its last heartbeat, join or sync; `none yet` while it waits. */
  told = "";
  #join: number | undefined = undefined;
  #sync: number | undefined = undefined;
  #mustJoin = true;

  constructor(group: GroupFixture, isEager = true, instance?: string) {
    this.#group = group;
    this.assignor = isEager ? "range" : "cooperative-sticky";
    this.instance = instance;
  }

  get isIn(): boolean {
    return this.id !== "";
  }

  /** Sends what is to be sent, or takes what has been answered, until it has to wait. */
  step(): void {
    for (let i = 0; i < 8; i++) {
      if (this.#join !== undefined) this.#joined(this.#join);
      else if (this.#sync !== undefined) this.#synced(this.#sync);
      else if (this.#mustJoin) this.#join = this.#sendJoin();
      if (this.told === "none yet" || !this.#isBusy) return;
    }
  }

  get #isBusy(): boolean {
    return this.#mustJoin || this.#join !== undefined || this.#sync !== undefined;
  }

  beat(): string {
    if (this.#isBusy) return "";
    const { id, generation: generationId, instance: groupInstanceId } = this;
    this.told = this.#group.heartbeat(id, { generationId, groupInstanceId });
    if (this.told === "REBALANCE_IN_PROGRESS") this.#mustJoin = true;
    else if (this.told !== "NONE") this.#lose(this.told !== "ILLEGAL_GENERATION");
    return this.told;
  }

  leave(): void {
    if (!this.isIn) return;
    const { id: memberId, instance: groupInstanceId } = this;
    this.#group.leave({ memberId, groupInstanceId, reason: undefined });
    this.die();
  }

  /** Is gone without a word; a static one comes back under another id. */
  die(): void {
    this.#lose(true);
    this.#join = undefined;
    this.#sync = undefined;
  }

  #sendJoin(): number {
    if (this.assignor === "range") this.owned = [];
    const { id, instance: groupInstanceId } = this;
    return this.#group.join(id, { groupInstanceId, protocols: this.#protocols() });
  }

  #protocols(): JoinGroupRequest["protocols"] {
    const { owned, generation, assignor: name } = this;
    const metadata = encodeSubscription({
      topics: ["orders"],
      userData: undefined,
      ownedPartitions: owned.length === 0 ? new Map() : new Map([["orders", owned]]),
      generation: generation < 0 ? undefined : generation,
      rackId: undefined,
    });
    return [{ name, metadata }];
  }

  #joined(request: number): void {
    const answer = this.#group.joined(request);
    this.told = errorIn(answer);
    if (answer === undefined) return;
    this.#join = undefined;
    if (this.told === "MEMBER_ID_REQUIRED") this.id = answer.memberId;
    if (this.told === "UNKNOWN_MEMBER_ID" || this.told === "FENCED_INSTANCE_ID") this.#lose(true);
    if (this.told !== "NONE") return;
    const { memberId, generationId, leader, protocolName, members } = answer;
    this.id = memberId;
    this.generation = generationId;
    this.#mustJoin = false;
    const shares = leader === memberId ? this.#share(members) : {};
    const more = { generationId, protocolName, groupInstanceId: this.instance };
    this.#sync = this.#group.sync(memberId, shares, more);
  }

  /** Turn by turn; what its owner has to give up first is nobody's for now, if they are cooperative. */
  #share(members: JoinGroupResponse["members"]): Record<string, TopicPartitions> {
    const owners = new Map<number, string>();
    for (const { memberId, metadata } of members) {
      const owned = decodeSubscription(metadata)?.ownedPartitions.get("orders") ?? [];
      for (const index of owned) owners.set(index, memberId);
    }
    const shares: Record<string, TopicPartitions> = {};
    for (const [at, { memberId }] of members.entries()) {
      const mine: number[] = [];
      for (let i = at; i < this.#group.partitions("orders"); i += members.length) {
        if ((owners.get(i) ?? memberId) === memberId) mine.push(i);
      }
      shares[memberId] = new Map([["orders", mine]]);
    }
    return shares;
  }

  #synced(request: number): void {
    const answer = this.#group.synced(request);
    this.told = errorIn(answer);
    if (answer === undefined) return;
    this.#sync = undefined;
    if (this.told === "NONE") {
      const assigned = decodeAssignment(answer.assignment)?.partitions.get("orders") ?? [];
      // What it gave up it can say only when it joins again (KIP-429).
      this.#mustJoin = this.owned.some((index) => !assigned.includes(index));
      this.owned = assigned;
    } else if (this.told === "REBALANCE_IN_PROGRESS") this.#mustJoin = true;
    else this.#lose(this.told !== "ILLEGAL_GENERATION");
  }

  #lose(forgetsItself: boolean): void {
    if (forgetsItself) this.id = "";
    this.generation = -1;
    this.owned = [];
    this.#mustJoin = true;
  }
}
