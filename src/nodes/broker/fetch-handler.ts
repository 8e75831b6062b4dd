import type { Instant } from "../../base/time.ts";
import { fromMillis } from "../../base/time.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { FetchRequest, FetchTopicResponse } from "../../kafka/protocol/fetch.ts";
import {
  FINAL_EPOCH,
  NO_SESSION,
  nextSessionEpoch,
} from "../../kafka/protocol/fetch-session-epoch.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import { NEVER, WakeUp } from "../wake-up.ts";
import type { BrokerContext } from "./broker-context.ts";
import { BROKER_TIMER } from "./broker-timers.ts";
import type { FetchReader } from "./delayed-fetch.ts";
import { DelayedFetch, isDue } from "./delayed-fetch.ts";
import { replyToFetch } from "./fetch-answer.ts";
import { readForFetch } from "./fetch-read.ts";
import { FetchSession } from "./fetch-session.ts";
import { FetchSessionCache } from "./fetch-session-cache.ts";

/**
 * Serves fetches of consumers and followers (`ReplicaManager.fetchMessages`), each as one of its session
 * (`FetchManager.newContext`).
 */
export class FetchHandler implements FetchReader {
  readonly #context: BrokerContext;
  readonly #maxBytes: number;
  readonly #sessions: FetchSessionCache;
  readonly #expiry: WakeUp;

  constructor(context: BrokerContext) {
    this.#context = context;
    this.#maxBytes = context.configs["fetch.max.bytes"];
    this.#sessions = new FetchSessionCache(
      context.configs["max.incremental.fetch.session.cache.slots"],
      context.world.random,
    );
    this.#expiry = new WakeUp(context.world.timers, BROKER_TIMER.delayedFetch);
  }

  handle(request: IncomingRequest, body: FetchRequest): void {
    const now = this.#context.now();
    const session = isFull(body) ? this.#begin(body) : this.#goOn(request, body, now);
    if (session === undefined) return;
    this.#read(body, session, true, now);
    if (body.maxWaitMs <= 0 || session.isUrgent || session.bytes >= body.minBytes) {
      this.#reply(request, body, session);
    } else if (isDue(this.#context, body, session)) {
      // What the fetch told of a follower may have let in a produce that stood in line.
      this.answer(request, body, session);
    } else {
      this.#park(request, body, session);
    }
  }

  #park(request: IncomingRequest, body: FetchRequest, session: FetchSession): void {
    const elapsed = this.#context.world.clock.elapsed();
    const deadline = elapsed + fromMillis(body.maxWaitMs);
    session.parked = new DelayedFetch(this.#context, this, request, body, session, deadline);
    session.watch();
    this.#expiry.noLaterThan(deadline, elapsed);
  }

  /** The timer came due: answers those that have waited long enough. */
  onTimer(): void {
    const reached = this.#expiry.fired();
    let next = NEVER;
    for (const { fetches } of this.#context.partitions()) {
      for (const { session } of fetches.all()) {
        const { parked } = session;
        if (parked === undefined) continue;
        if (parked.deadline <= reached) parked.complete();
        else if (parked.deadline < next) next = parked.deadline;
      }
    }
    this.#expiry.noLaterThan(next, this.#context.world.clock.elapsed());
  }

  /** The session of a full fetch; it ends the one that it names. */
  #begin(body: FetchRequest): FetchSession {
    if (body.sessionId !== NO_SESSION) this.#sessions.remove(body.sessionId);
    const session = new FetchSession(this.#context, body.replicaId >= 0);
    session.update(body);
    return session;
  }

  /** The session that a fetch names, brought up to date; undefined if the fetch is answered. */
  #goOn(request: IncomingRequest, body: FetchRequest, now: Instant): FetchSession | undefined {
    const session = this.#sessions.get(body.sessionId);
    if (session === undefined) {
      replyToFetch(request, ERRORS.FETCH_SESSION_ID_NOT_FOUND, NO_SESSION, NO_TOPICS);
      return undefined;
    }
    if (session.epoch !== body.sessionEpoch) {
      replyToFetch(request, ERRORS.INVALID_FETCH_SESSION_EPOCH, NO_SESSION, NO_TOPICS);
      return undefined;
    }
    session.epoch = nextSessionEpoch(session.epoch);
    session.lastUsedAt = now;
    // Its fetcher has given it up: it asks anew on another connection.
    session.parked?.complete();
    session.update(body);
    // Before it is read: a reading may let in a produce to what was read already.
    session.watch();
    if (session.partitions.length > 0) return session;
    this.#sessions.remove(session.id);
    replyToFetch(request, ERRORS.NONE, NO_SESSION, NO_TOPICS);
    return undefined;
  }

  answer(request: IncomingRequest, body: FetchRequest, session: FetchSession): void {
    if (isFull(body) || session.epoch === nextSessionEpoch(body.sessionEpoch)) {
      this.#read(body, session, false, this.#context.now());
      this.#reply(request, body, session);
    } else {
      // A later fetch of the session has come meanwhile.
      replyToFetch(request, ERRORS.INVALID_FETCH_SESSION_EPOCH, session.id, NO_TOPICS);
    }
  }

  /** Answers with what was read last. */
  #reply(request: IncomingRequest, body: FetchRequest, session: FetchSession): void {
    const responses = session.toResponses(!isFull(body));
    let sessionId = session.id;
    if (isFull(body) && body.sessionEpoch !== FINAL_EPOCH) {
      sessionId = this.#sessions.admit(session, this.#context.now());
    }
    if (!session.isKept) session.unwatch();
    replyToFetch(request, ERRORS.NONE, sessionId, responses);
  }

  /** Is it not the fetch of an earlier life of its follower (KIP-903)? */
  #isOfPresentLife({ replicaId, replicaEpoch }: FetchRequest): boolean {
    if (replicaId < 0) return true;
    const registered = this.#context.image.brokers.get(replicaId);
    return registered === undefined || registered.brokerEpoch <= replicaEpoch;
  }

  /** What a client may ask for is capped by the broker; what a follower asks for is not. */
  #bound({ maxBytes, replicaId }: FetchRequest): number {
    return replicaId >= 0 ? maxBytes : Math.min(maxBytes, this.#maxBytes);
  }

  /** Reads all partitions of a session, in its order, within the bytes of the fetch. */
  #read(body: FetchRequest, session: FetchSession, updateState: boolean, now: Instant): void {
    const mayPassOver = !isFull(body) && this.#isOfPresentLife(body);
    const isBounded = this.#context.rules.switches["fetch.min-one-batch"];
    let left = isBounded ? this.#bound(body) : Number.MAX_SAFE_INTEGER;
    let bytes = 0;
    let urgent = session.partitions.length === 0;
    for (const one of session.partitions) {
      // What had nothing when the fetch came, and did not change since, has nothing still.
      if (!updateState && one.isQuiet && !one.isTouched) continue;
      one.isTouched = false;
      one.isQuiet = mayPassOver && one.passOver(body, updateState, now);
      if (one.isQuiet) continue;
      if (one.partition === undefined) session.find(one);
      const { reading, request } = one;
      const maxBytes = Math.min(left, request.partitionMaxBytes);
      readForFetch(
        reading,
        this.#context,
        body,
        one.topicId,
        request,
        maxBytes,
        isBounded && bytes === 0,
        updateState,
        now,
      );
      let size = 0;
      for (const batch of reading.records) size += batch.sizeInBytes;
      left = size > left ? 0 : left - size;
      bytes += size;
      if (reading.errorCode !== 0 || reading.divergingEpoch !== undefined) urgent = true;
    }
    session.bytes = bytes;
    session.isUrgent = urgent;
  }
}

/** Does it name all its partitions (`FetchMetadata.isFull`)? */
function isFull(body: FetchRequest): boolean {
  return body.sessionEpoch <= 0;
}

const NO_TOPICS: readonly FetchTopicResponse[] = [];
