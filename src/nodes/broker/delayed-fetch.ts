import { ERRORS } from "../../kafka/error-code.ts";
import type { FetchPartition, FetchRequest } from "../../kafka/protocol/fetch.ts";
import type { TimerHandle } from "../../ports/node.ts";
import { NO_TIMER } from "../../ports/node.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";
import type { FetchReader } from "./fetch-answer.ts";
import type { Partition } from "./partition.ts";

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
  /** What it asks for, in its order; of a parked fetch all are here. */
  readonly #asked: readonly FetchPartition[];
  readonly #partitions: readonly (Partition | undefined)[];
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
    this.#asked = allAsked(body);
    this.#partitions = allPartitions(context, body, this.#asked.length);
  }

  watch(): void {
    for (const partition of this.#partitions) partition?.fetches.add(this);
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
    this.#reader.answer(this.#request, this.#body, this.#context.now());
  }

  #isDue(): boolean {
    const { minBytes } = this.#body;
    const isFollower = this.#body.replicaId >= 0;
    const asked = this.#asked;
    let available = 0;
    for (let i = 0; i < asked.length; i++) {
      const partition = this.#partitions[i];
      if (partition === undefined) return true;
      const { currentLeaderEpoch, fetchOffset, lastFetchedEpoch } = asked[i] as FetchPartition;
      if (partition.checkLeader(currentLeaderEpoch) !== ERRORS.NONE) return true;
      const end = isFollower ? partition.logEndOffset : partition.highWatermark;
      // The log was cut under the fetch.
      if (end < fetchOffset) return true;
      if (end > fetchOffset) {
        if (minBytes <= 1) return true;
        available += partition.log.bytesBetween(fetchOffset, end);
        if (available >= minBytes) return true;
      }
      if (lastFetchedEpoch >= 0) {
        const epochEnd = partition.log.endOffsetForEpoch(lastFetchedEpoch);
        if (epochEnd.endOffset < 0) return true;
        if (this.#context.rules.historiesPart(epochEnd, lastFetchedEpoch, fetchOffset)) return true;
      }
    }
    return false;
  }

  #forget(): void {
    this.#done = true;
    this.#context.world.timers.cancel(this.timer);
    for (const partition of this.#partitions) partition?.fetches.delete(this);
  }
}

/** The partitions of all topics in a row; nearly every fetch is of one. */
function allAsked(body: FetchRequest): readonly FetchPartition[] {
  const [only] = body.topics;
  if (only !== undefined && body.topics.length === 1) return only.partitions;
  return body.topics.flatMap(({ partitions }) => partitions);
}

function allPartitions(
  context: BrokerContext,
  body: FetchRequest,
  count: number,
): readonly (Partition | undefined)[] {
  const all = new Array<Partition | undefined>(count);
  let at = 0;
  for (const { topicId, partitions } of body.topics) {
    for (const { partition } of partitions) all[at++] = context.partition(topicId, partition);
  }
  return all;
}
