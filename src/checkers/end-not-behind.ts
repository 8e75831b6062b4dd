import type { Instant } from "../base/time.ts";
import type { PositionReset } from "../trace/fact.ts";
import type { BatchNode } from "./batch-tree.ts";
import { NO_NODE, VISIBLE } from "./batch-tree.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { earlierRule } from "./waivers/earlier-rule.ts";

export const END_NOT_BEHIND: Guarantee = {
  name: "end-not-behind",
  sentence:
    "A consumer that asks where a log ends is told no offset below what was acknowledged or read before it asked.",
  source: "KIP-207; V5; Redpanda's list_offsets from a deposed leader",
  kinds: ["end-told-too-low"],
  condition:
    "Of answers by the leader in office, about committed records that it still has: one that was replaced and does not know tells what it knew. Permitted: an earlier rule of the protocol.",
  testedBy: "answers to who asks for the end of a log in which something was committed",
  example: [
    "end-told-too-low   orders-0   at 10.391s, event 8211",
    "  c1 was told that the log ends at 405, but offset 411 had been acknowledged or read before it asked: 7 offsets.",
  ],
  create: (context) => new EndNotBehind(context),
};

class EndNotBehind implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** `<client> <partition>`: what was known when it asked the leader in office. */
  readonly #asked = new Map<string, BatchNode>();

  constructor(context: CheckContext) {
    this.#context = context;
    const { facts, logs } = context;
    facts.on("offset-asked", ({ client, partition: name, broker, which }) => {
      const partition = logs.partition(name);
      const key = `${client} ${name}`;
      const isOfLeader = broker === partition.leader && isCurrent(partition);
      if (which === "latest" && isOfLeader) this.#asked.set(key, this.#known(partition));
      else this.#asked.delete(key);
    });
    facts.on("position-reset", (fact, at, event) => this.#answer(fact, at, event));
  }

  /** The furthest batch that some client knows, if it is committed; or NO_NODE. */
  #known(partition: PartitionGhost): BatchNode {
    const { history } = this.#context;
    const frontier = history.partitions[partition.index]?.frontier ?? -1;
    const node = partition.leaderLog?.nodeAt(frontier) ?? NO_NODE;
    return node !== NO_NODE && partition.tree.has(node, VISIBLE) ? node : NO_NODE;
  }

  #answer(fact: PositionReset, at: Instant, event: number): void {
    const key = `${fact.client} ${fact.partition}`;
    const known = this.#asked.get(key);
    if (known === undefined || fact.reason === "truncation") return;
    this.#asked.delete(key);
    // The application has named an offset meanwhile.
    if (fact.reason === "seek") return;
    this.evaluations++;
    if (known === NO_NODE) return;
    this.interesting++;
    const { logs, setup } = this.#context;
    const partition = logs.partition(fact.partition);
    const { tree, leaderLog } = partition;
    const last = tree.lastOffset[known] as number;
    if (fact.to > last || !isCurrent(partition)) return;
    // What an election has given up meanwhile, it cannot be told.
    if (leaderLog?.contains(known) !== true) return;
    const waiver = earlierRule(partition, setup, event);
    const count = last - fact.to + 1;
    this.violations.push(
      violationOf(END_NOT_BEHIND, {
        partition: partition.name,
        client: fact.client,
        at,
        event,
        text: [
          `${fact.client} was told that the log ends at ${fact.to}, but offset ${last} had been acknowledged or read before it asked: ${count} offset${count === 1 ? "" : "s"}.`,
        ],
        offsets: [fact.to, last],
        count,
        permitted: waiver?.text,
        cause: waiver?.cause,
      }),
    );
  }
}

/** Does the newest leader lead, as far as the controller and itself have told? */
function isCurrent({ leading, leaderEpoch, registration }: PartitionGhost): boolean {
  return leading && registration?.leaderEpoch === leaderEpoch;
}
