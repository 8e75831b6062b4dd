/** VoteRequest v2: `preVote` since KIP-996. Kafka nests it in topics; there is only the metadata log. */
export interface VoteRequest {
  readonly clusterId: string;
  readonly voterId: number;
  readonly replicaEpoch: number;
  readonly replicaId: number;
  readonly replicaDirectoryId: string;
  readonly voterDirectoryId: string;
  readonly lastOffsetEpoch: number;
  readonly lastOffset: number;
  readonly preVote: boolean;
}

export interface VoteResponse {
  readonly errorCode: number;
  readonly leaderId: number;
  readonly leaderEpoch: number;
  readonly voteGranted: boolean;
}

/** BeginQuorumEpochRequest v1: a new leader tells the voters. */
export interface BeginQuorumEpochRequest {
  readonly clusterId: string;
  readonly voterId: number;
  readonly voterDirectoryId: string;
  readonly leaderId: number;
  readonly leaderEpoch: number;
}

export interface BeginQuorumEpochResponse {
  readonly errorCode: number;
  readonly leaderId: number;
  readonly leaderEpoch: number;
}

/** EndQuorumEpochRequest v1: a resigning leader names its successors, best first. */
export interface EndQuorumEpochRequest {
  readonly clusterId: string;
  readonly leaderId: number;
  readonly leaderEpoch: number;
  readonly preferredCandidates: readonly number[];
}

export interface EndQuorumEpochResponse {
  readonly errorCode: number;
  readonly leaderId: number;
  readonly leaderEpoch: number;
}
