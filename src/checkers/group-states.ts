import type { Instant } from "../base/time.ts";
import { GROUP_METADATA_TOPIC } from "../kafka/coordinator/internal-topics.ts";
import { partitionFor } from "../kafka/coordinator/partition-for.ts";
import type { BrokerId, Offset, PartitionName } from "../kafka/ids.ts";
import { partitionName } from "../kafka/ids.ts";
import { memberAt } from "../kafka/zookeeper/registries.ts";
import type {
  GroupAssigned,
  GroupMemberAssigned,
  GroupStateChanged,
  OffsetsCommitted,
  PartitionsAssigned,
} from "../trace/fact.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import type { CheckSetup } from "./check-setup.ts";

/** A consumer, as it sees itself. */
export interface ClientMember {
  readonly client: string;
  group: string;
  member: string;
  /** The generation or member epoch in which it was last told what it owns; -1 in none. */
  generation: number;
  /** Since when it owns what. */
  readonly owned: Map<PartitionName, Instant>;
  isUp: boolean;
  /** Its session with ZooKeeper is over, and it has not told that it knows. */
  expired: Happening | undefined;
  /** It has tried in vain to take what ZooKeeper's registries leave to it, and waits for their next change. */
  gaveUp: Happening | undefined;
}

/** When something happened, and in which event. */
export interface Happening {
  readonly at: Instant;
  readonly event: number;
}

/** What was committed, and when: the last few for each partition, the newest last; -1 is nothing. */
export interface CommittedAt {
  readonly offset: Offset;
  readonly at: Instant;
}

/** A group, as its coordinators have told of it. */
export class GroupGhost {
  readonly name: string;
  /** The partition in which its coordinator keeps it. */
  readonly log: PartitionName;
  /** Empty while its coordinator has not told: what that has read of it, it tells when it changes. */
  state = "";
  stateAt: Instant = 0;
  stateIn = 0;
  generation = 0;
  /** In which generation, or epoch, it has gone over to another protocol with its members. */
  migratedIn = 0;
  /** The last generation, or target, that is committed. */
  assigned: GroupAssigned | undefined = undefined;
  /** The static member that came back last since then, as another, without a rebalance (KIP-345). */
  replaced: (Happening & { readonly instance: string }) | undefined = undefined;
  /** When anybody came, went or was assigned anything. */
  changedAt: Instant = 0;
  /** Members of a KIP-848 group, by id, with what they have by right. */
  readonly members: Map<string, GroupMemberAssigned> = new Map();
  /** Of them, those of whom its present coordinator has told nothing yet: it may have read more of them than was told. */
  readonly hearsay: Set<string> = new Set();
  /** What each was told last, also if it has left since: who is out without its successor's knowledge is not out. */
  readonly epochs: Map<string, number> = new Map();
  /** Of static members: the group.instance.id, by member id, of former ones too. */
  readonly instances: Map<string, string> = new Map();
  /** Members that have left, or were thrown out, by id. */
  readonly gone: Set<string> = new Set();
  /** By member that has been out: the last epoch in which it was in before. Until it is in another, it may not know. */
  readonly outSince: Map<string, number> = new Map();
  readonly committed: Map<PartitionName, readonly CommittedAt[]> = new Map();

  constructor(name: string, log: PartitionName) {
    this.name = name;
    this.log = log;
  }

  /** Only groups of KIP-848 tell what single members are assigned. */
  get isConsumerGroup(): boolean {
    return this.epochs.size > 0;
  }

  /** It follows the classic protocol. */
  forgetMembers(): void {
    this.members.clear();
    this.epochs.clear();
  }

  /** Is it one member, perhaps a static one under another id? */
  isSame(one: string, other: string): boolean {
    const instance = this.instances.get(one);
    return one === other || (instance !== undefined && instance === this.instances.get(other));
  }

  /** What counted as committed at some time since `from`. */
  committedSince(partition: PartitionName, from: Instant): readonly CommittedAt[] {
    const all = this.committed.get(partition) ?? NEVER;
    return all.filter((_, i) => (all[i + 1]?.at ?? Number.POSITIVE_INFINITY) >= from);
  }
}

const NEVER: readonly CommittedAt[] = [{ offset: -1, at: 0 }];
/** More commits of a partition than that do not pass while one member finds out where to begin. */
const KEPT = 64;

/** What the guarantees of groups share: what coordinators and members have told. */
export class GroupStates {
  readonly groups: Map<string, GroupGhost> = new Map();
  readonly clients: Map<string, ClientMember> = new Map();
  /** Since when a coordinator's log may have lost its end, and to what; undefined while it may not. */
  #loss: string | undefined = undefined;
  readonly #logs: number;
  /** By partition: who coordinates what is kept there. */
  readonly #coordinators = new Map<PartitionName, { broker: BrokerId; leaderEpoch: number }>();

  constructor(facts: FactRecorder, setup: CheckSetup) {
    this.#logs = setup.brokers[0]?.["offsets.topic.num.partitions"] ?? 1;
    facts.on("partitions-assigned", (fact, at) => this.#assign(fact, at));
    for (const kind of ["partitions-revoked", "partitions-lost"] as const) {
      facts.on(kind, ({ client, partitions }) => {
        const mine = this.clients.get(client);
        if (mine === undefined) return;
        for (const name of partitions) mine.owned.delete(name);
        if (kind === "partitions-lost") mine.expired = undefined;
      });
    }
    this.#followRegistries(facts);
    facts.on("node-started", ({ node }) => this.#run(node, true));
    facts.on("node-stopped", ({ node }) => this.#run(node, false));
    facts.on("group-state-changed", (fact, at, event) => this.#change(fact, at, event));
    facts.on("group-migrated", ({ group: name, to, generation }, at) => {
      const group = this.group(name);
      group.changedAt = at;
      group.migratedIn = generation;
      if (to === "classic") group.forgetMembers();
    });
    facts.on("group-assigned", (fact, at) => {
      const group = this.group(fact.group);
      group.assigned = fact;
      group.replaced = undefined;
      group.changedAt = at;
    });
    facts.on("group-member-assigned", (fact, at) => {
      const group = this.group(fact.group);
      // What was assigned is told when it is committed, and who left when that is written: which may be sooner.
      if (!group.gone.has(fact.member)) group.members.set(fact.member, fact);
      group.hearsay.delete(fact.member);
      group.epochs.set(fact.member, fact.memberEpoch);
      group.changedAt = at;
    });
    facts.on(
      "group-member-left",
      ({ broker, group: name, instance, member, reason }, at, event) => {
        const group = this.group(name);
        if (reason === "replaced") group.replaced = { at, event, instance };
        // Who has been replaced may lead again, with what it wrote meanwhile.
        group.members.delete(member);
        if (!this.#isHeard(group, broker)) return;
        group.gone.add(member);
        group.outSince.set(member, group.epochs.get(member) ?? group.generation);
        group.changedAt = at;
      },
    );
    facts.on("group-member-joined", ({ group: name, instance, member }, at) => {
      const group = this.group(name);
      if (instance !== "") group.instances.set(member, instance);
      group.gone.delete(member);
      group.changedAt = at;
    });
    for (const kind of ["coordinator-loaded", "coordinator-unloaded"] as const) {
      facts.on(kind, ({ broker, leaderEpoch, partition }) => {
        const known = this.#coordinators.get(partition);
        if (kind === "coordinator-loaded" && leaderEpoch >= (known?.leaderEpoch ?? 0)) {
          this.#coordinators.set(partition, { broker, leaderEpoch });
        }
        for (const group of this.groups.values()) {
          if (group.log !== partition) continue;
          group.state = "";
          for (const member of group.members.keys()) group.hearsay.add(member);
        }
      });
    }
    facts.on("offsets-committed", (fact, at) => this.#commit(fact, at));
    facts.on("offsets-removed", ({ group: name, partitions }, at) => {
      const group = this.group(name);
      for (const partition of partitions) note(group, partition, -1, at);
    });
    this.#followLosses(facts);
  }

  group(name: string): GroupGhost {
    const known = this.groups.get(name);
    if (known !== undefined) return known;
    const log = partitionName(GROUP_METADATA_TOPIC, partitionFor(name, this.#logs));
    const made = new GroupGhost(name, log);
    this.groups.set(name, made);
    return made;
  }

  /** The consumer that is this member, as far as it has told. */
  clientOf(group: string, member: string): ClientMember | undefined {
    for (const client of this.clients.values()) {
      if (client.group === group && client.member === member) return client;
    }
    return undefined;
  }

  /** One that has been replaced may say what it likes until it hears of it. */
  #isHeard({ log }: GroupGhost, broker: BrokerId): boolean {
    return (this.#coordinators.get(log)?.broker ?? broker) === broker;
  }

  /** Why a coordinator may know less than others were told; undefined if it must know all. */
  get waiver(): string | undefined {
    return this.#loss;
  }

  /** Groups without a coordinator (groups: zookeeper-2011). */
  #followRegistries(facts: FactRecorder): void {
    facts.on("zookeeper-session-ended", ({ how, znodes }, at, event) => {
      const ids = znodes.map(memberAt);
      for (const client of this.clients.values()) {
        if (how === "expired" && ids.includes(client.member)) client.expired = { at, event };
      }
    });
    facts.on("zookeeper-rebalance-ended", ({ client, group, outcome }, at, event) => {
      this.group(group).changedAt = at;
      const mine = this.clients.get(client);
      if (mine !== undefined) mine.gaveUp = outcome === "failed" ? { at, event } : undefined;
    });
  }

  /** Coordinators write with acks=1, and min.insync.replicas of their topic is 1: its last copy may be lost. */
  #followLosses(facts: FactRecorder): void {
    const lose = (text: string): void => {
      this.#loss ??= `the coordinator's log may have lost its end: ${text}`;
    };
    facts.on("partition-changed", ({ election, partition }) => {
      const isUnclean = election === "unclean" || election === "last-known";
      if (isUnclean && partition.startsWith(`${GROUP_METADATA_TOPIC}-`)) {
        lose("a leader was chosen that was not in sync");
      }
    });
    facts.on("unflushed-lost", ({ node }) => lose(`${node} has lost what it had not flushed`));
    facts.on("disk-disturbed", ({ node }) => lose(`a disk of ${node} was disturbed`));
    facts.on("log-directory-failed", ({ broker }) => lose(`a disk of broker-${broker} has failed`));
  }

  #assign(fact: PartitionsAssigned, at: Instant): void {
    const known = this.clients.get(fact.client);
    const { client, generation, group, member } = fact;
    const mine = known ?? {
      client,
      group,
      member,
      generation,
      owned: new Map(),
      isUp: true,
      expired: undefined,
      gaveUp: undefined,
    };
    this.clients.set(client, mine);
    mine.group = group;
    mine.member = member;
    mine.generation = generation;
    for (const name of fact.partitions) mine.owned.set(name, at);
  }

  #run(node: string, isUp: boolean): void {
    const client = this.clients.get(node);
    if (client === undefined) return;
    client.isUp = isUp;
    client.generation = -1;
    client.owned.clear();
    client.expired = undefined;
    client.gaveUp = undefined;
  }

  #change(
    { broker, group: name, from, to, generation }: GroupStateChanged,
    at: Instant,
    event: number,
  ): void {
    const group = this.group(name);
    if (!this.#isHeard(group, broker)) return;
    // A migration is told of when it is committed, as what members did before it; unless its coordinator fails.
    const isClassic = to === "PreparingRebalance" && (from === "Empty" || group.state === "");
    if (isClassic) group.forgetMembers();
    group.state = to;
    group.stateAt = at;
    group.stateIn = event;
    group.generation = generation;
    group.changedAt = at;
    // Without members, nobody is behind.
    if (from === "" || from === "Empty") {
      group.migratedIn = 0;
      group.outSince.clear();
    }
  }

  #commit({ group: name, offsets }: OffsetsCommitted, at: Instant): void {
    const group = this.group(name);
    for (const { partition, offset } of offsets) note(group, partition, offset, at);
  }
}

function note(group: GroupGhost, partition: PartitionName, offset: Offset, at: Instant): void {
  const before = group.committed.get(partition) ?? NEVER;
  group.committed.set(partition, [...before.slice(-KEPT + 1), { offset, at }]);
}
