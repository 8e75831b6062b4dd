/** One error of Kafka's protocol. */
export interface ErrorCode {
  readonly code: number;
  readonly name: string;
  /** May the client try again with hope (`RetriableException`)? */
  readonly retriable: boolean;
  /** Does the client refresh its metadata on it (`InvalidMetadataException`)? */
  readonly refreshesMetadata: boolean;
}

function define(code: number, name: string, traits = ""): ErrorCode {
  return {
    code,
    name,
    retriable: traits.includes("retriable"),
    refreshesMetadata: traits.includes("metadata"),
  };
}

/** The codes that the simulator speaks, from Kafka's `Errors`. */
export const ERRORS = {
  UNKNOWN_SERVER_ERROR: define(-1, "UNKNOWN_SERVER_ERROR"),
  NONE: define(0, "NONE"),
  OFFSET_OUT_OF_RANGE: define(1, "OFFSET_OUT_OF_RANGE"),
  CORRUPT_MESSAGE: define(2, "CORRUPT_MESSAGE", "retriable"),
  UNKNOWN_TOPIC_OR_PARTITION: define(3, "UNKNOWN_TOPIC_OR_PARTITION", "retriable metadata"),
  LEADER_NOT_AVAILABLE: define(5, "LEADER_NOT_AVAILABLE", "retriable metadata"),
  NOT_LEADER_OR_FOLLOWER: define(6, "NOT_LEADER_OR_FOLLOWER", "retriable metadata"),
  REQUEST_TIMED_OUT: define(7, "REQUEST_TIMED_OUT", "retriable"),
  REPLICA_NOT_AVAILABLE: define(9, "REPLICA_NOT_AVAILABLE", "retriable metadata"),
  MESSAGE_TOO_LARGE: define(10, "MESSAGE_TOO_LARGE"),
  NETWORK_EXCEPTION: define(13, "NETWORK_EXCEPTION", "retriable metadata"),
  INVALID_TOPIC_EXCEPTION: define(17, "INVALID_TOPIC_EXCEPTION"),
  RECORD_LIST_TOO_LARGE: define(18, "RECORD_LIST_TOO_LARGE"),
  NOT_ENOUGH_REPLICAS: define(19, "NOT_ENOUGH_REPLICAS", "retriable"),
  NOT_ENOUGH_REPLICAS_AFTER_APPEND: define(20, "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "retriable"),
  INVALID_REQUIRED_ACKS: define(21, "INVALID_REQUIRED_ACKS"),
  INVALID_TIMESTAMP: define(32, "INVALID_TIMESTAMP"),
  UNSUPPORTED_VERSION: define(35, "UNSUPPORTED_VERSION"),
  TOPIC_ALREADY_EXISTS: define(36, "TOPIC_ALREADY_EXISTS"),
  INVALID_PARTITIONS: define(37, "INVALID_PARTITIONS"),
  INVALID_REPLICATION_FACTOR: define(38, "INVALID_REPLICATION_FACTOR"),
  INVALID_REPLICA_ASSIGNMENT: define(39, "INVALID_REPLICA_ASSIGNMENT"),
  INVALID_CONFIG: define(40, "INVALID_CONFIG"),
  NOT_CONTROLLER: define(41, "NOT_CONTROLLER", "retriable"),
  INVALID_REQUEST: define(42, "INVALID_REQUEST"),
  POLICY_VIOLATION: define(44, "POLICY_VIOLATION"),
  OUT_OF_ORDER_SEQUENCE_NUMBER: define(45, "OUT_OF_ORDER_SEQUENCE_NUMBER"),
  DUPLICATE_SEQUENCE_NUMBER: define(46, "DUPLICATE_SEQUENCE_NUMBER"),
  INVALID_PRODUCER_EPOCH: define(47, "INVALID_PRODUCER_EPOCH"),
  OPERATION_NOT_ATTEMPTED: define(55, "OPERATION_NOT_ATTEMPTED"),
  KAFKA_STORAGE_ERROR: define(56, "KAFKA_STORAGE_ERROR", "retriable metadata"),
  UNKNOWN_PRODUCER_ID: define(59, "UNKNOWN_PRODUCER_ID"),
  FETCH_SESSION_ID_NOT_FOUND: define(70, "FETCH_SESSION_ID_NOT_FOUND", "retriable"),
  INVALID_FETCH_SESSION_EPOCH: define(71, "INVALID_FETCH_SESSION_EPOCH", "retriable"),
  FENCED_LEADER_EPOCH: define(74, "FENCED_LEADER_EPOCH", "retriable metadata"),
  UNKNOWN_LEADER_EPOCH: define(75, "UNKNOWN_LEADER_EPOCH", "retriable"),
  STALE_BROKER_EPOCH: define(77, "STALE_BROKER_EPOCH"),
  OFFSET_NOT_AVAILABLE: define(78, "OFFSET_NOT_AVAILABLE", "retriable"),
  ELIGIBLE_LEADERS_NOT_AVAILABLE: define(
    83,
    "ELIGIBLE_LEADERS_NOT_AVAILABLE",
    "retriable metadata",
  ),
  ELECTION_NOT_NEEDED: define(84, "ELECTION_NOT_NEEDED", "metadata"),
  INVALID_RECORD: define(87, "INVALID_RECORD"),
  PRODUCER_FENCED: define(90, "PRODUCER_FENCED"),
  INVALID_UPDATE_VERSION: define(95, "INVALID_UPDATE_VERSION"),
  UNKNOWN_TOPIC_ID: define(100, "UNKNOWN_TOPIC_ID", "retriable metadata"),
  DUPLICATE_BROKER_REGISTRATION: define(101, "DUPLICATE_BROKER_REGISTRATION"),
  BROKER_ID_NOT_REGISTERED: define(102, "BROKER_ID_NOT_REGISTERED"),
  INCONSISTENT_TOPIC_ID: define(103, "INCONSISTENT_TOPIC_ID", "retriable metadata"),
  INCONSISTENT_CLUSTER_ID: define(104, "INCONSISTENT_CLUSTER_ID"),
  INELIGIBLE_REPLICA: define(107, "INELIGIBLE_REPLICA"),
  NEW_LEADER_ELECTED: define(108, "NEW_LEADER_ELECTED"),
  INVALID_VOTER_KEY: define(126, "INVALID_VOTER_KEY"),
} as const satisfies Record<string, ErrorCode>;

export type ErrorName = keyof typeof ERRORS;

const BY_CODE: ReadonlyMap<number, ErrorCode> = new Map(
  Object.values(ERRORS).map((error) => [error.code, error]),
);

/** The error with this code; an unlisted code reads as UNKNOWN_SERVER_ERROR, as in Kafka's client. */
export function errorOf(code: number): ErrorCode {
  // Nearly every answer is free of errors.
  if (code === 0) return ERRORS.NONE;
  return BY_CODE.get(code) ?? ERRORS.UNKNOWN_SERVER_ERROR;
}
