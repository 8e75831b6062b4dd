import { fromMillis } from "../../base/time.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { RecordBatch } from "../../kafka/log/record-batch.ts";
import type {
  ProducePartition,
  ProduceRequest,
  ProduceTopic,
} from "../../kafka/protocol/produce.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";
import type { ProduceStatus, ProduceTopicStatus } from "./delayed-produce.ts";
import { DelayedProduce, replyToProduce } from "./delayed-produce.ts";
import { whyAbsent } from "./fetch-read.ts";
import { appendAsLeader, failedAppend } from "./leader-append.ts";
import type { Partition } from "./partition.ts";
import type { ProducePurgatory } from "./produce-purgatory.ts";
import type {
  TransactionalWrite,
  TransactionVerifier,
  VerificationOutcome,
} from "./transaction-verifier.ts";
import { produceErrorOf } from "./transaction-verifier.ts";

/** Appends what producers send, and answers when `acks` is met (`ReplicaManager.handleProduceAppend`). */
export class ProduceHandler {
  readonly #context: BrokerContext;
  readonly #purgatory: ProducePurgatory;
  readonly #verifier: TransactionVerifier;

  constructor(context: BrokerContext, purgatory: ProducePurgatory, verifier: TransactionVerifier) {
    this.#context = context;
    this.#purgatory = purgatory;
    this.#verifier = verifier;
  }

  handle(request: IncomingRequest, body: ProduceRequest): void {
    const { acks, transactionalId } = body;
    if (acks !== -1 && acks !== 0 && acks !== 1) {
      this.#answer(request, this.#refuse(body, ERRORS.INVALID_REQUIRED_ACKS), acks);
    } else if (transactionalId !== undefined) {
      this.#verify(request, body, transactionalId);
    } else {
      this.#carryOut(request, body, undefined);
    }
  }

  /**
   * The coordinator must know of each partition before records of a transaction are in it.
   *
   * Simplified: that such records come without a transactional id is not looked at: no client does it.
   */
  #verify(request: IncomingRequest, body: ProduceRequest, transactionalId: string): void {
    const writes: TransactionalWrite[] = [];
    const parts: ProducePartition[] = [];
    let first: RecordBatch | undefined;
    for (const { topicId, partitionData } of body.topicData) {
      for (const part of partitionData) {
        const { records } = part;
        if (!records.isTransactional || !records.hasProducerId) continue;
        first ??= records;
        const { producerId, producerEpoch } = records;
        if (producerId !== first.producerId || producerEpoch !== first.producerEpoch) {
          const refused = this.#refuse(body, ERRORS.INVALID_PRODUCER_ID_MAPPING);
          this.#answer(request, refused, body.acks);
          return;
        }
        const partition = this.#context.partition(topicId, part.index);
        if (partition === undefined) continue;
        parts.push(part);
        writes.push({ partition, sequence: records.baseSequence });
      }
    }
    if (first === undefined) {
      this.#carryOut(request, body, undefined);
      return;
    }
    const { producerId, producerEpoch } = first;
    const producer = { transactionalId, producerId, producerEpoch };
    this.#verifier.verify(producer, writes, true, (outcomes) => {
      const verified = new Map<ProducePartition, VerificationOutcome>();
      for (const [i, outcome] of outcomes.entries()) {
        verified.set(parts[i] as ProducePartition, outcome);
      }
      this.#carryOut(request, body, verified);
    });
  }

  #carryOut(request: IncomingRequest, body: ProduceRequest, verified: Outcomes | undefined): void {
    const { acks } = body;
    const topics = this.#append(body, verified);
    // As Kafka's action queue: what the append unblocks is looked at when the request is through.
    for (const { statuses } of topics) {
      for (const status of statuses) if (status.hasGrown) status.partition?.completeDelayed();
    }
    if (acks !== -1) {
      this.#answer(request, topics, acks);
      return;
    }
    const deadline = this.#context.world.clock.elapsed() + fromMillis(body.timeoutMs);
    const delayed = new DelayedProduce(this.#context, request, topics, deadline);
    this.#purgatory.tryCompleteElseWatch(delayed);
  }

  #append(
    { topicData, acks }: ProduceRequest,
    verified: Outcomes | undefined,
  ): ProduceTopicStatus[] {
    const context = this.#context;
    const topics = new Array<ProduceTopicStatus>(topicData.length);
    for (let t = 0; t < topicData.length; t++) {
      const { topicId, partitionData } = topicData[t] as ProduceTopic;
      const statuses = new Array<ProduceStatus>(partitionData.length);
      for (let i = 0; i < partitionData.length; i++) {
        const part = partitionData[i] as ProducePartition;
        const { index, records } = part;
        const partition = context.partition(topicId, index);
        statuses[i] =
          partition === undefined
            ? failedAppend(index, undefined, whyAbsent(context, topicId, index))
            : verified === undefined
              ? appendAsLeader(context, partition, records, acks, "client")
              : this.#appendVerified(partition, records, acks, verified.get(part));
      }
      topics[t] = { topicId, statuses };
    }
    return topics;
  }

  #appendVerified(
    partition: Partition,
    batch: RecordBatch,
    acks: number,
    outcome: VerificationOutcome | undefined,
  ): ProduceStatus {
    const error = outcome?.error ?? ERRORS.NONE;
    if (error !== ERRORS.NONE) {
      const version = this.#context.features["transaction.version"];
      return failedAppend(partition.index, partition, produceErrorOf(error, version));
    }
    const verification = outcome?.verification;
    return appendAsLeader(this.#context, partition, batch, acks, "client", { verification });
  }

  #refuse(body: ProduceRequest, error: ErrorCode): ProduceTopicStatus[] {
    return body.topicData.map((topic) => ({
      topicId: topic.topicId,
      statuses: topic.partitionData.map(({ index }) => failedAppend(index, undefined, error)),
    }));
  }

  #answer(request: IncomingRequest, topics: readonly ProduceTopicStatus[], acks: number): void {
    if (acks !== 0) {
      replyToProduce(request, topics);
      return;
    }
    // Nobody waits for an answer; an error is told by closing the connection.
    const ok = topics.every((topic) => topic.statuses.every(({ error }) => error === ERRORS.NONE));
    if (ok) request.done();
    else request.hangUp();
  }
}

/** By the request's part; of what is in no transaction there is none. */
type Outcomes = ReadonlyMap<ProducePartition, VerificationOutcome>;
