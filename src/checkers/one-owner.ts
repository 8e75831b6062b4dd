import type { Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import type { PartitionName } from "../kafka/ids.ts";
import type {
  GroupAssigned,
  GroupMemberAssigned,
  PartitionsAssigned,
  Polled,
} from "../trace/fact.ts";
import { hasRegistries } from "./check-setup.ts";
import { violationOf } from "./finding.ts";
import type { ClientMember, GroupGhost, GroupStates } from "./group-states.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { Waiver } from "./waivers/waiver.ts";

export const ONE_OWNER: Guarantee = {
  name: "one-owner",
  sentence:
    "No two members of one generation take a partition for their own, nor do two present members of a KIP-848 group; nobody is given what another member has still, or what is not for him; and members read only what they own.",
  source: "KIP-429, KIP-848; G2",
  kinds: ["two-owners", "given-while-owned", "not-in-target", "unowned-read"],
  condition:
    "Of members that the coordinator has: who has been out, or is behind when its group migrates, and has not heard of it may go on for a while, but not commit; and a static member that has missed a rebalance may still have what it had. Permitted if the coordinator's log may have lost its end; and, with groups: zookeeper-2011, to who has lost its session and does not know.",
  testedBy: "partitions that a member takes of a group with others",
  tellsDeed: true,
  example: [
    "two-owners   orders-2   c2   at 12.480s, event 9120",
    "  c2 takes orders-2 in generation 4 of workers, and c1 has had it since 6.121s, in generation 4.",
  ],
  create: (context) => new OneOwner(context),
};

class OneOwner implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;

  constructor(context: CheckContext) {
    this.#context = context;
    const { facts } = context;
    facts.on("partitions-assigned", (fact, at, event) => this.#take(fact, at, event));
    facts.on("group-member-assigned", (fact, at, event) => this.#give(fact, at, event));
    facts.on("group-assigned", (fact, at, event) => this.#deal(fact, at, event));
    facts.on("polled", (fact, at, event) => this.#read(fact, at, event));
  }

  // As members see it.

  #take(fact: PartitionsAssigned, at: Instant, event: number): void {
    const { groups, setup } = this.#context;
    const isRegistered = hasRegistries(setup);
    const mine = groups.clients.get(fact.client);
    // Without a group's consent (`assign`), an application reads what it likes.
    if (mine === undefined || (fact.generation < 0 && !isRegistered)) return;
    const group = groups.group(fact.group);
    // Who is out and has not heard of it takes nothing from anybody.
    if (group.gone.has(mine.member)) return;
    for (const other of groups.clients.values()) {
      if (other === mine || other.group !== fact.group) continue;
      if (isRegistered ? !other.isUp : !isPresent(group, mine, other)) continue;
      for (const name of mine.owned.keys()) {
        this.evaluations++;
        this.interesting++;
        const since = other.owned.get(name);
        if (since === undefined) continue;
        const [ours, theirs] = isRegistered
          ? ["", ""]
          : [` in generation ${mine.generation}`, `, in generation ${other.generation}`];
        const text = `${mine.client} takes ${name}${ours} of ${group.name}, and ${other.client} has had it since ${formatSeconds(since)}${theirs}.`;
        this.#report("two-owners", name, mine.client, text, at, event, lostSession(other, mine));
      }
    }
  }

  /** What was fetched before it gave the partition up is not for it any more. */
  #read({ client, partition }: Polled, at: Instant, event: number): void {
    const { groups } = this.#context;
    const mine = groups.clients.get(client);
    if (mine === undefined) return;
    this.evaluations++;
    if (mine.owned.has(partition)) return;
    const text = `${client} is given records of ${partition}, which it does not own in ${mine.group}.`;
    this.#report("unowned-read", partition, client, text, at, event);
  }

  // As coordinators see it.

  /**
   * When a classic generation is assigned, its members have given up what goes to others: eager ones everything, before
   * they joined; what cooperative ones still have waits for the next (KIP-429).
   */
  #deal(fact: GroupAssigned, at: Instant, event: number): void {
    const { groups } = this.#context;
    const group = groups.group(fact.group);
    if (group.state !== "CompletingRebalance") return;
    for (const { member } of fact.assignments) {
      const client = groups.clientOf(fact.group, member);
      if (client?.isUp !== true || group.instances.has(member)) continue;
      for (const other of fact.assignments) {
        if (other.member === member) continue;
        for (const name of other.partitions) {
          this.evaluations++;
          if (!client.owned.has(name)) continue;
          const text = `Generation ${fact.generation} of ${group.name} gives ${name} to ${other.member}, and ${client.client} has it still.`;
          this.#report("given-while-owned", name, client.client, text, at, event);
        }
      }
    }
  }

  #give(fact: GroupMemberAssigned, at: Instant, event: number): void {
    const { groups } = this.#context;
    const group = groups.group(fact.group);
    const { assigned } = group;
    for (const other of group.members.values()) {
      if (other.member === fact.member) continue;
      for (const name of fact.partitions) {
        this.evaluations++;
        this.interesting++;
        if (!other.partitions.includes(name) && !other.revoking.includes(name)) continue;
        if (group.hearsay.has(other.member) && hasGivenUp(groups, other, name)) continue;
        const text = `${fact.member} is given ${name} in epoch ${fact.memberEpoch} of ${group.name}, and ${other.member} has it still, in epoch ${other.memberEpoch}.`;
        this.#report("given-while-owned", name, clientName(this.#context, fact), text, at, event);
      }
    }
    if (assigned === undefined || assigned.generation !== fact.memberEpoch) return;
    const target = assigned.assignments.find(({ member }) => member === fact.member);
    // A static member that has come back has another's place in the target.
    if (target === undefined) return;
    for (const name of fact.partitions) {
      this.evaluations++;
      if (target.partitions.includes(name)) continue;
      const text = `${fact.member} is in epoch ${fact.memberEpoch} of ${group.name} with ${name}, which that does not give it.`;
      this.#report("not-in-target", name, clientName(this.#context, fact), text, at, event);
    }
  }

  #report(
    kind: string,
    partition: PartitionName,
    client: string,
    text: string,
    at: Instant,
    event: number,
    waiver?: Waiver,
  ): void {
    const permitted = waiver?.text ?? this.#context.groups.waiver;
    const cause = waiver?.cause;
    this.violations.push(
      violationOf(ONE_OWNER, {
        kind,
        partition,
        client,
        at,
        event,
        text: [text],
        permitted,
        cause,
      }),
    );
  }
}

/** Does the coordinator count on the other, as on me? */
function isPresent(group: GroupGhost, mine: ClientMember, other: ClientMember): boolean {
  const { generation, isUp, member } = other;
  if (!isUp || group.gone.has(member)) return false;
  if (!group.isConsumerGroup) return generation === mine.generation;
  // Who has been out, and is let in again by the classic protocol, hears of it when it has joined.
  const isBack = generation > (group.outSince.get(member) ?? -1);
  // A migration counts on what members were to have: who has not come to that has to join anew.
  return group.members.has(member) && isBack && generation >= group.migratedIn;
}

/** That may stand in the log, untold: a coordinator tells what is committed, and another has taken its place before. */
function hasGivenUp(
  groups: GroupStates,
  { group, member }: GroupMemberAssigned,
  partition: PartitionName,
): boolean {
  const client = groups.clientOf(group, member);
  return client?.isUp === true && !client.owned.has(partition);
}

/** ZooKeeper has given away what was one's of them, who goes on with it. */
function lostSession(...members: readonly ClientMember[]): Waiver | undefined {
  for (const { client, expired } of members) {
    if (expired === undefined) continue;
    const text = `${client} had lost its session with ZooKeeper at ${formatSeconds(expired.at)}, and did not know`;
    return { text, cause: expired.event };
  }
  return undefined;
}

function clientName({ groups }: CheckContext, { group, member }: GroupMemberAssigned): string {
  return groups.clientOf(group, member)?.client ?? "";
}
