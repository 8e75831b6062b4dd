import type { Instant } from "../base/time.ts";
import type { Offset, PartitionName } from "../kafka/ids.ts";
import { NO_PRODUCER_ID } from "../kafka/ids.ts";
import type { CommittedOffset } from "../trace/fact.ts";
import { hasRegistries, topicOf } from "./check-setup.ts";
import { lastDue } from "./due-records.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";

export const COMMITS_WHAT_WAS_READ: Guarantee = {
  name: "commits-what-was-read",
  sentence: "No member commits an offset beyond the records that it was given.",
  source: "KafkaConsumer.commitSync, ConsumerCoordinator; G5",
  kinds: ["unread-committed"],
  condition:
    "Of commits by members, outside of transactions; of topics that are not compacted. What nobody is given counts as read: markers, and what was aborted for who reads committed records only.",
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
    const { facts, setup } = context;
    if (setup.members.size === 0) return;
    facts.on("polled", ({ client, partition, lastOffset }) => {
      this.#reach(client, partition, lastOffset + 1);
    });
    facts.on("position-reset", ({ client, partition, to }) => this.#reach(client, partition, to));
    facts.on("offsets-committed", ({ group, member, offsets, producerId }, at, event) => {
      if (producerId !== NO_PRODUCER_ID || member === "") return;
      const client = context.groups.clientOf(group, member)?.client;
      if (client !== undefined) this.#look(client, group, offsets, at, event);
    });
    if (!hasRegistries(setup)) return;
    // ZooKeeper does not know who writes an offset.
    facts.on("commit-ended", ({ client, group, offsets }, at, event) => {
      this.#look(client, group, offsets, at, event);
    });
  }

  #reach(client: string, partition: PartitionName, offset: Offset): void {
    let positions = this.#positions.get(client);
    if (positions === undefined) {
      positions = new Map();
      this.#positions.set(client, positions);
    }
    positions.set(partition, Math.max(positions.get(partition) ?? 0, offset));
  }

  #look(
    client: string,
    group: string,
    offsets: readonly CommittedOffset[],
    at: Instant,
    event: number,
  ): void {
    const { logs, setup } = this.#context;
    const positions = this.#positions.get(client);
    for (const { partition, offset } of offsets) {
      if (setup.topics.get(topicOf(partition))?.isCompacted === true) continue;
      this.evaluations++;
      const known = positions?.get(partition);
      if (known !== undefined && offset > 0) this.interesting++;
      const read = known ?? 0;
      const last = lastDue(this.#context, logs.partition(partition), client, read, offset);
      if (last === undefined) continue;
      const text = `${client} has committed offset ${offset} of ${partition} for ${group}; what it was given ends at ${read}.`;
      this.violations.push(
        violationOf(COMMITS_WHAT_WAS_READ, {
          partition,
          client,
          at,
          event,
          text: [text],
          offsets: [read, last],
          count: last + 1 - read,
        }),
      );
    }
  }
}
