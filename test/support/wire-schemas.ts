import { METADATA_TOPIC } from "../../src/kafka/ids.ts";
import type { WireBody, WireField, WireType } from "./wire-encoder.ts";

/**
 * The schemas of the messages that simulated nodes exchange, transcribed from Kafka's own message
 * JSON at the versions spoken here. Fields that our bodies leave out have the value that they always
 * have as `default`; what the JSON has on top of that in tagged fields is named too, and left out.
 */
export interface ApiSchema {
  readonly key: number;
  readonly version: number;
  readonly request: MessageSchema;
  readonly response: MessageSchema;
}

export interface MessageSchema {
  readonly fields: readonly WireField[];
  /** Brings a body into the form of the schema, where ours is flatter. */
  readonly nest?: (body: WireBody) => WireBody;
}

const field = (name: string, type: WireType): WireField => ({ name, type });
const fixed = (name: string, type: WireType, value: unknown): WireField => ({
  name,
  type,
  default: value,
});
const nullable = (name: string, type: WireType): WireField => ({ name, type, nullable: true });
const list = (name: string, ...fields: WireField[]): WireField => ({
  name,
  type: { arrayOf: fields },
});
const tagged = (tag: number, name: string, type: WireType): WireField => ({ name, type, tag });

const LEADER_ID_AND_EPOCH = [field("leaderId", "int32"), field("leaderEpoch", "int32")];
const NODE_ENDPOINTS = tagged(0, "nodeEndpoints", {
  arrayOf: [
    field("nodeId", "int32"),
    field("host", "string"),
    field("port", "int32"),
    nullable("rack", "string"),
  ],
});
const THROTTLE = field("throttleTimeMs", "int32");
const ERROR = field("errorCode", "int16");

const PRODUCE: ApiSchema = {
  key: 0,
  version: 13,
  request: {
    fields: [
      nullable("transactionalId", "string"),
      field("acks", "int16"),
      field("timeoutMs", "int32"),
      list(
        "topicData",
        field("topicId", "uuid"),
        list("partitionData", field("index", "int32"), field("records", "records")),
      ),
    ],
  },
  response: {
    fields: [
      list(
        "responses",
        field("topicId", "uuid"),
        list(
          "partitionResponses",
          field("index", "int32"),
          ERROR,
          field("baseOffset", "int64"),
          field("logAppendTimeMs", "int64"),
          field("logStartOffset", "int64"),
          fixed(
            "recordErrors",
            {
              arrayOf: [field("batchIndex", "int32"), nullable("batchIndexErrorMessage", "string")],
            },
            [],
          ),
          nullable("errorMessage", "string"),
          tagged(0, "currentLeader", LEADER_ID_AND_EPOCH),
        ),
      ),
      THROTTLE,
      NODE_ENDPOINTS,
    ],
  },
};

const FETCH: ApiSchema = {
  key: 1,
  version: 18,
  request: {
    fields: [
      tagged(0, "clusterId", "string"),
      tagged(1, "replicaState", [field("replicaId", "int32"), field("replicaEpoch", "int64")]),
      field("maxWaitMs", "int32"),
      field("minBytes", "int32"),
      field("maxBytes", "int32"),
      field("isolationLevel", "int8"),
      field("sessionId", "int32"),
      field("sessionEpoch", "int32"),
      list(
        "topics",
        field("topicId", "uuid"),
        list(
          "partitions",
          field("partition", "int32"),
          field("currentLeaderEpoch", "int32"),
          field("fetchOffset", "int64"),
          field("lastFetchedEpoch", "int32"),
          field("logStartOffset", "int64"),
          field("partitionMaxBytes", "int32"),
          tagged(0, "replicaDirectoryId", "uuid"),
          tagged(1, "highWatermark", "int64"),
        ),
      ),
      list(
        "forgottenTopicsData",
        field("topicId", "uuid"),
        field("partitions", { arrayOf: "int32" }),
      ),
      fixed("rackId", "string", ""),
    ],
    // Consumers leave the replica's state at its default; a high watermark of -1 says that there is
    // none to tell, for which the JSON has Long.MAX_VALUE as default.
    nest: (body) => ({
      ...body,
      replicaState:
        (body["replicaId"] as number) < 0
          ? undefined
          : { replicaId: body["replicaId"], replicaEpoch: body["replicaEpoch"] },
      topics: (body["topics"] as readonly WireBody[]).map((topic) => ({
        ...topic,
        partitions: (topic["partitions"] as readonly WireBody[]).map((partition) => ({
          ...partition,
          highWatermark:
            (partition["highWatermark"] as number) < 0 ? undefined : partition["highWatermark"],
        })),
      })),
    }),
  },
  response: {
    fields: [
      THROTTLE,
      ERROR,
      field("sessionId", "int32"),
      list(
        "responses",
        field("topicId", "uuid"),
        list(
          "partitions",
          field("partitionIndex", "int32"),
          ERROR,
          field("highWatermark", "int64"),
          field("lastStableOffset", "int64"),
          field("logStartOffset", "int64"),
          tagged(0, "divergingEpoch", [field("epoch", "int32"), field("endOffset", "int64")]),
          tagged(1, "currentLeader", LEADER_ID_AND_EPOCH),
          tagged(2, "snapshotId", [field("endOffset", "int64"), field("epoch", "int32")]),
          nullable("abortedTransactions", {
            arrayOf: [field("producerId", "int64"), field("firstOffset", "int64")],
          }),
          field("preferredReadReplica", "int32"),
          field("records", "records"),
        ),
      ),
      NODE_ENDPOINTS,
    ],
  },
};

const LIST_OFFSETS: ApiSchema = {
  key: 2,
  version: 11,
  request: {
    fields: [
      field("replicaId", "int32"),
      field("isolationLevel", "int8"),
      list(
        "topics",
        field("name", "string"),
        list(
          "partitions",
          field("partitionIndex", "int32"),
          field("currentLeaderEpoch", "int32"),
          field("timestamp", "int64"),
        ),
      ),
      field("timeoutMs", "int32"),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      list(
        "topics",
        field("name", "string"),
        list(
          "partitions",
          field("partitionIndex", "int32"),
          ERROR,
          field("timestamp", "int64"),
          field("offset", "int64"),
          field("leaderEpoch", "int32"),
        ),
      ),
    ],
  },
};

const METADATA: ApiSchema = {
  key: 3,
  version: 13,
  request: {
    fields: [
      nullable("topics", {
        arrayOf: [
          // The zero uuid if a topic is asked for by name.
          fixed("topicId", "uuid", "AAAAAAAAAAAAAAAAAAAAAA"),
          nullable("name", "string"),
        ],
      }),
      field("allowAutoTopicCreation", "bool"),
      fixed("includeTopicAuthorizedOperations", "bool", false),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      list(
        "brokers",
        field("nodeId", "int32"),
        field("host", "string"),
        field("port", "int32"),
        nullable("rack", "string"),
      ),
      nullable("clusterId", "string"),
      field("controllerId", "int32"),
      list(
        "topics",
        ERROR,
        nullable("name", "string"),
        field("topicId", "uuid"),
        field("isInternal", "bool"),
        list(
          "partitions",
          ERROR,
          field("partitionIndex", "int32"),
          field("leaderId", "int32"),
          field("leaderEpoch", "int32"),
          field("replicaNodes", { arrayOf: "int32" }),
          field("isrNodes", { arrayOf: "int32" }),
          field("offlineReplicas", { arrayOf: "int32" }),
        ),
        fixed("topicAuthorizedOperations", "int32", -2147483648),
      ),
      ERROR,
    ],
  },
};

const CREATE_TOPICS: ApiSchema = {
  key: 19,
  version: 7,
  request: {
    fields: [
      list(
        "topics",
        field("name", "string"),
        field("numPartitions", "int32"),
        field("replicationFactor", "int16"),
        list(
          "assignments",
          field("partitionIndex", "int32"),
          field("brokerIds", { arrayOf: "int32" }),
        ),
        list("configs", field("name", "string"), nullable("value", "string")),
      ),
      field("timeoutMs", "int32"),
      field("validateOnly", "bool"),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      list(
        "topics",
        field("name", "string"),
        field("topicId", "uuid"),
        ERROR,
        nullable("errorMessage", "string"),
        tagged(0, "topicConfigErrorCode", "int16"),
        field("numPartitions", "int32"),
        field("replicationFactor", "int16"),
        nullable("configs", {
          arrayOf: [
            field("name", "string"),
            nullable("value", "string"),
            field("readOnly", "bool"),
            field("configSource", "int8"),
            field("isSensitive", "bool"),
          ],
        }),
      ),
    ],
  },
};

const CREATE_PARTITIONS: ApiSchema = {
  key: 37,
  version: 3,
  request: {
    fields: [
      list(
        "topics",
        field("name", "string"),
        field("count", "int32"),
        nullable("assignments", { arrayOf: [field("brokerIds", { arrayOf: "int32" })] }),
      ),
      field("timeoutMs", "int32"),
      field("validateOnly", "bool"),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      list("results", field("name", "string"), ERROR, nullable("errorMessage", "string")),
    ],
  },
};

const DELETE_RECORDS: ApiSchema = {
  key: 21,
  version: 2,
  request: {
    fields: [
      list(
        "topics",
        field("name", "string"),
        list("partitions", field("partitionIndex", "int32"), field("offset", "int64")),
      ),
      field("timeoutMs", "int32"),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      list(
        "topics",
        field("name", "string"),
        list("partitions", field("partitionIndex", "int32"), field("lowWatermark", "int64"), ERROR),
      ),
    ],
  },
};

const COMMITTED_PARTITION = [
  field("partitionIndex", "int32"),
  field("committedOffset", "int64"),
  field("committedLeaderEpoch", "int32"),
  nullable("committedMetadata", "string"),
];

const OFFSET_COMMIT: ApiSchema = {
  key: 8,
  version: 10,
  request: {
    fields: [
      field("groupId", "string"),
      field("generationIdOrMemberEpoch", "int32"),
      field("memberId", "string"),
      nullable("groupInstanceId", "string"),
      list("topics", field("topicId", "uuid"), list("partitions", ...COMMITTED_PARTITION)),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      list(
        "topics",
        field("topicId", "uuid"),
        list("partitions", field("partitionIndex", "int32"), ERROR),
      ),
    ],
  },
};

const OFFSET_FETCH: ApiSchema = {
  key: 9,
  version: 10,
  request: {
    fields: [
      list(
        "groups",
        field("groupId", "string"),
        nullable("memberId", "string"),
        field("memberEpoch", "int32"),
        nullable("topics", {
          arrayOf: [field("topicId", "uuid"), field("partitionIndexes", { arrayOf: "int32" })],
        }),
      ),
      field("requireStable", "bool"),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      list(
        "groups",
        field("groupId", "string"),
        list(
          "topics",
          field("topicId", "uuid"),
          list(
            "partitions",
            field("partitionIndex", "int32"),
            field("committedOffset", "int64"),
            field("committedLeaderEpoch", "int32"),
            nullable("metadata", "string"),
            ERROR,
          ),
        ),
        ERROR,
      ),
    ],
  },
};

const TXN_OFFSET_COMMIT: ApiSchema = {
  key: 28,
  version: 5,
  request: {
    fields: [
      field("transactionalId", "string"),
      field("groupId", "string"),
      field("producerId", "int64"),
      field("producerEpoch", "int16"),
      field("generationId", "int32"),
      field("memberId", "string"),
      nullable("groupInstanceId", "string"),
      list("topics", field("name", "string"), list("partitions", ...COMMITTED_PARTITION)),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      list(
        "topics",
        field("name", "string"),
        list("partitions", field("partitionIndex", "int32"), ERROR),
      ),
    ],
  },
};

const JOIN_GROUP: ApiSchema = {
  key: 11,
  version: 9,
  request: {
    fields: [
      field("groupId", "string"),
      field("sessionTimeoutMs", "int32"),
      field("rebalanceTimeoutMs", "int32"),
      field("memberId", "string"),
      nullable("groupInstanceId", "string"),
      field("protocolType", "string"),
      list("protocols", field("name", "string"), field("metadata", "bytes")),
      nullable("reason", "string"),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      ERROR,
      field("generationId", "int32"),
      nullable("protocolType", "string"),
      nullable("protocolName", "string"),
      field("leader", "string"),
      field("skipAssignment", "bool"),
      field("memberId", "string"),
      list(
        "members",
        field("memberId", "string"),
        nullable("groupInstanceId", "string"),
        field("metadata", "bytes"),
      ),
    ],
  },
};

const HEARTBEAT: ApiSchema = {
  key: 12,
  version: 4,
  request: {
    fields: [
      field("groupId", "string"),
      field("generationId", "int32"),
      field("memberId", "string"),
      nullable("groupInstanceId", "string"),
    ],
  },
  response: { fields: [THROTTLE, ERROR] },
};

const LEAVE_GROUP: ApiSchema = {
  key: 13,
  version: 5,
  request: {
    fields: [
      field("groupId", "string"),
      list(
        "members",
        field("memberId", "string"),
        nullable("groupInstanceId", "string"),
        nullable("reason", "string"),
      ),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      ERROR,
      list("members", field("memberId", "string"), nullable("groupInstanceId", "string"), ERROR),
    ],
  },
};

const SYNC_GROUP: ApiSchema = {
  key: 14,
  version: 5,
  request: {
    fields: [
      field("groupId", "string"),
      field("generationId", "int32"),
      field("memberId", "string"),
      nullable("groupInstanceId", "string"),
      nullable("protocolType", "string"),
      nullable("protocolName", "string"),
      list("assignments", field("memberId", "string"), field("assignment", "bytes")),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      ERROR,
      nullable("protocolType", "string"),
      nullable("protocolName", "string"),
      field("assignment", "bytes"),
    ],
  },
};

const OWNED_PARTITIONS: WireType = {
  arrayOf: [field("topicId", "uuid"), field("partitions", { arrayOf: "int32" })],
};

const CONSUMER_GROUP_HEARTBEAT: ApiSchema = {
  key: 68,
  version: 1,
  request: {
    fields: [
      field("groupId", "string"),
      field("memberId", "string"),
      field("memberEpoch", "int32"),
      nullable("instanceId", "string"),
      nullable("rackId", "string"),
      field("rebalanceTimeoutMs", "int32"),
      nullable("subscribedTopicNames", { arrayOf: "string" }),
      nullable("subscribedTopicRegex", "string"),
      nullable("serverAssignor", "string"),
      nullable("topicPartitions", OWNED_PARTITIONS),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      ERROR,
      nullable("errorMessage", "string"),
      nullable("memberId", "string"),
      field("memberEpoch", "int32"),
      field("heartbeatIntervalMs", "int32"),
      nullable("assignment", [field("topicPartitions", OWNED_PARTITIONS)]),
    ],
    nest: (body) =>
      body["assignment"] === undefined
        ? body
        : { ...body, assignment: { topicPartitions: body["assignment"] } },
  },
};

const FIND_COORDINATOR: ApiSchema = {
  key: 10,
  version: 6,
  request: {
    fields: [field("keyType", "int8"), field("coordinatorKeys", { arrayOf: "string" })],
  },
  response: {
    fields: [
      THROTTLE,
      list(
        "coordinators",
        field("key", "string"),
        field("nodeId", "int32"),
        field("host", "string"),
        field("port", "int32"),
        ERROR,
        nullable("errorMessage", "string"),
      ),
    ],
  },
};

const INIT_PRODUCER_ID: ApiSchema = {
  key: 22,
  version: 5,
  request: {
    fields: [
      nullable("transactionalId", "string"),
      field("transactionTimeoutMs", "int32"),
      field("producerId", "int64"),
      field("producerEpoch", "int16"),
    ],
  },
  response: {
    fields: [THROTTLE, ERROR, field("producerId", "int64"), field("producerEpoch", "int16")],
  },
};

const OFFSET_FOR_LEADER_EPOCH: ApiSchema = {
  key: 23,
  version: 4,
  request: {
    fields: [
      field("replicaId", "int32"),
      list(
        "topics",
        field("topic", "string"),
        list(
          "partitions",
          field("partition", "int32"),
          field("currentLeaderEpoch", "int32"),
          field("leaderEpoch", "int32"),
        ),
      ),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      list(
        "topics",
        field("topic", "string"),
        list(
          "partitions",
          ERROR,
          field("partition", "int32"),
          field("leaderEpoch", "int32"),
          field("endOffset", "int64"),
        ),
      ),
    ],
  },
};

/** The one topic and partition around what a quorum message says of the metadata log. */
function quorumTopics(...partition: WireField[]): WireField {
  return list(
    "topics",
    field("topicName", "string"),
    list("partitions", field("partitionIndex", "int32"), ...partition),
  );
}

/** Our quorum messages are flat: there is only the metadata log. */
function nestQuorum(body: WireBody): WireBody {
  const partitions = [{ ...body, partitionIndex: 0 }];
  return { ...body, topics: [{ topicName: METADATA_TOPIC, partitions }] };
}

/** Our responses have one error, which Kafka has for the whole and for the partition. */
const QUORUM_LEADER = [ERROR, ...LEADER_ID_AND_EPOCH];
const QUORUM_ENDPOINTS = tagged(0, "nodeEndpoints", {
  arrayOf: [field("nodeId", "int32"), field("host", "string"), field("port", "uint16")],
});
const LEADER_ENDPOINTS = fixed(
  "leaderEndpoints",
  { arrayOf: [field("name", "string"), field("host", "string"), field("port", "uint16")] },
  [],
);

const TOPICS_OF_TXN = list(
  "topics",
  field("name", "string"),
  field("partitions", { arrayOf: "int32" }),
);
const RESULTS_OF_TXN = list(
  "topicResults",
  field("name", "string"),
  list(
    "resultsByPartition",
    field("partitionIndex", "int32"),
    field("partitionErrorCode", "int16"),
  ),
);
const PRODUCER_OF_TXN = [field("producerId", "int64"), field("producerEpoch", "int16")];

const ADD_PARTITIONS_TO_TXN: ApiSchema = {
  key: 24,
  version: 5,
  request: {
    fields: [
      list(
        "transactions",
        field("transactionalId", "string"),
        ...PRODUCER_OF_TXN,
        field("verifyOnly", "bool"),
        TOPICS_OF_TXN,
      ),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      ERROR,
      list("resultsByTransaction", field("transactionalId", "string"), RESULTS_OF_TXN),
    ],
  },
};

/** As clients speak it: one transaction, whose fields stand alone. */
const ADD_PARTITIONS_TO_TXN_V3: ApiSchema = {
  key: 24,
  version: 3,
  request: {
    fields: [field("transactionalId", "string"), ...PRODUCER_OF_TXN, TOPICS_OF_TXN],
    nest: ({ transactions }) => (transactions as WireBody[])[0] as WireBody,
  },
  response: {
    fields: [THROTTLE, RESULTS_OF_TXN],
    nest: ({ throttleTimeMs, resultsByTransaction }) => ({
      throttleTimeMs,
      ...(resultsByTransaction as WireBody[])[0],
    }),
  },
};

const ADD_OFFSETS_TO_TXN: ApiSchema = {
  key: 25,
  version: 4,
  request: {
    fields: [field("transactionalId", "string"), ...PRODUCER_OF_TXN, field("groupId", "string")],
  },
  response: { fields: [THROTTLE, ERROR] },
};

const END_TXN_REQUEST = [
  field("transactionalId", "string"),
  ...PRODUCER_OF_TXN,
  field("committed", "bool"),
];

const END_TXN: ApiSchema = {
  key: 26,
  version: 5,
  request: { fields: END_TXN_REQUEST },
  response: { fields: [THROTTLE, ERROR, ...PRODUCER_OF_TXN] },
};

const END_TXN_V4: ApiSchema = {
  key: 26,
  version: 4,
  request: { fields: END_TXN_REQUEST },
  response: { fields: [THROTTLE, ERROR] },
};

const WRITE_TXN_MARKERS: ApiSchema = {
  key: 27,
  version: 2,
  request: {
    fields: [
      list(
        "markers",
        ...PRODUCER_OF_TXN,
        field("transactionResult", "bool"),
        list("topics", field("name", "string"), field("partitionIndexes", { arrayOf: "int32" })),
        field("coordinatorEpoch", "int32"),
        field("transactionVersion", "int8"),
      ),
    ],
  },
  response: {
    fields: [
      list(
        "markers",
        field("producerId", "int64"),
        list(
          "topics",
          field("name", "string"),
          list("partitions", field("partitionIndex", "int32"), ERROR),
        ),
      ),
    ],
  },
};

const VOTE: ApiSchema = {
  key: 52,
  version: 2,
  request: {
    fields: [
      nullable("clusterId", "string"),
      field("voterId", "int32"),
      quorumTopics(
        field("replicaEpoch", "int32"),
        field("replicaId", "int32"),
        field("replicaDirectoryId", "uuid"),
        field("voterDirectoryId", "uuid"),
        field("lastOffsetEpoch", "int32"),
        field("lastOffset", "int64"),
        field("preVote", "bool"),
      ),
    ],
    nest: nestQuorum,
  },
  response: {
    fields: [ERROR, quorumTopics(...QUORUM_LEADER, field("voteGranted", "bool")), QUORUM_ENDPOINTS],
    nest: nestQuorum,
  },
};

const BEGIN_QUORUM_EPOCH: ApiSchema = {
  key: 53,
  version: 1,
  request: {
    fields: [
      nullable("clusterId", "string"),
      field("voterId", "int32"),
      quorumTopics(field("voterDirectoryId", "uuid"), ...LEADER_ID_AND_EPOCH),
      LEADER_ENDPOINTS,
    ],
    nest: nestQuorum,
  },
  response: { fields: [ERROR, quorumTopics(...QUORUM_LEADER), QUORUM_ENDPOINTS], nest: nestQuorum },
};

const END_QUORUM_EPOCH: ApiSchema = {
  key: 54,
  version: 1,
  request: {
    fields: [
      nullable("clusterId", "string"),
      quorumTopics(
        ...LEADER_ID_AND_EPOCH,
        list(
          "preferredCandidates",
          field("candidateId", "int32"),
          field("candidateDirectoryId", "uuid"),
        ),
      ),
      LEADER_ENDPOINTS,
    ],
    nest: (body) =>
      nestQuorum({
        ...body,
        preferredCandidates: (body["preferredCandidates"] as readonly number[]).map(
          (candidateId) => ({ candidateId, candidateDirectoryId: "AAAAAAAAAAAAAAAAAAAAAA" }),
        ),
      }),
  },
  response: { fields: [ERROR, quorumTopics(...QUORUM_LEADER), QUORUM_ENDPOINTS], nest: nestQuorum },
};

const ALTER_PARTITION: ApiSchema = {
  key: 56,
  version: 3,
  request: {
    fields: [
      field("brokerId", "int32"),
      field("brokerEpoch", "int64"),
      list(
        "topics",
        field("topicId", "uuid"),
        list(
          "partitions",
          field("partitionIndex", "int32"),
          field("leaderEpoch", "int32"),
          list("newIsrWithEpochs", field("brokerId", "int32"), field("brokerEpoch", "int64")),
          field("leaderRecoveryState", "int8"),
          field("partitionEpoch", "int32"),
        ),
      ),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      ERROR,
      list(
        "topics",
        field("topicId", "uuid"),
        list(
          "partitions",
          field("partitionIndex", "int32"),
          ERROR,
          field("leaderId", "int32"),
          field("leaderEpoch", "int32"),
          field("isr", { arrayOf: "int32" }),
          field("leaderRecoveryState", "int8"),
          field("partitionEpoch", "int32"),
        ),
      ),
    ],
  },
};

const DESCRIBE_PRODUCERS: ApiSchema = {
  key: 61,
  version: 0,
  request: {
    fields: [
      list("topics", field("name", "string"), field("partitionIndexes", { arrayOf: "int32" })),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      list(
        "topics",
        field("name", "string"),
        list(
          "partitions",
          field("partitionIndex", "int32"),
          ERROR,
          nullable("errorMessage", "string"),
          list(
            "activeProducers",
            field("producerId", "int64"),
            field("producerEpoch", "int32"),
            field("lastSequence", "int32"),
            field("lastTimestamp", "int64"),
            field("coordinatorEpoch", "int32"),
            field("currentTxnStartOffset", "int64"),
          ),
        ),
      ),
    ],
  },
};

const BROKER_REGISTRATION: ApiSchema = {
  key: 62,
  version: 4,
  request: {
    fields: [
      field("brokerId", "int32"),
      field("clusterId", "string"),
      field("incarnationId", "uuid"),
      list(
        "listeners",
        field("name", "string"),
        field("host", "string"),
        field("port", "uint16"),
        field("securityProtocol", "int16"),
      ),
      list(
        "features",
        field("name", "string"),
        field("minSupportedVersion", "int16"),
        field("maxSupportedVersion", "int16"),
      ),
      nullable("rack", "string"),
      fixed("isMigratingZkBroker", "bool", false),
      field("logDirs", { arrayOf: "uuid" }),
      field("previousBrokerEpoch", "int64"),
    ],
  },
  response: { fields: [THROTTLE, ERROR, field("brokerEpoch", "int64")] },
};

const BROKER_HEARTBEAT: ApiSchema = {
  key: 63,
  version: 1,
  request: {
    fields: [
      field("brokerId", "int32"),
      field("brokerEpoch", "int64"),
      field("currentMetadataOffset", "int64"),
      field("wantFence", "bool"),
      field("wantShutDown", "bool"),
      tagged(0, "offlineLogDirs", { arrayOf: "uuid" }),
    ],
    nest: (body) => {
      const { offlineLogDirs } = body as { offlineLogDirs: readonly string[] };
      return { ...body, offlineLogDirs: offlineLogDirs.length === 0 ? undefined : offlineLogDirs };
    },
  },
  response: {
    fields: [
      THROTTLE,
      ERROR,
      field("isCaughtUp", "bool"),
      field("isFenced", "bool"),
      field("shouldShutDown", "bool"),
    ],
  },
};

const DESCRIBE_TRANSACTIONS: ApiSchema = {
  key: 65,
  version: 0,
  request: { fields: [field("transactionalIds", { arrayOf: "string" })] },
  response: {
    fields: [
      THROTTLE,
      list(
        "transactionStates",
        ERROR,
        field("transactionalId", "string"),
        field("transactionState", "string"),
        field("transactionTimeoutMs", "int32"),
        field("transactionStartTimeMs", "int64"),
        field("producerId", "int64"),
        field("producerEpoch", "int16"),
        list("topics", field("topic", "string"), field("partitions", { arrayOf: "int32" })),
      ),
    ],
  },
};

const LIST_TRANSACTIONS: ApiSchema = {
  key: 66,
  version: 2,
  request: {
    fields: [
      field("stateFilters", { arrayOf: "string" }),
      field("producerIdFilters", { arrayOf: "int64" }),
      field("durationFilter", "int64"),
      nullable("transactionalIdPattern", "string"),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      ERROR,
      field("unknownStateFilters", { arrayOf: "string" }),
      list(
        "transactionStates",
        field("transactionalId", "string"),
        field("producerId", "int64"),
        field("transactionState", "string"),
      ),
    ],
  },
};

const ALLOCATE_PRODUCER_IDS: ApiSchema = {
  key: 67,
  version: 0,
  request: { fields: [field("brokerId", "int32"), field("brokerEpoch", "int64")] },
  response: {
    fields: [THROTTLE, ERROR, field("producerIdStart", "int64"), field("producerIdLen", "int32")],
  },
};

const ASSIGN_REPLICAS_TO_DIRS: ApiSchema = {
  key: 73,
  version: 0,
  request: {
    fields: [
      field("brokerId", "int32"),
      field("brokerEpoch", "int64"),
      list(
        "directories",
        field("id", "uuid"),
        list(
          "topics",
          field("topicId", "uuid"),
          list("partitions", field("partitionIndex", "int32")),
        ),
      ),
    ],
  },
  response: {
    fields: [
      THROTTLE,
      ERROR,
      list(
        "directories",
        field("id", "uuid"),
        list(
          "topics",
          field("topicId", "uuid"),
          list("partitions", field("partitionIndex", "int32"), field("errorCode", "int16")),
        ),
      ),
    ],
  },
};

export const SCHEMAS = {
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
  CREATE_PARTITIONS,
  DELETE_RECORDS,
  INIT_PRODUCER_ID,
  OFFSET_FOR_LEADER_EPOCH,
  ADD_PARTITIONS_TO_TXN,
  ADD_PARTITIONS_TO_TXN_V3,
  ADD_OFFSETS_TO_TXN,
  END_TXN,
  END_TXN_V4,
  WRITE_TXN_MARKERS,
  TXN_OFFSET_COMMIT,
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
} as const satisfies Record<string, ApiSchema>;
