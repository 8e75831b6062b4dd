import { fromMillis } from "../../base/time.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { RecordBatch } from "../../kafka/log/record-batch.ts";
import type {
  ProducePartition,
  ProduceRequest,
  ProduceTopic,
} from "../../kafka/protocol/produce.ts";
import { DiskError } from "../../ports/disk.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import { NEVER, WakeUp } from "../wake-up.ts";
import type { BrokerContext } from "./broker-context.ts";
import { BROKER_TIMER } from "./broker-timers.ts";
import type { ProduceTopicStatus } from "./delayed-produce.ts";
import { DelayedProduce, ProduceStatus, replyToProduce } from "./delayed-produce.ts";
import { whyAbsent } from "./fetch-read.ts";
import type { Partition } from "./partition.ts";

/** Appends what producers send, and answers when `acks` is met (`ReplicaManager.appendRecords`). */
export class ProduceHandler {
  readonly #context: BrokerContext;
  readonly #expiry: WakeUp;

  constructor(context: BrokerContext) {
    this.#context = context;
    this.#expiry = new WakeUp(context.world.timers, BROKER_TIMER.delayedProduce);
  }

  handle(request: IncomingRequest, body: ProduceRequest): void {
    const { acks } = body;
    if (acks !== -1 && acks !== 0 && acks !== 1) {
      this.#answer(request, this.#refuse(body, ERRORS.INVALID_REQUIRED_ACKS), acks);
      return;
    }
    const topics = this.#append(body);
    // As Kafka's action queue: what the append unblocks is looked at when the request is through.
    for (const { statuses } of topics) {
      for (const status of statuses) if (status.hasGrown) status.partition?.completeDelayed();
    }
    if (acks !== -1) {
      this.#answer(request, topics, acks);
      return;
    }
    const elapsed = this.#context.world.clock.elapsed();
    const deadline = elapsed + fromMillis(body.timeoutMs);
    const delayed = new DelayedProduce(this.#context, request, topics, deadline);
    if (delayed.tryComplete()) return;
    delayed.watch();
    this.#expiry.noLaterThan(deadline, elapsed);
  }

  /** The timer came due: ends those that have had their time. */
  onTimer(): void {
    const reached = this.#expiry.fired();
    let next = NEVER;
    for (const { produces } of this.#context.partitions()) {
      for (const delayed of produces.all()) {
        if (!(delayed instanceof DelayedProduce)) continue;
        if (delayed.deadline <= reached) delayed.expire();
        else if (delayed.deadline < next) next = delayed.deadline;
      }
    }
    this.#expiry.noLaterThan(next, this.#context.world.clock.elapsed());
  }

  #append({ topicData, acks }: ProduceRequest): ProduceTopicStatus[] {
    const topics = new Array<ProduceTopicStatus>(topicData.length);
    for (let t = 0; t < topicData.length; t++) {
      const { topicId, partitionData } = topicData[t] as ProduceTopic;
      const statuses = new Array<ProduceStatus>(partitionData.length);
      for (let i = 0; i < partitionData.length; i++) {
        const { index, records } = partitionData[i] as ProducePartition;
        const partition = this.#context.partition(topicId, index);
        statuses[i] =
          partition === undefined
            ? failed(index, undefined, whyAbsent(this.#context, topicId, index))
            : this.#appendOne(partition, records, acks);
      }
      topics[t] = { topicId, statuses };
    }
    return topics;
  }

  #appendOne(partition: Partition, batch: RecordBatch, acks: number): ProduceStatus {
    const { index } = partition;
    const refused = partition.checkLeader(-1);
    if (refused !== ERRORS.NONE) return failed(index, partition, refused);
    if (acks === -1 && partition.isr.isr.length < partition.effectiveMinIsr) {
      return failed(index, partition, ERRORS.NOT_ENOUGH_REPLICAS);
    }
    try {
      const result = partition.log.appendAsLeader([batch], partition.leaderEpoch);
      if (result.error !== ERRORS.NONE) return failed(index, partition, result.error);
      for (const appended of result.appended) {
        this.#context.facts.note({
          kind: "appended",
          broker: this.#context.brokerId,
          partition: partition.name,
          batch: appended,
          asLeader: true,
        });
      }
      partition.log.flushIfMany();
      // Also after a duplicate: a replica may have been waited for until now that is not any more.
      const advanced = partition.maybeAdvanceHighWatermark(this.#context.now());
      // A duplicate waits for its original: acknowledged only when that is replicated.
      return new ProduceStatus(
        index,
        partition,
        acks === -1 ? result.lastOffset + 1 : 0,
        result.firstOffset,
        result.logAppendTime,
        ERRORS.NONE,
        advanced || !result.duplicate,
      );
    } catch (problem) {
      if (!(problem instanceof DiskError)) throw problem;
      this.#context.diskFailed(problem);
      return failed(index, partition, ERRORS.KAFKA_STORAGE_ERROR);
    }
  }

  #refuse(body: ProduceRequest, error: ErrorCode): ProduceTopicStatus[] {
    return body.topicData.map((topic) => ({
      topicId: topic.topicId,
      statuses: topic.partitionData.map(({ index }) => failed(index, undefined, error)),
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

function failed(index: number, partition: Partition | undefined, error: ErrorCode): ProduceStatus {
  return new ProduceStatus(index, partition, 0, -1, -1, error, false);
}
