import type { Instant } from "../../base/time.ts";
import type { Offset, PartitionName } from "../../kafka/ids.ts";
import { NO_EPOCH } from "../../kafka/ids.ts";
import type { BrokerConnections } from "../client-metadata/broker-connections.ts";
import type { AssignedPartition } from "./assigned-partition.ts";
import type { ConsumerParts } from "./consumer-parts.ts";
import { resetPosition } from "./offset-finder.ts";
import type { FoundOffsets, WhichOffset } from "./offset-lookup.ts";
import { OffsetLookup } from "./offset-lookup.ts";

/** What an application asks of its consumer between two polls, of one partition or of all that it has. */
export type ConsumerCall = { readonly partition: PartitionName | undefined } & (
  | { readonly kind: "pause" | "resume" }
  /** `seek`, `seekToBeginning`, `seekToEnd`; with a timestamp `offsetsForTimes` first. */
  | { readonly kind: "seek"; readonly to: Offset | WhichOffset }
  /** `beginningOffsets`, `endOffsets`, `offsetsForTimes`. */
  | { readonly kind: "ask-offsets"; readonly which: WhichOffset }
);

/** A consumer whose application can be told what to ask of it. */
export interface CalledConsumer {
  call(call: ConsumerCall): void;
}

/** A call that waits for what leaders answer. */
type Asking = { readonly call: ConsumerCall; readonly which: WhichOffset };

/**
 * The calls of an application besides its polls (`SubscriptionState`, `OffsetFetcher`). They come from the thread
 * that polls, and so wait until it is done with what it does; and it does nothing else while it waits for an answer.
 */
export class ApplicationCalls {
  readonly #parts: ConsumerParts;
  /** Forgets what has been fetched of a partition and not handed over. */
  readonly #drop: (partition: AssignedPartition) => void;
  readonly #lookup: OffsetLookup;
  readonly #waiting: ConsumerCall[] = [];
  #asking: Asking | undefined = undefined;

  /** `connections`: for questions. */
  constructor(
    parts: ConsumerParts,
    connections: BrokerConnections,
    drop: (partition: AssignedPartition) => void,
  ) {
    this.#parts = parts;
    this.#drop = drop;
    this.#lookup = new OffsetLookup(parts, connections);
  }

  add(call: ConsumerCall): void {
    this.#waiting.push(call);
  }

  /** Between two polls. Whether the next may begin, `isBlocked` of the parts tells. */
  perform(now: Instant): void {
    if (this.#waiting.length === 0 && this.#asking === undefined) return;
    while (this.#advance(now));
    this.#parts.isBlocked = this.#asking !== undefined;
    this.#parts.isChanged = true;
  }

  /** False if there is nothing that can be done now. */
  #advance(now: Instant): boolean {
    const asking = this.#asking;
    if (asking === undefined) {
      const call = this.#waiting.shift();
      if (call === undefined) return false;
      this.#begin(call, now);
      return true;
    }
    const found = this.#lookup.run(now);
    if (found === undefined) return false;
    this.#asking = undefined;
    this.#answered(asking, found);
    return true;
  }

  #begin(call: ConsumerCall, now: Instant): void {
    const which = askedOf(call);
    const partitions =
      call.partition === undefined
        ? this.#parts.assigned.map(({ name }) => name)
        : [call.partition];
    if (partitions.length === 0 && call.kind !== "resume") {
      this.#fail(call, "", "it is assigned nothing");
    } else if (which !== undefined) {
      this.#lookup.begin(which, partitions, now);
      this.#asking = { call, which };
    } else for (const partition of partitions) this.#change(call, partition);
  }

  #answered({ call, which }: Asking, found: FoundOffsets | "timeout"): void {
    const { client, settings, world } = this.#parts;
    if (found === "timeout") {
      const patience = `${settings.apiTimeoutMs}ms`;
      const error = `TimeoutException: Failed to get offsets by times in ${patience}`;
      this.#fail(call, call.partition ?? "", error);
      return;
    }
    const method = methodOf(which);
    for (const [partition, offset] of found) {
      world.facts.note({ kind: "offset-told", client, partition, call: method, offset });
      if (call.kind !== "seek") continue;
      this.#change({ kind: "seek", partition, to: offset ?? "end" }, partition);
    }
  }

  /** What needs no answer. Of a partition that it does not have, Kafka throws. */
  #change(call: ConsumerCall, name: PartitionName): void {
    const partition = this.#parts.assigned.find((one) => one.name === name);
    // An application goes on with `paused()`, in which there is nothing that it does not have.
    if (call.kind === "resume") {
      if (partition !== undefined) partition.isPaused = false;
    } else if (partition === undefined) {
      const error = `IllegalStateException: No current assignment for partition ${name}`;
      this.#fail(call, name, error);
    } else if (call.kind === "pause") partition.isPaused = true;
    else if (call.kind === "seek") this.#seek(partition, call.to);
  }

  /** What the group has committed does not matter any more. */
  #seek(partition: AssignedPartition, to: Offset | WhichOffset): void {
    partition.awaitsCommitted = false;
    this.#drop(partition);
    if (typeof to === "number") {
      partition.resetReason = "seek";
      resetPosition(this.#parts, partition, to, NO_EPOCH);
    } else if (to === "beginning") partition.awaitReset("earliest", "seek-to-beginning");
    else partition.awaitReset("latest", "seek-to-end");
  }

  /** It throws, and the application goes on. */
  #fail(call: ConsumerCall, partition: PartitionName, error: string): void {
    const { client, world } = this.#parts;
    world.facts.note({ kind: "call-failed", client, call: nameOfCall(call), partition, error });
  }
}

/** What leaders are asked for first. */
function askedOf(call: ConsumerCall): WhichOffset | undefined {
  if (call.kind === "ask-offsets") return call.which;
  return call.kind === "seek" && typeof call.to === "object" ? call.to : undefined;
}

/** Kafka's name of the method that a call begins with. */
export function nameOfCall(call: ConsumerCall): string {
  const which = askedOf(call);
  if (which !== undefined) return methodOf(which);
  if (call.kind !== "seek") return call.kind;
  if (call.to === "beginning") return "seekToBeginning";
  return call.to === "end" ? "seekToEnd" : "seek";
}

function methodOf(which: WhichOffset): string {
  if (typeof which === "object") return "offsetsForTimes";
  return which === "beginning" ? "beginningOffsets" : "endOffsets";
}
