import type { NodeAddress } from "../ports/network.ts";
import type { FaultKind, Stage } from "./fault-kind.ts";
import { momentary } from "./fault-kind.ts";

/**
 * Connections are reset, as by a firewall that forgot them. What was in flight is lost, also the
 * answer to a request that was carried out; both sides learn of it, and connect again.
 */
export const RESET: FaultKind = {
  name: "reset",
  meaning: "Resets connections; what is in flight on them is lost.",
  subject: { name: "reset", type: "nodes", meaning: "Whose connections are reset." },
  parameters: [
    { name: "with", type: "nodes", meaning: "Only those with these nodes; with all if absent." },
  ],
  heals: false,
  lasts: false,
  prepare: (told) => {
    const nodes = told.nodes("reset");
    const peers = told.has("with") ? told.nodes("with") : told.others([]);
    const pairs: [one: NodeAddress, other: NodeAddress][] = [];
    for (const node of nodes) {
      for (const peer of peers) {
        // Of two nodes on both sides, the pair is reset once.
        const isTwice = nodes.includes(peer) && peers.includes(node) && peer < node;
        if (peer !== node && !isTwice) pairs.push([node, peer]);
      }
    }
    const text = told.has("with")
      ? `${told.names(nodes)} with ${told.names(peers)}`
      : told.describe("reset");
    const begin = ({ hands }: Stage): void => {
      for (const [one, other] of pairs) hands.reset(one, other);
    };
    return momentary(text, begin, pairs.length === 0);
  },
};
