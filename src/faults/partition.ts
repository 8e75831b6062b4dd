import type { FaultKind } from "./fault-kind.ts";
import type { Link } from "./links.ts";
import { cutting, DIRECTIONS, linksBetween } from "./links.ts";

/**
 * The network falls apart: between two sets of nodes, one way or both, or into groups of which no
 * two can talk (Trogdor's form). Nodes that are not named talk to everybody.
 */
export const PARTITION: FaultKind = {
  name: "partition",
  meaning: "Cuts the network between nodes. With `for` it heals.",
  subject: undefined,
  parameters: [
    { name: "from", type: "nodes", meaning: "One side." },
    { name: "to", type: "nodes", meaning: "The other side." },
    {
      name: "direction",
      type: "word",
      words: DIRECTIONS,
      meaning: "`to`: what `from` sends to `to` is held; `from`: what comes back.",
    },
    { name: "groups", type: "groups", meaning: "Sets of which no two can talk." },
  ],
  heals: true,
  lasts: true,
  complain(given) {
    if (given.has("groups")) {
      return given.size > 1 ? "`groups` leaves nothing for the other keys to say" : undefined;
    }
    return given.has("from") && given.has("to")
      ? undefined
      : "a partition needs `from` and `to`, or `groups`";
  },
  prepare: (told) => {
    if (told.has("groups")) {
      const groups = told.groups("groups");
      const links: Link[] = [];
      groups.forEach((group, i) => {
        for (const other of groups.slice(i + 1)) {
          const separate = other.filter((node) => !group.includes(node));
          links.push(...linksBetween(group, separate, "both"));
        }
      });
      return cutting(groups.map((group) => told.names(group)).join(" | "), links);
    }
    const direction = told.word("direction");
    const from = told.nodes("from");
    const to = told.nodes("to");
    const links = linksBetween(from, to, direction);
    const arrow = direction === "both" ? "|" : direction === "to" ? "-/->" : "<-/-";
    return cutting(`${told.names(from)} ${arrow} ${told.names(to)}`, links);
  },
};
