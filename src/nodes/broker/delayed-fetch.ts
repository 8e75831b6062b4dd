import { ERRORS } from "../../kafka/error-code.ts";
import type { FetchRequest } from "../../kafka/protocol/fetch.ts";
import type { TimerHandle } from "../../ports/node.ts";
import { NO_TIMER } from "../../ports/node.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";
import type { FetchReader } from "./fetch-answer.ts";
import { replyToFetch } from "./fetch-answer.ts";

/**
 * A fetch in purgatory until there is enough to answer it, something is wrong, or `max.wait.ms` is
 * over. A follower's is not woken by the high watermark, which it learns with the next records
 * (KAFKA-9952).
 */
export class DelayedFetch {
  readonly #context: BrokerContext;
  readonly #reader: FetchReader;
  readonly #request: IncomingRequest;
  readonly #body: FetchRequest;
  #done = false;
  timer: TimerHandle = NO_TIMER;

  constructor(
    context: BrokerContext,
    reader: FetchReader,
    request: IncomingRequest,
    body: FetchRequest,
  ) {
    this.#context = context;
    this.#reader = reader;
    this.#request = request;
    this.#body = body;
  }

  watch(): void {
    for (const topic of this.#body.topics) {
      for (const fetch of topic.partitions) {
        this.#context.partition(topic.topicId, fetch.partition)?.fetches.add(this);
      }
    }
  }

  /** True if it is answered now (`DelayedFetch.tryComplete`). */
  tryComplete(): boolean {
    if (this.#done) return true;
    if (!this.#request.isOpen) {
      this.#forget();
      return true;
    }
    if (!this.#isDue()) return false;
    this.complete();
    return true;
  }

  /** Answers with what there is; nothing is learned of the follower from it. */
  complete(): void {
    if (this.#done) return;
    this.#forget();
    const answer = this.#reader.read(this.#body, false, this.#context.now());
    replyToFetch(this.#request, answer.responses);
  }

  #isDue(): boolean {
    const { minBytes } = this.#body;
    const isFollower = this.#body.replicaId >= 0;
    let available = 0;
    for (const topic of this.#body.topics) {
      for (const fetch of topic.partitions) {
        const partition = this.#context.partition(topic.topicId, fetch.partition);
        if (partition === undefined) return true;
        if (partition.checkLeader(fetch.currentLeaderEpoch) !== ERRORS.NONE) return true;
        const end = isFollower ? partition.logEndOffset : partition.highWatermark;
        const { fetchOffset, lastFetchedEpoch } = fetch;
        // The log was cut under the fetch.
        if (end < fetchOffset) return true;
        if (end > fetchOffset) {
          if (minBytes <= 1) return true;
          available += partition.log.bytesBetween(fetchOffset, end);
          if (available >= minBytes) return true;
        }
        if (lastFetchedEpoch >= 0) {
          const end = partition.log.endOffsetForEpoch(lastFetchedEpoch);
          if (end.endOffset < 0) return true;
          if (this.#context.rules.historiesPart(end, lastFetchedEpoch, fetchOffset)) return true;
        }
      }
    }
    return false;
  }

  #forget(): void {
    this.#done = true;
    this.#context.world.timers.cancel(this.timer);
    for (const topic of this.#body.topics) {
      for (const fetch of topic.partitions) {
        this.#context.partition(topic.topicId, fetch.partition)?.fetches.delete(this);
      }
    }
  }
}
