import { fail } from "../../../base/invariant.ts";
import { byText } from "../../../base/order.ts";
import type { Instant } from "../../../base/time.ts";
import { toMillis } from "../../../base/time.ts";
import { assignRange } from "../../../kafka/group/assignors/range-assignor.ts";
import type { TopicPartitions } from "../../../kafka/group/assignors/topic-partitions.ts";
import type { PartitionName } from "../../../kafka/ids.ts";
import { partitionName } from "../../../kafka/ids.ts";
import { randomUuid } from "../../../kafka/uuid.ts";
import {
  BROKER_IDS,
  consumerIdsPath,
  consumerRegistration,
  ownersPath,
  subscribedTopics,
} from "../../../kafka/zookeeper/registries.ts";
import { ZOOKEEPER_ERROR } from "../../../kafka/zookeeper/zookeeper-error.ts";
import type { ZookeeperRebalanceEnded } from "../../../trace/fact.ts";
import { createWithParents } from "../../zookeeper/persistent-path.ts";
import type { SessionListener, ZookeeperClient } from "../../zookeeper/zookeeper-client.ts";
import type { ConsumerParts } from "../consumer-parts.ts";
import type { CommitOutcome } from "./commit-outcome.ts";
import type { GroupSettings, Subscription } from "./group-options.ts";
import type { Generation, Membership, OffsetReader } from "./membership.ts";
import type { OwnedPartitions } from "./owned-partitions.ts";
import { wantedTopics } from "./wanted-topics.ts";
import type { ZookeeperOffsets } from "./zookeeper-offsets.ts";

/** One attempt to rebalance: answers to an earlier one tell nothing. */
interface Attempt {
  readonly number: number;
}

/** A partition, and the znode that says who owns it. */
interface Claim {
  readonly topic: string;
  readonly partition: number;
  readonly path: string;
}

const { OK, NODEEXISTS } = ZOOKEEPER_ERROR;

/**
 * A member of a group without a coordinator (`ZookeeperConsumerConnector`, and the paper of 2011, part 3.2): it
 * registers itself, watches who else does and which brokers there are, and whenever that changes gives up all it owns, reckons
 * from the registries what is its own, and claims each of these partitions by an ephemeral znode. If another still has one it gives
 * up what it has claimed, and tries again after `rebalance.backoff.ms`. Nothing sees to it that all have read the
 * same, or that who has lost his session stops reading.
 *
 * Simplified: a member is one stream; how many partitions topics have it learns from brokers, not from ZooKeeper; and as a
 * program polls instead of iterating, all that a poll has given it counts as consumed when a rebalance begins.
 */
export class ZookeeperMembership implements Membership, SessionListener {
  readonly #parts: ConsumerParts;
  readonly #settings: GroupSettings;
  readonly #subscription: Subscription;
  readonly #client: ZookeeperClient;
  readonly #offsets: ZookeeperOffsets;
  readonly #owned: OwnedPartitions;
  readonly generation: Generation;
  #metadataVersion = -1;
  #topics: readonly string[] = [];
  /** By topic: how many partitions there were when that mattered last. */
  #counts: ReadonlyMap<string, number> = new Map();
  #isRegistered = false;
  /** Something has changed that an attempt under way may not have seen (`isWatcherTriggered`). */
  #isTriggered = false;
  #attempt: Attempt | undefined = undefined;
  /** Of an attempt that failed: when the next is due. */
  #retryAt: Instant | undefined = undefined;
  #attempts = 0;
  /** Has it ever owned what it should? */
  #hasBegun = false;
  #isClosed = false;

  constructor(
    parts: ConsumerParts,
    settings: GroupSettings,
    subscription: Subscription,
    client: ZookeeperClient,
    offsets: ZookeeperOffsets,
    owned: OwnedPartitions,
  ) {
    this.#parts = parts;
    this.#settings = settings;
    this.#subscription = subscription;
    this.#client = client;
    this.#offsets = offsets;
    this.#owned = owned;
    // group_host-time-random, as it names itself.
    const startedAt = toMillis(parts.world.clock.now());
    const unique = randomUuid(parts.world.random).slice(0, 8);
    const memberId = `${settings.groupId}_${parts.client}-${startedAt}-${unique}`;
    this.generation = { id: -1, memberId, protocol: "range" };
  }

  /** While a rebalance goes on, nothing is handed over: fetchers stand, and what they had is dropped. */
  get isParting(): boolean {
    return this.#attempt !== undefined;
  }

  get committer(): Generation {
    return this.generation;
  }

  get reader(): OffsetReader {
    return { memberId: this.generation.memberId, memberEpoch: -1 };
  }

  poll(): void {
    // Rebalances wait for no poll.
  }

  pollBegan(): void {}

  pollEnded(): void {}

  coordinatorFound(): void {}

  commitRefused(): CommitOutcome {
    return fail("ZooKeeper refuses nobody's offsets");
  }

  beat(now: Instant): void {
    this.#followMetadata();
    if (!this.#isRegistered || this.#isClosed || this.#attempt !== undefined) return;
    const retryAt = this.#retryAt;
    if (retryAt === undefined) {
      if (this.#isTriggered) this.#begin(1);
    } else if (now >= retryAt) this.#begin(this.#attempts + 1);
    else this.#parts.wakeUp.noLaterThan(retryAt, now);
  }

  close(done: () => void): void {
    this.#isClosed = true;
    this.#attempt = undefined;
    this.#owned.release(this.#owned.all, "partitions-revoked", this.generation);
    // What it owns goes with its session.
    this.#client.close(done);
  }

  // The session.

  sessionBegan(): void {
    this.#register();
  }

  /** Others have had time to take all that it owned. */
  sessionExpired(): void {
    this.#isRegistered = false;
    this.#attempt = undefined;
    this.#retryAt = undefined;
    this.#owned.release(this.#owned.all, "partitions-lost", this.generation);
  }

  watchFired(): void {
    this.#isTriggered = true;
  }

  #register(): void {
    if (this.#topics.length === 0 || this.#isClosed) return;
    const { groupId } = this.#settings;
    const path = `${consumerIdsPath(groupId)}/${this.generation.memberId}`;
    const now = toMillis(this.#parts.world.clock.now());
    const data = consumerRegistration(this.#topics, now);
    createWithParents(this.#client, path, data, true, "fails", (error) => {
      // It may be there already: the answer was lost with a connection.
      if (error !== OK && error !== NODEEXISTS) return;
      this.#isRegistered = true;
      this.#isTriggered = true;
    });
  }

  /**
   * It registers once it knows that there are such topics. Simplified: a pattern is held against them only then;
   * of partitions that are added it hears by its next metadata.
   */
  #followMetadata(): void {
    const { metadata } = this.#parts;
    if (metadata.version === this.#metadataVersion) return;
    this.#metadataVersion = metadata.version;
    if (this.#topics.length === 0) {
      const wanted = wantedTopics(this.#subscription, metadata);
      this.#topics = wanted.filter((name) => metadata.topic(name).isKnown);
      if (this.#client.hasSession) this.#register();
    }
    if (this.#topics.some((name) => this.#partitionsOf(name) !== (this.#counts.get(name) ?? 0))) {
      this.#isTriggered = true;
    }
  }

  #partitionsOf(topic: string): number {
    return this.#parts.metadata.topic(topic).partitions.length;
  }

  // A rebalance.

  #begin(number: number): void {
    const attempt: Attempt = { number };
    this.#attempt = attempt;
    this.#attempts = number;
    this.#isTriggered = false;
    this.#retryAt = undefined;
    this.#readBrokers(attempt);
  }

  /** Without a broker there is nothing to share, and it keeps what it has until there is one. */
  #readBrokers(attempt: Attempt): void {
    const request = { op: "getChildren", path: BROKER_IDS, watch: true } as const;
    this.#client.ask(request, "fails", (error, { children = [] }) => {
      if (attempt !== this.#attempt) return;
      if (children.length > 0) {
        this.#part(attempt);
        return;
      }
      this.#attempt = undefined;
      if (error === OK) return;
      // There never was one. The registry itself is watched for, and may have come just now.
      this.#client.ask({ op: "exists", path: BROKER_IDS, watch: true }, "fails", (missing) => {
        if (missing === OK) this.#isTriggered = true;
      });
    });
  }

  /** Before all else its fetchers stop, and what it has handed over is committed, while all of it is its own. */
  #part(attempt: Attempt): void {
    this.#owned.part(this.#owned.all);
    const release = (): void => {
      if (attempt === this.#attempt) this.#release(attempt);
    };
    if (this.#settings.autoCommit) this.#offsets.commit("auto", 0, release);
    else release();
  }

  /** All that it owns is anybody's, as far as it is concerned. */
  #release(attempt: Attempt): void {
    const owned = this.#claims(this.#owned.all);
    this.#owned.release(this.#owned.all, "partitions-revoked", this.generation);
    this.#give(attempt, owned, () => this.#readMembers(attempt));
  }

  #give(attempt: Attempt, claims: readonly Claim[], next: () => void): void {
    const step = this.#all(attempt, claims.length, next);
    for (const { path } of claims) {
      this.#client.ask({ op: "delete", path, version: -1 }, "fails", step);
    }
  }

  #readMembers(attempt: Attempt): void {
    const ids = consumerIdsPath(this.#settings.groupId);
    const request = { op: "getChildren", path: ids, watch: true } as const;
    this.#client.ask(request, "fails", (_, { children = [] }) => {
      if (attempt !== this.#attempt) return;
      const topics = new Map<string, readonly string[]>();
      const step = this.#all(attempt, children.length, () => this.#assign(attempt, topics));
      for (const id of children) {
        const one = { op: "getData", path: `${ids}/${id}`, watch: false } as const;
        this.#client.ask(one, "fails", (_, { data }) => {
          if (attempt !== this.#attempt) return;
          // Gone since: an attempt that stumbles over that has failed.
          if (data === undefined) this.#end(attempt, "stale", []);
          else {
            topics.set(id, subscribedTopics(data));
            step();
          }
        });
      }
    });
  }

  /** Each reckons for itself, by the rule that all know, what is whose. */
  #assign(attempt: Attempt, topicsOf: ReadonlyMap<string, readonly string[]>): void {
    const counts = new Map(this.#topics.map((name) => [name, this.#partitionsOf(name)]));
    this.#counts = counts;
    const members = [...topicsOf].map(([memberId, topics]) => ({
      memberId,
      instanceId: undefined,
      topics,
      ownedPartitions: NOTHING,
      generation: undefined,
      userData: undefined,
    }));
    const mine = assignRange(members, counts).get(this.generation.memberId) ?? NOTHING;
    this.#claim(attempt, mine);
  }

  #claim(attempt: Attempt, mine: TopicPartitions): void {
    const claims = this.#claims(mine);
    const claimed: Claim[] = [];
    const refused: Claim[] = [];
    const step = this.#all(attempt, claims.length, () => {
      if (refused.length === 0) this.#take(attempt, mine);
      else this.#give(attempt, claimed, () => this.#end(attempt, "conflict", refused));
    });
    const { memberId } = this.generation;
    for (const claim of claims) {
      const { path } = claim;
      createWithParents(this.#client, path, memberId, true, "fails", (error) => {
        if (error === OK) claimed.push(claim);
        if (error !== NODEEXISTS) {
          step();
          return;
        }
        // Its own, if an answer was lost with a connection (`createEphemeralPathExpectConflict`).
        this.#client.ask({ op: "getData", path, watch: false }, "fails", (_, { data }) => {
          if (data === memberId) claimed.push(claim);
          else refused.push(claim);
          step();
        });
      });
    }
  }

  #take(attempt: Attempt, mine: TopicPartitions): void {
    this.#hasBegun = true;
    this.#owned.take(mine, this.generation);
    this.#offsets.assigned(this.#parts.world.clock.now());
    this.#end(attempt, "owned", this.#claims(mine));
  }

  #end(
    attempt: Attempt,
    how: Exclude<ZookeeperRebalanceEnded["outcome"], "failed">,
    claims: readonly Claim[],
  ): void {
    const now = this.#parts.world.clock.now();
    const isLast = attempt.number >= this.#settings.rebalanceMaxRetries;
    const outcome = how !== "owned" && isLast ? "failed" : how;
    this.#attempt = undefined;
    this.#parts.isChanged = true;
    this.#parts.world.facts.note({
      kind: "zookeeper-rebalance-ended",
      client: this.#parts.client,
      group: this.#settings.groupId,
      member: this.generation.memberId,
      attempt: attempt.number,
      outcome,
      partitions: claims.map(nameOf),
    });
    if (outcome === "owned") return;
    if (outcome !== "failed") this.#retryAt = now + this.#settings.rebalanceBackoff;
    // A program that has not begun hears of it; later a thread writes it into its log, and waits for the next change.
    else if (!this.#hasBegun) {
      const { memberId } = this.generation;
      this.#parts.die(`${memberId} can't rebalance after ${attempt.number} retries`);
    }
  }

  /** Calls `next` once it was called `count` times, if the attempt still goes on then. */
  #all(attempt: Attempt, count: number, next: () => void): () => void {
    let left = count;
    const isOver = (): void => {
      if (left === 0 && attempt === this.#attempt) next();
    };
    isOver();
    return () => {
      left--;
      isOver();
    };
  }

  #claims(partitions: TopicPartitions): Claim[] {
    const claims: Claim[] = [];
    for (const topic of [...partitions.keys()].sort(byText)) {
      for (const partition of partitions.get(topic) ?? []) {
        const path = `${ownersPath(this.#settings.groupId, topic)}/${partition}`;
        claims.push({ topic, partition, path });
      }
    }
    return claims;
  }
}

const NOTHING: TopicPartitions = new Map();

function nameOf({ topic, partition }: Claim): PartitionName {
  return partitionName(topic, partition);
}
