import { fromMillis } from "../../base/time.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { BrokerId, QuorumEpoch } from "../../kafka/ids.ts";
import { FETCH } from "../../kafka/protocol/apis.ts";
import type { FetchPartition } from "../../kafka/protocol/fetch.ts";
import type { Leader } from "../../kafka/quorum/role.ts";
import type { Timers } from "../../ports/node.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { ParkedFetch } from "./fetch-purgatory.ts";
import { FetchPurgatory } from "./fetch-purgatory.ts";
import type { MetadataLog } from "./metadata-log.ts";
import { metadataFetchResponse } from "./quorum-messages.ts";

/** How a leader answers fetches of the metadata log, and how others turn them down. */
export class LeaderFetches {
  readonly #nodeId: BrokerId;
  readonly #log: MetadataLog;
  readonly #purgatory: FetchPurgatory;

  constructor(nodeId: BrokerId, log: MetadataLog, timers: Timers, timerKind: number) {
    this.#nodeId = nodeId;
    this.#log = log;
    this.#purgatory = new FetchPurgatory(timers, timerKind);
  }

  /** Answers with what is there, else waits for more, at most as long as the asker wants. */
  handle(
    request: IncomingRequest,
    partition: FetchPartition,
    diverges: boolean,
    maxWaitMs: number,
    role: Leader,
  ): void {
    const hasNews =
      diverges ||
      partition.fetchOffset < this.#log.endOffset ||
      partition.highWatermark < role.progress.highWatermark;
    if (hasNews || maxWaitMs === 0) this.#answer(request, partition, role);
    else this.#purgatory.park(request, partition, fromMillis(maxWaitMs));
  }

  /** Does the asker's log part from this one before it ends? */
  diverges(partition: FetchPartition): boolean {
    return this.#log.divergence(partition.fetchOffset, partition.lastFetchedEpoch) !== undefined;
  }

  /** The log grew or the high watermark moved. */
  answerReady(role: Leader): void {
    const { highWatermark } = role.progress;
    for (const parked of this.#purgatory.takeReady(this.#log.endOffset, highWatermark)) {
      this.#answer(parked.request, parked.partition, role);
    }
  }

  /** A parked fetch has waited long enough. */
  expire(parked: ParkedFetch, role: Leader): void {
    if (!this.#purgatory.takeExpired(parked)) return;
    this.#answer(parked.request, parked.partition, role);
  }

  /** This node leads no more: who waits is to look for the next leader. */
  dismissAll(leaderId: BrokerId, epoch: QuorumEpoch): void {
    for (const { request } of this.#purgatory.takeAll()) {
      this.refuse(request, ERRORS.NOT_LEADER_OR_FOLLOWER, leaderId, epoch);
    }
  }

  refuse(request: IncomingRequest, error: ErrorCode, leaderId: BrokerId, epoch: QuorumEpoch): void {
    const answer = {
      error,
      leaderId,
      epoch,
      highWatermark: -1,
      logStartOffset: this.#log.startOffset,
      diverging: undefined,
      records: [],
    };
    request.reply(FETCH, metadataFetchResponse(answer));
  }

  #answer(request: IncomingRequest, partition: FetchPartition, role: Leader): void {
    const diverging = this.#log.divergence(partition.fetchOffset, partition.lastFetchedEpoch);
    const answer = {
      error: ERRORS.NONE,
      leaderId: this.#nodeId,
      epoch: role.epoch,
      highWatermark: role.progress.highWatermark,
      logStartOffset: this.#log.startOffset,
      diverging,
      records: diverging === undefined ? this.#log.read(partition.fetchOffset) : [],
    };
    request.reply(FETCH, metadataFetchResponse(answer));
  }
}
