import fc from "fast-check";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../src/kafka/log/record-batch.ts";
import type {
  AddPartitionsToTxnRequest,
  AddPartitionsToTxnResponse,
} from "../../src/kafka/protocol/add-partitions-to-txn.ts";
import type {
  AlterPartitionRequest,
  AlterPartitionResponse,
} from "../../src/kafka/protocol/alter-partition.ts";
import type {
  AssignReplicasToDirsRequest,
  AssignReplicasToDirsResponse,
} from "../../src/kafka/protocol/assign-replicas.ts";
import type {
  BrokerHeartbeatRequest,
  BrokerHeartbeatResponse,
  BrokerRegistrationRequest,
  BrokerRegistrationResponse,
} from "../../src/kafka/protocol/broker-lifecycle.ts";
import type {
  ConsumerGroupHeartbeatRequest,
  ConsumerGroupHeartbeatResponse,
} from "../../src/kafka/protocol/consumer-group-heartbeat.ts";
import type {
  CreatePartitionsRequest,
  CreatePartitionsResponse,
} from "../../src/kafka/protocol/create-partitions.ts";
import type {
  CreateTopicsRequest,
  CreateTopicsResponse,
} from "../../src/kafka/protocol/create-topics.ts";
import type {
  DeleteRecordsRequest,
  DeleteRecordsResponse,
} from "../../src/kafka/protocol/delete-records.ts";
import type {
  DescribeProducersRequest,
  DescribeProducersResponse,
  DescribeTransactionsRequest,
  DescribeTransactionsResponse,
  ListTransactionsRequest,
  ListTransactionsResponse,
} from "../../src/kafka/protocol/describe-transactions.ts";
import type {
  AddOffsetsToTxnRequest,
  AddOffsetsToTxnResponse,
  EndTxnRequest,
  EndTxnResponse,
} from "../../src/kafka/protocol/end-txn.ts";
import type { FetchRequest, FetchResponse } from "../../src/kafka/protocol/fetch.ts";
import type {
  FindCoordinatorRequest,
  FindCoordinatorResponse,
} from "../../src/kafka/protocol/find-coordinator.ts";
import type {
  HeartbeatRequest,
  HeartbeatResponse,
  JoinGroupRequest,
  JoinGroupResponse,
  LeaveGroupRequest,
  LeaveGroupResponse,
  SyncGroupRequest,
  SyncGroupResponse,
} from "../../src/kafka/protocol/group-membership.ts";
import type {
  OffsetCommitRequest,
  OffsetCommitResponse,
  OffsetFetchRequest,
  OffsetFetchResponse,
  TxnOffsetCommitRequest,
  TxnOffsetCommitResponse,
} from "../../src/kafka/protocol/group-offsets.ts";
import type {
  AllocateProducerIdsRequest,
  AllocateProducerIdsResponse,
  InitProducerIdRequest,
  InitProducerIdResponse,
} from "../../src/kafka/protocol/init-producer-id.ts";
import type {
  ListOffsetsRequest,
  ListOffsetsResponse,
} from "../../src/kafka/protocol/list-offsets.ts";
import type { MetadataRequest, MetadataResponse } from "../../src/kafka/protocol/metadata.ts";
import type {
  OffsetForLeaderEpochRequest,
  OffsetForLeaderEpochResponse,
} from "../../src/kafka/protocol/offset-for-leader-epoch.ts";
import type { ProduceRequest, ProduceResponse } from "../../src/kafka/protocol/produce.ts";
import type {
  BeginQuorumEpochRequest,
  BeginQuorumEpochResponse,
  EndQuorumEpochRequest,
  EndQuorumEpochResponse,
  VoteRequest,
  VoteResponse,
} from "../../src/kafka/protocol/quorum.ts";

import type {
  WriteTxnMarkersRequest,
  WriteTxnMarkersResponse,
} from "../../src/kafka/protocol/write-txn-markers.ts";

/** Arbitrary bodies of every message, with lengths on both sides of where a varint grows. */

const int8 = fc.integer({ min: -128, max: 127 });
const int16 = fc.integer({ min: -0x8000, max: 0x7fff });
const int32 = fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff });
const int64 = fc.maxSafeInteger();
const port = fc.integer({ min: 0, max: 0xffff });
const bool = fc.boolean();
const uuid: fc.Arbitrary<string> = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => Buffer.from(bytes).toString("base64url"));
const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: "grapheme-ascii", maxLength: 20 }) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(126, 127, 128).map((n) => "x".repeat(n)),
  },
);
const maybeText = fc.option(text, { nil: undefined });

/** Some items; sometimes so many that their count takes two bytes. */
function some<Item>(item: fc.Arbitrary<Item>): fc.Arbitrary<readonly Item[]> {
  const many = fc
    .tuple(item, fc.constantFrom(126, 127, 200))
    .map(([one, count]) => new Array<Item>(count).fill(one));
  return fc.oneof(
    { weight: 12, arbitrary: fc.array(item, { maxLength: 3 }) },
    { weight: 1, arbitrary: many },
  );
}

const batch: fc.Arbitrary<RecordBatch> = fc
  .oneof(
    { weight: 8, arbitrary: fc.nat({ max: 200 }) },
    { weight: 1, arbitrary: fc.integer({ min: 16_000, max: 16_500 }) },
  )
  .map((size) => buildBatch([{ timestamp: 0, value: new Uint8Array(size) }]));

// What is as in Kafka's default is not written; nodes then say undefined.
const leader = fc.option(fc.record({ leaderId: int32, leaderEpoch: fc.nat() }), { nil: undefined });
const epochEnd = fc.option(fc.record({ epoch: fc.nat(), endOffset: int64 }), { nil: undefined });

export const produceRequest: fc.Arbitrary<ProduceRequest> = fc.record({
  transactionalId: maybeText,
  acks: fc.constantFrom(-1, 0, 1),
  timeoutMs: int32,
  topicData: some(
    fc.record({ topicId: uuid, partitionData: some(fc.record({ index: int32, records: batch })) }),
  ),
});

export const produceResponse: fc.Arbitrary<ProduceResponse> = fc.record({
  responses: some(
    fc.record({
      topicId: uuid,
      partitionResponses: some(
        fc.record({
          index: int32,
          errorCode: int16,
          baseOffset: int64,
          logAppendTimeMs: int64,
          logStartOffset: int64,
          currentLeader: leader,
        }),
      ),
    }),
  ),
  throttleTimeMs: int32,
});

export const fetchRequest: fc.Arbitrary<FetchRequest> = fc
  .record({
    clusterId: maybeText,
    replicaId: fc.integer({ min: -1, max: 5000 }),
    replicaEpoch: int64,
    maxWaitMs: int32,
    minBytes: int32,
    maxBytes: int32,
    isolationLevel: fc.constantFrom(0, 1),
    sessionId: int32,
    sessionEpoch: int32,
    topics: some(
      fc.record({
        topicId: uuid,
        partitions: some(
          fc.record({
            partition: int32,
            currentLeaderEpoch: int32,
            fetchOffset: int64,
            lastFetchedEpoch: int32,
            logStartOffset: int64,
            partitionMaxBytes: int32,
            highWatermark: fc.integer({ min: -1, max: 9 }),
          }),
        ),
      }),
    ),
    forgottenTopicsData: some(fc.record({ topicId: uuid, partitions: fc.array(int32) })),
  })
  .map((body) => (body.replicaId < 0 ? { ...body, replicaEpoch: -1 } : body));

export const fetchResponse: fc.Arbitrary<FetchResponse> = fc.record({
  throttleTimeMs: int32,
  errorCode: int16,
  sessionId: int32,
  responses: some(
    fc.record({
      topicId: uuid,
      partitions: some(
        fc.record({
          partitionIndex: int32,
          errorCode: int16,
          highWatermark: int64,
          lastStableOffset: int64,
          logStartOffset: int64,
          divergingEpoch: epochEnd,
          currentLeader: leader,
          snapshotId: epochEnd,
          abortedTransactions: fc.option(
            some(fc.record({ producerId: int64, firstOffset: int64 })),
            { nil: undefined },
          ),
          preferredReadReplica: int32,
          records: fc.array(batch, { maxLength: 3 }),
        }),
      ),
    }),
  ),
});

export const listOffsetsRequest: fc.Arbitrary<ListOffsetsRequest> = fc.record({
  replicaId: int32,
  isolationLevel: int8,
  topics: some(
    fc.record({
      name: text,
      partitions: some(
        fc.record({ partitionIndex: int32, currentLeaderEpoch: int32, timestamp: int64 }),
      ),
    }),
  ),
  timeoutMs: int32,
});

export const listOffsetsResponse: fc.Arbitrary<ListOffsetsResponse> = fc.record({
  throttleTimeMs: int32,
  topics: some(
    fc.record({
      name: text,
      partitions: some(
        fc.record({
          partitionIndex: int32,
          errorCode: int16,
          timestamp: int64,
          offset: int64,
          leaderEpoch: int32,
        }),
      ),
    }),
  ),
});

export const metadataRequest: fc.Arbitrary<MetadataRequest> = fc.record({
  topics: fc.option(
    some(fc.record({ topicId: fc.option(uuid, { nil: undefined }), name: maybeText })),
    { nil: undefined },
  ),
  allowAutoTopicCreation: bool,
});

export const metadataResponse: fc.Arbitrary<MetadataResponse> = fc.record({
  throttleTimeMs: int32,
  brokers: some(fc.record({ nodeId: int32, host: text, port: int32, rack: maybeText })),
  clusterId: text,
  controllerId: int32,
  topics: some(
    fc.record({
      errorCode: int16,
      name: text,
      topicId: uuid,
      isInternal: bool,
      partitions: some(
        fc.record({
          errorCode: int16,
          partitionIndex: int32,
          leaderId: int32,
          leaderEpoch: int32,
          replicaNodes: some(int32),
          isrNodes: some(int32),
          offlineReplicas: some(int32),
        }),
      ),
    }),
  ),
  errorCode: int16,
});

export const createTopicsRequest: fc.Arbitrary<CreateTopicsRequest> = fc.record({
  topics: some(
    fc.record({
      name: text,
      numPartitions: int32,
      replicationFactor: int16,
      assignments: some(fc.record({ partitionIndex: int32, brokerIds: some(int32) })),
      configs: some(fc.record({ name: text, value: maybeText })),
    }),
  ),
  timeoutMs: int32,
  validateOnly: bool,
});

export const createTopicsResponse: fc.Arbitrary<CreateTopicsResponse> = fc.record({
  throttleTimeMs: int32,
  topics: some(
    fc.record({
      name: text,
      topicId: uuid,
      errorCode: int16,
      errorMessage: maybeText,
      numPartitions: int32,
      replicationFactor: int16,
    }),
  ),
});

export const createPartitionsRequest: fc.Arbitrary<CreatePartitionsRequest> = fc.record({
  topics: some(fc.record({ name: text, count: int32 })),
  timeoutMs: int32,
  validateOnly: bool,
});

export const createPartitionsResponse: fc.Arbitrary<CreatePartitionsResponse> = fc.record({
  throttleTimeMs: int32,
  results: some(fc.record({ name: text, errorCode: int16, errorMessage: maybeText })),
});

export const deleteRecordsRequest: fc.Arbitrary<DeleteRecordsRequest> = fc.record({
  topics: some(
    fc.record({
      name: text,
      partitions: some(fc.record({ partitionIndex: int32, offset: int64 })),
    }),
  ),
  timeoutMs: int32,
});

export const deleteRecordsResponse: fc.Arbitrary<DeleteRecordsResponse> = fc.record({
  throttleTimeMs: int32,
  topics: some(
    fc.record({
      name: text,
      partitions: some(fc.record({ partitionIndex: int32, lowWatermark: int64, errorCode: int16 })),
    }),
  ),
});

export const describeProducersRequest: fc.Arbitrary<DescribeProducersRequest> = fc.record({
  topics: some(fc.record({ name: text, partitionIndexes: some(int32) })),
});

export const describeProducersResponse: fc.Arbitrary<DescribeProducersResponse> = fc.record({
  throttleTimeMs: int32,
  topics: some(
    fc.record({
      name: text,
      partitions: some(
        fc.record({
          partitionIndex: int32,
          errorCode: int16,
          errorMessage: maybeText,
          activeProducers: some(
            fc.record({
              producerId: int64,
              producerEpoch: int32,
              lastSequence: int32,
              lastTimestamp: int64,
              coordinatorEpoch: int32,
              currentTxnStartOffset: int64,
            }),
          ),
        }),
      ),
    }),
  ),
});

export const describeTransactionsRequest: fc.Arbitrary<DescribeTransactionsRequest> = fc.record({
  transactionalIds: some(text),
});

export const describeTransactionsResponse: fc.Arbitrary<DescribeTransactionsResponse> = fc.record({
  throttleTimeMs: int32,
  transactionStates: some(
    fc.record({
      errorCode: int16,
      transactionalId: text,
      transactionState: text,
      transactionTimeoutMs: int32,
      transactionStartTimeMs: int64,
      producerId: int64,
      producerEpoch: int16,
      topics: some(fc.record({ topic: text, partitions: some(int32) })),
    }),
  ),
});

export const listTransactionsRequest: fc.Arbitrary<ListTransactionsRequest> = fc.record({
  stateFilters: some(text),
  producerIdFilters: some(int64),
  durationFilter: int64,
});

export const listTransactionsResponse: fc.Arbitrary<ListTransactionsResponse> = fc.record({
  throttleTimeMs: int32,
  errorCode: int16,
  unknownStateFilters: some(text),
  transactionStates: some(
    fc.record({ transactionalId: text, producerId: int64, transactionState: text }),
  ),
});

export const initProducerIdRequest: fc.Arbitrary<InitProducerIdRequest> = fc.record({
  transactionalId: maybeText,
  transactionTimeoutMs: int32,
  producerId: int64,
  producerEpoch: int16,
});

export const initProducerIdResponse: fc.Arbitrary<InitProducerIdResponse> = fc.record({
  throttleTimeMs: int32,
  errorCode: int16,
  producerId: int64,
  producerEpoch: int16,
});

const producerOfTxn = { transactionalId: text, producerId: int64, producerEpoch: int16 };
const transactionOfTxn = fc.record({
  ...producerOfTxn,
  verifyOnly: bool,
  topics: some(fc.record({ name: text, partitions: some(int32) })),
});
const resultOfTxn = fc.record({
  transactionalId: text,
  topicResults: some(
    fc.record({
      name: text,
      resultsByPartition: some(fc.record({ partitionIndex: int32, partitionErrorCode: int16 })),
    }),
  ),
});

export const addPartitionsToTxnRequest: fc.Arbitrary<AddPartitionsToTxnRequest> = fc.record({
  transactions: some(transactionOfTxn),
});

export const addPartitionsToTxnResponse: fc.Arbitrary<AddPartitionsToTxnResponse> = fc.record({
  throttleTimeMs: int32,
  errorCode: int16,
  resultsByTransaction: some(resultOfTxn),
});

export const addPartitionsToOneTxnRequest: fc.Arbitrary<AddPartitionsToTxnRequest> = fc.record({
  transactions: fc.tuple(transactionOfTxn),
});

export const addPartitionsToOneTxnResponse: fc.Arbitrary<AddPartitionsToTxnResponse> = fc.record({
  throttleTimeMs: int32,
  errorCode: int16,
  resultsByTransaction: fc.tuple(resultOfTxn),
});

export const addOffsetsToTxnRequest: fc.Arbitrary<AddOffsetsToTxnRequest> = fc.record({
  ...producerOfTxn,
  groupId: text,
});

export const addOffsetsToTxnResponse: fc.Arbitrary<AddOffsetsToTxnResponse> = fc.record({
  throttleTimeMs: int32,
  errorCode: int16,
});

export const endTxnRequest: fc.Arbitrary<EndTxnRequest> = fc.record({
  ...producerOfTxn,
  committed: bool,
});

export const endTxnResponse: fc.Arbitrary<EndTxnResponse> = fc.record({
  throttleTimeMs: int32,
  errorCode: int16,
  producerId: int64,
  producerEpoch: int16,
});

export const writeTxnMarkersRequest: fc.Arbitrary<WriteTxnMarkersRequest> = fc.record({
  markers: some(
    fc.record({
      producerId: int64,
      producerEpoch: int16,
      transactionResult: bool,
      topics: some(fc.record({ name: text, partitionIndexes: some(int32) })),
      coordinatorEpoch: int32,
      transactionVersion: int8,
    }),
  ),
});

export const writeTxnMarkersResponse: fc.Arbitrary<WriteTxnMarkersResponse> = fc.record({
  markers: some(
    fc.record({
      producerId: int64,
      topics: some(
        fc.record({
          name: text,
          partitions: some(fc.record({ partitionIndex: int32, errorCode: int16 })),
        }),
      ),
    }),
  ),
});

export const offsetForLeaderEpochRequest: fc.Arbitrary<OffsetForLeaderEpochRequest> = fc.record({
  replicaId: int32,
  topics: some(
    fc.record({
      topic: text,
      partitions: some(
        fc.record({ partition: int32, currentLeaderEpoch: int32, leaderEpoch: int32 }),
      ),
    }),
  ),
});

export const offsetForLeaderEpochResponse: fc.Arbitrary<OffsetForLeaderEpochResponse> = fc.record({
  throttleTimeMs: int32,
  topics: some(
    fc.record({
      topic: text,
      partitions: some(
        fc.record({ errorCode: int16, partition: int32, leaderEpoch: int32, endOffset: int64 }),
      ),
    }),
  ),
});

const quorumLeader = { errorCode: int16, leaderId: int32, leaderEpoch: int32 };

export const voteRequest: fc.Arbitrary<VoteRequest> = fc.record({
  clusterId: text,
  voterId: int32,
  replicaEpoch: int32,
  replicaId: int32,
  replicaDirectoryId: uuid,
  voterDirectoryId: uuid,
  lastOffsetEpoch: int32,
  lastOffset: int64,
  preVote: bool,
});

export const voteResponse: fc.Arbitrary<VoteResponse> = fc.record({
  ...quorumLeader,
  voteGranted: bool,
});

export const beginQuorumEpochRequest: fc.Arbitrary<BeginQuorumEpochRequest> = fc.record({
  clusterId: text,
  voterId: int32,
  voterDirectoryId: uuid,
  leaderId: int32,
  leaderEpoch: int32,
});

export const beginQuorumEpochResponse: fc.Arbitrary<BeginQuorumEpochResponse> =
  fc.record(quorumLeader);

export const endQuorumEpochRequest: fc.Arbitrary<EndQuorumEpochRequest> = fc.record({
  clusterId: text,
  leaderId: int32,
  leaderEpoch: int32,
  preferredCandidates: some(int32),
});

export const endQuorumEpochResponse: fc.Arbitrary<EndQuorumEpochResponse> = fc.record(quorumLeader);

export const alterPartitionRequest: fc.Arbitrary<AlterPartitionRequest> = fc.record({
  brokerId: int32,
  brokerEpoch: int64,
  topics: some(
    fc.record({
      topicId: uuid,
      partitions: some(
        fc.record({
          partitionIndex: int32,
          leaderEpoch: int32,
          newIsrWithEpochs: some(fc.record({ brokerId: int32, brokerEpoch: int64 })),
          leaderRecoveryState: fc.constantFrom(0, 1),
          partitionEpoch: int32,
        }),
      ),
    }),
  ),
});

export const alterPartitionResponse: fc.Arbitrary<AlterPartitionResponse> = fc.record({
  throttleTimeMs: int32,
  errorCode: int16,
  topics: some(
    fc.record({
      topicId: uuid,
      partitions: some(
        fc.record({
          partitionIndex: int32,
          errorCode: int16,
          leaderId: int32,
          leaderEpoch: int32,
          isr: some(int32),
          leaderRecoveryState: fc.constantFrom(0, 1),
          partitionEpoch: int32,
        }),
      ),
    }),
  ),
});

export const brokerRegistrationRequest: fc.Arbitrary<BrokerRegistrationRequest> = fc.record({
  brokerId: int32,
  clusterId: text,
  incarnationId: uuid,
  listeners: some(fc.record({ name: text, host: text, port, securityProtocol: int16 })),
  features: some(fc.record({ name: text, minSupportedVersion: int16, maxSupportedVersion: int16 })),
  rack: maybeText,
  logDirs: some(uuid),
  previousBrokerEpoch: int64,
});

export const brokerRegistrationResponse: fc.Arbitrary<BrokerRegistrationResponse> = fc.record({
  throttleTimeMs: int32,
  errorCode: int16,
  brokerEpoch: int64,
});

export const brokerHeartbeatRequest: fc.Arbitrary<BrokerHeartbeatRequest> = fc.record({
  brokerId: int32,
  brokerEpoch: int64,
  currentMetadataOffset: int64,
  wantFence: bool,
  wantShutDown: bool,
  offlineLogDirs: some(uuid),
});

export const brokerHeartbeatResponse: fc.Arbitrary<BrokerHeartbeatResponse> = fc.record({
  throttleTimeMs: int32,
  errorCode: int16,
  isCaughtUp: bool,
  isFenced: bool,
  shouldShutDown: bool,
});

const bytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 6, arbitrary: fc.uint8Array({ maxLength: 20 }) },
  { weight: 1, arbitrary: fc.constantFrom(126, 127, 200).map((n) => new Uint8Array(n)) },
);
const committedPartition = fc.record({
  partitionIndex: int32,
  committedOffset: int64,
  committedLeaderEpoch: int32,
  committedMetadata: maybeText,
});
const partitionError = fc.record({ partitionIndex: int32, errorCode: int16 });

export const offsetCommitRequest: fc.Arbitrary<OffsetCommitRequest> = fc.record({
  groupId: text,
  generationIdOrMemberEpoch: int32,
  memberId: text,
  groupInstanceId: maybeText,
  topics: some(fc.record({ topicId: uuid, partitions: some(committedPartition) })),
});

export const offsetCommitResponse: fc.Arbitrary<OffsetCommitResponse> = fc.record({
  throttleTimeMs: int32,
  topics: some(fc.record({ topicId: uuid, partitions: some(partitionError) })),
});

export const offsetFetchRequest: fc.Arbitrary<OffsetFetchRequest> = fc.record({
  groups: some(
    fc.record({
      groupId: text,
      memberId: maybeText,
      memberEpoch: int32,
      topics: fc.option(some(fc.record({ topicId: uuid, partitionIndexes: some(int32) })), {
        nil: undefined,
      }),
    }),
  ),
  requireStable: bool,
});

export const offsetFetchResponse: fc.Arbitrary<OffsetFetchResponse> = fc.record({
  throttleTimeMs: int32,
  groups: some(
    fc.record({
      groupId: text,
      topics: some(
        fc.record({
          topicId: uuid,
          partitions: some(
            fc.record({
              partitionIndex: int32,
              committedOffset: int64,
              committedLeaderEpoch: int32,
              metadata: text,
              errorCode: int16,
            }),
          ),
        }),
      ),
      errorCode: int16,
    }),
  ),
});

export const txnOffsetCommitRequest: fc.Arbitrary<TxnOffsetCommitRequest> = fc.record({
  transactionalId: text,
  groupId: text,
  producerId: int64,
  producerEpoch: int16,
  generationId: int32,
  memberId: text,
  groupInstanceId: maybeText,
  topics: some(fc.record({ name: text, partitions: some(committedPartition) })),
});

export const txnOffsetCommitResponse: fc.Arbitrary<TxnOffsetCommitResponse> = fc.record({
  throttleTimeMs: int32,
  topics: some(fc.record({ name: text, partitions: some(partitionError) })),
});

export const joinGroupRequest: fc.Arbitrary<JoinGroupRequest> = fc.record({
  groupId: text,
  sessionTimeoutMs: int32,
  rebalanceTimeoutMs: int32,
  memberId: text,
  groupInstanceId: maybeText,
  protocolType: text,
  protocols: some(fc.record({ name: text, metadata: bytes })),
  reason: maybeText,
});

export const joinGroupResponse: fc.Arbitrary<JoinGroupResponse> = fc.record({
  throttleTimeMs: int32,
  errorCode: int16,
  generationId: int32,
  protocolType: maybeText,
  protocolName: maybeText,
  leader: text,
  skipAssignment: bool,
  memberId: text,
  members: some(fc.record({ memberId: text, groupInstanceId: maybeText, metadata: bytes })),
});

export const syncGroupRequest: fc.Arbitrary<SyncGroupRequest> = fc.record({
  groupId: text,
  generationId: int32,
  memberId: text,
  groupInstanceId: maybeText,
  protocolType: maybeText,
  protocolName: maybeText,
  assignments: some(fc.record({ memberId: text, assignment: bytes })),
});

export const syncGroupResponse: fc.Arbitrary<SyncGroupResponse> = fc.record({
  throttleTimeMs: int32,
  errorCode: int16,
  protocolType: maybeText,
  protocolName: maybeText,
  assignment: bytes,
});

export const heartbeatRequest: fc.Arbitrary<HeartbeatRequest> = fc.record({
  groupId: text,
  generationId: int32,
  memberId: text,
  groupInstanceId: maybeText,
});

export const heartbeatResponse: fc.Arbitrary<HeartbeatResponse> = fc.record({
  throttleTimeMs: int32,
  errorCode: int16,
});

export const leaveGroupRequest: fc.Arbitrary<LeaveGroupRequest> = fc.record({
  groupId: text,
  members: some(fc.record({ memberId: text, groupInstanceId: maybeText, reason: maybeText })),
});

export const leaveGroupResponse: fc.Arbitrary<LeaveGroupResponse> = fc.record({
  throttleTimeMs: int32,
  errorCode: int16,
  members: some(fc.record({ memberId: text, groupInstanceId: maybeText, errorCode: int16 })),
});

const ownedPartitions = fc.option(some(fc.record({ topicId: uuid, partitions: some(int32) })), {
  nil: undefined,
});

export const consumerGroupHeartbeatRequest: fc.Arbitrary<ConsumerGroupHeartbeatRequest> = fc.record(
  {
    groupId: text,
    memberId: text,
    memberEpoch: int32,
    instanceId: maybeText,
    rackId: maybeText,
    rebalanceTimeoutMs: int32,
    subscribedTopicNames: fc.option(some(text), { nil: undefined }),
    subscribedTopicRegex: maybeText,
    serverAssignor: maybeText,
    topicPartitions: ownedPartitions,
  },
);

export const consumerGroupHeartbeatResponse: fc.Arbitrary<ConsumerGroupHeartbeatResponse> =
  fc.record({
    throttleTimeMs: int32,
    errorCode: int16,
    errorMessage: maybeText,
    memberId: maybeText,
    memberEpoch: int32,
    heartbeatIntervalMs: int32,
    assignment: ownedPartitions,
  });

export const findCoordinatorRequest: fc.Arbitrary<FindCoordinatorRequest> = fc.record({
  keyType: int8,
  coordinatorKeys: some(text),
});

export const findCoordinatorResponse: fc.Arbitrary<FindCoordinatorResponse> = fc.record({
  throttleTimeMs: int32,
  coordinators: some(
    fc.record({
      key: text,
      nodeId: int32,
      host: text,
      port,
      errorCode: int16,
      errorMessage: maybeText,
    }),
  ),
});

export const allocateProducerIdsRequest: fc.Arbitrary<AllocateProducerIdsRequest> = fc.record({
  brokerId: int32,
  brokerEpoch: int64,
});

export const allocateProducerIdsResponse: fc.Arbitrary<AllocateProducerIdsResponse> = fc.record({
  throttleTimeMs: int32,
  errorCode: int16,
  producerIdStart: int64,
  producerIdLen: int32,
});

function directories<Partition>(partition: fc.Arbitrary<Partition>): fc.Arbitrary<
  readonly {
    id: string;
    topics: readonly { topicId: string; partitions: readonly Partition[] }[];
  }[]
> {
  const topic = fc.record({ topicId: uuid, partitions: some(partition) });
  return some(fc.record({ id: uuid, topics: some(topic) }));
}

export const assignReplicasToDirsRequest: fc.Arbitrary<AssignReplicasToDirsRequest> = fc.record({
  brokerId: int32,
  brokerEpoch: int64,
  directories: directories(fc.record({ partitionIndex: int32 })),
});

export const assignReplicasToDirsResponse: fc.Arbitrary<AssignReplicasToDirsResponse> = fc.record({
  throttleTimeMs: int32,
  errorCode: int16,
  directories: directories(fc.record({ partitionIndex: int32, errorCode: int16 })),
});
