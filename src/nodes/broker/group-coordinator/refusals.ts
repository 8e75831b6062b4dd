import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS } from "../../../kafka/error-code.ts";
import type {
  LeaveGroupRequest,
  LeaveGroupResponse,
} from "../../../kafka/protocol/group-membership.ts";
import type {
  OffsetCommitRequest,
  OffsetCommitResponse,
  OffsetFetchGroup,
  OffsetFetchGroupResponse,
  TxnOffsetCommitRequest,
  TxnOffsetCommitResponse,
} from "../../../kafka/protocol/group-offsets.ts";

/** What requests are answered that fail as a whole, each in the way of its API (`getErrorResponse`). */

/** An unknown group is told of member by member. */
export function refusedLeave(body: LeaveGroupRequest, error: ErrorCode): LeaveGroupResponse {
  const { code: errorCode } = error;
  if (error !== ERRORS.UNKNOWN_MEMBER_ID) return { throttleTimeMs: 0, errorCode, members: [] };
  const members = body.members.map(({ memberId, groupInstanceId }) => {
    return { memberId, groupInstanceId, errorCode };
  });
  return { throttleTimeMs: 0, errorCode: 0, members };
}

export function refusedCommit(body: OffsetCommitRequest, error: ErrorCode): OffsetCommitResponse {
  const { code: errorCode } = error;
  const topics = body.topics.map(({ topicId, partitions }) => ({
    topicId,
    partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode })),
  }));
  return { throttleTimeMs: 0, topics };
}

export function refusedTxnCommit(
  body: TxnOffsetCommitRequest,
  error: ErrorCode,
): TxnOffsetCommitResponse {
  const { code: errorCode } = error;
  const topics = body.topics.map(({ name, partitions }) => ({
    name,
    partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode })),
  }));
  return { throttleTimeMs: 0, topics };
}

export function refusedFetch(
  { groupId }: OffsetFetchGroup,
  { code }: ErrorCode,
): OffsetFetchGroupResponse {
  return { groupId, topics: [], errorCode: code };
}
