import { byText } from "../../base/order.ts";
import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type {
  ConsumerGroupHeartbeatRequest,
  ConsumerGroupHeartbeatResponse,
} from "../protocol/consumer-group-heartbeat.ts";
import type { Requester } from "./classic-protocol.ts";
import type { ConsumerGroup } from "./consumer-group.ts";
import { isAway, newMember } from "./consumer-group.ts";
import type { ConsumerMember } from "./consumer-member.ts";
import {
  hasSamePartitions,
  isSubset,
  LEAVES,
  LEAVES_FOR_A_WHILE,
  NOTHING_ASSIGNED,
  usesClassicProtocol,
} from "./consumer-member.ts";
import type { ConsumerRebalance } from "./consumer-rebalance.ts";
import { ASSIGNORS, asPartitions } from "./consumer-rebalance.ts";
import type { GroupEffects } from "./group-effects.ts";
import type { AssignedPartitions, MemberMetadata } from "./group-record.ts";

/** The answer to a heartbeat, or why it is refused. */
export type HeartbeatOutcome = ConsumerGroupHeartbeatResponse | ErrorCode;

/**
 * What a coordinator does with the heartbeats of KIP-848 members (`GroupMetadataManager.consumerGroupHeartbeat`):
 * everything is a record, and counts once it is replayed.
 *
 * Simplified: no regular expressions, one assignor in line.
 */
export class ConsumerHeartbeats {
  readonly #rebalance: ConsumerRebalance;

  constructor(rebalance: ConsumerRebalance) {
    this.#rebalance = rebalance;
  }

  /** What is wrong with a request by itself. */
  check(body: ConsumerGroupHeartbeatRequest): ErrorCode {
    const { memberEpoch, subscribedTopicNames: names, topicPartitions: owned } = body;
    const isEmptyText = body.memberId === "" || body.instanceId === "" || body.rackId === "";
    if (isEmptyText || memberEpoch < LEAVES_FOR_A_WHILE) return ERRORS.INVALID_REQUEST;
    if (body.subscribedTopicRegex !== undefined) return ERRORS.INVALID_REQUEST;
    const isFirst = memberEpoch === 0;
    if (isFirst && body.rebalanceTimeoutMs === -1) return ERRORS.INVALID_REQUEST;
    if (isFirst && owned?.length !== 0) return ERRORS.INVALID_REQUEST;
    // With an empty list it is in the group, and wants nothing yet.
    if (isFirst && names === undefined) return ERRORS.INVALID_REQUEST;
    if (memberEpoch === LEAVES_FOR_A_WHILE && body.instanceId === undefined) {
      return ERRORS.INVALID_REQUEST;
    }
    const { serverAssignor } = body;
    const isKnown = serverAssignor === undefined || ASSIGNORS.has(serverAssignor);
    return isKnown ? ERRORS.NONE : ERRORS.UNSUPPORTED_ASSIGNOR;
  }

  /** A heartbeat of who stays, or comes. `group` may be one that only these records bring into being. */
  heartbeat(
    group: ConsumerGroup,
    body: ConsumerGroupHeartbeatRequest,
    from: Requester,
    effects: GroupEffects,
  ): HeartbeatOutcome {
    const { memberId, memberEpoch, instanceId, topicPartitions: owned } = body;
    const { maxSize, sessionTimeoutMs, heartbeatIntervalMs } = this.#rebalance.rules;
    if (group.members.size >= maxSize && !group.members.has(memberId)) {
      return ERRORS.GROUP_MAX_SIZE_REACHED;
    }
    const member =
      instanceId === undefined
        ? dynamicMember(group, body)
        : this.#staticMember(group, body, instanceId, effects);
    if (!("memberId" in member)) return member;
    const wanted = { ...member, metadata: updated(member.metadata, body, from) };
    const epoch = this.#rebalance.updateEpoch(group, member, wanted.metadata, effects);
    const target = this.#rebalance.updateTarget(group, epoch, wanted, effects);
    const current = this.#rebalance.reconcile(group, wanted, target, owned, effects);
    effects.start({ kind: "session", group: group.groupId, member: memberId }, sessionTimeoutMs);
    const isFull =
      memberEpoch === 0 ||
      (body.rebalanceTimeoutMs !== -1 &&
        body.subscribedTopicNames !== undefined &&
        owned !== undefined);
    const isOther = !hasSamePartitions(current.assigned, member.current.assigned);
    return {
      throttleTimeMs: 0,
      errorCode: 0,
      errorMessage: undefined,
      memberId,
      memberEpoch: current.memberEpoch,
      heartbeatIntervalMs,
      assignment: isFull || isOther ? inResponse(current.assigned) : undefined,
    };
  }

  #staticMember(
    group: ConsumerGroup,
    body: ConsumerGroupHeartbeatRequest,
    instanceId: string,
    effects: GroupEffects,
  ): ConsumerMember | ErrorCode {
    const { memberId } = body;
    const known = group.staticMember(instanceId);
    if (body.memberEpoch !== 0) {
      if (known === undefined) return ERRORS.UNKNOWN_MEMBER_ID;
      if (known.memberId !== memberId) return ERRORS.FENCED_INSTANCE_ID;
      return checkEpoch(known, body);
    }
    if (known === undefined) return newMember(memberId);
    // Who spoke the classic protocol is replaced as it does: it need not have said that it goes.
    if (!isAway(known) && !usesClassicProtocol(known)) return ERRORS.UNRELEASED_INSTANCE_ID;
    return this.#rebalance.replaceStatic(group, known, memberId, effects);
  }

  /** A member says that it goes. */
  leave(
    group: ConsumerGroup,
    { memberId, memberEpoch, instanceId }: ConsumerGroupHeartbeatRequest,
    effects: GroupEffects,
  ): HeartbeatOutcome {
    const answer = left(memberId, memberEpoch);
    if (instanceId === undefined) {
      const member = group.members.get(memberId);
      if (member === undefined) return ERRORS.UNKNOWN_MEMBER_ID;
      this.#rebalance.fence(group, [member], "left", effects);
      return answer;
    }
    const member = group.staticMember(instanceId);
    if (member === undefined) return ERRORS.UNKNOWN_MEMBER_ID;
    if (member.memberId !== memberId) return ERRORS.FENCED_INSTANCE_ID;
    if (memberEpoch === LEAVES) {
      this.#rebalance.fence(group, [member], "left", effects);
      return answer;
    }
    effects.records.push({
      type: "ConsumerGroupCurrentMemberAssignment",
      group: group.groupId,
      member: memberId,
      value: { ...member.current, memberEpoch: LEAVES_FOR_A_WHILE, revoking: NOTHING_ASSIGNED },
    });
    return answer;
  }
}

function dynamicMember(
  group: ConsumerGroup,
  body: ConsumerGroupHeartbeatRequest,
): ConsumerMember | ErrorCode {
  const known = group.members.get(body.memberId);
  if (known !== undefined) return checkEpoch(known, body);
  return body.memberEpoch === 0 ? newMember(body.memberId) : ERRORS.UNKNOWN_MEMBER_ID;
}

/** The epoch before is taken too: the answer that told of the present one may have been lost. */
function checkEpoch(
  member: ConsumerMember,
  { memberEpoch, topicPartitions }: ConsumerGroupHeartbeatRequest,
): ConsumerMember | ErrorCode {
  const { current } = member;
  if (memberEpoch === current.memberEpoch) return member;
  const isPrevious =
    memberEpoch < current.memberEpoch &&
    memberEpoch === current.previousMemberEpoch &&
    isSubset(topicPartitions, current.assigned);
  return isPrevious ? member : ERRORS.FENCED_MEMBER_EPOCH;
}

function updated(
  before: MemberMetadata,
  body: ConsumerGroupHeartbeatRequest,
  { clientId, clientHost }: Requester,
): MemberMetadata {
  const names = body.subscribedTopicNames;
  return {
    instanceId: body.instanceId ?? before.instanceId,
    rackId: body.rackId ?? before.rackId,
    clientId,
    clientHost,
    subscribedTopicNames:
      names === undefined ? before.subscribedTopicNames : [...names].sort(byText),
    subscribedTopicRegex: "",
    rebalanceTimeoutMs:
      body.rebalanceTimeoutMs === -1 ? before.rebalanceTimeoutMs : body.rebalanceTimeoutMs,
    serverAssignor: body.serverAssignor ?? before.serverAssignor,
    classicMemberMetadata: undefined,
  };
}

function inResponse(assigned: AssignedPartitions): ConsumerGroupHeartbeatResponse["assignment"] {
  return [...asPartitions(assigned)].map(([topicId, partitions]) => ({ topicId, partitions }));
}

function left(memberId: string, memberEpoch: number): ConsumerGroupHeartbeatResponse {
  return {
    throttleTimeMs: 0,
    errorCode: 0,
    errorMessage: undefined,
    memberId,
    memberEpoch,
    heartbeatIntervalMs: 0,
    assignment: undefined,
  };
}

/** An error, as a heartbeat is told of it. */
export function refusedHeartbeat({ code }: ErrorCode): ConsumerGroupHeartbeatResponse {
  return {
    throttleTimeMs: 0,
    errorCode: code,
    errorMessage: undefined,
    memberId: undefined,
    memberEpoch: 0,
    heartbeatIntervalMs: 0,
    assignment: undefined,
  };
}
