import { byText } from "../../base/order.ts";
import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { MetadataImage } from "../metadata/image.ts";
import type { HeartbeatTopicPartitions } from "../protocol/consumer-group-heartbeat.ts";
import type {
  HeartbeatRequest,
  JoinGroupRequest,
  LeaveGroupRequest,
  LeaveGroupResponse,
  LeavingMember,
  SyncGroupRequest,
} from "../protocol/group-membership.ts";
import type { TopicPartitions } from "./assignors/topic-partitions.ts";
import { CONSUMER_PROTOCOL } from "./classic-group.ts";
import type { Requester } from "./classic-protocol.ts";
import { refusedSync, refuseJoin, refuseSync } from "./classic-protocol.ts";
import { refusedJoin } from "./classic-rebalance.ts";
import type { ConsumerGroup } from "./consumer-group.ts";
import { newMember } from "./consumer-group.ts";
import type { ConsumerMember } from "./consumer-member.ts";
import { MEMBER_STATE } from "./consumer-member.ts";
import type { ConsumerSubscription } from "./consumer-protocol.ts";
import { decodeSubscription, encodeAssignment } from "./consumer-protocol.ts";
import type { ConsumerRebalance } from "./consumer-rebalance.ts";
import { asPartitions, lastTarget } from "./consumer-rebalance.ts";
import type { GroupEffects, WhenCommitted } from "./group-effects.ts";
import type { MemberMetadata } from "./group-record.ts";
import { byName, downgrade, mayDowngradeReplacing } from "./online-downgrade.ts";

/**
 * What a coordinator does with the requests of members of the classic protocol in a group of KIP-848, while that
 * migrates (`GroupMetadataManager.classicGroupJoinToConsumerGroup` and its like): a join is a heartbeat that tells
 * everything, a sync asks what came of it, and a heartbeat is told when there is something to join for. The
 * coordinator assigns: nobody leads.
 */
export class MixedGroupProtocol {
  readonly #rebalance: ConsumerRebalance;

  constructor(rebalance: ConsumerRebalance) {
    this.#rebalance = rebalance;
  }

  /** Answered when what it has changed is committed. */
  join(
    group: ConsumerGroup,
    body: JoinGroupRequest,
    from: Requester,
    drawMemberId: () => string,
    effects: GroupEffects,
  ): void {
    const isUnknown = body.memberId === "";
    const memberId = isUnknown ? drawMemberId() : body.memberId;
    const error = this.#checkJoin(group, body, memberId);
    if (error !== ERRORS.NONE) {
      refuseJoin(from, body.memberId, error, effects);
      return;
    }
    if (isUnknown && body.groupInstanceId === undefined) {
      // It must come again with the id (KIP-394), of which nothing is kept until then.
      refuseJoin(from, memberId, ERRORS.MEMBER_ID_REQUIRED, effects);
      return;
    }
    const member = this.#joining(group, body, memberId, effects);
    if (!("memberId" in member)) {
      refuseJoin(from, body.memberId, member, effects);
      return;
    }
    const subscription = decodeSubscription(body.protocols[0]?.metadata ?? NOTHING);
    if (subscription === undefined) {
      effects.records.length = 0;
      refuseJoin(from, body.memberId, ERRORS.UNKNOWN_SERVER_ERROR, effects);
      return;
    }
    const wanted = { ...member, metadata: updated(member.metadata, body, subscription, from) };
    const generationId = this.#admit(group, member, wanted, subscription, effects);
    const isDowngrade = effects.downgraded !== undefined;
    effects.whenCommitted = {
      kind: "joined",
      group: group.groupId,
      member: memberId,
      sessionTimeoutMs: isDowngrade ? undefined : body.sessionTimeoutMs,
      rebalanceTimeoutMs: body.rebalanceTimeoutMs,
      request: from.request,
      body: {
        throttleTimeMs: 0,
        errorCode: 0,
        generationId,
        protocolType: CONSUMER_PROTOCOL,
        protocolName: body.protocols[0]?.name,
        leader: "",
        skipAssignment: false,
        memberId,
        members: [],
      },
    };
  }

  #checkJoin(group: ConsumerGroup, body: JoinGroupRequest, memberId: string): ErrorCode {
    const { maxSize, migrationPolicy } = this.#rebalance.rules;
    if (migrationPolicy === "disabled") return ERRORS.INCONSISTENT_GROUP_PROTOCOL;
    const isFull = group.members.size >= maxSize && !group.members.has(memberId);
    if (isFull) return ERRORS.GROUP_MAX_SIZE_REACHED;
    const isSupported = group.supportsClassic(body.protocolType, body.protocols);
    return isSupported ? ERRORS.NONE : ERRORS.INCONSISTENT_GROUP_PROTOCOL;
  }

  /** Who joins: somebody new, one that is there, or a static member under another id. */
  #joining(
    group: ConsumerGroup,
    { memberId: said, groupInstanceId }: JoinGroupRequest,
    memberId: string,
    effects: GroupEffects,
  ): ConsumerMember | ErrorCode {
    if (groupInstanceId === undefined) return group.members.get(memberId) ?? newMember(memberId);
    const known = group.staticMember(groupInstanceId);
    if (said === "") {
      if (known === undefined) return newMember(memberId);
      return this.#rebalance.replaceStatic(group, known, memberId, effects);
    }
    if (known === undefined) return ERRORS.UNKNOWN_MEMBER_ID;
    return known.memberId === said ? known : ERRORS.FENCED_INSTANCE_ID;
  }

  /** The member is, or stays, in. Returns the epoch that it is in then. */
  #admit(
    group: ConsumerGroup,
    member: ConsumerMember,
    wanted: ConsumerMember,
    { ownedPartitions }: ConsumerSubscription,
    effects: GroupEffects,
  ): number {
    const rebalance = this.#rebalance;
    const { rules } = rebalance;
    const owned = byId(ownedPartitions, rules.image);
    const replaced = group.staticMember(wanted.metadata.instanceId ?? "");
    const epoch = rebalance.updateEpoch(group, member, wanted.metadata, effects);
    if (replaced === undefined || !mayDowngradeReplacing(group, replaced, rules)) {
      const target = rebalance.updateTarget(group, epoch, wanted, effects);
      return rebalance.reconcile(group, wanted, target, owned, effects).memberEpoch;
    }
    // The last of the other protocol is back by this one. There is only what was assigned before (KAFKA-20273).
    const isStale = group.targetEpoch < epoch;
    const target = lastTarget(group, wanted);
    const current = isStale
      ? wanted.current
      : rebalance.reconcile(group, wanted, target, owned, effects);
    const reason = isStale ? "what was assigned last is out of date" : undefined;
    const joining = { ...wanted, current };
    downgrade(group, { leaving: [], joining, rebalance: reason }, rules.image, effects);
    return current.memberEpoch;
  }

  /** What a join has changed is committed, so that the member may be told; or is not. */
  joined(what: Joined, error: ErrorCode, effects: GroupEffects): void {
    const { group, member, request } = what;
    if (error !== ERRORS.NONE) {
      effects.answers.push({ api: "JoinGroup", request, body: refusedJoin(member, error) });
      return;
    }
    effects.cancel({ kind: "rejoin", group, member });
    if (what.sessionTimeoutMs !== undefined) {
      effects.start({ kind: "session", group, member }, what.sessionTimeoutMs);
      effects.start({ kind: "resync", group, member }, what.rebalanceTimeoutMs);
    }
    effects.answers.push({ api: "JoinGroup", request, body: what.body });
  }

  sync(group: ConsumerGroup, body: SyncGroupRequest, from: Requester, effects: GroupEffects): void {
    const member = this.#checkSync(group, body, effects);
    if (!("memberId" in member)) {
      refuseSync(from, member, effects);
      return;
    }
    const { image } = this.#rebalance.rules;
    const { memberId, metadata, current } = member;
    const partitions = byName(asPartitions(current.assigned), image);
    effects.whenCommitted = {
      kind: "synced",
      group: group.groupId,
      member: memberId,
      sessionTimeoutMs: metadata.classicMemberMetadata?.sessionTimeoutMs ?? 0,
      request: from.request,
      body: {
        throttleTimeMs: 0,
        errorCode: 0,
        protocolType: body.protocolType,
        protocolName: body.protocolName,
        assignment: encodeAssignment({ partitions, userData: undefined }),
      },
    };
  }

  #checkSync(
    group: ConsumerGroup,
    body: SyncGroupRequest,
    effects: GroupEffects,
  ): ConsumerMember | ErrorCode {
    const { protocolType, protocolName } = body;
    const member = group.classicMember(body.memberId, body.groupInstanceId);
    if (!("memberId" in member)) return member;
    const { metadata, current } = member;
    if (current.memberEpoch !== body.generationId) return ERRORS.ILLEGAL_GENERATION;
    const [first] = metadata.classicMemberMetadata?.supportedProtocols ?? [];
    const isConsistent =
      (protocolType === undefined || protocolType === CONSUMER_PROTOCOL) &&
      (protocolName === undefined || protocolName === first?.name);
    if (!isConsistent) return ERRORS.INCONSISTENT_GROUP_PROTOCOL;
    // Who has to give something up first joins again after that anyway.
    const isBehind =
      group.targetEpoch > current.memberEpoch && current.state !== MEMBER_STATE.unrevoked;
    if (!isBehind) return member;
    awaitRejoin(group, member, effects);
    return ERRORS.REBALANCE_IN_PROGRESS;
  }

  /** All that was written before is committed, or is not. */
  synced(what: Synced, error: ErrorCode, effects: GroupEffects): void {
    const { group, member, request } = what;
    if (error !== ERRORS.NONE) {
      effects.answers.push({ api: "SyncGroup", request, body: refusedSync(error) });
      return;
    }
    effects.cancel({ kind: "resync", group, member });
    effects.start({ kind: "session", group, member }, what.sessionTimeoutMs);
    effects.answers.push({ api: "SyncGroup", request, body: what.body });
  }

  heartbeat(group: ConsumerGroup, body: HeartbeatRequest, effects: GroupEffects): ErrorCode {
    const member = group.classicMember(body.memberId, body.groupInstanceId);
    if (!("memberId" in member)) return member;
    const { memberId, metadata, current } = member;
    if (current.memberEpoch !== body.generationId) return ERRORS.ILLEGAL_GENERATION;
    const timer = { kind: "session", group: group.groupId, member: memberId } as const;
    effects.start(timer, metadata.classicMemberMetadata?.sessionTimeoutMs ?? 0);
    // There is another target (KAFKA-20272), something to give up, or what it waits for is free.
    const { state } = current;
    const mustRejoin =
      current.memberEpoch < group.targetEpoch ||
      state === MEMBER_STATE.unrevoked ||
      (state === MEMBER_STATE.unreleased && !group.isWaiting(member));
    if (!mustRejoin) return ERRORS.NONE;
    awaitRejoin(group, member, effects);
    return ERRORS.REBALANCE_IN_PROGRESS;
  }

  leave(group: ConsumerGroup, body: LeaveGroupRequest, effects: GroupEffects): LeaveGroupResponse {
    const leaving = new Set<ConsumerMember>();
    const members = body.members.map((said) => {
      const member = findLeaving(group, said);
      const isKnown = "memberId" in member;
      if (isKnown) leaving.add(member);
      const { memberId, groupInstanceId } = said;
      return { memberId, groupInstanceId, errorCode: isKnown ? 0 : member.code };
    });
    if (leaving.size > 0) this.#rebalance.fence(group, [...leaving], "left", effects);
    return { throttleTimeMs: 0, errorCode: 0, members };
  }
}

type Joined = Extract<WhenCommitted, { readonly kind: "joined" }>;
type Synced = Extract<WhenCommitted, { readonly kind: "synced" }>;

const NOTHING = new Uint8Array(0);

/** An administrator may name an instance id alone. */
function findLeaving(
  group: ConsumerGroup,
  { memberId, groupInstanceId }: LeavingMember,
): ConsumerMember | ErrorCode {
  const known = groupInstanceId === undefined ? undefined : group.staticMember(groupInstanceId);
  return group.classicMember(memberId === "" && known ? known.memberId : memberId, groupInstanceId);
}

/** The member is told to join again, and should before its rebalance timeout is over. */
function awaitRejoin(
  { groupId: group }: ConsumerGroup,
  { memberId: member, metadata }: ConsumerMember,
  effects: GroupEffects,
): void {
  effects.startIfAbsent({ kind: "rejoin", group, member }, metadata.rebalanceTimeoutMs);
}

function updated(
  before: MemberMetadata,
  body: JoinGroupRequest,
  { rackId, topics }: ConsumerSubscription,
  { clientId, clientHost }: Requester,
): MemberMetadata {
  return {
    instanceId: body.groupInstanceId ?? before.instanceId,
    rackId: rackId ?? before.rackId,
    clientId,
    clientHost,
    subscribedTopicNames: [...topics].sort(byText),
    subscribedTopicRegex: "",
    rebalanceTimeoutMs:
      body.rebalanceTimeoutMs === -1 ? before.rebalanceTimeoutMs : body.rebalanceTimeoutMs,
    serverAssignor: before.serverAssignor,
    classicMemberMetadata: {
      sessionTimeoutMs: body.sessionTimeoutMs,
      supportedProtocols: body.protocols,
    },
  };
}

/** By the ids of topics, as the coordinator keeps it; of topics that are there. */
function byId(partitions: TopicPartitions, image: MetadataImage): HeartbeatTopicPartitions[] {
  const known: HeartbeatTopicPartitions[] = [];
  for (const [name, numbers] of partitions) {
    const topic = image.topicByName(name);
    if (topic !== undefined) known.push({ topicId: topic.topicId, partitions: numbers });
  }
  return known;
}
