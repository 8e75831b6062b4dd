import type { Instant } from "../base/time.ts";
import type { OffsetAsked, PositionReset } from "../trace/fact.ts";
import type { BatchNode } from "./batch-tree.ts";
import { NO_NODE, VISIBLE } from "./batch-tree.ts";
import { readsCommitted } from "./check-setup.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { earlierRule } from "./waivers/earlier-rule.ts";

export const END_NOT_BEHIND: Guarantee = {
  name: "end-not-behind",
  sentence:
    "A consumer that asks where a log ends is told no offset below what was acknowledged or read before it asked; if it reads committed records only, below what was stable of that.",
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

/** What a client was told. */
type Answer = Pick<PositionReset, "client" | "partition" | "to">;

class EndNotBehind implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** `<purpose> <client> <partition>`: what was known when it asked the leader in office. */
  readonly #asked = new Map<string, BatchNode>();

  constructor(context: CheckContext) {
    this.#context = context;
    const { facts, logs } = context;
    facts.on("offset-asked", ({ client, partition: name, broker, which, purpose }) => {
      const partition = logs.partition(name);
      const key = `${purpose} ${client} ${name}`;
      const isOfLeader = broker === partition.leader && isCurrent(partition);
      if (which === "latest" && isOfLeader) this.#asked.set(key, this.#known(partition, client));
      else this.#asked.delete(key);
    });
    facts.on("position-reset", (fact, at, event) => {
      if (fact.reason === "truncation") return;
      const known = this.#take("position", fact);
      // The application may have named an offset meanwhile.
      if (fact.reason !== "seek") this.#answer(known, fact, at, event);
    });
    facts.on("offset-told", (fact, at, event) => {
      const known = this.#take("answer", fact);
      const { client, partition, offset = 0 } = fact;
      this.#answer(known, { client, partition, to: offset }, at, event);
    });
  }

  #take(
    purpose: OffsetAsked["purpose"],
    { client, partition }: Pick<Answer, "client" | "partition">,
  ): BatchNode | undefined {
    const key = `${purpose} ${client} ${partition}`;
    const known = this.#asked.get(key);
    this.#asked.delete(key);
    return known;
  }

  /** The furthest batch that some client knows, if it is committed, and stable if only such count; or NO_NODE. */
  #known(partition: PartitionGhost, client: string): BatchNode {
    const { history, setup, transactions } = this.#context;
    const { leaderLog } = partition;
    if (leaderLog === undefined) return NO_NODE;
    let last = history.partitions[partition.index]?.frontier ?? -1;
    if (transactions !== undefined && readsCommitted(setup, client)) {
      const open = transactions.parts.openAtLeader(partition, leaderLog);
      last = Math.min(last, (open?.firstUnstable(leaderLog.highWatermark) ?? last + 1) - 1);
    }
    const node = leaderLog.nodeAt(last);
    return node !== NO_NODE && partition.tree.has(node, VISIBLE) ? node : NO_NODE;
  }

  #answer(known: BatchNode | undefined, fact: Answer, at: Instant, event: number): void {
    if (known === undefined) return;
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
