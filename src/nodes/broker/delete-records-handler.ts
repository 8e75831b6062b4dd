import { fromMillis } from "../../base/time.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type {
  DeleteRecordsPartition,
  DeleteRecordsRequest,
} from "../../kafka/protocol/delete-records.ts";
import { DiskError } from "../../ports/disk.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";
import { BROKER_TIMER } from "./broker-timers.ts";
import { DelayedDeleteRecords, DeleteRecordsStatus } from "./delayed-delete-records.ts";
import { whyAbsent } from "./fetch-read.ts";
import type { Partition } from "./partition.ts";

/** Lets the oldest records of partitions go that clients ask to be rid of (`ReplicaManager.deleteRecords`). */
export class DeleteRecordsHandler {
  readonly #context: BrokerContext;

  constructor(context: BrokerContext) {
    this.#context = context;
  }

  handle(request: IncomingRequest, body: DeleteRecordsRequest): void {
    const topics = body.topics.map(({ name, partitions }) => ({
      name,
      statuses: partitions.map((one) => this.#delete(name, one)),
    }));
    const delayed = new DelayedDeleteRecords(this.#context, request, topics);
    if (delayed.tryComplete()) return;
    delayed.watch();
    delayed.timer = this.#context.world.timers.start(
      fromMillis(body.timeoutMs),
      BROKER_TIMER.delayedDeleteRecords,
      delayed,
    );
  }

  #delete(topic: string, { partitionIndex, offset }: DeleteRecordsPartition): DeleteRecordsStatus {
    const image = this.#context.image.topicByName(topic);
    if (image === undefined) return refused(partitionIndex, ERRORS.UNKNOWN_TOPIC_OR_PARTITION);
    const partition = this.#context.partition(image.topicId, partitionIndex);
    if (partition === undefined) {
      return refused(partitionIndex, whyAbsent(this.#context, image.topicId, partitionIndex));
    }
    try {
      const required = partition.deleteRecords(offset);
      return typeof required === "number"
        ? new DeleteRecordsStatus(partitionIndex, partition, required, ERRORS.NONE)
        : refused(partitionIndex, required, partition);
    } catch (problem) {
      if (!(problem instanceof DiskError)) throw problem;
      this.#context.diskFailed(problem);
      return refused(partitionIndex, ERRORS.KAFKA_STORAGE_ERROR, partition);
    }
  }
}

function refused(index: number, error: ErrorCode, partition?: Partition): DeleteRecordsStatus {
  return new DeleteRecordsStatus(index, partition, -1, error);
}
