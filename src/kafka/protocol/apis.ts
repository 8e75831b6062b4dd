import type { AlterPartitionRequest, AlterPartitionResponse } from "./alter-partition.ts";
import type { Api } from "./api.ts";
import type {
  BrokerHeartbeatRequest,
  BrokerHeartbeatResponse,
  BrokerRegistrationRequest,
  BrokerRegistrationResponse,
} from "./broker-lifecycle.ts";
import type { CreateTopicsRequest, CreateTopicsResponse } from "./create-topics.ts";
import type { FetchRequest, FetchResponse } from "./fetch.ts";
import type {
  AllocateProducerIdsRequest,
  AllocateProducerIdsResponse,
  InitProducerIdRequest,
  InitProducerIdResponse,
} from "./init-producer-id.ts";
import type { ListOffsetsRequest, ListOffsetsResponse } from "./list-offsets.ts";
import type { MetadataRequest, MetadataResponse } from "./metadata.ts";
import type {
  OffsetForLeaderEpochRequest,
  OffsetForLeaderEpochResponse,
} from "./offset-for-leader-epoch.ts";
import type { ProduceRequest, ProduceResponse } from "./produce.ts";
import type {
  BeginQuorumEpochRequest,
  BeginQuorumEpochResponse,
  EndQuorumEpochRequest,
  EndQuorumEpochResponse,
  VoteRequest,
  VoteResponse,
} from "./quorum.ts";

function api<Request, Response>(
  key: number,
  version: number,
  name: string,
): Api<Request, Response> {
  return { key, version, name, requestSize: () => 64, responseSize: () => 64 };
}

export const PRODUCE: Api<ProduceRequest, ProduceResponse> = api(0, 13, "Produce");
export const FETCH: Api<FetchRequest, FetchResponse> = api(1, 18, "Fetch");
export const LIST_OFFSETS: Api<ListOffsetsRequest, ListOffsetsResponse> = api(2, 11, "ListOffsets");
export const METADATA: Api<MetadataRequest, MetadataResponse> = api(3, 13, "Metadata");
export const CREATE_TOPICS: Api<CreateTopicsRequest, CreateTopicsResponse> = api(
  19,
  7,
  "CreateTopics",
);
export const INIT_PRODUCER_ID: Api<InitProducerIdRequest, InitProducerIdResponse> = api(
  22,
  5,
  "InitProducerId",
);
export const OFFSET_FOR_LEADER_EPOCH: Api<
  OffsetForLeaderEpochRequest,
  OffsetForLeaderEpochResponse
> = api(23, 4, "OffsetForLeaderEpoch");
export const VOTE: Api<VoteRequest, VoteResponse> = api(52, 2, "Vote");
export const BEGIN_QUORUM_EPOCH: Api<BeginQuorumEpochRequest, BeginQuorumEpochResponse> = api(
  53,
  1,
  "BeginQuorumEpoch",
);
export const END_QUORUM_EPOCH: Api<EndQuorumEpochRequest, EndQuorumEpochResponse> = api(
  54,
  1,
  "EndQuorumEpoch",
);
export const ALTER_PARTITION: Api<AlterPartitionRequest, AlterPartitionResponse> = api(
  56,
  3,
  "AlterPartition",
);
export const BROKER_REGISTRATION: Api<BrokerRegistrationRequest, BrokerRegistrationResponse> = api(
  62,
  4,
  "BrokerRegistration",
);
export const BROKER_HEARTBEAT: Api<BrokerHeartbeatRequest, BrokerHeartbeatResponse> = api(
  63,
  1,
  "BrokerHeartbeat",
);
export const ALLOCATE_PRODUCER_IDS: Api<AllocateProducerIdsRequest, AllocateProducerIdsResponse> =
  api(67, 0, "AllocateProducerIds");
