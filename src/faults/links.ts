import type { Undo } from "../ports/hands.ts";
import type { NodeAddress } from "../ports/network.ts";
import type { Fault, FaultArguments, Parameter, Stage } from "./fault-kind.ts";

/** Which way a fault between nodes works, in Chaos Mesh's words, seen from what it is aimed at. */
export const DIRECTIONS: readonly string[] = ["both", "to", "from"];

/** A link: what one node sends to another. */
export type Link = readonly [from: NodeAddress, to: NodeAddress];

/** The links between two sets: both ways, only `from` to `to`, or only back. None from a node to itself. */
export function linksBetween(
  from: readonly NodeAddress[],
  to: readonly NodeAddress[],
  direction: string,
): Link[] {
  const links: Link[] = [];
  for (const a of from) {
    for (const b of to) {
      if (a === b) continue;
      if (direction !== "from") links.push([a, b]);
      if (direction !== "to") links.push([b, a]);
    }
  }
  return links;
}

/** The parameters with which a fault of single links says which. */
export const LINK_PARAMETERS: readonly Parameter[] = [
  {
    name: "links",
    type: "word",
    words: ["all"],
    meaning: "`all`: every link; instead of `from` and `to`.",
  },
  { name: "from", type: "nodes", meaning: "One end of the links; all nodes if absent." },
  { name: "to", type: "nodes", meaning: "The other end of the links; all other nodes if absent." },
  {
    name: "direction",
    type: "word",
    words: ["to", "from", "both"],
    meaning: "Messages from `from` to `to` (the default), only those back, or both.",
  },
];

/** What is wrong with how a scenario chooses the links. */
export function complainAboutLinks(given: ReadonlySet<string>): string | undefined {
  const some = given.has("from") || given.has("to");
  if (given.has("links")) {
    return some ? "`links: all` leaves nothing for `from` and `to` to say" : undefined;
  }
  return some ? undefined : "say on which links: `links: all`, or `from` and `to`";
}

/** The links that a fault was told, and how to call them. */
export function linksOf(told: FaultArguments): {
  readonly links: readonly Link[];
  readonly text: string;
} {
  if (told.has("links")) {
    const all = told.others([]);
    return { links: linksBetween(all, all, "to"), text: "all links" };
  }
  const direction = told.word("direction");
  const from = told.has("from") ? told.nodes("from") : told.others(told.nodes("to"));
  const to = told.has("to") ? told.nodes("to") : told.others(from);
  const left = told.has("from") ? told.names(from) : "all others";
  const right = told.has("to") ? told.names(to) : "all others";
  const arrow = direction === "both" ? "<->" : direction === "to" ? "->" : "<-";
  return { links: linksBetween(from, to, direction), text: `${left} ${arrow} ${right}` };
}

/** A fault that is the same on each of some links, and taken back on each. */
export class LinkFault implements Fault {
  readonly text: string;
  readonly #links: readonly Link[];
  readonly #strike: (stage: Stage, link: Link) => Undo;
  readonly #undo: Undo[] = [];

  constructor(text: string, links: readonly Link[], strike: (stage: Stage, link: Link) => Undo) {
    this.text = text;
    this.#links = links;
    this.#strike = strike;
  }

  get isIdle(): boolean {
    return this.#links.length === 0;
  }

  begin(stage: Stage): void {
    for (const link of this.#links) this.#undo.push(this.#strike(stage, link));
  }

  end(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }
}

/** Cuts some links, and heals them when it ends. */
export function cutting(text: string, links: readonly Link[]): Fault {
  return new LinkFault(text, links, ({ hands }, [from, to]) => {
    hands.cut(from, to);
    return () => hands.heal(from, to);
  });
}
