import { ERRORS } from "../../../kafka/error-code.ts";
import type { RecordBatch } from "../../../kafka/log/record-batch.ts";
import { FETCH } from "../../../kafka/protocol/apis.ts";
import type { FetchedAbort } from "../../../kafka/protocol/fetch.ts";
import type { AssignedPartition } from "../assigned-partition.ts";
import type { ConsumerParts } from "../consumer-parts.ts";
import type { RecordTaker } from "../record-taker.ts";
import type { TakenRecords } from "./completed-fetch.ts";
import { CompletedFetch } from "./completed-fetch.ts";

/** What has been fetched and not been polled yet, in the order in which it came (`FetchBuffer`, `FetchCollector`). */
export class FetchBuffer implements RecordTaker {
  readonly #parts: ConsumerParts;
  readonly keeps = true;
  #fetches: CompletedFetch[] = [];

  constructor(parts: ConsumerParts) {
    this.#parts = parts;
  }

  get isHolding(): boolean {
    return this.#fetches.length > 0;
  }

  deliver(
    partition: AssignedPartition,
    batches: readonly RecordBatch[],
    aborted: readonly FetchedAbort[] | undefined,
  ): boolean {
    this.#fetches.push(new CompletedFetch(partition, batches, aborted));
    partition.isBuffered = true;
    return true;
  }

  endPoll(): void {
    // The application polls when it likes.
  }

  /** Up to max.poll.records of them, but for those of partitions that are paused. */
  poll(): TakenRecords[] {
    const taken: TakenRecords[] = [];
    let left = this.#parts.settings.maxPollRecords;
    let at = 0;
    while (left > 0) {
      const fetch = this.#fetches[at];
      if (fetch === undefined) break;
      if (fetch.partition.isPaused) {
        at++;
        continue;
      }
      const records = fetch.take(left);
      if (records !== undefined) {
        taken.push(records);
        left -= records.offsets.length;
      }
      if (fetch.isDamaged) {
        // What came before it is handed over first.
        if (taken.length === 0) this.#fail(fetch);
        break;
      }
      if (!fetch.isOver) break;
      this.#fetches.splice(at, 1);
      fetch.partition.isBuffered = false;
    }
    return taken;
  }

  /** The partition is not the member's any more, or is not to be handed over. */
  drop(partition: AssignedPartition): void {
    this.#fetches = this.#fetches.filter((fetch) => fetch.partition !== partition);
    partition.isBuffered = false;
  }

  #fail({ partition }: CompletedFetch): void {
    const { leaderId, offset } = partition.position;
    this.#parts.noteFailure(FETCH.name, leaderId, partition.name, ERRORS.CORRUPT_MESSAGE, false);
    this.#parts.die(`${partition.name} is damaged at offset ${offset}`);
  }
}
