import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { RecordBatch } from "../../kafka/log/record-batch.ts";
import { DiskError } from "../../ports/disk.ts";
import type { LeaderAppendOrigin, TransactionAppend } from "../../storage/partition-log.ts";
import type { BrokerContext } from "./broker-context.ts";
import { ProduceStatus } from "./delayed-produce.ts";
import type { Partition } from "./partition.ts";

/**
 * Appends one batch if this broker leads its partition, and notes it (`Partition.appendRecordsToLeader`).
 * When all of a request is appended, who waits for partitions that have grown is to be looked after.
 */
export function appendAsLeader(
  context: BrokerContext,
  partition: Partition,
  batch: RecordBatch,
  acks: number,
  origin: LeaderAppendOrigin,
  transaction?: TransactionAppend,
): ProduceStatus {
  const { index } = partition;
  const refused = partition.checkLeader(-1);
  if (refused !== ERRORS.NONE) return failedAppend(index, partition, refused);
  if (acks === -1 && partition.isr.isr.length < partition.effectiveMinIsr) {
    return failedAppend(index, partition, ERRORS.NOT_ENOUGH_REPLICAS);
  }
  try {
    const { log, leaderEpoch } = partition;
    const result = log.appendAsLeader([batch], leaderEpoch, origin, transaction);
    if (result.error !== ERRORS.NONE) return failedAppend(index, partition, result.error);
    for (const appended of result.appended) {
      context.facts.note({
        kind: "appended",
        broker: context.brokerId,
        partition: partition.name,
        batch: appended,
        asLeader: true,
      });
    }
    log.flushIfMany();
    // Also after a duplicate: a replica may have been waited for until now that is not any more.
    const advanced = partition.maybeAdvanceHighWatermark(context.now());
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
    context.diskFailed(problem);
    return failedAppend(index, partition, ERRORS.KAFKA_STORAGE_ERROR);
  }
}

/** Nothing was appended. */
export function failedAppend(
  index: number,
  partition: Partition | undefined,
  error: ErrorCode,
): ProduceStatus {
  return new ProduceStatus(index, partition, 0, -1, -1, error, false);
}
