import type { BrokerId } from "../kafka/ids.ts";

const PREFIX = "broker-";

/** The name of the node that runs a broker: `broker-1`. */
export function brokerName(broker: BrokerId): string {
  return `${PREFIX}${broker}`;
}

/** The broker that the named node runs; -1 if it runs none. */
export function brokerOf(node: string): BrokerId {
  return node.startsWith(PREFIX) ? Number(node.slice(PREFIX.length)) : -1;
}
