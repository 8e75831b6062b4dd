import type { Instant } from "../../base/time.ts";
import { toMillis } from "../../base/time.ts";
import type { FetchState } from "../../kafka/client/fetch-position.ts";
import type { ResetPolicy } from "../../kafka/client/reset-policy.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import type { LeaderEpoch, Offset } from "../../kafka/ids.ts";
import { NO_EPOCH } from "../../kafka/ids.ts";
import { LIST_OFFSETS } from "../../kafka/protocol/apis.ts";
import type {
  ListOffsetsPartitionResponse,
  ListOffsetsResponse,
} from "../../kafka/protocol/list-offsets.ts";
import { EARLIEST_TIMESTAMP, LATEST_TIMESTAMP } from "../../kafka/protocol/list-offsets.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { OffsetAsked } from "../../trace/fact.ts";
import type { BrokerConnections } from "../client-metadata/broker-connections.ts";
import type { ResponseHandler } from "../rpc/rpc-client.ts";
import { failOffsetRequest, findAsked, groupByLeader, listOffsetsOf } from "./asked-partition.ts";
import type { AssignedPartition } from "./assigned-partition.ts";
import type { ConsumerParts } from "./consumer-parts.ts";

/** Finds an offset to read from where there is none, or none that holds (`OffsetFetcher`). */
export class OffsetFinder
  implements ResponseHandler<ListOffsetsResponse, readonly AssignedPartition[]>
{
  readonly #parts: ConsumerParts;
  readonly #connections: BrokerConnections;

  constructor(parts: ConsumerParts, connections: BrokerConnections) {
    this.#parts = parts;
    this.#connections = connections;
  }

  /** Asks for the partitions that await a reset. */
  run(now: Instant): void {
    const wanted = inState(this.#parts, "await-reset");
    const groups = groupByLeader(this.#parts, wanted, this.#connections, now);
    for (const [address, partitions] of groups) this.#ask(address, partitions, now);
  }

  onResponse(response: ListOffsetsResponse, asked: readonly AssignedPartition[]): void {
    const now = this.#parts.world.clock.now();
    for (const topic of response.topics) {
      for (const answer of topic.partitions) {
        const partition = findAsked(asked, topic.name, answer.partitionIndex);
        if (partition === undefined || partition.awaitsCommitted) continue;
        if (partition.position.state === "await-reset") this.#take(partition, answer, now);
      }
    }
  }

  onDisconnect(asked: readonly AssignedPartition[], from: NodeAddress): void {
    const waiting = asked.filter(({ position }) => position.state !== "fetching");
    failOffsetRequest(this.#parts, LIST_OFFSETS.name, waiting, this.#connections, from);
  }

  #ask(address: NodeAddress, partitions: readonly AssignedPartition[], now: Instant): void {
    const { rpc, settings } = this.#parts;
    const asked = partitions.filter((partition) => {
      if (partition.resetTo !== "none") return true;
      this.#parts.die(`${partition.name} has no position, and auto.offset.reset is none`);
      return false;
    });
    if (asked.length === 0) return;
    for (const partition of asked) {
      partition.retryAt = now + settings.requestTimeout;
      this.#parts.world.facts.note({
        kind: "offset-asked",
        client: this.#parts.client,
        partition: partition.name,
        broker: partition.leader.leaderId,
        which: askedFor(partition.resetTo),
        purpose: "position",
      });
    }
    const body = listOffsetsOf(asked, ({ resetTo }) => timestampOf(resetTo, now), this.#parts);
    const { purpose } = this.#connections;
    rpc.send(address, purpose, LIST_OFFSETS, body, settings.requestTimeout, this, asked);
  }

  #take(partition: AssignedPartition, answer: ListOffsetsPartitionResponse, now: Instant): void {
    const { metadata, wakeUp } = this.#parts;
    const error = errorOf(answer.errorCode);
    // Nothing is young enough yet, and it asks again in request.timeout.ms, as Kafka does.
    if (error === ERRORS.NONE && answer.offset < 0 && typeof partition.resetTo === "number") return;
    if (error !== ERRORS.NONE || answer.offset < 0) {
      const broker = partition.leader.leaderId;
      this.#parts.noteFailure(LIST_OFFSETS.name, broker, partition.name, error, true);
      this.#parts.backOff(partition, now);
      metadata.requestUpdate();
      wakeUp.noLaterThan(partition.retryAt, now);
      return;
    }
    // A record of a newer epoch than ours: there is a leader that we have not heard of.
    if (answer.leaderEpoch > partition.leader.leaderEpoch) metadata.requestUpdate();
    // Without an epoch of its own the position needs no validation: the leader has just named it.
    resetPosition(this.#parts, partition, answer.offset, NO_EPOCH);
  }
}

function askedFor(policy: ResetPolicy): OffsetAsked["which"] {
  if (typeof policy === "number") return "by-duration";
  return policy === "earliest" ? "earliest" : "latest";
}

/** The same, as ListOffsets has it. */
function timestampOf(policy: ResetPolicy, now: Instant): number {
  if (typeof policy === "number") return toMillis(now - policy);
  return policy === "earliest" ? EARLIEST_TIMESTAMP : LATEST_TIMESTAMP;
}

/** The position jumps to an offset that the leader named. */
export function resetPosition(
  parts: ConsumerParts,
  partition: AssignedPartition,
  to: Offset,
  offsetEpoch: LeaderEpoch,
): void {
  const { leader, position } = partition;
  parts.world.facts.note({
    kind: "position-reset",
    client: parts.client,
    partition: partition.name,
    from: position.offset,
    to,
    reason: partition.resetReason,
  });
  position.seek(to, offsetEpoch, leader.leaderId, leader.leaderEpoch);
  partition.address = leader.address;
  partition.retryAt = 0;
  partition.failures = 0;
  parts.isChanged = true;
}

/** The partitions whose position is in this state, and not yet to be what the group has committed. */
export function inState({ assigned }: ConsumerParts, state: FetchState): AssignedPartition[] {
  return assigned.filter(
    ({ position, awaitsCommitted }) => position.state === state && !awaitsCommitted,
  );
}
