import type { Instant } from "../../base/time.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { ListOffsetsRequest } from "../../kafka/protocol/list-offsets.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { BrokerConnections } from "../client-metadata/broker-connections.ts";
import type { PartitionLeader, TopicLeaders } from "../client-metadata/topic-leaders.ts";
import type { ConsumerParts } from "./consumer-parts.ts";

/** A partition about which its leader is asked, and when it may be asked again. */
export interface AskedPartition {
  readonly topic: TopicLeaders;
  readonly partition: number;
  readonly leader: PartitionLeader;
  retryAt: Instant;
  failures: number;
}

/**
 * Those whose turn it is, by the address of their leader, where a connection to it stands. Sees to being woken for
 * the others.
 */
export function groupByLeader<Asked extends AskedPartition>(
  parts: ConsumerParts,
  wanted: Iterable<Asked>,
  connections: BrokerConnections,
  now: Instant,
): Map<NodeAddress, Asked[]> {
  const groups = new Map<NodeAddress, Asked[]>();
  for (const partition of wanted) {
    const { address, isKnown } = partition.leader;
    if (partition.retryAt > now) parts.wakeUp.noLaterThan(partition.retryAt, now);
    else if (!isKnown) parts.metadata.requestUpdate();
    else if (!connections.ready(address, now)) {
      const at = connections.notBefore(address);
      if (at > now) parts.wakeUp.noLaterThan(at, now);
    } else {
      const group = groups.get(address);
      if (group === undefined) groups.set(address, [partition]);
      else group.push(partition);
    }
  }
  return groups;
}

/** What asks a leader for an offset of each: `timestampOf` is a time in milliseconds, or one of the words for ends. */
export function listOffsetsOf<Asked extends AskedPartition>(
  asked: readonly Asked[],
  timestampOf: (partition: Asked) => number,
  { settings }: ConsumerParts,
): ListOffsetsRequest {
  return {
    replicaId: -1,
    isolationLevel: settings.isolationLevel,
    topics: byTopic(asked).map(([name, partitions]) => ({
      name,
      partitions: partitions.map((one) => ({
        partitionIndex: one.partition,
        currentLeaderEpoch: one.leader.leaderEpoch,
        timestamp: timestampOf(one),
      })),
    })),
    timeoutMs: settings.requestTimeoutMs,
  };
}

/** Partitions by the name of their topic, in their order. */
export function byTopic<Asked extends Pick<AskedPartition, "topic">>(
  partitions: readonly Asked[],
): (readonly [string, Asked[]])[] {
  const groups: (readonly [string, Asked[]])[] = [];
  for (const partition of partitions) {
    const { name } = partition.topic;
    const known = groups.find(([topic]) => topic === name);
    if (known === undefined) groups.push([name, [partition]]);
    else known[1].push(partition);
  }
  return groups;
}

export function findAsked<Asked extends Pick<AskedPartition, "topic" | "partition">>(
  asked: readonly Asked[],
  topic: string,
  partition: number,
): Asked | undefined {
  return asked.find((one) => one.partition === partition && one.topic.name === topic);
}

/** The connection broke under a question: those that are still without an answer are asked about again. */
export function failOffsetRequest(
  parts: ConsumerParts,
  api: string,
  unanswered: readonly AskedPartition[],
  connections: BrokerConnections,
  from: NodeAddress,
): void {
  const now = parts.world.clock.now();
  connections.disconnected(from, now);
  parts.metadata.disconnected(now);
  for (const partition of unanswered) parts.backOff(partition, now);
  const broker = parts.metadata.brokerAt(from);
  parts.noteFailure(api, broker, "", ERRORS.NETWORK_EXCEPTION, true);
}
