import type { Duration, Instant } from "../../../base/time.ts";
import { fromMillis } from "../../../base/time.ts";
import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../../kafka/error-code.ts";
import type { TopicPartitions } from "../../../kafka/group/assignors/topic-partitions.ts";
import { isSamePartitions, subtract } from "../../../kafka/group/assignors/topic-partitions.ts";
import { LEAVES, LEAVES_FOR_A_WHILE } from "../../../kafka/group/consumer-member.ts";
import { CONSUMER_GROUP_HEARTBEAT } from "../../../kafka/protocol/apis.ts";
import type {
  ConsumerGroupHeartbeatRequest,
  ConsumerGroupHeartbeatResponse,
} from "../../../kafka/protocol/consumer-group-heartbeat.ts";
import { randomUuid } from "../../../kafka/uuid.ts";
import type { NodeAddress } from "../../../ports/network.ts";
import type { ResponseHandler } from "../../rpc/rpc-client.ts";
import type { ConsumerParts } from "../consumer-parts.ts";
import type { CommitOutcome } from "./commit-outcome.ts";
import type { CoordinatorLink } from "./coordinator-link.ts";
import type { GroupOffsets } from "./group-offsets.ts";
import type { GroupSettings, Subscription } from "./group-options.ts";
import type { LocalAssignment } from "./local-assignment.ts";
import { inRequest, NOT_ASSIGNED } from "./local-assignment.ts";
import type { Generation, Membership, OffsetReader } from "./membership.ts";
import type { OwnedPartitions } from "./owned-partitions.ts";
import { SaidBefore } from "./said-before.ts";
import { wantedTopics } from "./wanted-topics.ts";

/**
 * Kafka's `MemberState`, but those that pass at once here, where nobody listens to rebalances (`FENCED`,
 * `PREPARE_LEAVING`, `LEAVING`) or end the process (`FATAL`).
 */
type MemberState =
  | "unsubscribed"
  | "joining"
  | "reconciling"
  /** It has reconciled, and is to say so with the next heartbeat. */
  | "acknowledging"
  | "stable"
  /** It did not poll in time and has left; it is back when it polls. */
  | "stale"
  | "closed";

/** The member epoch by which it joins. */
const JOINS = 0;

/** A way from what it owns to what it is assigned, that is under way. */
interface Reconciliation {
  readonly assignment: LocalAssignment;
  readonly revoked: TopicPartitions;
  readonly added: TopicPartitions;
  /** What was read so far is committed, or need not be. */
  isCommitted: boolean;
}

/** One time in the group, from its join until it is out: answers from before tell nothing. */
type Stay = Record<string, never>;

/**
 * The member's side of KIP-848 (`AbstractMembershipManager`, `ConsumerMembershipManager` and
 * `ConsumerHeartbeatRequestManager` of Kafka 4.3): tells the coordinator with each heartbeat what of it has changed,
 * is told what it is to own, gives up first what is not its own any more, takes the rest, and says so.
 *
 * Simplified: nobody listens to rebalances, so that no callback holds them up; a pattern is held
 * against the metadata by the member itself, as one of `java.util.regex` is.
 */
export class ConsumerMembership
  implements Membership, ResponseHandler<ConsumerGroupHeartbeatResponse, Stay>
{
  readonly #parts: ConsumerParts;
  readonly #settings: GroupSettings;
  readonly #subscription: Subscription;
  readonly #link: CoordinatorLink;
  readonly #offsets: GroupOffsets;
  readonly #owned: OwnedPartitions;
  /** The client makes it up, for as long as the process lives (KIP-1082). */
  readonly #memberId: string;
  readonly #said: SaidBefore = new SaidBefore();
  #state: MemberState = "unsubscribed";
  #stay: Stay = {};
  #epoch = JOINS;
  #generation: Generation;
  #topics: readonly string[] = [];
  #metadataVersion = -1;
  /** What the coordinator wants it to own, and what it does. */
  #target: LocalAssignment = NOT_ASSIGNED;
  #current: LocalAssignment = NOT_ASSIGNED;
  #reconciliation: Reconciliation | undefined = undefined;
  // Heartbeats: the coordinator says how often.
  #interval: Duration = 0;
  #nextBeat: Instant = 0;
  #isInFlight = false;
  #failures = 0;
  /** When the application must have polled again; undefined while it polls. */
  #pollEndsAt: Instant | undefined = undefined;

  constructor(
    parts: ConsumerParts,
    settings: GroupSettings,
    subscription: Subscription,
    link: CoordinatorLink,
    offsets: GroupOffsets,
    owned: OwnedPartitions,
  ) {
    this.#parts = parts;
    this.#settings = settings;
    this.#subscription = subscription;
    this.#link = link;
    this.#offsets = offsets;
    this.#owned = owned;
    this.#memberId = randomUuid(parts.world.random);
    this.#generation = { id: -1, memberId: this.#memberId, protocol: undefined };
  }

  get generation(): Generation {
    return this.#generation;
  }

  /** Partitions go one by one (`OwnedPartitions.part`). */
  get isParting(): boolean {
    return false;
  }

  /** Also who is in no epoch commits: the coordinator decides. */
  get committer(): Generation {
    return this.#generation;
  }

  get reader(): OffsetReader {
    const { id, memberId } = this.#generation;
    return id < 0 ? ANYBODY : { memberId, memberEpoch: id };
  }

  // The application.

  poll(now: Instant): void {
    this.#followMetadata();
    // A pattern must have been held against all topics once before the member can say what it wants.
    if (this.#state === "unsubscribed" && this.#parts.metadata.version > 0) this.#join(now);
    this.#reconcile(now, true);
  }

  pollBegan(now: Instant): void {
    this.#pollEndsAt = undefined;
    if (this.#state === "stale") this.#join(now);
  }

  pollEnded(now: Instant): void {
    this.#pollEndsAt = now + this.#settings.maxPollInterval;
  }

  coordinatorFound(): void {
    // How long it may be silent only the coordinator knows.
  }

  commitRefused(error: ErrorCode, _: Generation, isAwaited: boolean): CommitOutcome {
    switch (error) {
      case ERRORS.STALE_MEMBER_EPOCH:
        // What is committed before partitions are given up is tried in the epoch that it is in by then.
        return isAwaited && this.#generation.id >= 0 ? "again" : "lost";
      case ERRORS.UNKNOWN_MEMBER_ID:
      case ERRORS.FENCED_INSTANCE_ID:
        return "lost";
      case ERRORS.UNKNOWN_TOPIC_ID:
      case ERRORS.UNKNOWN_TOPIC_OR_PARTITION:
        return isAwaited ? "refused" : "again";
      default:
        return error.retriable ? "again" : "refused";
    }
  }

  close(done: () => void): void {
    const isIn = this.#state !== "unsubscribed" && this.#state !== "stale";
    if (isIn) this.#leave("closed", done);
    else done();
  }

  #followMetadata(): void {
    const { metadata } = this.#parts;
    if (metadata.version === this.#metadataVersion) return;
    this.#metadataVersion = metadata.version;
    this.#topics = wantedTopics(this.#subscription, metadata);
  }

  // In and out.

  #join(now: Instant): void {
    this.#enter("joining", JOINS);
    this.#nextBeat = now;
    this.#failures = 0;
  }

  /** Another time in the group begins, or none. */
  #enter(state: MemberState, epoch: number): void {
    this.#state = state;
    this.#stay = {};
    this.#isInFlight = false;
    this.#said.forget();
    this.#reconciliation = undefined;
    this.#target = NOT_ASSIGNED;
    this.#current = NOT_ASSIGNED;
    this.#setEpoch(epoch);
  }

  #setEpoch(epoch: number): void {
    if (epoch === this.#epoch) return;
    this.#epoch = epoch;
    const id = epoch > 0 ? epoch : -1;
    this.#generation = { id, memberId: this.#memberId, protocol: undefined };
  }

  /** It is not in the group any more, as the coordinator says, and comes again at once (`transitionToFenced`). */
  #fenced(now: Instant): void {
    this.#releaseAll(true);
    this.#join(now);
  }

  #releaseAll(isLost: boolean): void {
    const how = isLost ? "partitions-lost" : "partitions-revoked";
    this.#owned.release(this.#owned.all, how, this.#generation);
  }

  /**
   * Says that it goes: for good, or a static one for a while, so that it finds its place as it left it. Who is closed
   * gives up what it owns first; who did not poll in time has lost it.
   */
  #leave(to: "closed" | "stale", done: () => void): void {
    const { world, settings } = this.#parts;
    const now = world.clock.now();
    const isLost = to === "stale" || this.#epoch <= 0;
    this.#releaseAll(isLost);
    const epoch = this.#settings.instanceId === undefined ? LEAVES : LEAVES_FOR_A_WHILE;
    this.#enter(to, epoch);
    const isSent = this.#link.ready(now);
    if (isSent) {
      const body = this.#said.request(this.#everything(), false);
      const { requestTimeout } = settings;
      const answered: ResponseHandler<ConsumerGroupHeartbeatResponse, undefined> = {
        onResponse: done,
        onDisconnect: (_, from) => {
          this.#disconnected(from, false);
          done();
        },
      };
      this.#link.send(CONSUMER_GROUP_HEARTBEAT, body, requestTimeout, answered, undefined);
    }
    this.#said.forget();
    if (!isSent) done();
  }

  // What goes on in the background.

  beat(now: Instant): void {
    this.#reconcile(now, false);
    if (!this.#isBeating || !this.#link.ready(now)) return;
    const pollEndsAt = this.#pollEndsAt;
    if (pollEndsAt !== undefined && now >= pollEndsAt) {
      this.#leave("stale", () => undefined);
      return;
    }
    const isUrgent = this.#state === "joining" || this.#state === "acknowledging";
    if (!this.#isInFlight && (isUrgent || now >= this.#nextBeat)) this.#send(now);
    for (const at of [this.#nextBeat, pollEndsAt ?? now]) {
      if (at > now) this.#parts.wakeUp.noLaterThan(at, now);
    }
  }

  get #isBeating(): boolean {
    switch (this.#state) {
      case "unsubscribed":
      case "stale":
      case "closed":
        return false;
      default:
        return true;
    }
  }

  #everything(): ConsumerGroupHeartbeatRequest {
    const { groupId, instanceId, rebalanceTimeoutMs, remoteAssignor } = this.#settings;
    return {
      groupId,
      memberId: this.#memberId,
      memberEpoch: this.#epoch,
      instanceId,
      rackId: undefined,
      rebalanceTimeoutMs,
      subscribedTopicNames: this.#topics,
      subscribedTopicRegex: undefined,
      serverAssignor: remoteAssignor,
      topicPartitions: inRequest(this.#current),
    };
  }

  #send(now: Instant): void {
    const body = this.#said.request(this.#everything(), this.#state === "joining", this.#current);
    const { requestTimeout } = this.#parts.settings;
    this.#isInFlight = true;
    this.#nextBeat = now + this.#interval;
    this.#link.send(CONSUMER_GROUP_HEARTBEAT, body, requestTimeout, this, this.#stay);
    if (this.#state !== "acknowledging") return;
    this.#state = this.#current === this.#target ? "stable" : "reconciling";
  }

  onResponse(response: ConsumerGroupHeartbeatResponse, stay: Stay, from: NodeAddress): void {
    if (stay !== this.#stay) return;
    const now = this.#parts.world.clock.now();
    this.#isInFlight = false;
    const error = errorOf(response.errorCode);
    if (error !== ERRORS.NONE) {
      this.#refused(error, from, now);
      return;
    }
    this.#failures = 0;
    this.#setInterval(fromMillis(response.heartbeatIntervalMs), now);
    this.#setEpoch(response.memberEpoch);
    if (response.assignment !== undefined) this.#assigned(response.assignment);
  }

  onDisconnect(stay: Stay, from: NodeAddress): void {
    this.#disconnected(from, true);
    if (stay !== this.#stay) return;
    this.#isInFlight = false;
    this.#failed(this.#parts.world.clock.now());
  }

  #setInterval(interval: Duration, now: Instant): void {
    if (interval === this.#interval) return;
    this.#interval = interval;
    this.#nextBeat = now + interval;
  }

  #refused(error: ErrorCode, from: NodeAddress, now: Instant): void {
    const { metadata } = this.#parts;
    const broker = metadata.brokerAt(from);
    const isFatal = !RETRIED.has(error);
    this.#parts.noteFailure(CONSUMER_GROUP_HEARTBEAT.name, broker, "", error, !isFatal);
    if (isFatal) {
      const { groupId, instanceId } = this.#settings;
      const who = instanceId === undefined ? "" : ` as group.instance.id ${instanceId}`;
      this.#parts.die(`no place in group ${groupId}${who}: ${error.name}`);
      return;
    }
    this.#failed(now);
    if (error === ERRORS.COORDINATOR_LOAD_IN_PROGRESS) return;
    // All others are tried as soon as they can be.
    this.#failures = 0;
    this.#nextBeat = now;
    if (error === ERRORS.FENCED_MEMBER_EPOCH || error === ERRORS.UNKNOWN_MEMBER_ID) {
      this.#fenced(now);
    } else this.#link.markUnknown();
  }

  /** The next heartbeat tells everything, after a pause. */
  #failed(now: Instant): void {
    this.#said.forget();
    this.#nextBeat = now + this.#parts.backoff(this.#failures);
    this.#failures++;
  }

  #disconnected(from: NodeAddress, isRetried: boolean): void {
    const { metadata, world } = this.#parts;
    this.#link.disconnected(from, world.clock.now());
    const broker = metadata.brokerAt(from);
    const error = ERRORS.NETWORK_EXCEPTION;
    this.#parts.noteFailure(CONSUMER_GROUP_HEARTBEAT.name, broker, "", error, isRetried);
  }

  // What it is to own.

  #assigned(topics: NonNullable<ConsumerGroupHeartbeatResponse["assignment"]>): void {
    const partitions = new Map(topics.map((topic) => [topic.topicId, topic.partitions]));
    const target = this.#target;
    const isNew = target === NOT_ASSIGNED || !isSamePartitions(target.partitions, partitions);
    // Also what was assigned before is another assignment when it comes back: it is acknowledged again.
    if (isNew) this.#target = { epoch: target.epoch + 1, partitions };
    const isReconciled = this.#target === this.#current;
    if (!isReconciled) this.#state = "reconciling";
    else if (this.#state === "reconciling" || this.#state === "joining") this.#state = "stable";
  }

  /**
   * A step on the way to the target (`maybeReconcile`). What means that partitions go, or that offsets are committed, begins
   * only while the application polls: then all that it was given is done.
   */
  #reconcile(now: Instant, isPolling: boolean): void {
    if (this.#state !== "reconciling") return;
    this.#reconciliation ??= this.#begin(isPolling);
    if (this.#reconciliation?.isCommitted) this.#complete(this.#reconciliation, now);
  }

  #begin(isPolling: boolean): Reconciliation | undefined {
    const { autoCommit, maxPollInterval } = this.#settings;
    const { assignment, names } = this.#resolve();
    const current = this.#current;
    const isKnown = isSamePartitions(assignment.partitions, current.partitions);
    if (current !== NOT_ASSIGNED && isKnown) {
      // What else it is assigned it knows no names of yet.
      this.#current = assignment;
      this.#state = "acknowledging";
      return undefined;
    }
    const owned = this.#owned.all;
    const revoked = subtract(owned, names);
    if (!isPolling && (autoCommit || revoked.size > 0)) return undefined;
    this.#owned.part(revoked);
    const reconciliation: Reconciliation = {
      assignment,
      revoked,
      added: subtract(names, owned),
      isCommitted: !autoCommit,
    };
    if (autoCommit) {
      // The coordinator waits no longer for the member to give up what it must.
      this.#offsets.commit("auto", maxPollInterval, () => {
        reconciliation.isCommitted = true;
      });
    }
    return reconciliation;
  }

  #complete({ assignment, revoked, added }: Reconciliation, now: Instant): void {
    this.#owned.release(revoked, "partitions-revoked", this.#generation);
    this.#owned.take(added, this.#generation);
    this.#current = assignment;
    this.#reconciliation = undefined;
    this.#offsets.restartAutoCommit(now);
    this.#state = "acknowledging";
  }

  /** That part of the target of which it knows the topics' names; for the rest, metadata are asked for. */
  #resolve(): { readonly assignment: LocalAssignment; readonly names: TopicPartitions } {
    const { metadata } = this.#parts;
    const target = this.#target;
    const byId = new Map([...metadata.topics].map((topic) => [topic.topicId, topic.name]));
    const names = new Map<string, readonly number[]>();
    const known = new Map<string, readonly number[]>();
    for (const [topicId, partitions] of target.partitions) {
      const name = byId.get(topicId);
      if (name === undefined) continue;
      names.set(name, partitions);
      known.set(topicId, partitions);
    }
    const isWhole = known.size === target.partitions.size;
    if (!isWhole) metadata.requestUpdate();
    return { assignment: isWhole ? target : { epoch: target.epoch, partitions: known }, names };
  }
}

/** In no epoch, it asks as anybody may of a group without members. */
const ANYBODY: OffsetReader = { memberId: undefined, memberEpoch: -1 };

/** All other errors reach the application, which ends. */
const RETRIED: ReadonlySet<ErrorCode> = new Set([
  ERRORS.NOT_COORDINATOR,
  ERRORS.COORDINATOR_NOT_AVAILABLE,
  ERRORS.COORDINATOR_LOAD_IN_PROGRESS,
  ERRORS.FENCED_MEMBER_EPOCH,
  ERRORS.UNKNOWN_MEMBER_ID,
]);
