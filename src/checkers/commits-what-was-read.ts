import type { Instant } from "../base/time.ts";
import type { Offset, PartitionName } from "../kafka/ids.ts";
import { NO_PRODUCER_ID } from "../kafka/ids.ts";
import type { OffsetsCommitted } from "../trace/fact.ts";
import { topicOf } from "./check-setup.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";

export const COMMITS_WHAT_WAS_READ: Guarantee = {
  name: "commits-what-was-read",
  sentence: "No member commits an offset beyond the records that it was given.",
  source: "KafkaConsumer.commitSync, ConsumerCoordinator; G5",
  kinds: ["unread-committed"],
  condition:
    "Of commits by members, outside of transactions; of topics that are not compacted, if nobody writes in transactions: what nobody is given counts as read.",
  testedBy: "commits of members that were given records",
  example: [
    "unread-committed   orders-2   c1   at 12.480s, event 9120",
    "  c1 has committed offset 420 of orders-2 for workers; what it was given ends at 412.",
  ],
  create: (context) => new CommitsWhatWasRead(context),
};

class CommitsWhatWasRead implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** By client, then partition: the highest position that it had. */
  readonly #positions = new Map<string, Map<PartitionName, Offset>>();

  constructor(context: CheckContext) {
    this.#context = context;
    const { facts, setup, transactions } = context;
    if (transactions !== undefined || setup.members.size === 0) return;
    facts.on("polled", ({ client, partition, lastOffset }) => {
      this.#reach(client, partition, lastOffset + 1);
    });
    facts.on("position-reset", ({ client, partition, to }) => this.#reach(client, partition, to));
    facts.on("offsets-committed", (fact, at, event) => this.#look(fact, at, event));
  }

  #reach(client: string, partition: PartitionName, offset: Offset): void {
    let positions = this.#positions.get(client);
    if (positions === undefined) {
      positions = new Map();
      this.#positions.set(client, positions);
    }
    positions.set(partition, Math.max(positions.get(partition) ?? 0, offset));
  }

  #look(fact: OffsetsCommitted, at: Instant, event: number): void {
    const { group, member, offsets, producerId } = fact;
    if (producerId !== NO_PRODUCER_ID || member === "") return;
    const { groups, setup } = this.#context;
    const client = groups.clientOf(group, member)?.client;
    if (client === undefined) return;
    const positions = this.#positions.get(client);
    for (const { partition, offset } of offsets) {
      if (setup.topics.get(topicOf(partition))?.isCompacted === true) continue;
      this.evaluations++;
      const read = positions?.get(partition);
      if (read !== undefined && offset > 0) this.interesting++;
      if (offset <= (read ?? 0)) continue;
      const text = `${client} has committed offset ${offset} of ${partition} for ${group}; what it was given ends at ${read ?? 0}.`;
      this.violations.push(
        violationOf(COMMITS_WHAT_WAS_READ, {
          partition,
          client,
          at,
          event,
          text: [text],
          offsets: [read ?? 0, offset - 1],
          count: offset - (read ?? 0),
        }),
      );
    }
  }
}
