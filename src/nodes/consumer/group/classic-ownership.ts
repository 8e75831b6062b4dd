import { fail } from "../../../base/invariant.ts";
import { byText } from "../../../base/order.ts";
import type { Instant } from "../../../base/time.ts";
import type {
  ClientAssignor,
  LastAssignment,
} from "../../../kafka/group/assignors/client-assignors.ts";
import type { MemberSubscription } from "../../../kafka/group/assignors/member-subscription.ts";
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
import type { ConsumerParts } from "../consumer-parts.ts";
import type { ClassicMembership, Rebalanced } from "./classic-membership.ts";
import type { GroupOffsets } from "./group-offsets.ts";
import type { GroupSettings, Subscription } from "./group-options.ts";
import type { Generation } from "./membership.ts";
import type { OwnedPartitions } from "./owned-partitions.ts";
import { wantedTopics } from "./wanted-topics.ts";

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
export class ClassicOwnership implements Rebalanced {
  readonly #parts: ConsumerParts;
  readonly #settings: GroupSettings;
  readonly #subscription: Subscription;
  readonly #offsets: GroupOffsets;
  readonly #owned: OwnedPartitions;
  readonly #membership: () => ClassicMembership;
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
    owned: OwnedPartitions,
    membership: () => ClassicMembership,
  ) {
    this.#parts = parts;
    this.#settings = settings;
    this.#subscription = subscription;
    this.#offsets = offsets;
    this.#owned = owned;
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
    this.#topics = wantedTopics(this.#subscription, metadata);
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
    if (isLost) this.releaseAll(true, generation);
    else if (!this.#settings.isCooperative) this.releaseAll(false, generation);
    else {
      const unwanted = [...this.#owned.all].filter(([topic]) => !this.#topics.includes(topic));
      this.#owned.release(new Map(unwanted), "partitions-revoked", generation);
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
        ownedPartitions: this.#owned.all,
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
    const owned = this.#owned.all;
    if (this.#settings.isCooperative) {
      const revoked = subtract(owned, wanted);
      if (revoked.size > 0) {
        this.#owned.release(revoked, "partitions-revoked", generation);
        membership.requestRejoin("need to revoke partitions and re-join");
      }
    }
    this.#last = { partitions: wanted, generation: generation.id };
    this.#offsets.restartAutoCommit(now);
    this.#owned.take(subtract(wanted, owned), generation);
  }

  /** It leaves, or is thrown out: everything goes (`onLeavePrepare`). */
  releaseAll(isLost: boolean, generation: Generation): void {
    this.#owned.release(
      this.#owned.all,
      isLost ? "partitions-lost" : "partitions-revoked",
      generation,
    );
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

  #assignor(name: string | undefined): ClientAssignor {
    const found = this.#settings.assignors.find((assignor) => assignor.name === name);
    return found ?? fail(`the coordinator selected ${name}, which nobody has proposed`);
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
