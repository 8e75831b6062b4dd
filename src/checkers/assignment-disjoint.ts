import type { Instant } from "../base/time.ts";
import type { PartitionName } from "../kafka/ids.ts";
import type { GroupAssigned } from "../trace/fact.ts";
import { topicOf } from "./check-setup.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";

export const ASSIGNMENT_DISJOINT: Guarantee = {
  name: "assignment-disjoint",
  sentence:
    "What a generation of a group, or a target of a KIP-848 group, assigns is each partition to one member, of topics that he subscribes to, and of such a topic every partition.",
  source: "ConsumerPartitionAssignor, KIP-848; G1",
  kinds: ["assigned-twice", "assigned-unwanted", "left-out"],
  condition:
    "Of assignments that are committed. Left out may be what a member has to give up first, and, as a whole, a topic of which the leader of a classic group has no metadata.",
  testedBy: "assignments to several members",
  tellsDeed: true,
  example: [
    "assigned-twice   orders-2   at 12.480s, event 9120",
    "  Generation 4 of workers assigns orders-2 to c1-71 and to c2-38.",
  ],
  create: (context) => new AssignmentDisjoint(context),
};

class AssignmentDisjoint implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** By group: what its last assignment gave to whom. */
  readonly #last = new Map<string, ReadonlyMap<PartitionName, string>>();

  constructor(context: CheckContext) {
    this.#context = context;
    context.facts.on("group-assigned", (fact, at, event) => this.#look(fact, at, event));
  }

  #look(fact: GroupAssigned, at: Instant, event: number): void {
    const { assignments } = fact;
    this.evaluations++;
    if (assignments.length > 1) this.interesting++;
    const owners = new Map<PartitionName, string>();
    const before = this.#last.get(fact.group);
    this.#last.set(fact.group, owners);
    const topics = new Set<string>();
    for (const { member, partitions, topics: wanted } of assignments) {
      for (const partition of partitions) {
        const topic = topicOf(partition);
        const other = owners.get(partition);
        owners.set(partition, member);
        topics.add(topic);
        if (other !== undefined) {
          const text = `assigns ${partition} to ${other} and to ${member}`;
          this.#report("assigned-twice", fact, partition, text, at, event);
        } else if (!wanted.includes(topic)) {
          const text = `assigns ${partition} to ${member}, who subscribes to ${wanted.join(", ")}`;
          this.#report("assigned-unwanted", fact, partition, text, at, event);
        }
      }
    }
    for (const { name } of this.#context.logs.partitions) {
      if (!topics.has(topicOf(name)) || owners.has(name)) continue;
      // A cooperative leader gives to nobody what its owner has to give up first (KIP-429).
      if (this.#isOwned(fact.group, name) || before?.has(name)) continue;
      this.#report("left-out", fact, name, `assigns ${name} to nobody`, at, event);
    }
  }

  #isOwned(group: string, partition: PartitionName): boolean {
    for (const client of this.#context.groups.clients.values()) {
      if (client.group === group && client.owned.has(partition)) return true;
    }
    return false;
  }

  #report(
    kind: string,
    { group, generation }: GroupAssigned,
    partition: PartitionName,
    what: string,
    at: Instant,
    event: number,
  ): void {
    const text = [`Generation ${generation} of ${group} ${what}.`];
    this.violations.push(violationOf(ASSIGNMENT_DISJOINT, { kind, partition, at, event, text }));
  }
}
