import type { Offset, PartitionName } from "../../kafka/ids.ts";
import { NO_EPOCH } from "../../kafka/ids.ts";
import type { AssignedPartition } from "./assigned-partition.ts";
import type { ConsumerParts } from "./consumer-parts.ts";
import { resetPosition } from "./offset-finder.ts";

/** What an application asks of its consumer between two polls. */
export type ConsumerCall =
  /** `pause` and `resume`, of one partition or of all that it has. */
  | { readonly kind: "pause" | "resume"; readonly partition: PartitionName | undefined }
  /** `seek`, `seekToBeginning`, `seekToEnd`. */
  | {
      readonly kind: "seek";
      readonly partition: PartitionName;
      readonly to: Offset | "beginning" | "end";
    };

/** A consumer whose application can be told what to ask of it. */
export interface CalledConsumer {
  call(call: ConsumerCall): void;
}

/**
 * The calls of an application besides its polls (`SubscriptionState`). They come from the thread that polls, and so
 * wait until it is done with what it does.
 */
export class ApplicationCalls {
  readonly #parts: ConsumerParts;
  /** Forgets what has been fetched of a partition and not handed over. */
  readonly #drop: (partition: AssignedPartition) => void;
  #waiting: ConsumerCall[] = [];

  constructor(parts: ConsumerParts, drop: (partition: AssignedPartition) => void) {
    this.#parts = parts;
    this.#drop = drop;
  }

  add(call: ConsumerCall): void {
    this.#waiting.push(call);
  }

  /** Between two polls. */
  perform(): void {
    if (this.#waiting.length === 0) return;
    const calls = this.#waiting;
    this.#waiting = [];
    for (const call of calls) this.#perform(call);
    this.#parts.isChanged = true;
  }

  #perform(call: ConsumerCall): void {
    const { assigned } = this.#parts;
    const named = assigned.filter(
      ({ name }) => call.partition === undefined || name === call.partition,
    );
    if (call.kind === "resume") {
      // An application goes on with `paused()`, in which there is nothing that it does not have.
      for (const partition of named) partition.isPaused = false;
      return;
    }
    if (call.partition !== undefined && named.length === 0) {
      const what = `No current assignment for partition ${call.partition}`;
      this.#parts.die(`IllegalStateException: ${what}`);
      return;
    }
    for (const partition of named) {
      if (call.kind === "seek") this.#seek(partition, call.to);
      else partition.isPaused = true;
    }
  }

  /** What the group has committed does not matter any more. */
  #seek(partition: AssignedPartition, to: Offset | "beginning" | "end"): void {
    partition.awaitsCommitted = false;
    this.#drop(partition);
    if (typeof to === "number") {
      partition.resetReason = "seek";
      resetPosition(this.#parts, partition, to, NO_EPOCH);
    } else if (to === "beginning") partition.awaitReset("earliest", "seek-to-beginning");
    else partition.awaitReset("latest", "seek-to-end");
  }
}
