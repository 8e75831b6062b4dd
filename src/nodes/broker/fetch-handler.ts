import type { Instant } from "../../base/time.ts";
import { fromMillis } from "../../base/time.ts";
import type { FetchRequest } from "../../kafka/protocol/fetch.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";
import { BROKER_TIMER } from "./broker-timers.ts";
import { DelayedFetch } from "./delayed-fetch.ts";
import type { FetchReader } from "./fetch-answer.ts";
import { FetchReading, replyToFetch } from "./fetch-answer.ts";
import { readForFetch } from "./fetch-read.ts";

/**
 * Serves fetches of consumers and followers (`ReplicaManager.fetchMessages`).
 * Simplified: no fetch sessions (KIP-227): every fetch names all its partitions, and every answer has
 * them all.
 */
export class FetchHandler implements FetchReader {
  readonly #context: BrokerContext;
  readonly #maxBytes: number;
  /** Readings not in use. Several can be under way: one may let a parked fetch be answered. */
  readonly #readings: FetchReading[] = [];

  constructor(context: BrokerContext) {
    this.#context = context;
    this.#maxBytes = context.configs["fetch.max.bytes"];
  }

  handle(request: IncomingRequest, body: FetchRequest): void {
    const now = this.#context.now();
    const reading = this.#read(body, true, now);
    if (body.maxWaitMs <= 0 || reading.urgent || reading.bytes >= body.minBytes) {
      const responses = reading.toResponses(body.topics);
      this.#readings.push(reading);
      replyToFetch(request, responses);
      return;
    }
    this.#readings.push(reading);
    const delayed = new DelayedFetch(this.#context, this, request, body);
    if (delayed.tryComplete()) return;
    delayed.watch();
    delayed.timer = this.#context.world.timers.start(
      fromMillis(body.maxWaitMs),
      BROKER_TIMER.delayedFetch,
      delayed,
    );
  }

  answer(request: IncomingRequest, body: FetchRequest, now: Instant): void {
    const reading = this.#read(body, false, now);
    const responses = reading.toResponses(body.topics);
    this.#readings.push(reading);
    replyToFetch(request, responses);
  }

  /** Reads all partitions of a fetch, in its order, within its bytes. */
  #read(body: FetchRequest, updateState: boolean, now: Instant): FetchReading {
    const reading = this.#readings.pop() ?? new FetchReading();
    // What a client may ask for is capped by the broker; what a follower asks for is not.
    let left = body.replicaId >= 0 ? body.maxBytes : Math.min(body.maxBytes, this.#maxBytes);
    let bytes = 0;
    let urgent = body.topics.length === 0;
    let at = 0;
    for (const { topicId, partitions } of body.topics) {
      for (const fetch of partitions) {
        const maxBytes = Math.min(left, fetch.partitionMaxBytes);
        const part = reading.part(at++);
        readForFetch(
          part,
          this.#context,
          body,
          topicId,
          fetch,
          maxBytes,
          bytes === 0,
          updateState,
          now,
        );
        let size = 0;
        for (const batch of part.records) size += batch.sizeInBytes;
        left = size > left ? 0 : left - size;
        bytes += size;
        if (part.errorCode !== 0 || part.divergingEpoch !== undefined) urgent = true;
      }
    }
    reading.bytes = bytes;
    reading.urgent = urgent;
    return reading;
  }
}
