import type { Instant } from "../../../base/time.ts";
import { fromMillis, SECOND } from "../../../base/time.ts";
import { Heartbeat } from "../../../kafka/client/heartbeat.ts";
import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../../kafka/error-code.ts";
import {
  HEARTBEAT,
  JOIN_GROUP,
  LEAVE_GROUP,
  OFFSET_COMMIT,
  SYNC_GROUP,
} from "../../../kafka/protocol/apis.ts";
import type {
  HeartbeatResponse,
  JoinGroupProtocol,
  JoinGroupResponse,
  LeaveGroupResponse,
  SyncGroupAssignment,
  SyncGroupResponse,
} from "../../../kafka/protocol/group-membership.ts";
import type { NodeAddress } from "../../../ports/network.ts";
import type { ResponseHandler } from "../../rpc/rpc-client.ts";
import type { ConsumerParts } from "../consumer-parts.ts";
import type { CommitOutcome } from "./commit-outcome.ts";
import type { CoordinatorLink } from "./coordinator-link.ts";
import type { GroupSettings } from "./group-options.ts";
import type { Generation, Membership, OffsetReader } from "./membership.ts";
import { becauseOf, NO_GENERATION } from "./membership.ts";

/** Kafka's `MemberState`. */
type MemberState = "unjoined" | "preparing-rebalance" | "completing-rebalance" | "stable";

/** What rebalances mean to the member: who owns what. */
export interface Rebalanced {
  readonly isParting: boolean;
  /** In poll: do the metadata call for a rebalance? */
  followMetadata(): void;
  /** Before it joins: gives up what it must. False if something has to be awaited first. */
  prepare(generation: Generation, now: Instant): boolean;
  /** What it says of itself to the leader. */
  protocols(generation: Generation): readonly JoinGroupProtocol[];
  /** It leads: assigns to all. Undefined while it does not know all topics. */
  assign(response: JoinGroupResponse): readonly SyncGroupAssignment[] | undefined;
  /** It learns what it is assigned. */
  assigned(assignment: Uint8Array, generation: Generation, now: Instant): void;
  /** It leaves, or is thrown out: everything goes. */
  releaseAll(isLost: boolean, generation: Generation): void;
}

/** How long the answer to JoinGroup may take beyond the rebalance timeout (`JOIN_GROUP_TIMEOUT_LAPSE`). */
const JOIN_LAPSE = 5 * SECOND;

const PROTOCOL_TYPE = "consumer";

/**
 * The member's side of the classic protocol (`AbstractCoordinator`): joins, and again whenever that is called
 * for; hears from the coordinator while it is in a generation; leaves.
 *
 * What Kafka does in its poll is done in `poll`, what its heartbeat thread does in `beat`. So an answer to
 * JoinGroup that comes while the application works waits for the next poll, as in Kafka.
 */
export class ClassicMembership implements Membership {
  readonly #heartbeat: Heartbeat;
  generation: Generation = NO_GENERATION;
  readonly #parts: ConsumerParts;
  readonly #settings: GroupSettings;
  readonly #link: CoordinatorLink;
  readonly #rebalanced: Rebalanced;
  #state: MemberState = "unjoined";
  #needsRejoin = true;
  #reason = "";
  #needsPrepare = true;
  /** A JoinGroup, or the SyncGroup after it, is under way or has been answered. */
  #isJoining = false;
  #joinAnswer: JoinGroupResponse | undefined = undefined;
  #assignment: Uint8Array | undefined = undefined;
  #retryAt: Instant = 0;

  readonly #onJoin: ResponseHandler<JoinGroupResponse, Generation> = {
    onResponse: (response, sent, from) => this.#joinAnswered(response, sent, from),
    onDisconnect: (_, from) => this.#joinBroken(JOIN_GROUP.name, from),
  };
  readonly #onSync: ResponseHandler<SyncGroupResponse, Generation> = {
    onResponse: (response, sent, from) => this.#syncAnswered(response, sent, from),
    onDisconnect: (_, from) => this.#joinBroken(SYNC_GROUP.name, from),
  };
  readonly #onBeat: ResponseHandler<HeartbeatResponse, Generation> = {
    onResponse: ({ errorCode }, sent, from) => this.#beatAnswered(errorOf(errorCode), sent, from),
    onDisconnect: (_, from) => this.#beatBroken(from),
  };

  constructor(
    parts: ConsumerParts,
    settings: GroupSettings,
    link: CoordinatorLink,
    rebalanced: Rebalanced,
  ) {
    this.#parts = parts;
    this.#settings = settings;
    this.#link = link;
    this.#rebalanced = rebalanced;
    this.#heartbeat = new Heartbeat({
      interval: settings.heartbeatInterval,
      sessionTimeout: settings.sessionTimeout,
      maxPollInterval: settings.maxPollInterval,
    });
  }

  get isParting(): boolean {
    return this.#rebalanced.isParting;
  }

  /** Only who has taken its place in a generation commits. */
  get committer(): Generation | "rebalance" | "lost" {
    if (this.#state === "stable") return this.generation;
    return this.#isRebalancing ? "rebalance" : "lost";
  }

  get reader(): OffsetReader {
    return ANYBODY;
  }

  get #isRebalancing(): boolean {
    return this.#state === "preparing-rebalance" || this.#state === "completing-rebalance";
  }

  pollBegan(): void {
    this.#heartbeat.pollBegan();
  }

  pollEnded(now: Instant): void {
    this.#heartbeat.pollEnded(now);
  }

  coordinatorFound(now: Instant): void {
    this.#heartbeat.resetSessionTimeout(now);
  }

  commitRefused(error: ErrorCode, as: Generation): CommitOutcome | "fenced" {
    const isUnchanged = as === this.generation;
    if (error === ERRORS.FENCED_INSTANCE_ID && isUnchanged) return "fenced";
    if (error === ERRORS.REBALANCE_IN_PROGRESS) {
      this.requestRejoin("offset commit failed since group is already rebalancing");
      return "rebalance";
    }
    if (error === ERRORS.UNKNOWN_MEMBER_ID || error === ERRORS.ILLEGAL_GENERATION) {
      // Of an older generation it says nothing about the present one.
      if (!isUnchanged && this.#isRebalancing) return "rebalance";
      const reason = becauseOf(OFFSET_COMMIT.name, error);
      this.#resetAndRejoin(reason, error !== ERRORS.ILLEGAL_GENERATION);
      return "lost";
    }
    return error.retriable ? "again" : "refused";
  }

  close(done: () => void): void {
    const { generation } = this;
    const isLost = generation.id < 0 || generation.memberId === "" || this.#isRebalancing;
    this.#rebalanced.releaseAll(isLost, generation);
    const isAsked = this.#leave("the consumer is being closed", done);
    if (!isAsked) done();
  }

  requestRejoin(reason: string): void {
    this.#needsRejoin = true;
    this.#reason = reason;
  }

  /** As above, if nothing has called for it yet: the first reason is the one that is told. */
  requestRejoinIfNecessary(reason: string): void {
    if (!this.#needsRejoin) this.requestRejoin(reason);
  }

  poll(now: Instant): void {
    this.#rebalanced.followMetadata();
    // A pattern must have been held against all topics once before the member can say what it wants.
    if (this.#parts.metadata.version > 0) this.#run(now);
  }

  /** Sees to it that the member is, or gets, into the present generation (`joinGroupIfNeeded`). */
  #run(now: Instant): void {
    while (this.#needsRejoin || this.#isJoining) {
      if (!this.#link.ready(now)) return;
      if (now < this.#retryAt) {
        this.#parts.wakeUp.noLaterThan(this.#retryAt, now);
        return;
      }
      if (this.#needsPrepare) {
        if (!this.#rebalanced.prepare(this.generation, now)) return;
        this.#needsPrepare = false;
      }
      if (!this.#isJoining) this.#join();
      else if (this.#joinAnswer !== undefined) {
        if (!this.#sync(this.#joinAnswer)) return;
      } else if (this.#assignment !== undefined) this.#complete(this.#assignment, now);
      else return;
    }
  }

  /** At any time: what the heartbeat thread does. */
  beat(now: Instant): void {
    if (this.#state === "unjoined" || this.#state === "preparing-rebalance") return;
    const link = this.#link;
    const heartbeat = this.#heartbeat;
    const { pollEndsAt, sessionEndsAt } = heartbeat;
    const { wakeUp } = this.#parts;
    if (!link.isKnown) {
      link.ready(now);
    } else if (now >= sessionEndsAt) {
      link.markUnknown();
      link.ready(now);
    } else if (pollEndsAt !== undefined && now >= pollEndsAt) {
      this.#leave("consumer poll timeout has expired.");
      return;
    } else if (heartbeat.isDue(now) && link.ready(now)) {
      heartbeat.sent(now);
      this.#send();
    }
    // What is over already waits for the coordinator to be found, of which the member will hear.
    for (const at of [heartbeat.sessionEndsAt, heartbeat.nextAt, pollEndsAt ?? now]) {
      if (at > now) wakeUp.noLaterThan(at, now);
    }
  }

  /**
   * Gives its place up; a static member just forgets it, so that another of its instance id may take it
   * (KIP-345). `answered` is told when the coordinator has answered; false if it is not asked.
   */
  #leave(reason: string, answered: () => void = () => undefined): boolean {
    const now = this.#parts.world.clock.now();
    const { instanceId, groupId } = this.#settings;
    const { memberId } = this.generation;
    const isAsked =
      instanceId === undefined &&
      this.#state !== "unjoined" &&
      memberId !== "" &&
      this.#link.ready(now);
    if (isAsked) {
      const members = [{ memberId, groupInstanceId: undefined, reason }];
      const handler: ResponseHandler<LeaveGroupResponse, undefined> = {
        onResponse: answered,
        onDisconnect: (_, from) => {
          this.#disconnected(LEAVE_GROUP.name, from, false);
          answered();
        },
      };
      const { requestTimeout } = this.#parts.settings;
      this.#link.send(LEAVE_GROUP, { groupId, members }, requestTimeout, handler, undefined);
    }
    this.#resetAndRejoin("consumer pro-actively leaving the group", true);
    return isAsked;
  }

  /** It is no member of this generation any more, and perhaps no member at all (`resetStateAndRejoin`). */
  #resetAndRejoin(reason: string, forgetsMember: boolean): void {
    this.#state = "unjoined";
    const { memberId } = this.generation;
    this.generation = forgetsMember ? NO_GENERATION : { ...NO_GENERATION, memberId };
    this.requestRejoin(reason);
    this.#needsPrepare = true;
  }

  // Joining.

  #join(): void {
    const { groupId, instanceId, rebalanceTimeoutMs, sessionTimeoutMs } = this.#settings;
    const { generation } = this;
    this.#state = "preparing-rebalance";
    this.#isJoining = true;
    const body = {
      groupId,
      sessionTimeoutMs,
      rebalanceTimeoutMs,
      memberId: generation.memberId,
      groupInstanceId: instanceId,
      protocolType: PROTOCOL_TYPE,
      protocols: this.#rebalanced.protocols(generation),
      reason: this.#reason,
    };
    const patience = fromMillis(rebalanceTimeoutMs) + JOIN_LAPSE;
    const timeout = Math.max(this.#parts.settings.requestTimeout, patience);
    this.#link.send(JOIN_GROUP, body, timeout, this.#onJoin, generation);
  }

  #joinAnswered(response: JoinGroupResponse, sent: Generation, from: NodeAddress): void {
    const error = errorOf(response.errorCode);
    if (error === ERRORS.NONE) {
      this.#joinAnswer = response;
      return;
    }
    const isKnown = sent === this.generation;
    if (error === ERRORS.UNKNOWN_MEMBER_ID && isKnown)
      this.#resetAndRejoin(becauseOf(JOIN_GROUP.name, error), true);
    if (error === ERRORS.MEMBER_ID_REQUIRED) {
      // How the coordinator gives ids (KIP-394); it comes to nothing if it is not heard of again.
      this.generation = { ...NO_GENERATION, memberId: response.memberId };
      this.requestRejoin(`need to re-join with the given member-id: ${response.memberId}`);
    }
    this.#joinFailed(JOIN_GROUP.name, error, from);
  }

  /** Takes its place in the generation and asks for its part of it. False if that has to wait. */
  #sync(response: JoinGroupResponse): boolean {
    const isLeader = response.leader === response.memberId;
    const assignments = isLeader ? this.#rebalanced.assign(response) : NOTHING_ASSIGNED;
    if (assignments === undefined) return false;
    const now = this.#parts.world.clock.now();
    const { groupId, instanceId } = this.#settings;
    const { generationId, memberId, protocolName } = response;
    this.#joinAnswer = undefined;
    this.generation = { id: generationId, memberId, protocol: protocolName };
    this.#state = "completing-rebalance";
    this.#heartbeat.resetTimeouts(now);
    const body = {
      groupId,
      generationId,
      memberId,
      groupInstanceId: instanceId,
      protocolType: PROTOCOL_TYPE,
      protocolName,
      assignments,
    };
    const { requestTimeout } = this.#parts.settings;
    if (this.#link.ready(now)) {
      this.#link.send(SYNC_GROUP, body, requestTimeout, this.#onSync, this.generation);
    } else this.#joinFailed(SYNC_GROUP.name, ERRORS.COORDINATOR_NOT_AVAILABLE, undefined);
    return true;
  }

  #syncAnswered(response: SyncGroupResponse, sent: Generation, from: NodeAddress): void {
    const error = errorOf(response.errorCode);
    if (error === ERRORS.NONE) {
      // Meanwhile a heartbeat may have been told that the generation is over.
      if (this.#state !== "completing-rebalance" || this.generation.id < 0) {
        this.#joinFailed(SYNC_GROUP.name, ERRORS.ILLEGAL_GENERATION, undefined);
        return;
      }
      this.#state = "stable";
      this.#needsRejoin = false;
      this.#reason = "";
      this.#assignment = response.assignment;
      return;
    }
    const isLost = error === ERRORS.UNKNOWN_MEMBER_ID || error === ERRORS.ILLEGAL_GENERATION;
    if (isLost && sent === this.generation) {
      this.#resetAndRejoin(becauseOf(SYNC_GROUP.name, error), error !== ERRORS.ILLEGAL_GENERATION);
    }
    this.#joinFailed(SYNC_GROUP.name, error, from);
  }

  /** What it is assigned is known, and the application polls. */
  #complete(assignment: Uint8Array, now: Instant): void {
    this.#isJoining = false;
    this.#assignment = undefined;
    this.#needsPrepare = true;
    if (this.#state === "stable") this.#rebalanced.assigned(assignment, this.generation, now);
    else this.#resetAndRejoin("rebalance failed since the generation was modified meanwhile", true);
  }

  /** `from` undefined: it is not an answer that said so. */
  #joinFailed(api: string, error: ErrorCode, from: NodeAddress | undefined): void {
    const { metadata, world } = this.#parts;
    this.#isJoining = false;
    this.#joinAnswer = undefined;
    const isAtOnce = REJOIN_AT_ONCE.has(error);
    const isRetried = isAtOnce || error.retriable;
    if (error !== ERRORS.MEMBER_ID_REQUIRED) {
      this.requestRejoin(`rebalance failed due to ${error.name}`);
      if (from !== undefined) {
        this.#parts.noteFailure(api, metadata.brokerAt(from), "", error, isRetried);
      }
    }
    if (isAtOnce) return;
    if (!isRetried) {
      this.#parts.die(`${api} of group ${this.#settings.groupId}: ${error.name}`);
      return;
    }
    this.#retryAt = world.clock.now() + this.#parts.settings.retryBackoff;
    this.#lookElsewhere(error);
  }

  #joinBroken(api: string, from: NodeAddress): void {
    this.#disconnected(api, from, true);
    this.#joinFailed(api, ERRORS.NETWORK_EXCEPTION, undefined);
  }

  // Heartbeats.

  #send(): void {
    const { groupId, instanceId } = this.#settings;
    const { id: generationId, memberId } = this.generation;
    const body = { groupId, generationId, memberId, groupInstanceId: instanceId };
    const { requestTimeout } = this.#parts.settings;
    this.#link.send(HEARTBEAT, body, requestTimeout, this.#onBeat, this.generation);
  }

  #beatAnswered(error: ErrorCode, sent: Generation, from: NodeAddress): void {
    const { metadata, world } = this.#parts;
    const now = world.clock.now();
    if (error === ERRORS.NONE) {
      this.#heartbeat.received(now);
      return;
    }
    if (error === ERRORS.REBALANCE_IN_PROGRESS) {
      // Of a rebalance that it is taking part in it need not be told.
      if (this.#state === "stable") this.requestRejoin("group is already rebalancing");
      this.#heartbeat.received(now);
      return;
    }
    const isOut = OUT_OF_GROUP.has(error);
    if (isOut && sent !== this.generation) {
      this.#heartbeat.received(now);
      return;
    }
    this.#parts.noteFailure(HEARTBEAT.name, metadata.brokerAt(from), "", error, true);
    if (isOut) {
      this.#resetAndRejoin(becauseOf(HEARTBEAT.name, error), error !== ERRORS.ILLEGAL_GENERATION);
      if (error === ERRORS.FENCED_INSTANCE_ID) {
        this.#parts.die(`another has group.instance.id ${this.#settings.instanceId}`);
      }
    }
    this.#lookElsewhere(error);
    this.#beatFailed(now);
  }

  #beatBroken(from: NodeAddress): void {
    this.#disconnected(HEARTBEAT.name, from, true);
    this.#beatFailed(this.#parts.world.clock.now());
  }

  #beatFailed(now: Instant): void {
    this.#heartbeat.failed(now, this.#parts.backoff(this.#heartbeat.failures));
  }

  // The coordinator.

  #lookElsewhere(error: ErrorCode): void {
    if (error === ERRORS.NOT_COORDINATOR || error === ERRORS.COORDINATOR_NOT_AVAILABLE) {
      this.#link.markUnknown();
    }
  }

  #disconnected(api: string, from: NodeAddress, isRetried: boolean): void {
    const { metadata, world } = this.#parts;
    this.#link.disconnected(from, world.clock.now());
    this.#parts.noteFailure(api, metadata.brokerAt(from), "", ERRORS.NETWORK_EXCEPTION, isRetried);
  }
}

/** Of a classic group everybody may ask. */
const ANYBODY: OffsetReader = { memberId: undefined, memberEpoch: -1 };

const NOTHING_ASSIGNED: readonly SyncGroupAssignment[] = [];

/** After these the member joins again without a pause. */
const REJOIN_AT_ONCE: ReadonlySet<ErrorCode> = new Set([
  ERRORS.UNKNOWN_MEMBER_ID,
  ERRORS.ILLEGAL_GENERATION,
  ERRORS.REBALANCE_IN_PROGRESS,
  ERRORS.MEMBER_ID_REQUIRED,
]);

/** The coordinator does not know the member so. */
const OUT_OF_GROUP: ReadonlySet<ErrorCode> = new Set([
  ERRORS.UNKNOWN_MEMBER_ID,
  ERRORS.ILLEGAL_GENERATION,
  ERRORS.FENCED_INSTANCE_ID,
]);
