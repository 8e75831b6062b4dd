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

/** `node.id` of controllers is 3001 and up (src/cluster). */
const FIRST_CONTROLLER = 3001;

/** The name of the node with this `node.id`: `broker-1`, `controller-1`. */
export function nodeName(id: BrokerId): string {
  return id < FIRST_CONTROLLER ? brokerName(id) : `controller-${id - FIRST_CONTROLLER + 1}`;
}
