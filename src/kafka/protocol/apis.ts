import type {
  AddPartitionsToTxnRequest,
  AddPartitionsToTxnResponse,
} from "./add-partitions-to-txn.ts";
import {
  addPartitionsToTxnRequestSize,
  addPartitionsToTxnResponseSize,
} from "./add-partitions-to-txn.ts";
import type { AlterPartitionRequest, AlterPartitionResponse } from "./alter-partition.ts";
import { alterPartitionRequestSize, alterPartitionResponseSize } from "./alter-partition.ts";
import type { AnyApi, Api } from "./api.ts";
import type {
  AssignReplicasToDirsRequest,
  AssignReplicasToDirsResponse,
} from "./assign-replicas.ts";
import {
  assignReplicasToDirsRequestSize,
  assignReplicasToDirsResponseSize,
} from "./assign-replicas.ts";
import type {
  BrokerHeartbeatRequest,
  BrokerHeartbeatResponse,
  BrokerRegistrationRequest,
  BrokerRegistrationResponse,
} from "./broker-lifecycle.ts";
import {
  brokerHeartbeatRequestSize,
  brokerHeartbeatResponseSize,
  brokerRegistrationRequestSize,
  brokerRegistrationResponseSize,
} from "./broker-lifecycle.ts";
import type {
  ConsumerGroupHeartbeatRequest,
  ConsumerGroupHeartbeatResponse,
} from "./consumer-group-heartbeat.ts";
import {
  consumerGroupHeartbeatRequestSize,
  consumerGroupHeartbeatResponseSize,
} from "./consumer-group-heartbeat.ts";
import type { CreatePartitionsRequest, CreatePartitionsResponse } from "./create-partitions.ts";
import { createPartitionsRequestSize, createPartitionsResponseSize } from "./create-partitions.ts";
import type { CreateTopicsRequest, CreateTopicsResponse } from "./create-topics.ts";
import { createTopicsRequestSize, createTopicsResponseSize } from "./create-topics.ts";
import type { DeleteRecordsRequest, DeleteRecordsResponse } from "./delete-records.ts";
import { deleteRecordsRequestSize, deleteRecordsResponseSize } from "./delete-records.ts";
import type {
  DescribeProducersRequest,
  DescribeProducersResponse,
  DescribeTransactionsRequest,
  DescribeTransactionsResponse,
  ListTransactionsRequest,
  ListTransactionsResponse,
} from "./describe-transactions.ts";
import {
  describeProducersRequestSize,
  describeProducersResponseSize,
  describeTransactionsRequestSize,
  describeTransactionsResponseSize,
  listTransactionsRequestSize,
  listTransactionsResponseSize,
} from "./describe-transactions.ts";
import type {
  AddOffsetsToTxnRequest,
  AddOffsetsToTxnResponse,
  EndTxnRequest,
  EndTxnResponse,
} from "./end-txn.ts";
import {
  addOffsetsToTxnRequestSize,
  addOffsetsToTxnResponseSize,
  endTxnRequestSize,
  endTxnResponseSize,
} from "./end-txn.ts";
import type { FetchRequest, FetchResponse } from "./fetch.ts";
import { fetchRequestSize, fetchResponseSize } from "./fetch.ts";
import type { FindCoordinatorRequest, FindCoordinatorResponse } from "./find-coordinator.ts";
import { findCoordinatorRequestSize, findCoordinatorResponseSize } from "./find-coordinator.ts";
import type {
  HeartbeatRequest,
  HeartbeatResponse,
  JoinGroupRequest,
  JoinGroupResponse,
  LeaveGroupRequest,
  LeaveGroupResponse,
  SyncGroupRequest,
  SyncGroupResponse,
} from "./group-membership.ts";
import {
  heartbeatRequestSize,
  heartbeatResponseSize,
  joinGroupRequestSize,
  joinGroupResponseSize,
  leaveGroupRequestSize,
  leaveGroupResponseSize,
  syncGroupRequestSize,
  syncGroupResponseSize,
} from "./group-membership.ts";
import type {
  OffsetCommitRequest,
  OffsetCommitResponse,
  OffsetFetchRequest,
  OffsetFetchResponse,
  TxnOffsetCommitRequest,
  TxnOffsetCommitResponse,
} from "./group-offsets.ts";
import {
  offsetCommitRequestSize,
  offsetCommitResponseSize,
  offsetFetchRequestSize,
  offsetFetchResponseSize,
  txnOffsetCommitRequestSize,
  txnOffsetCommitResponseSize,
} from "./group-offsets.ts";
import type {
  AllocateProducerIdsRequest,
  AllocateProducerIdsResponse,
  InitProducerIdRequest,
  InitProducerIdResponse,
} from "./init-producer-id.ts";
import {
  allocateProducerIdsRequestSize,
  allocateProducerIdsResponseSize,
  initProducerIdRequestSize,
  initProducerIdResponseSize,
} from "./init-producer-id.ts";
import type { ListOffsetsRequest, ListOffsetsResponse } from "./list-offsets.ts";
import { listOffsetsRequestSize, listOffsetsResponseSize } from "./list-offsets.ts";
import type { MetadataRequest, MetadataResponse } from "./metadata.ts";
import { metadataRequestSize, metadataResponseSize } from "./metadata.ts";
import type {
  OffsetForLeaderEpochRequest,
  OffsetForLeaderEpochResponse,
} from "./offset-for-leader-epoch.ts";
import {
  offsetForLeaderEpochRequestSize,
  offsetForLeaderEpochResponseSize,
} from "./offset-for-leader-epoch.ts";
import type { ProduceRequest, ProduceResponse } from "./produce.ts";
import { produceRequestSize, produceResponseSize } from "./produce.ts";
import type {
  BeginQuorumEpochRequest,
  BeginQuorumEpochResponse,
  EndQuorumEpochRequest,
  EndQuorumEpochResponse,
  VoteRequest,
  VoteResponse,
} from "./quorum.ts";
import {
  beginQuorumEpochRequestSize,
  beginQuorumEpochResponseSize,
  endQuorumEpochRequestSize,
  endQuorumEpochResponseSize,
  voteRequestSize,
  voteResponseSize,
} from "./quorum.ts";
import type { WriteTxnMarkersRequest, WriteTxnMarkersResponse } from "./write-txn-markers.ts";
import { writeTxnMarkersRequestSize, writeTxnMarkersResponseSize } from "./write-txn-markers.ts";

export const PRODUCE: Api<ProduceRequest, ProduceResponse> = {
  key: 0,
  version: 13,
  name: "Produce",
  requestSize: produceRequestSize,
  responseSize: produceResponseSize,
};
export const FETCH: Api<FetchRequest, FetchResponse> = {
  key: 1,
  version: 18,
  name: "Fetch",
  requestSize: fetchRequestSize,
  responseSize: fetchResponseSize,
};
export const LIST_OFFSETS: Api<ListOffsetsRequest, ListOffsetsResponse> = {
  key: 2,
  version: 11,
  name: "ListOffsets",
  requestSize: listOffsetsRequestSize,
  responseSize: listOffsetsResponseSize,
};
export const METADATA: Api<MetadataRequest, MetadataResponse> = {
  key: 3,
  version: 13,
  name: "Metadata",
  requestSize: metadataRequestSize,
  responseSize: metadataResponseSize,
};
export const OFFSET_COMMIT: Api<OffsetCommitRequest, OffsetCommitResponse> = {
  key: 8,
  version: 10,
  name: "OffsetCommit",
  requestSize: offsetCommitRequestSize,
  responseSize: offsetCommitResponseSize,
};
export const OFFSET_FETCH: Api<OffsetFetchRequest, OffsetFetchResponse> = {
  key: 9,
  version: 10,
  name: "OffsetFetch",
  requestSize: offsetFetchRequestSize,
  responseSize: offsetFetchResponseSize,
};
export const FIND_COORDINATOR: Api<FindCoordinatorRequest, FindCoordinatorResponse> = {
  key: 10,
  version: 6,
  name: "FindCoordinator",
  requestSize: findCoordinatorRequestSize,
  responseSize: findCoordinatorResponseSize,
};
export const JOIN_GROUP: Api<JoinGroupRequest, JoinGroupResponse> = {
  key: 11,
  version: 9,
  name: "JoinGroup",
  requestSize: joinGroupRequestSize,
  responseSize: joinGroupResponseSize,
};
export const HEARTBEAT: Api<HeartbeatRequest, HeartbeatResponse> = {
  key: 12,
  version: 4,
  name: "Heartbeat",
  requestSize: heartbeatRequestSize,
  responseSize: heartbeatResponseSize,
};
export const LEAVE_GROUP: Api<LeaveGroupRequest, LeaveGroupResponse> = {
  key: 13,
  version: 5,
  name: "LeaveGroup",
  requestSize: leaveGroupRequestSize,
  responseSize: leaveGroupResponseSize,
};
export const SYNC_GROUP: Api<SyncGroupRequest, SyncGroupResponse> = {
  key: 14,
  version: 5,
  name: "SyncGroup",
  requestSize: syncGroupRequestSize,
  responseSize: syncGroupResponseSize,
};
export const CREATE_TOPICS: Api<CreateTopicsRequest, CreateTopicsResponse> = {
  key: 19,
  version: 7,
  name: "CreateTopics",
  requestSize: createTopicsRequestSize,
  responseSize: createTopicsResponseSize,
};
export const DELETE_RECORDS: Api<DeleteRecordsRequest, DeleteRecordsResponse> = {
  key: 21,
  version: 2,
  name: "DeleteRecords",
  requestSize: deleteRecordsRequestSize,
  responseSize: deleteRecordsResponseSize,
};
export const INIT_PRODUCER_ID: Api<InitProducerIdRequest, InitProducerIdResponse> = {
  key: 22,
  version: 5,
  name: "InitProducerId",
  requestSize: initProducerIdRequestSize,
  responseSize: initProducerIdResponseSize,
};
export const OFFSET_FOR_LEADER_EPOCH: Api<
  OffsetForLeaderEpochRequest,
  OffsetForLeaderEpochResponse
> = {
  key: 23,
  version: 4,
  name: "OffsetForLeaderEpoch",
  requestSize: offsetForLeaderEpochRequestSize,
  responseSize: offsetForLeaderEpochResponseSize,
};
export const ADD_PARTITIONS_TO_TXN: Api<AddPartitionsToTxnRequest, AddPartitionsToTxnResponse> = {
  key: 24,
  version: 5,
  name: "AddPartitionsToTxn",
  requestSize: addPartitionsToTxnRequestSize,
  responseSize: addPartitionsToTxnResponseSize,
};
export const ADD_OFFSETS_TO_TXN: Api<AddOffsetsToTxnRequest, AddOffsetsToTxnResponse> = {
  key: 25,
  version: 4,
  name: "AddOffsetsToTxn",
  requestSize: addOffsetsToTxnRequestSize,
  responseSize: addOffsetsToTxnResponseSize,
};
export const END_TXN: Api<EndTxnRequest, EndTxnResponse> = {
  key: 26,
  version: 5,
  name: "EndTxn",
  requestSize: endTxnRequestSize,
  responseSize: endTxnResponseSize,
};
export const WRITE_TXN_MARKERS: Api<WriteTxnMarkersRequest, WriteTxnMarkersResponse> = {
  key: 27,
  version: 2,
  name: "WriteTxnMarkers",
  requestSize: writeTxnMarkersRequestSize,
  responseSize: writeTxnMarkersResponseSize,
};
export const TXN_OFFSET_COMMIT: Api<TxnOffsetCommitRequest, TxnOffsetCommitResponse> = {
  key: 28,
  version: 5,
  name: "TxnOffsetCommit",
  requestSize: txnOffsetCommitRequestSize,
  responseSize: txnOffsetCommitResponseSize,
};
export const CREATE_PARTITIONS: Api<CreatePartitionsRequest, CreatePartitionsResponse> = {
  key: 37,
  version: 3,
  name: "CreatePartitions",
  requestSize: createPartitionsRequestSize,
  responseSize: createPartitionsResponseSize,
};
export const VOTE: Api<VoteRequest, VoteResponse> = {
  key: 52,
  version: 2,
  name: "Vote",
  requestSize: voteRequestSize,
  responseSize: voteResponseSize,
};
export const BEGIN_QUORUM_EPOCH: Api<BeginQuorumEpochRequest, BeginQuorumEpochResponse> = {
  key: 53,
  version: 1,
  name: "BeginQuorumEpoch",
  requestSize: beginQuorumEpochRequestSize,
  responseSize: beginQuorumEpochResponseSize,
};
export const END_QUORUM_EPOCH: Api<EndQuorumEpochRequest, EndQuorumEpochResponse> = {
  key: 54,
  version: 1,
  name: "EndQuorumEpoch",
  requestSize: endQuorumEpochRequestSize,
  responseSize: endQuorumEpochResponseSize,
};
export const ALTER_PARTITION: Api<AlterPartitionRequest, AlterPartitionResponse> = {
  key: 56,
  version: 3,
  name: "AlterPartition",
  requestSize: alterPartitionRequestSize,
  responseSize: alterPartitionResponseSize,
};
export const DESCRIBE_PRODUCERS: Api<DescribeProducersRequest, DescribeProducersResponse> = {
  key: 61,
  version: 0,
  name: "DescribeProducers",
  requestSize: describeProducersRequestSize,
  responseSize: describeProducersResponseSize,
};
export const BROKER_REGISTRATION: Api<BrokerRegistrationRequest, BrokerRegistrationResponse> = {
  key: 62,
  version: 4,
  name: "BrokerRegistration",
  requestSize: brokerRegistrationRequestSize,
  responseSize: brokerRegistrationResponseSize,
};
export const BROKER_HEARTBEAT: Api<BrokerHeartbeatRequest, BrokerHeartbeatResponse> = {
  key: 63,
  version: 1,
  name: "BrokerHeartbeat",
  requestSize: brokerHeartbeatRequestSize,
  responseSize: brokerHeartbeatResponseSize,
};
export const DESCRIBE_TRANSACTIONS: Api<DescribeTransactionsRequest, DescribeTransactionsResponse> =
  {
    key: 65,
    version: 0,
    name: "DescribeTransactions",
    requestSize: describeTransactionsRequestSize,
    responseSize: describeTransactionsResponseSize,
  };
export const LIST_TRANSACTIONS: Api<ListTransactionsRequest, ListTransactionsResponse> = {
  key: 66,
  version: 2,
  name: "ListTransactions",
  requestSize: listTransactionsRequestSize,
  responseSize: listTransactionsResponseSize,
};
export const ALLOCATE_PRODUCER_IDS: Api<AllocateProducerIdsRequest, AllocateProducerIdsResponse> = {
  key: 67,
  version: 0,
  name: "AllocateProducerIds",
  requestSize: allocateProducerIdsRequestSize,
  responseSize: allocateProducerIdsResponseSize,
};
export const CONSUMER_GROUP_HEARTBEAT: Api<
  ConsumerGroupHeartbeatRequest,
  ConsumerGroupHeartbeatResponse
> = {
  key: 68,
  version: 1,
  name: "ConsumerGroupHeartbeat",
  requestSize: consumerGroupHeartbeatRequestSize,
  responseSize: consumerGroupHeartbeatResponseSize,
};
export const ASSIGN_REPLICAS_TO_DIRS: Api<
  AssignReplicasToDirsRequest,
  AssignReplicasToDirsResponse
> = {
  key: 73,
  version: 0,
  name: "AssignReplicasToDirs",
  requestSize: assignReplicasToDirsRequestSize,
  responseSize: assignReplicasToDirsResponseSize,
};

/** Every API that nodes speak. */
export const APIS: readonly AnyApi[] = [
  PRODUCE,
  FETCH,
  LIST_OFFSETS,
  METADATA,
  OFFSET_COMMIT,
  OFFSET_FETCH,
  FIND_COORDINATOR,
  JOIN_GROUP,
  HEARTBEAT,
  LEAVE_GROUP,
  SYNC_GROUP,
  CREATE_TOPICS,
  DELETE_RECORDS,
  INIT_PRODUCER_ID,
  OFFSET_FOR_LEADER_EPOCH,
  ADD_PARTITIONS_TO_TXN,
  ADD_OFFSETS_TO_TXN,
  END_TXN,
  WRITE_TXN_MARKERS,
  TXN_OFFSET_COMMIT,
  CREATE_PARTITIONS,
  VOTE,
  BEGIN_QUORUM_EPOCH,
  END_QUORUM_EPOCH,
  ALTER_PARTITION,
  DESCRIBE_PRODUCERS,
  BROKER_REGISTRATION,
  BROKER_HEARTBEAT,
  DESCRIBE_TRANSACTIONS,
  LIST_TRANSACTIONS,
  ALLOCATE_PRODUCER_IDS,
  CONSUMER_GROUP_HEARTBEAT,
  ASSIGN_REPLICAS_TO_DIRS,
];

const NAMES: ReadonlyMap<number, string> = new Map(APIS.map(({ key, name }) => [key, name]));

/** Kafka's name of an API: `Produce`. */
export function apiName(key: number): string {
  return NAMES.get(key) ?? `API ${key}`;
}
