import type { RecordBatch } from "../../kafka/log/record-batch.ts";
import type { FetchedAbort } from "../../kafka/protocol/fetch.ts";
import type { AssignedPartition } from "./assigned-partition.ts";

/** Takes what was fetched. */
export interface RecordTaker {
  /** Has it records that wait, of a partition whose broker is not to be asked before they are taken? */
  readonly isHolding: boolean;
  /** Does it keep what the application does not want yet? */
  readonly keeps: boolean;
  /** Takes a partition's records from its position on; false if a batch is damaged. */
  deliver(
    partition: AssignedPartition,
    batches: readonly RecordBatch[],
    aborted: readonly FetchedAbort[] | undefined,
  ): boolean;
  /** A whole answer has been handed over. */
  endPoll(): void;
}
