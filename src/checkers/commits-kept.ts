import type { Instant } from "../base/time.ts";
import { formatSeconds, fromMillis } from "../base/time.ts";
import type { Offset } from "../kafka/ids.ts";
import type { CommitEnded, OffsetsRemoved, PositionReset } from "../trace/fact.ts";
import { topicOf } from "./check-setup.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";

export const COMMITS_KEPT: Guarantee = {
  name: "commits-kept",
  sentence:
    "A commit that a member was told of is stored, and who takes a partition over begins where it was committed last, whichever broker he asks; and nothing expires of what members of the group subscribe to.",
  source: "KIP-211, KAFKA-13636, Redpanda #31483; G6",
  kinds: ["commit-not-stored", "commit-lost", "expired-in-use"],
  condition:
    "Unless offsets have expired, or a later commit has taken its place. Permitted if the coordinator's log may have lost its end.",
  testedBy: "members that ask where to begin of what has been committed",
  example: [
    "commit-lost   orders-2   c2   at 12.480s, event 9120",
    "  c2 begins at offset 310 of orders-2; workers has committed 412 at 12.101s.",
  ],
  create: (context) => new CommitsKept(context),
};

class CommitsKept implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;

  constructor(context: CheckContext) {
    this.#context = context;
    context.facts.on("commit-ended", (fact, at, event) => this.#lookAtCommit(fact, at, event));
    context.facts.on("position-reset", (fact, at, event) => this.#lookAtStart(fact, at, event));
    context.facts.on("offsets-removed", (fact, at, event) => this.#lookAtEnd(fact, at, event));
  }

  #lookAtCommit(fact: CommitEnded, at: Instant, event: number): void {
    if (fact.outcome !== "committed") return;
    const group = this.#context.groups.group(fact.group);
    for (const { partition, offset } of fact.offsets) {
      this.evaluations++;
      const stored = group.committed.get(partition) ?? [];
      // Whoever was told so late that the record of it is gone here can be told nothing of it.
      if (stored.some((one) => one.offset === offset)) continue;
      const text = `${fact.client} was told that offset ${offset} of ${partition} is committed for ${fact.group}; no coordinator has said so.`;
      this.#report("commit-not-stored", partition, fact.client, text, at, event);
    }
  }

  #lookAtStart(fact: PositionReset, at: Instant, event: number): void {
    const { groups } = this.#context;
    const { client, partition, reason, to } = fact;
    const since = groups.clients.get(client)?.owned.get(partition);
    if (since === undefined || (reason !== "committed" && reason !== "initial")) return;
    const group = groups.group(groups.clients.get(client)?.group ?? "");
    const valid = group.committedSince(partition, since);
    const last = valid.at(-1);
    this.evaluations++;
    if (last !== undefined && last.offset >= 0) this.interesting++;
    const found: Offset = reason === "committed" ? to : -1;
    if (valid.some(({ offset }) => offset === found)) return;
    // What is in doubt for who committed it may be there: written late, or found by the next coordinator.
    if (last !== undefined && found > last.offset) return;
    const begins =
      reason === "committed" ? `at offset ${to} of ${partition}` : `anew in ${partition}`;
    const text = `${client} begins ${begins}; ${group.name} has committed ${last?.offset} at ${formatSeconds(last?.at ?? 0)}.`;
    this.#report("commit-lost", partition, client, text, at, event);
  }

  #lookAtEnd({ group: name, partitions }: OffsetsRemoved, at: Instant, event: number): void {
    const { groups, setup } = this.#context;
    const group = groups.group(name);
    // It is told of once it is committed: by then who was about to join may be in.
    const longest = Math.max(...setup.brokers.map((one) => one["replica.lag.time.max.ms"]));
    const isSettled = group.state === "Stable" && at - group.stateAt > fromMillis(longest);
    const topics = new Set(group.assigned?.assignments.flatMap((one) => one.topics));
    for (const partition of partitions) {
      this.evaluations++;
      if (!isSettled || !topics.has(topicOf(partition))) continue;
      const text = `The offset of ${partition} has expired for ${name}, which is Stable since ${formatSeconds(group.stateAt)}, with members that subscribe to it.`;
      this.#report("expired-in-use", partition, "", text, at, event);
    }
  }

  #report(
    kind: string,
    partition: string,
    client: string,
    text: string,
    at: Instant,
    event: number,
  ): void {
    const permitted = this.#context.groups.waiver;
    this.violations.push(
      violationOf(COMMITS_KEPT, { kind, partition, client, at, event, text: [text], permitted }),
    );
  }
}
