import type { Offset } from "../../kafka/ids.ts";
import type { FetchPartition } from "../../kafka/protocol/fetch.ts";
import type { TimerHandle, Timers } from "../../ports/node.ts";
import { NO_TIMER } from "../../ports/node.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";

/** A fetch of the metadata log that waits for something to tell. */
export class ParkedFetch {
  readonly request: IncomingRequest;
  readonly partition: FetchPartition;
  timer: TimerHandle = NO_TIMER;

  constructor(request: IncomingRequest, partition: FetchPartition) {
    this.request = request;
    this.partition = partition;
  }
}

/**
 * Fetches that are answered when the log grows, when the high watermark moves (KIP-1166), or when
 * their time is up.
 */
export class FetchPurgatory {
  readonly #timers: Timers;
  readonly #timerKind: number;
  #parked: ParkedFetch[] = [];

  constructor(timers: Timers, timerKind: number) {
    this.#timers = timers;
    this.#timerKind = timerKind;
  }

  /** Its time is up when a timer comes with the parked fetch as its payload. `maxWait` in microseconds. */
  park(request: IncomingRequest, partition: FetchPartition, maxWait: number): void {
    const parked = new ParkedFetch(request, partition);
    parked.timer = this.#timers.start(maxWait, this.#timerKind, parked);
    this.#parked.push(parked);
  }

  /** Takes out the fetches that a log up to `endOffset`, committed up to `highWatermark`, can answer. */
  takeReady(endOffset: Offset, highWatermark: Offset): readonly ParkedFetch[] {
    const parked = this.#parked;
    let ready = 0;
    for (const one of parked) if (isReady(one.partition, endOffset, highWatermark)) ready++;
    if (ready === 0) return NONE;
    // Most often what is news to one is news to all.
    if (ready === parked.length) return this.takeAll();
    return this.#take(({ partition }) => isReady(partition, endOffset, highWatermark));
  }

  takeAll(): readonly ParkedFetch[] {
    const taken = this.#parked;
    if (taken.length === 0) return taken;
    this.#parked = [];
    for (const parked of taken) this.#timers.cancel(parked.timer);
    return taken;
  }

  /** Takes out one whose time is up; false if it is gone already. */
  takeExpired(parked: ParkedFetch): boolean {
    return this.#take((one) => one === parked).length > 0;
  }

  #take(isWanted: (parked: ParkedFetch) => boolean): readonly ParkedFetch[] {
    const taken = this.#parked.filter(isWanted);
    if (taken.length === 0) return taken;
    this.#parked = this.#parked.filter((parked) => !taken.includes(parked));
    for (const parked of taken) this.#timers.cancel(parked.timer);
    return taken;
  }
}

const NONE: readonly ParkedFetch[] = [];

function isReady(partition: FetchPartition, endOffset: Offset, highWatermark: Offset): boolean {
  return partition.fetchOffset < endOffset || partition.highWatermark < highWatermark;
}
