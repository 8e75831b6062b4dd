import {
  arraySize,
  INT8,
  INT16,
  INT32,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  textSize,
  varintSize,
} from "./wire-size.ts";

/** JoinGroupRequest v9: a member of a classic group wants to be in its next generation. */
export interface JoinGroupRequest {
  readonly groupId: string;
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
  /** Empty before the coordinator has given one. */
  readonly memberId: string;
  readonly groupInstanceId: string | undefined;
  /** `consumer` */
  readonly protocolType: string;
  /** Assignors that the member can follow, the preferred first; each with bytes that only members read. */
  readonly protocols: readonly JoinGroupProtocol[];
  readonly reason: string | undefined;
}

export interface JoinGroupProtocol {
  readonly name: string;
  readonly metadata: Uint8Array;
}

export interface JoinGroupResponse {
  readonly throttleTimeMs: number;
  readonly errorCode: number;
  readonly generationId: number;
  readonly protocolType: string | undefined;
  readonly protocolName: string | undefined;
  /** The member that computes the assignment. */
  readonly leader: string;
  /** The leader is to leave the assignment as it is (KIP-814). */
  readonly skipAssignment: boolean;
  readonly memberId: string;
  /** All, for the leader; nobody, for the others. */
  readonly members: readonly JoinGroupMember[];
}

export interface JoinGroupMember {
  readonly memberId: string;
  readonly groupInstanceId: string | undefined;
  readonly metadata: Uint8Array;
}

/** SyncGroupRequest v5: what am I assigned? The leader says what all are. */
export interface SyncGroupRequest {
  readonly groupId: string;
  readonly generationId: number;
  readonly memberId: string;
  readonly groupInstanceId: string | undefined;
  readonly protocolType: string | undefined;
  readonly protocolName: string | undefined;
  readonly assignments: readonly SyncGroupAssignment[];
}

export interface SyncGroupAssignment {
  readonly memberId: string;
  readonly assignment: Uint8Array;
}

export interface SyncGroupResponse {
  readonly throttleTimeMs: number;
  readonly errorCode: number;
  readonly protocolType: string | undefined;
  readonly protocolName: string | undefined;
  readonly assignment: Uint8Array;
}

/** HeartbeatRequest v4 */
export interface HeartbeatRequest {
  readonly groupId: string;
  readonly generationId: number;
  readonly memberId: string;
  readonly groupInstanceId: string | undefined;
}

export interface HeartbeatResponse {
  readonly throttleTimeMs: number;
  readonly errorCode: number;
}

/** LeaveGroupRequest v5 */
export interface LeaveGroupRequest {
  readonly groupId: string;
  readonly members: readonly LeavingMember[];
}

export interface LeavingMember {
  /** Empty if an administrator removes a static member. */
  readonly memberId: string;
  readonly groupInstanceId: string | undefined;
  readonly reason: string | undefined;
}

export interface LeaveGroupResponse {
  readonly throttleTimeMs: number;
  readonly errorCode: number;
  readonly members: readonly LeftMember[];
}

export interface LeftMember {
  readonly memberId: string;
  readonly groupInstanceId: string | undefined;
  readonly errorCode: number;
}

export function joinGroupRequestSize(body: JoinGroupRequest): number {
  return (
    REQUEST_OVERHEAD +
    textSize(body.groupId) +
    2 * INT32 +
    textSize(body.memberId) +
    textSize(body.groupInstanceId) +
    textSize(body.protocolType) +
    arraySize(
      body.protocols,
      ({ name, metadata }) => textSize(name) + bytesSize(metadata) + NO_TAGS,
    ) +
    textSize(body.reason) +
    NO_TAGS
  );
}

export function joinGroupResponseSize(body: JoinGroupResponse): number {
  return (
    RESPONSE_OVERHEAD +
    INT32 +
    INT16 +
    INT32 +
    textSize(body.protocolType) +
    textSize(body.protocolName) +
    textSize(body.leader) +
    INT8 +
    textSize(body.memberId) +
    arraySize(
      body.members,
      ({ memberId, groupInstanceId, metadata }) =>
        textSize(memberId) + textSize(groupInstanceId) + bytesSize(metadata) + NO_TAGS,
    ) +
    NO_TAGS
  );
}

export function syncGroupRequestSize(body: SyncGroupRequest): number {
  return (
    REQUEST_OVERHEAD +
    textSize(body.groupId) +
    INT32 +
    textSize(body.memberId) +
    textSize(body.groupInstanceId) +
    textSize(body.protocolType) +
    textSize(body.protocolName) +
    arraySize(
      body.assignments,
      ({ memberId, assignment }) => textSize(memberId) + bytesSize(assignment) + NO_TAGS,
    ) +
    NO_TAGS
  );
}

export function syncGroupResponseSize(body: SyncGroupResponse): number {
  return (
    RESPONSE_OVERHEAD +
    INT32 +
    INT16 +
    textSize(body.protocolType) +
    textSize(body.protocolName) +
    bytesSize(body.assignment) +
    NO_TAGS
  );
}

export function heartbeatRequestSize(body: HeartbeatRequest): number {
  return (
    REQUEST_OVERHEAD +
    textSize(body.groupId) +
    INT32 +
    textSize(body.memberId) +
    textSize(body.groupInstanceId) +
    NO_TAGS
  );
}

export function heartbeatResponseSize(): number {
  return RESPONSE_OVERHEAD + INT32 + INT16 + NO_TAGS;
}

export function leaveGroupRequestSize(body: LeaveGroupRequest): number {
  return (
    REQUEST_OVERHEAD +
    textSize(body.groupId) +
    arraySize(
      body.members,
      ({ memberId, groupInstanceId, reason }) =>
        textSize(memberId) + textSize(groupInstanceId) + textSize(reason) + NO_TAGS,
    ) +
    NO_TAGS
  );
}

export function leaveGroupResponseSize(body: LeaveGroupResponse): number {
  return (
    RESPONSE_OVERHEAD +
    INT32 +
    INT16 +
    arraySize(
      body.members,
      ({ memberId, groupInstanceId }) =>
        textSize(memberId) + textSize(groupInstanceId) + INT16 + NO_TAGS,
    ) +
    NO_TAGS
  );
}

/** Compact bytes. */
function bytesSize(bytes: Uint8Array): number {
  return varintSize(bytes.length + 1) + bytes.length;
}
