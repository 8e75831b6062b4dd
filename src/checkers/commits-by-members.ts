import type { Instant } from "../base/time.ts";
import type { PartitionName } from "../kafka/ids.ts";
import { NO_PRODUCER_ID } from "../kafka/ids.ts";
import type { OffsetsCommitted } from "../trace/fact.ts";
import { violationOf } from "./finding.ts";
import type { GroupGhost } from "./group-states.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";

export const COMMITS_BY_MEMBERS: Guarantee = {
  name: "commits-by-members",
  sentence:
    "Offsets are committed only by a member of the present generation, or in its present epoch, and for what it owns; without a member only while the group has none.",
  source: "KIP-62, KIP-848, KIP-1251; G4",
  kinds: ["late-commit", "commit-of-others", "commit-past-members"],
  condition:
    "Of commits that count, outside of transactions. A KIP-848 member may name an older epoch for what it has had since then. Permitted: coordinators do not ask whether a partition is the member's own; and if the coordinator's log may have lost its end.",
  testedBy: "commits by members of groups that have rebalanced",
  tellsDeed: true,
  example: [
    "late-commit   orders-2   c1   at 12.480s, event 9120",
    "  Offset 412 of orders-2 is committed for workers by c1-71 in generation 3; generation 4 is assigned.",
  ],
  create: (context) => new CommitsByMembers(context),
};

/** What Kafka leaves to its clients. */
const NOT_ASKED = "a coordinator does not ask a member whether a partition is its own";

class CommitsByMembers implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;

  constructor(context: CheckContext) {
    this.#context = context;
    context.facts.on("offsets-committed", (fact, at, event) => this.#look(fact, at, event));
  }

  #look(fact: OffsetsCommitted, at: Instant, event: number): void {
    const { generation, group: name, member, offsets, producerId } = fact;
    if (producerId !== NO_PRODUCER_ID) return;
    const group = this.#context.groups.group(name);
    const { assigned, isConsumerGroup } = group;
    const epoch = isConsumerGroup ? group.members.get(member)?.memberEpoch : assigned?.generation;
    this.evaluations++;
    if (generation < 0) {
      // Of a coordinator that was loaded since, the state is not heard of before it changes.
      const hasMembers = isConsumerGroup || group.state === "Stable";
      if (hasMembers && group.stateAt < at) {
        for (const { partition } of offsets) {
          const text = `Offsets of ${name} are committed without a member, though it is ${group.state} in generation ${group.generation}.`;
          this.#report("commit-past-members", fact, partition, text, undefined, at, event);
        }
      }
      return;
    }
    if (epoch === undefined) return;
    if (epoch > 1) this.interesting++;
    for (const { partition, offset } of offsets) {
      const isOwn = owns(group, member, partition);
      const isLate = generation < epoch && !(isConsumerGroup && isOwn);
      const said = `Offset ${offset} of ${partition} is committed for ${name} by ${member} in generation ${generation}`;
      if (isLate) {
        const text = `${said}; generation ${epoch} is assigned.`;
        this.#report("late-commit", fact, partition, text, undefined, at, event);
      } else if (generation === epoch && !isOwn) {
        const text = `${said}, which does not give it that.`;
        this.#report("commit-of-others", fact, partition, text, NOT_ASKED, at, event);
      }
    }
  }

  #report(
    kind: string,
    { group, member }: OffsetsCommitted,
    partition: PartitionName,
    text: string,
    excuse: string | undefined,
    at: Instant,
    event: number,
  ): void {
    const { groups } = this.#context;
    const client = groups.clientOf(group, member)?.client ?? "";
    const permitted = excuse ?? groups.waiver;
    this.violations.push(
      violationOf(COMMITS_BY_MEMBERS, {
        kind,
        partition,
        client,
        at,
        event,
        text: [text],
        permitted,
      }),
    );
  }
}

/** By what the coordinator has told last. */
function owns(group: GroupGhost, member: string, partition: PartitionName): boolean {
  if (!group.isConsumerGroup) {
    const mine = group.assigned?.assignments.find((one) => group.isSame(one.member, member));
    return mine?.partitions.includes(partition) === true;
  }
  const mine = group.members.get(member);
  return mine?.partitions.includes(partition) || mine?.revoking.includes(partition) || false;
}
