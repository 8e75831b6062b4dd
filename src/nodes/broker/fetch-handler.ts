import type { Instant } from "../../base/time.ts";
import { fromMillis } from "../../base/time.ts";
import type {
  FetchPartitionResponse,
  FetchRequest,
  FetchTopicResponse,
} from "../../kafka/protocol/fetch.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";
import { BROKER_TIMER } from "./broker-timers.ts";
import { DelayedFetch } from "./delayed-fetch.ts";
import type { FetchAnswer, FetchReader } from "./fetch-answer.ts";
import { replyToFetch } from "./fetch-answer.ts";
import { readForFetch } from "./fetch-read.ts";

/**
 * Serves fetches of consumers and followers (`ReplicaManager.fetchMessages`).
 * Simplified: no fetch sessions (KIP-227): every fetch names all its partitions, and every answer has
 * them all.
 */
export class FetchHandler implements FetchReader {
  readonly #context: BrokerContext;
  readonly #maxBytes: number;

  constructor(context: BrokerContext) {
    this.#context = context;
    this.#maxBytes = context.configs["fetch.max.bytes"];
  }

  handle(request: IncomingRequest, body: FetchRequest): void {
    const now = this.#context.now();
    const answer = this.read(body, true, now);
    if (body.maxWaitMs <= 0 || answer.urgent || answer.bytes >= body.minBytes) {
      replyToFetch(request, answer.responses);
      return;
    }
    const delayed = new DelayedFetch(this.#context, this, request, body);
    if (delayed.tryComplete()) return;
    delayed.watch();
    delayed.timer = this.#context.world.timers.start(
      fromMillis(body.maxWaitMs),
      BROKER_TIMER.delayedFetch,
      delayed,
    );
  }

  /** Reads all partitions of a fetch, in its order, within its bytes. */
  read(body: FetchRequest, updateState: boolean, now: Instant): FetchAnswer {
    // What a client may ask for is capped by the broker; what a follower asks for is not.
    let left = body.replicaId >= 0 ? body.maxBytes : Math.min(body.maxBytes, this.#maxBytes);
    let bytes = 0;
    let urgent = body.topics.length === 0;
    let minOneMessage = true;
    const responses: FetchTopicResponse[] = [];
    for (const topic of body.topics) {
      const partitions: FetchPartitionResponse[] = [];
      for (const fetch of topic.partitions) {
        const one = readForFetch(
          this.#context,
          body,
          topic.topicId,
          fetch,
          Math.min(left, fetch.partitionMaxBytes),
          minOneMessage,
          updateState,
          now,
        );
        let size = 0;
        for (const batch of one.records) size += batch.sizeInBytes;
        if (size > 0) minOneMessage = false;
        left = size > left ? 0 : left - size;
        bytes += size;
        if (one.errorCode !== 0 || one.divergingEpoch !== undefined) urgent = true;
        partitions.push(one);
      }
      responses.push({ topicId: topic.topicId, partitions });
    }
    return { responses, bytes, urgent };
  }
}
