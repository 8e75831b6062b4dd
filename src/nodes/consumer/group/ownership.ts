import { fail } from "../../../base/invariant.ts";
import { byNumber, byText } from "../../../base/order.ts";
import type { Instant } from "../../../base/time.ts";
import type {
  ClientAssignor,
  LastAssignment,
} from "../../../kafka/group/assignors/client-assignors.ts";
import type { MemberSubscription } from "../../../kafka/group/assignors/member-subscription.ts";
import type { TopicPartitions } from "../../../kafka/group/assignors/topic-partitions.ts";
import { subtract } from "../../../kafka/group/assignors/topic-partitions.ts";
import {
  decodeAssignment,
  decodeSubscription,
  encodeAssignment,
  encodeSubscription,
} from "../../../kafka/group/consumer-protocol.ts";
import type {
  JoinGroupProtocol,
  JoinGroupResponse,
  SyncGroupAssignment,
} from "../../../kafka/protocol/group-membership.ts";
import { AssignedPartition } from "../assigned-partition.ts";
import type { ConsumerParts } from "../consumer-parts.ts";
import type { FetchBuffer } from "./fetch-buffer.ts";
import type { GroupOffsets } from "./group-offsets.ts";
import type { GroupSettings, Subscription } from "./group-options.ts";
import type { Generation, Membership, Rebalanced } from "./membership.ts";

interface Farewell {
  readonly endsAt: Instant;
  isOver: boolean;
}

/** How many partitions topics had, when that mattered. */
type Snapshot = ReadonlyMap<string, number>;

/**
 * What the member owns, and how that changes with each rebalance (`ConsumerCoordinator`): eagerly, everything
 * is given up before each, or cooperatively, only what is to go elsewhere, after it, with another rebalance to
 * follow (KIP-429). The leader computes the assignment of all.
 */
export class Ownership implements Rebalanced {
  readonly #parts: ConsumerParts;
  readonly #settings: GroupSettings;
  readonly #subscription: Subscription;
  readonly #offsets: GroupOffsets;
  readonly #buffer: FetchBuffer;
  readonly #membership: () => Membership;
  /** All partitions that it ever owned, by name. */
  readonly #known = new Map<string, AssignedPartition>();
  #topics: readonly string[] = [];
  /** The topics that it named when it joined. */
  #joinedTopics: readonly string[] | undefined = undefined;
  /** It led the last rebalance, knowing this of the group's topics. */
  #assignedBy: Snapshot | undefined = undefined;
  #groupTopics: readonly string[] = [];
  #isLeader = false;
  #last: LastAssignment | undefined = undefined;
  /** The commit before partitions are given up. */
  #farewell: Farewell | undefined = undefined;
  #metadataVersion = -1;

  constructor(
    parts: ConsumerParts,
    settings: GroupSettings,
    subscription: Subscription,
    offsets: GroupOffsets,
    buffer: FetchBuffer,
    membership: () => Membership,
  ) {
    this.#parts = parts;
    this.#settings = settings;
    this.#subscription = subscription;
    this.#offsets = offsets;
    this.#buffer = buffer;
    this.#membership = membership;
  }

  /** Is a partition on its way out, so that nothing of it is to be handed over any more? */
  get isParting(): boolean {
    return this.#farewell !== undefined && !this.#settings.isCooperative;
  }

  /** In poll: do the metadata call for a rebalance? */
  followMetadata(): void {
    const { metadata } = this.#parts;
    if (metadata.version === this.#metadataVersion) return;
    this.#metadataVersion = metadata.version;
    this.#topics = this.#subscribedTopics();
    const membership = this.#membership();
    if (this.#assignedBy !== undefined && !isSame(this.#assignedBy, this.#snapshot())) {
      membership.requestRejoinIfNecessary("cached metadata has changed");
    }
    if (this.#joinedTopics !== undefined && this.#joinedTopics.join() !== this.#topics.join()) {
      membership.requestRejoinIfNecessary("subscription has changed");
    }
  }

  prepare(generation: Generation, now: Instant): boolean {
    if (this.#settings.autoCommit && !this.#sayFarewell(now)) return false;
    const isLost = generation.id < 0 || generation.memberId === "";
    if (isLost) this.#release(this.#owned, "partitions-lost", generation);
    else if (!this.#settings.isCooperative) {
      this.#release(this.#owned, "partitions-revoked", generation);
    } else {
      const unwanted = [...this.#owned].filter(([topic]) => !this.#topics.includes(topic));
      this.#release(new Map(unwanted), "partitions-revoked", generation);
    }
    this.#isLeader = false;
    this.#groupTopics = [];
    this.#farewell = undefined;
    return true;
  }

  protocols(generation: Generation): readonly JoinGroupProtocol[] {
    this.#joinedTopics = this.#topics;
    return this.#settings.assignors.map((assignor) => ({
      name: assignor.name,
      metadata: encodeSubscription({
        topics: this.#topics,
        userData: assignor.userData(this.#last),
        ownedPartitions: this.#owned,
        generation: generation.id < 0 ? undefined : generation.id,
        rackId: undefined,
      }),
    }));
  }

  assign(response: JoinGroupResponse): readonly SyncGroupAssignment[] | undefined {
    const { metadata } = this.#parts;
    const members = response.members.map(({ memberId, groupInstanceId, metadata: said }) => {
      const subscription = decodeSubscription(said) ?? fail(`${memberId} subscribes to nothing`);
      return { ...subscription, memberId, instanceId: groupInstanceId };
    });
    this.#groupTopics = topicsOf(members);
    metadata.watch(this.#groupTopics);
    if (!metadata.isFresh) return undefined;
    this.#isLeader = true;
    this.#assignedBy = this.#snapshot();
    if (response.skipAssignment) return [];
    const assignor = this.#assignor(response.protocolName);
    const assignment = assignor.assign(members, this.#assignedBy);
    return [...assignment].map(([memberId, partitions]) => ({
      memberId,
      assignment: encodeAssignment({ partitions, userData: undefined }),
    }));
  }

  assigned(bytes: Uint8Array, generation: Generation, now: Instant): void {
    if (!this.#isLeader) this.#assignedBy = undefined;
    const wanted = decodeAssignment(bytes)?.partitions ?? new Map<string, number[]>();
    const membership = this.#membership();
    if ([...wanted.keys()].some((topic) => !this.#topics.includes(topic))) {
      membership.requestRejoin("received assignment does not match the current subscription");
      return;
    }
    const owned = this.#owned;
    if (this.#settings.isCooperative) {
      const revoked = subtract(owned, wanted);
      if (revoked.size > 0) {
        this.#release(revoked, "partitions-revoked", generation);
        membership.requestRejoin("need to revoke partitions and re-join");
      }
    }
    this.#last = { partitions: wanted, generation: generation.id };
    this.#offsets.restartAutoCommit(now);
    const added = this.#take(subtract(wanted, owned));
    this.#note("partitions-assigned", added, generation);
  }

  /** It leaves, or is thrown out: everything goes (`onLeavePrepare`). */
  releaseAll(isLost: boolean, generation: Generation): void {
    this.#release(this.#owned, isLost ? "partitions-lost" : "partitions-revoked", generation);
  }

  /** What was read is committed before it is given up, if that can be done in time. False while it lasts. */
  #sayFarewell(now: Instant): boolean {
    let farewell = this.#farewell;
    if (farewell === undefined) {
      const patience = this.#settings.maxPollInterval;
      const begun: Farewell = { endsAt: now + patience, isOver: false };
      farewell = begun;
      this.#farewell = begun;
      this.#offsets.commit("auto", patience, () => {
        begun.isOver = true;
      });
    }
    if (farewell.isOver || now >= farewell.endsAt) return true;
    this.#parts.wakeUp.noLaterThan(farewell.endsAt, now);
    return false;
  }

  get #owned(): TopicPartitions {
    const owned = new Map<string, number[]>();
    for (const { partition, topic } of this.#parts.assigned) {
      const numbers = owned.get(topic.name);
      if (numbers === undefined) owned.set(topic.name, [partition]);
      else numbers.push(partition);
    }
    return owned;
  }

  #release(
    partitions: TopicPartitions,
    how: "partitions-revoked" | "partitions-lost",
    generation: Generation,
  ): void {
    if (partitions.size === 0) return;
    const { assigned } = this.#parts;
    const released = assigned.filter(
      ({ topic, partition }) => partitions.get(topic.name)?.includes(partition) === true,
    );
    this.#note(how, released, generation);
    for (const partition of released) {
      assigned.splice(assigned.indexOf(partition), 1);
      this.#buffer.drop(partition);
      partition.position.forget();
    }
    this.#parts.isChanged = true;
  }

  #take(partitions: TopicPartitions): readonly AssignedPartition[] {
    const { assigned, metadata, settings } = this.#parts;
    const added: AssignedPartition[] = [];
    for (const [name, numbers] of partitions) {
      const topic = metadata.topic(name);
      for (const number of numbers) {
        const leader = topic.partition(number);
        const key = `${name} ${number}`;
        const partition =
          this.#known.get(key) ?? new AssignedPartition(topic, leader, settings.resetPolicy);
        this.#known.set(key, partition);
        partition.begin(settings.resetPolicy);
        added.push(partition);
      }
    }
    assigned.push(...added);
    assigned.sort(
      (one, other) =>
        byText(one.topic.name, other.topic.name) || byNumber(one.partition, other.partition),
    );
    this.#parts.isChanged = true;
    return added;
  }

  #note(
    kind: "partitions-assigned" | "partitions-revoked" | "partitions-lost",
    partitions: readonly AssignedPartition[],
    generation: Generation,
  ): void {
    this.#parts.world.facts.note({
      kind,
      client: this.#parts.client,
      group: this.#settings.groupId,
      member: generation.memberId,
      generation: generation.id,
      partitions: partitions.map(({ name }) => name),
    });
  }

  #assignor(name: string | undefined): ClientAssignor {
    const found = this.#settings.assignors.find((assignor) => assignor.name === name);
    return found ?? fail(`the coordinator selected ${name}, which nobody has proposed`);
  }

  #subscribedTopics(): readonly string[] {
    const subscription = this.#subscription;
    if (subscription.kind === "topics") return [...subscription.topics].sort(byText);
    const expression = new RegExp(`^(?:${subscription.pattern})$`);
    const matching: string[] = [];
    for (const { name, isInternal, isKnown } of this.#parts.metadata.topics) {
      if (isKnown && !isInternal && expression.test(name)) matching.push(name);
    }
    return matching.sort(byText);
  }

  /** How many partitions the topics have that the group, or else the member, wants. */
  #snapshot(): Snapshot {
    const topics = new Set([...this.#topics, ...this.#groupTopics]);
    const counts = new Map<string, number>();
    for (const name of [...topics].sort(byText)) {
      const topic = this.#parts.metadata.topic(name);
      if (topic.isKnown) counts.set(name, topic.partitions.length);
    }
    return counts;
  }
}

function topicsOf(members: readonly MemberSubscription[]): readonly string[] {
  const topics = new Set(members.flatMap((member) => member.topics));
  return [...topics].sort(byText);
}

function isSame(one: Snapshot, other: Snapshot): boolean {
  return one.size === other.size && [...one].every(([topic, count]) => other.get(topic) === count);
}
