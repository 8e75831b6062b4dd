import type { Instant } from "../../base/time.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import type { Offset, PartitionName } from "../../kafka/ids.ts";
import { topicPartition } from "../../kafka/ids.ts";
import { LIST_OFFSETS } from "../../kafka/protocol/apis.ts";
import type {
  ListOffsetsPartitionResponse,
  ListOffsetsResponse,
} from "../../kafka/protocol/list-offsets.ts";
import { EARLIEST_TIMESTAMP, LATEST_TIMESTAMP } from "../../kafka/protocol/list-offsets.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { OffsetAsked } from "../../trace/fact.ts";
import type { BrokerConnections } from "../client-metadata/broker-connections.ts";
import type { PartitionLeader, TopicLeaders } from "../client-metadata/topic-leaders.ts";
import type { ResponseHandler } from "../rpc/rpc-client.ts";
import type { AskedPartition } from "./asked-partition.ts";
import { failOffsetRequest, findAsked, groupByLeader, listOffsetsOf } from "./asked-partition.ts";
import type { ConsumerParts } from "./consumer-parts.ts";

/** Where a partition begins, where it ends, or where its first record with this timestamp (milliseconds) or a later one is. */
export type WhichOffset = "beginning" | "end" | { readonly timestamp: number };

/** One partition of which the application wants to know an offset. */
class SoughtOffset implements AskedPartition {
  readonly topic: TopicLeaders;
  readonly partition: number;
  readonly leader: PartitionLeader;
  readonly name: PartitionName;
  retryAt: Instant = 0;
  failures = 0;
  isAnswered = false;
  /** Undefined: there is no such record. */
  offset: Offset | undefined = undefined;

  constructor(topic: TopicLeaders, partition: number, name: PartitionName) {
    this.topic = topic;
    this.partition = partition;
    this.leader = topic.partition(partition);
    this.name = name;
  }
}

/** What such a call returns; or none of it, if it took too long. */
export type FoundOffsets = ReadonlyMap<PartitionName, Offset | undefined>;

/**
 * The calls that ask leaders for offsets and wait for their answers: `beginningOffsets`, `endOffsets`,
 * `offsetsForTimes` (`OffsetFetcher.fetchOffsetsByTimes`). One at a time; no partition need be assigned.
 *
 * Simplified: a partition that was refused waits retry.backoff.ms, and not for the next metadata.
 */
export class OffsetLookup implements ResponseHandler<ListOffsetsResponse, readonly SoughtOffset[]> {
  readonly #parts: ConsumerParts;
  readonly #connections: BrokerConnections;
  #which: WhichOffset = "end";
  #sought: readonly SoughtOffset[] = [];
  #deadline: Instant = 0;

  constructor(parts: ConsumerParts, connections: BrokerConnections) {
    this.#parts = parts;
    this.#connections = connections;
  }

  begin(which: WhichOffset, partitions: readonly PartitionName[], now: Instant): void {
    const { metadata, settings, wakeUp } = this.#parts;
    this.#which = which;
    this.#sought = partitions.map((name) => {
      const { topic, partition } = topicPartition(name);
      metadata.watch([topic]);
      return new SoughtOffset(metadata.topic(topic), partition, name);
    });
    this.#deadline = now + settings.apiTimeout;
    wakeUp.noLaterThan(this.#deadline, now);
  }

  /** Undefined while answers are waited for. */
  run(now: Instant): FoundOffsets | "timeout" | undefined {
    const open = this.#sought.filter(({ isAnswered }) => !isAnswered);
    if (open.length === 0) return new Map(this.#sought.map(({ name, offset }) => [name, offset]));
    if (now >= this.#deadline) return "timeout";
    const groups = groupByLeader(this.#parts, open, this.#connections, now);
    for (const [address, partitions] of groups) this.#ask(address, partitions, now);
    this.#parts.wakeUp.noLaterThan(this.#deadline, now);
    return undefined;
  }

  onResponse(response: ListOffsetsResponse, asked: readonly SoughtOffset[]): void {
    for (const topic of response.topics) {
      for (const answer of topic.partitions) {
        const sought = findAsked(asked, topic.name, answer.partitionIndex);
        if (sought !== undefined) this.#take(sought, answer);
      }
    }
  }

  onDisconnect(asked: readonly SoughtOffset[], from: NodeAddress): void {
    const unanswered = asked.filter(({ isAnswered }) => !isAnswered);
    failOffsetRequest(this.#parts, LIST_OFFSETS.name, unanswered, this.#connections, from);
  }

  #ask(address: NodeAddress, asked: readonly SoughtOffset[], now: Instant): void {
    const { rpc, settings, world, client } = this.#parts;
    for (const sought of asked) {
      sought.retryAt = now + settings.requestTimeout;
      world.facts.note({
        kind: "offset-asked",
        client,
        partition: sought.name,
        broker: sought.leader.leaderId,
        which: askedAs(this.#which),
        purpose: "answer",
      });
    }
    const timestamp = timestampOf(this.#which);
    const body = listOffsetsOf(asked, () => timestamp, this.#parts);
    const { purpose } = this.#connections;
    rpc.send(address, purpose, LIST_OFFSETS, body, settings.requestTimeout, this, asked);
  }

  #take(sought: SoughtOffset, { errorCode, offset }: ListOffsetsPartitionResponse): void {
    const error = errorOf(errorCode);
    if (error === ERRORS.NONE) {
      sought.isAnswered = true;
      sought.offset = offset < 0 ? undefined : offset;
      return;
    }
    const { metadata, world } = this.#parts;
    const { leader, name } = sought;
    // What no application could do anything about is tried again until its patience ends.
    this.#parts.noteFailure(LIST_OFFSETS.name, leader.leaderId, name, error, true);
    this.#parts.backOff(sought, world.clock.now());
    metadata.requestUpdate();
  }
}

function askedAs(which: WhichOffset): OffsetAsked["which"] {
  if (typeof which === "object") return "by-timestamp";
  return which === "beginning" ? "earliest" : "latest";
}

function timestampOf(which: WhichOffset): number {
  if (typeof which === "object") return which.timestamp;
  return which === "beginning" ? EARLIEST_TIMESTAMP : LATEST_TIMESTAMP;
}
