import type { Duration } from "../../base/time.ts";
import { fromMillis, toMillis } from "../../base/time.ts";
import { GROUP_METADATA_TOPIC } from "../../kafka/coordinator/internal-topics.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import { controlKey, encodeEndTransaction } from "../../kafka/log/control-record.ts";
import type { RecordBatch } from "../../kafka/log/record-batch.ts";
import { buildBatch } from "../../kafka/log/record-batch.ts";
import { WRITE_TXN_MARKERS } from "../../kafka/protocol/apis.ts";
import type {
  WritableTxnMarker,
  WriteTxnMarkersRequest,
} from "../../kafka/protocol/write-txn-markers.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";
import type { ProduceStatus, ProduceTopicStatus } from "./delayed-produce.ts";
import { DelayedProduce } from "./delayed-produce.ts";
import { appendAsLeader } from "./leader-append.ts";
import type { Partition } from "./partition.ts";
import type { ProducePurgatory } from "./produce-purgatory.ts";

/**
 * Who writes the markers of the partitions of `__consumer_offsets`: a coordinator that keeps offsets in them
 * has something to do when a transaction ends (`GroupCoordinator.completeTransaction`). `done` is called
 * when the marker is committed, with NONE, or with a log's or a coordinator's error.
 */
export interface MarkerWriter {
  completeTransaction(
    partition: Partition,
    marker: WritableTxnMarker,
    done: (error: ErrorCode) => void,
  ): void;
}

/** A broker's `request.timeout.ms`. */
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Writes how transactions ended into the partitions that this broker leads, for their coordinators and for
 * administrators: a control batch in each, answered when it is replicated (`handleWriteTxnMarkersRequest`).
 */
export class WriteTxnMarkersHandler {
  readonly #context: BrokerContext;
  readonly #purgatory: ProducePurgatory;
  /** Undefined: as any other partition's. */
  readonly #offsets: MarkerWriter | undefined;

  constructor(
    context: BrokerContext,
    purgatory: ProducePurgatory,
    offsets: MarkerWriter | undefined,
  ) {
    this.#context = context;
    this.#purgatory = purgatory;
    this.#offsets = offsets;
  }

  handle(request: IncomingRequest, { markers }: WriteTxnMarkersRequest): void {
    const answer = new MarkersAnswer(request, markers);
    for (const marker of markers) this.#write(request, marker, answer);
    answer.sendIfWhole();
  }

  /** One append for each marker, as Kafka makes them. */
  #write(request: IncomingRequest, marker: WritableTxnMarker, answer: MarkersAnswer): void {
    const statuses: ProduceStatus[] = [];
    const appended: Partition[] = [];
    let batch: RecordBatch | undefined;
    for (const { name, partitionIndexes } of marker.topics) {
      for (const index of partitionIndexes) {
        const partition = this.#find(name, index);
        if (partition === undefined) {
          answer.settle(marker, name, index, ERRORS.UNKNOWN_TOPIC_OR_PARTITION);
        } else if (name === GROUP_METADATA_TOPIC && this.#offsets !== undefined) {
          this.#offsets.completeTransaction(partition, marker, (error) => {
            answer.settle(marker, name, index, markerErrorOf(error));
            answer.sendIfWhole();
          });
        } else {
          batch ??= markerBatch(marker, toMillis(this.#context.now()));
          statuses.push(this.#append(partition, batch, marker));
          appended.push(partition);
        }
      }
    }
    if (appended.length === 0) return;
    for (const status of statuses) if (status.hasGrown) status.partition?.completeDelayed();
    const elapsed = this.#context.world.clock.elapsed();
    const deadline = elapsed + fromMillis(REQUEST_TIMEOUT_MS);
    const topics = [{ topicId: "", statuses }];
    const done = (): void => {
      for (const [i, { topic, index }] of appended.entries()) {
        answer.settle(marker, topic, index, statuses[i]?.error ?? ERRORS.NONE);
      }
      answer.sendIfWhole();
    };
    const delayed = new DelayedMarkers(this.#context, request, topics, deadline, done);
    this.#purgatory.tryCompleteElseWatch(delayed);
  }

  /** Undefined if there is none here, or its disk has failed. */
  #find(topic: string, index: number): Partition | undefined {
    const image = this.#context.image.topicByName(topic);
    const partition = image && this.#context.partition(image.topicId, index);
    return partition === undefined || partition.offline ? undefined : partition;
  }

  #append(
    partition: Partition,
    batch: RecordBatch,
    { transactionVersion }: WritableTxnMarker,
  ): ProduceStatus {
    return appendAsLeader(this.#context, partition, batch, -1, "coordinator", {
      transactionVersion,
    });
  }
}

/** Markers wait for their replication as what producers send. */
class DelayedMarkers extends DelayedProduce {
  readonly #done: () => void;

  constructor(
    context: BrokerContext,
    request: IncomingRequest,
    topics: readonly ProduceTopicStatus[],
    deadline: Duration,
    done: () => void,
  ) {
    super(context, request, topics, deadline);
    this.#done = done;
  }

  protected override answer(): void {
    this.#done();
  }
}

/**
 * The answer to one request, sent when all of its markers are settled in all of their partitions. It has one entry for
 * each producer, though a request may have several markers of one, some of them sent again.
 */
class MarkersAnswer {
  readonly #request: IncomingRequest;
  /** By producer, topic and partition. */
  readonly #errors = new Map<number, Map<string, Map<number, ErrorCode>>>();
  #open = 0;
  #isSent = false;

  constructor(request: IncomingRequest, markers: readonly WritableTxnMarker[]) {
    this.#request = request;
    for (const marker of markers) {
      for (const { name, partitionIndexes } of marker.topics) {
        this.#open += partitionIndexes.length;
        for (const index of partitionIndexes) this.#set(marker, name, index, ERRORS.NONE);
      }
    }
  }

  settle(marker: WritableTxnMarker, topic: string, partition: number, error: ErrorCode): void {
    this.#set(marker, topic, partition, error);
    this.#open--;
  }

  #set(
    { producerId }: WritableTxnMarker,
    topic: string,
    partition: number,
    error: ErrorCode,
  ): void {
    const topics = this.#errors.get(producerId) ?? new Map<string, Map<number, ErrorCode>>();
    const partitions = topics.get(topic) ?? new Map<number, ErrorCode>();
    this.#errors.set(producerId, topics.set(topic, partitions.set(partition, error)));
  }

  sendIfWhole(): void {
    if (this.#open > 0 || this.#isSent) return;
    this.#isSent = true;
    const markers = [...this.#errors].map(([producerId, topics]) => ({
      producerId,
      topics: [...topics].map(([name, errors]) => ({
        name,
        partitions: [...errors].map(([partitionIndex, { code }]) => ({
          partitionIndex,
          errorCode: code,
        })),
      })),
    }));
    this.#request.reply(WRITE_TXN_MARKERS, { markers });
  }
}

/** The control batch that ends a producer's transaction in a partition (`withEndTransactionMarker`). */
export function markerBatch(marker: WritableTxnMarker, nowMs: number): RecordBatch {
  const { producerId, producerEpoch, coordinatorEpoch, transactionResult } = marker;
  const key = controlKey(transactionResult ? "COMMIT" : "ABORT");
  const record = { timestamp: nowMs, key, value: encodeEndTransaction(coordinatorEpoch) };
  return buildBatch([record], {
    producerId,
    producerEpoch,
    isTransactional: true,
    isControl: true,
  });
}

/** A transaction coordinator knows only logs: that a group's coordinator isn't there yet it tries again. */
function markerErrorOf(error: ErrorCode): ErrorCode {
  switch (error) {
    case ERRORS.COORDINATOR_NOT_AVAILABLE:
    case ERRORS.COORDINATOR_LOAD_IN_PROGRESS:
    case ERRORS.NOT_COORDINATOR:
      return ERRORS.NOT_LEADER_OR_FOLLOWER;
    default:
      return error;
  }
}
