import type { FaultKind } from "./fault-kind.ts";
import { cutting, DIRECTIONS, linksBetween } from "./links.ts";

/**
 * Nodes are cut off from all others, clients included; among themselves they still talk. Nobody is
 * told: connections stay open until they time out, and what is sent waits.
 */
export const ISOLATE: FaultKind = {
  name: "isolate",
  meaning: "Cuts nodes off from all others. With `for` the network heals.",
  subject: { name: "isolate", type: "nodes", meaning: "Who is cut off." },
  parameters: [
    {
      name: "direction",
      type: "word",
      words: DIRECTIONS,
      meaning: "`to`: what they send to others is held; `from`: what others send to them.",
    },
  ],
  heals: true,
  lasts: true,
  prepare: (told) => {
    const nodes = told.nodes("isolate");
    const direction = told.word("direction");
    const links = linksBetween(nodes, told.others(nodes), direction);
    const arrow = direction === "both" ? "|" : direction === "to" ? "-/->" : "<-/-";
    return cutting(`${told.describe("isolate")} ${arrow} all others`, links);
  },
};
