import type { Duration } from "../../base/time.ts";
import type { FetchRequest } from "../../kafka/protocol/fetch.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";
import { clientEndOf } from "./fetch-read.ts";
import type { FetchSession, SessionPartition } from "./fetch-session.ts";

/** Reads all partitions of a fetch's session. */
export interface FetchReader {
  /** Answers a fetch with what there is now; nothing is learned of the follower from it. */
  answer(request: IncomingRequest, body: FetchRequest, session: FetchSession): void;
}

/**
 * A fetch in purgatory until there is enough to answer it, something is wrong, or `max.wait.ms` is
 * over. A follower's is not woken by the high watermark, which it learns with the next records
 * (KAFKA-9952).
 */
export class DelayedFetch {
  /** When `max.wait.ms` is over, by the broker's clock that is never set. */
  readonly deadline: Duration;
  readonly #context: BrokerContext;
  readonly #reader: FetchReader;
  readonly #request: IncomingRequest;
  readonly #body: FetchRequest;
  readonly #session: FetchSession;
  #done = false;

  constructor(
    context: BrokerContext,
    reader: FetchReader,
    request: IncomingRequest,
    body: FetchRequest,
    session: FetchSession,
    deadline: Duration,
  ) {
    this.deadline = deadline;
    this.#context = context;
    this.#reader = reader;
    this.#request = request;
    this.#body = body;
    this.#session = session;
  }

  /** One of its partitions changed: true if it is answered now (`DelayedFetch.tryComplete`). */
  tryCompleteFor(changed: SessionPartition): boolean {
    if (this.#done) return true;
    if (this.#request.isOpen && !this.#isDueFor(changed)) return false;
    this.complete();
    return true;
  }

  /** As a rule one byte will do, and then the others need not be looked at. */
  #isDueFor(changed: SessionPartition): boolean {
    const available = availableIn(this.#context, this.#body, changed);
    if (available === 0 || this.#body.minBytes <= 1) return available > 0;
    return isDue(this.#context, this.#body, this.#session);
  }

  /** Answers with what there is, if its asker is still there; nothing is learned of a follower from it. */
  complete(): void {
    if (this.#done) return;
    this.#done = true;
    this.#session.parked = undefined;
    if (!this.#request.isOpen) {
      this.#session.unwatch();
      return;
    }
    this.#reader.answer(this.#request, this.#body, this.#session);
  }
}

/** Is there enough for the fetch, or something wrong, in any of its partitions? It has been read before. */
export function isDue(context: BrokerContext, body: FetchRequest, session: FetchSession): boolean {
  const minBytes = Math.max(body.minBytes, 1);
  let bytes = 0;
  for (const one of session.partitions) {
    if (one.isQuiet && !one.isTouched) continue;
    bytes += availableIn(context, body, one);
    if (bytes >= minBytes) return true;
  }
  return false;
}

/** Bytes that wait in one partition, if they are counted; infinitely many if it cannot wait. */
function availableIn(context: BrokerContext, body: FetchRequest, one: SessionPartition): number {
  const { partition, request } = one;
  if (partition === undefined) return Number.POSITIVE_INFINITY;
  const { currentLeaderEpoch, fetchOffset, lastFetchedEpoch } = request;
  if (!partition.servesEpoch(currentLeaderEpoch)) return Number.POSITIVE_INFINITY;
  const { log } = partition;
  const isFollower = body.replicaId >= 0;
  const end = isFollower ? log.logEndOffset : clientEndOf(partition, body.isolationLevel);
  // The log was cut under the fetch, or it is of somebody who has read from a leader that knew more.
  if (end < fetchOffset) return Number.POSITIVE_INFINITY;
  // The newest epoch reaches to the log's end: the histories are one.
  if (lastFetchedEpoch >= 0 && lastFetchedEpoch !== log.latestEpoch) {
    const epochEnd = log.endOffsetForEpoch(lastFetchedEpoch);
    if (epochEnd.endOffset < 0) return Number.POSITIVE_INFINITY;
    if (context.rules.historiesPart(epochEnd, lastFetchedEpoch, fetchOffset)) {
      return Number.POSITIVE_INFINITY;
    }
  }
  if (end <= fetchOffset) return 0;
  return body.minBytes <= 1 ? 1 : log.bytesBetween(fetchOffset, end);
}
