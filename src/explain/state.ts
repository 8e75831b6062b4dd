import type { BrokerId, PartitionName } from "../kafka/ids.ts";
import type { Fact } from "../trace/fact.ts";

/** The pieces of state that a fact rests on, and those that it changed. Names are for comparing only. */
export interface StateTouched {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

/**
 * What each kind of fact read and wrote. Coarse where it can be: a replica's log is one piece, and
 * so is all that is wrong with the world, since of a message that never came nobody can tell which
 * of the faults in force kept it.
 */
export function stateOf(fact: Fact): StateTouched {
  switch (fact.kind) {
    case "fault-begun":
    case "fault-ended":
    case "core-drawn":
      return { reads: [WORLD], writes: [WORLD] };
    case "node-started":
    case "node-stopped":
    case "node-paused":
    case "node-resumed":
      return { reads: [node(fact.node)], writes: [node(fact.node)] };
    case "unflushed-lost":
      return { reads: [node(fact.node)], writes: [pages(fact.node)] };
    case "disk-disturbed":
      return { reads: [WORLD], writes: [pages(fact.node)] };
    case "message-disturbed":
      return { reads: [WORLD], writes: [] };
    case "controller-elected":
    case "controller-resigned":
      return { reads: [WORLD, QUORUM], writes: [QUORUM] };
    case "broker-registered":
    case "broker-unfenced":
    case "broker-shutting-down":
      return {
        reads: [node(name(fact.broker)), broker(fact.broker)],
        writes: [broker(fact.broker)],
      };
    case "broker-fenced":
      return {
        reads: [WORLD, node(name(fact.broker)), broker(fact.broker)],
        writes: [broker(fact.broker)],
      };
    case "partition-changed":
      return {
        reads: [
          registration(fact.partition),
          proposal(fact.partition),
          ...fact.replicas.map(broker),
        ],
        writes: [registration(fact.partition)],
      };
    case "isr-proposed":
      return {
        reads: [WORLD, role(fact.partition, fact.broker)],
        writes: [proposal(fact.partition)],
      };
    case "isr-adopted":
      return {
        reads: [registration(fact.partition), role(fact.partition, fact.broker)],
        writes: [role(fact.partition, fact.broker)],
      };
    case "metadata-loaded":
      return { reads: [WORLD], writes: [metadata(fact.node)] };
    case "metadata-appended":
    case "metadata-truncated":
    case "metadata-applied":
      return { reads: [QUORUM, metadata(fact.node)], writes: [metadata(fact.node)] };
    case "became-leader":
    case "became-follower":
      return {
        reads: [registration(fact.partition), log(fact.partition, fact.broker)],
        writes: [role(fact.partition, fact.broker)],
      };
    case "log-loaded":
      return {
        reads: [
          node(name(fact.broker)),
          pages(name(fact.broker)),
          log(fact.partition, fact.broker),
        ],
        writes: [log(fact.partition, fact.broker)],
      };
    case "appended":
    case "truncated":
    case "log-start-moved":
    case "log-cleaned":
      return {
        reads: [role(fact.partition, fact.broker), log(fact.partition, fact.broker)],
        writes: [log(fact.partition, fact.broker)],
      };
    case "coordinator-loaded":
    case "coordinator-unloaded":
      return {
        reads: [role(fact.partition, fact.broker), log(fact.partition, fact.broker)],
        writes: [broker(fact.broker)],
      };
    case "group-state-changed":
    case "group-migrated":
    case "group-member-joined":
    case "group-member-left":
    case "group-assigned":
    case "group-member-assigned":
    case "offsets-committed":
    case "offsets-removed":
    case "transaction-state-changed":
    case "producer-id-rotated":
      return { reads: [broker(fact.broker)], writes: [broker(fact.broker)] };
    case "zookeeper-session-ended":
      return { reads: [ZOOKEEPER], writes: [ZOOKEEPER] };
    case "zookeeper-rebalance-ended":
      return { reads: [ZOOKEEPER, client(fact.client)], writes: [client(fact.client)] };
    case "log-directory-failed":
      return { reads: [WORLD, pages(name(fact.broker))], writes: [broker(fact.broker)] };
    case "high-watermark-moved":
    case "last-stable-offset-moved":
      return {
        reads: [role(fact.partition, fact.broker), log(fact.partition, fact.broker)],
        writes: [highWatermark(fact.partition)],
      };
    case "record-sent":
    case "offset-asked":
    case "call-failed":
    case "transaction-begun":
    case "transaction-ended":
    case "producer-fenced":
      return { reads: [], writes: [client(fact.client)] };
    case "send-ended":
    case "polled":
    case "offset-told":
    case "position-reset":
      return {
        reads: [highWatermark(fact.partition), client(fact.client)],
        writes: [client(fact.client)],
      };
    case "records-processed":
    case "record-derived":
    case "row-stored":
    case "partitions-assigned":
    case "partitions-revoked":
    case "partitions-lost":
    case "commit-ended":
      return { reads: [client(fact.client)], writes: [client(fact.client)] };
    case "hanging-transaction-found":
      return { reads: [WORLD, highWatermark(fact.partition)], writes: [client(fact.client)] };
    case "request-failed":
      return { reads: [WORLD], writes: [] };
  }
}

const WORLD = "world";
const QUORUM = "quorum";
const ZOOKEEPER = "zookeeper";
const name = (id: BrokerId): string => `broker-${id}`;
const node = (named: string): string => `node ${named}`;
const pages = (named: string): string => `pages ${named}`;
const broker = (id: BrokerId): string => `broker ${id}`;
const client = (named: string): string => `client ${named}`;
const metadata = (id: BrokerId): string => `metadata ${id}`;
const registration = (partition: PartitionName): string => `registration ${partition}`;
const proposal = (partition: PartitionName): string => `proposal ${partition}`;
const highWatermark = (partition: PartitionName): string => `hw ${partition}`;
const role = (partition: PartitionName, id: BrokerId): string => `role ${partition} ${id}`;
const log = (partition: PartitionName, id: BrokerId): string => `log ${partition} ${id}`;
