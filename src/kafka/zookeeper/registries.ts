import type { BrokerId, Offset, PartitionName } from "../ids.ts";
import { partitionName } from "../ids.ts";

/**
 * Where Kafka's first consumers kept what they told each other (`ZkUtils`, `ZKGroupDirs`): the brokers and the
 * members of each group, who owns which partition, and offsets. All but the last are ephemeral.
 */
export const BROKER_IDS = "/brokers/ids";

export function brokerPath(id: BrokerId): string {
  return `${BROKER_IDS}/${id}`;
}

/** What a broker says of itself; the simulated network has no ports: there stands its address. */
export function brokerRegistration(host: string, port: number): string {
  return JSON.stringify({ jmx_port: -1, timestamp: "0", host, version: 1, port });
}

export function consumerIdsPath(group: string): string {
  return `/consumers/${group}/ids`;
}

export function ownersPath(group: string, topic: string): string {
  return `/consumers/${group}/owners/${topic}`;
}

export function offsetsPath(group: string, topic: string): string {
  return `/consumers/${group}/offsets/${topic}`;
}

/** What a member says of itself: its topics, each for one stream. */
export function consumerRegistration(topics: readonly string[], timestampMs: number): string {
  return JSON.stringify({
    version: 1,
    subscription: Object.fromEntries(topics.map((topic) => [topic, 1])),
    pattern: "static",
    timestamp: String(timestampMs),
  });
}

/** The topics of a registration. */
export function subscribedTopics(registration: string): string[] {
  const { subscription } = JSON.parse(registration) as { subscription: Record<string, number> };
  return Object.keys(subscription);
}

/** The id of the member whose registration a znode is; undefined if it is none. */
export function memberAt(path: string): string | undefined {
  const [, root, , registry, member, end] = path.split("/");
  return root === "consumers" && registry === "ids" && end === undefined ? member : undefined;
}

/** Whose offset of which partition a znode is; undefined if it is none. */
export function offsetAt(
  path: string,
  data: string,
):
  | { readonly group: string; readonly partition: PartitionName; readonly offset: Offset }
  | undefined {
  const [, root, group = "", registry, topic = "", number, end] = path.split("/");
  if (root !== "consumers" || registry !== "offsets" || number === undefined) return undefined;
  if (end !== undefined) return undefined;
  return { group, partition: partitionName(topic, Number(number)), offset: Number(data) };
}
