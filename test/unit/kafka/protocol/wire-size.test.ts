import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildBatch } from "../../../../src/kafka/log/record-batch.ts";
import { ADD_PARTITIONS_TO_TXN_V3 } from "../../../../src/kafka/protocol/add-partitions-to-txn.ts";
import type { Api } from "../../../../src/kafka/protocol/api.ts";
import * as apis from "../../../../src/kafka/protocol/apis.ts";
import { END_TXN_V4 } from "../../../../src/kafka/protocol/end-txn.ts";
import {
  CLIENT_ID,
  recordsSize,
  textSize,
  varintSize,
} from "../../../../src/kafka/protocol/wire-size.ts";
import * as bodies from "../../../support/wire-bodies.ts";
import type { WireBody } from "../../../support/wire-encoder.ts";
import { WireEncoder } from "../../../support/wire-encoder.ts";
import type { ApiSchema, MessageSchema } from "../../../support/wire-schemas.ts";
import { SCHEMAS } from "../../../support/wire-schemas.ts";

/** An API with its schema and arbitrary bodies; a class, so that each keeps its own types. */
class Spoken<Request extends object, Response extends object> {
  readonly api: Api<Request, Response>;
  readonly schema: ApiSchema;
  readonly requests: fc.Arbitrary<Request>;
  readonly responses: fc.Arbitrary<Response>;

  constructor(
    api: Api<Request, Response>,
    schema: ApiSchema,
    requests: fc.Arbitrary<Request>,
    responses: fc.Arbitrary<Response>,
  ) {
    this.api = api;
    this.schema = schema;
    this.requests = requests;
    this.responses = responses;
  }

  get name(): string {
    return this.api.name;
  }

  checkRequests(): void {
    const { key, version } = this.api;
    const { fields } = this.schema.request;
    fc.assert(
      fc.property(this.requests, fc.nat(), (body, correlationId) => {
        const wire = nested(this.schema.request, body);
        const bytes = WireEncoder.request({ key, version, correlationId }, CLIENT_ID, fields, wire);

        expect(this.api.requestSize(body)).toBe(bytes.length);
      }),
      { seed: 42, numRuns: 60 },
    );
  }

  checkResponses(): void {
    const { fields } = this.schema.response;
    fc.assert(
      fc.property(this.responses, fc.nat(), (body, correlationId) => {
        const bytes = WireEncoder.response(
          correlationId,
          fields,
          nested(this.schema.response, body),
        );

        expect(this.api.responseSize(body)).toBe(bytes.length);
      }),
      { seed: 42, numRuns: 60 },
    );
  }
}

function nested({ nest }: MessageSchema, body: object): WireBody {
  const wire = { ...body };
  return nest === undefined ? wire : nest(wire);
}

const SPOKEN = [
  new Spoken(apis.PRODUCE, SCHEMAS.PRODUCE, bodies.produceRequest, bodies.produceResponse),
  new Spoken(apis.FETCH, SCHEMAS.FETCH, bodies.fetchRequest, bodies.fetchResponse),
  new Spoken(
    apis.LIST_OFFSETS,
    SCHEMAS.LIST_OFFSETS,
    bodies.listOffsetsRequest,
    bodies.listOffsetsResponse,
  ),
  new Spoken(apis.METADATA, SCHEMAS.METADATA, bodies.metadataRequest, bodies.metadataResponse),
  new Spoken(
    apis.OFFSET_COMMIT,
    SCHEMAS.OFFSET_COMMIT,
    bodies.offsetCommitRequest,
    bodies.offsetCommitResponse,
  ),
  new Spoken(
    apis.OFFSET_FETCH,
    SCHEMAS.OFFSET_FETCH,
    bodies.offsetFetchRequest,
    bodies.offsetFetchResponse,
  ),
  new Spoken(
    apis.FIND_COORDINATOR,
    SCHEMAS.FIND_COORDINATOR,
    bodies.findCoordinatorRequest,
    bodies.findCoordinatorResponse,
  ),
  new Spoken(
    apis.JOIN_GROUP,
    SCHEMAS.JOIN_GROUP,
    bodies.joinGroupRequest,
    bodies.joinGroupResponse,
  ),
  new Spoken(apis.HEARTBEAT, SCHEMAS.HEARTBEAT, bodies.heartbeatRequest, bodies.heartbeatResponse),
  new Spoken(
    apis.LEAVE_GROUP,
    SCHEMAS.LEAVE_GROUP,
    bodies.leaveGroupRequest,
    bodies.leaveGroupResponse,
  ),
  new Spoken(
    apis.SYNC_GROUP,
    SCHEMAS.SYNC_GROUP,
    bodies.syncGroupRequest,
    bodies.syncGroupResponse,
  ),
  new Spoken(
    apis.CREATE_TOPICS,
    SCHEMAS.CREATE_TOPICS,
    bodies.createTopicsRequest,
    bodies.createTopicsResponse,
  ),
  new Spoken(
    apis.DELETE_RECORDS,
    SCHEMAS.DELETE_RECORDS,
    bodies.deleteRecordsRequest,
    bodies.deleteRecordsResponse,
  ),
  new Spoken(
    apis.INIT_PRODUCER_ID,
    SCHEMAS.INIT_PRODUCER_ID,
    bodies.initProducerIdRequest,
    bodies.initProducerIdResponse,
  ),
  new Spoken(
    apis.OFFSET_FOR_LEADER_EPOCH,
    SCHEMAS.OFFSET_FOR_LEADER_EPOCH,
    bodies.offsetForLeaderEpochRequest,
    bodies.offsetForLeaderEpochResponse,
  ),
  new Spoken(
    apis.ADD_PARTITIONS_TO_TXN,
    SCHEMAS.ADD_PARTITIONS_TO_TXN,
    bodies.addPartitionsToTxnRequest,
    bodies.addPartitionsToTxnResponse,
  ),
  new Spoken(
    apis.ADD_OFFSETS_TO_TXN,
    SCHEMAS.ADD_OFFSETS_TO_TXN,
    bodies.addOffsetsToTxnRequest,
    bodies.addOffsetsToTxnResponse,
  ),
  new Spoken(apis.END_TXN, SCHEMAS.END_TXN, bodies.endTxnRequest, bodies.endTxnResponse),
  new Spoken(
    apis.WRITE_TXN_MARKERS,
    SCHEMAS.WRITE_TXN_MARKERS,
    bodies.writeTxnMarkersRequest,
    bodies.writeTxnMarkersResponse,
  ),
  new Spoken(
    apis.TXN_OFFSET_COMMIT,
    SCHEMAS.TXN_OFFSET_COMMIT,
    bodies.txnOffsetCommitRequest,
    bodies.txnOffsetCommitResponse,
  ),
  new Spoken(
    apis.CREATE_PARTITIONS,
    SCHEMAS.CREATE_PARTITIONS,
    bodies.createPartitionsRequest,
    bodies.createPartitionsResponse,
  ),
  new Spoken(apis.VOTE, SCHEMAS.VOTE, bodies.voteRequest, bodies.voteResponse),
  new Spoken(
    apis.BEGIN_QUORUM_EPOCH,
    SCHEMAS.BEGIN_QUORUM_EPOCH,
    bodies.beginQuorumEpochRequest,
    bodies.beginQuorumEpochResponse,
  ),
  new Spoken(
    apis.END_QUORUM_EPOCH,
    SCHEMAS.END_QUORUM_EPOCH,
    bodies.endQuorumEpochRequest,
    bodies.endQuorumEpochResponse,
  ),
  new Spoken(
    apis.ALTER_PARTITION,
    SCHEMAS.ALTER_PARTITION,
    bodies.alterPartitionRequest,
    bodies.alterPartitionResponse,
  ),
  new Spoken(
    apis.DESCRIBE_PRODUCERS,
    SCHEMAS.DESCRIBE_PRODUCERS,
    bodies.describeProducersRequest,
    bodies.describeProducersResponse,
  ),
  new Spoken(
    apis.BROKER_REGISTRATION,
    SCHEMAS.BROKER_REGISTRATION,
    bodies.brokerRegistrationRequest,
    bodies.brokerRegistrationResponse,
  ),
  new Spoken(
    apis.BROKER_HEARTBEAT,
    SCHEMAS.BROKER_HEARTBEAT,
    bodies.brokerHeartbeatRequest,
    bodies.brokerHeartbeatResponse,
  ),
  new Spoken(
    apis.DESCRIBE_TRANSACTIONS,
    SCHEMAS.DESCRIBE_TRANSACTIONS,
    bodies.describeTransactionsRequest,
    bodies.describeTransactionsResponse,
  ),
  new Spoken(
    apis.LIST_TRANSACTIONS,
    SCHEMAS.LIST_TRANSACTIONS,
    bodies.listTransactionsRequest,
    bodies.listTransactionsResponse,
  ),
  new Spoken(
    apis.ALLOCATE_PRODUCER_IDS,
    SCHEMAS.ALLOCATE_PRODUCER_IDS,
    bodies.allocateProducerIdsRequest,
    bodies.allocateProducerIdsResponse,
  ),
  new Spoken(
    apis.CONSUMER_GROUP_HEARTBEAT,
    SCHEMAS.CONSUMER_GROUP_HEARTBEAT,
    bodies.consumerGroupHeartbeatRequest,
    bodies.consumerGroupHeartbeatResponse,
  ),
  new Spoken(
    apis.ASSIGN_REPLICAS_TO_DIRS,
    SCHEMAS.ASSIGN_REPLICAS_TO_DIRS,
    bodies.assignReplicasToDirsRequest,
    bodies.assignReplicasToDirsResponse,
  ),
];

/** What clients speak in an older version. */
const OLDER = [
  new Spoken(
    ADD_PARTITIONS_TO_TXN_V3,
    SCHEMAS.ADD_PARTITIONS_TO_TXN_V3,
    bodies.addPartitionsToOneTxnRequest,
    bodies.addPartitionsToOneTxnResponse,
  ),
  new Spoken(END_TXN_V4, SCHEMAS.END_TXN_V4, bodies.endTxnRequest, bodies.endTxnResponse),
];
const EACH = [...SPOKEN, ...OLDER].map((spoken) => ({
  message: `${spoken.name} v${spoken.api.version}`,
  spoken,
}));

describe("the size charged for a message is the length of its encoding", () => {
  test.each(EACH)("in requests of $message", ({ spoken }) => spoken.checkRequests());

  test.each(EACH)("in responses of $message", ({ spoken }) => spoken.checkResponses());
});

test("each API has Kafka's key, version and name", () => {
  for (const { api, schema } of [...SPOKEN, ...OLDER]) {
    expect([api.key, api.version]).toEqual([schema.key, schema.version]);
    expect(apis.apiName(api.key)).toBe(api.name);
  }
  expect(apis.apiName(999)).toBe("API 999");
  const defined = Object.values(apis).flatMap((one) =>
    typeof one === "object" && "name" in one ? [one.name] : [],
  );
  expect(defined).toEqual(SPOKEN.map(({ name }) => name));
  expect(apis.APIS.map(({ name }) => name)).toEqual(defined);
});

describe("lengths are unsigned varints, which grow by a byte every seven bits", () => {
  const edges = [7, 14, 21, 28].flatMap((bits) => [2 ** bits - 1, 2 ** bits]);

  test.each([0, 1, ...edges, 0xffff_ffff])("%i", (value) => {
    const encoder = new WireEncoder();
    encoder.unsignedVarint(value);

    expect(varintSize(value)).toBe(encoder.bytes.length);
  });

  test.each([0, 126, 127, 16_382, 16_383])("a text of %i letters", (length) => {
    const text = "x".repeat(length);
    const encoder = new WireEncoder();
    encoder.value("string", text);

    expect(textSize(text)).toBe(encoder.bytes.length);
  });

  test("two batches stand behind one length", () => {
    const batches = [70, 80].map((size) =>
      buildBatch([{ timestamp: 0, value: new Uint8Array(size) }]),
    );
    const encoder = new WireEncoder();
    encoder.value("records", batches);

    expect(recordsSize(batches)).toBe(encoder.bytes.length);
  });
});
