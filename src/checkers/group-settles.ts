import type { Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import type { PartitionName } from "../kafka/ids.ts";
import type { MemberSetup } from "./check-setup.ts";
import { hasRegistries, topicOf } from "./check-setup.ts";
import { violationOf } from "./finding.ts";
import { groupBound } from "./group-bound.ts";
import type { ClientMember, GroupGhost } from "./group-states.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { isLed } from "./stuck-replica.ts";
import { stuckWaiver } from "./waivers/stuck-waiver.ts";
import { listed } from "./wording.ts";

export const GROUP_SETTLES: Guarantee = {
  name: "group-settles",
  sentence:
    "When nothing is left to heal, a group comes to rest: it is stable, its members are in its generation, and each partition that they subscribe to has one of them for its owner.",
  source: "KIP-62, KIP-848; LV8",
  kinds: ["group-restless", "member-left-out", "partition-unowned"],
  condition:
    "At the end, of groups with members that run, if the cluster has settled, and the group has made no step for as long as one may take by the configs, or has been at it for four times that. With groups: zookeeper-2011 only that of the owners. Permitted: as for isr-refills; an application that does not poll within max.poll.interval.ms; a partition that a static member was to give up, which came back without a rebalance; in ZooKeeper's groups a member that has tried rebalance.max.retries times to take its part, and waits for the next change.",
  testedBy: "groups in a cluster that faults have struck",
  example: [
    "partition-unowned   orders-2   at 120.000s, event 81220",
    "  orders-2 has no owner in workers, which is at rest in generation 4; of its members c1 and c2 run.",
  ],
  create: (context) => new GroupSettles(context),
};

/** Steps of a rebalance, one after the other, before which somebody may have to wait in vain. */
const STEPS = 4;

/** What excuses that a group is not at rest, and what has caused it, if not the end of all faults. */
interface Excuse {
  readonly text: string;
  readonly cause: number | undefined;
}

type Member = readonly [client: string, setup: MemberSetup];

/**
 * A KIP-848 member hears of an epoch in which nothing changes for it, and tells nobody: its coordinator does. Where that
 * failed before it told, its successor has read of the member, and only this tells.
 */
function generationOf(group: GroupGhost, { generation, member }: ClientMember): number {
  return group.isConsumerGroup ? (group.epochs.get(member) ?? generation) : generation;
}

class GroupSettles implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** Clients that were too slow for their group since the cluster settled. */
  readonly #slow = new Set<string>();

  constructor(context: CheckContext) {
    this.#context = context;
    const { facts, liveness, setup } = context;
    facts.on("partitions-lost", ({ client }) => {
      if (liveness.settledAt !== undefined && setup.working.has(client)) this.#slow.add(client);
    });
  }

  atEnd(at: Instant, event: number): void {
    const { groups, liveness, setup } = this.#context;
    if (!liveness.isJudged(at)) return;
    const names = new Set([...setup.members.values()].map(({ group }) => group));
    for (const name of names) {
      const running = [...setup.members].filter(
        ([client, { group }]) => group === name && this.#isRunning(client),
      );
      if (running.length > 0) this.#look(groups.group(name), running, at, event);
    }
  }

  #isRunning(client: string): boolean {
    const node = this.#context.liveness.nodes.get(client);
    return node?.isUp === true && !node.isPaused;
  }

  #look(group: GroupGhost, running: readonly Member[], at: Instant, event: number): void {
    const { groups, liveness, logs, setup } = this.#context;
    const log = logs.partition(group.log);
    const isRegistered = hasRegistries(setup);
    if (!isRegistered && !isLed(this.#context, log)) return;
    this.evaluations++;
    if (liveness.wasDisturbed) this.interesting++;
    const bound = groupBound(this.#context, running);
    const since = running.map(([client]) => liveness.nodes.get(client)?.since ?? 0);
    const last = Math.max(liveness.steppedAt, liveness.isrStepAt(log), group.changedAt, ...since);
    const isOver = liveness.quietFor(last, at) >= bound;
    if (!isOver && liveness.quietFor(Math.max(...since), at) < STEPS * bound) return;
    if (group.state !== "Stable" && group.state !== "") {
      const text = `${group.name} is ${group.state} since ${formatSeconds(group.stateAt)}, in generation ${group.generation}.`;
      this.#report("group-restless", group, running, "", text, at, event);
      return;
    }
    const out = isRegistered ? [] : running.filter(([client]) => !this.#isIn(group, client));
    if (out.length > 0) {
      const who = listed(out.map(([client]) => client));
      const text = `${group.name} is at rest in generation ${this.#latest(group)}, and ${who} ${out.length === 1 ? "has" : "have"} no place in it.`;
      this.#report("member-left-out", group, running, "", text, at, event);
    }
    const topics = new Set(running.flatMap(([, { topics: wanted }]) => wanted));
    for (const { name } of logs.partitions) {
      if (!topics.has(topicOf(name))) continue;
      const owners = running.filter(([client]) => groups.clients.get(client)?.owned.has(name));
      if (owners.length === 1) continue;
      const who = owners.length === 0 ? "no owner" : `${owners.length} owners`;
      const generation = isRegistered ? "" : ` in generation ${this.#latest(group)}`;
      const text = `${name} has ${who} in ${group.name}, which is at rest${generation}; of its members ${listed(running.map(([client]) => client))} run.`;
      this.#report("partition-unowned", group, running, name, text, at, event);
    }
  }

  #isIn(group: GroupGhost, client: string): boolean {
    const member = this.#context.groups.clients.get(client);
    if (member === undefined) return false;
    const isTold = group.isConsumerGroup && group.epochs.has(member.member);
    return isTold ? member.generation >= 0 : member.generation === this.#latest(group);
  }

  /** What a coordinator wrote last its successor may find committed, of which nobody was told. */
  #latest(group: GroupGhost): number {
    let latest = group.assigned?.generation ?? 0;
    for (const member of this.#context.groups.clients.values()) {
      if (member.group !== group.name || !member.isUp) continue;
      latest = Math.max(latest, generationOf(group, member));
    }
    return latest;
  }

  #report(
    kind: string,
    group: GroupGhost,
    running: readonly Member[],
    partition: PartitionName,
    text: string,
    at: Instant,
    event: number,
  ): void {
    const ghost = this.#context.logs.partition(group.log);
    const waiver = stuckWaiver(this.#context, ghost, [
      ghost.leader,
      ...(ghost.registration?.isr ?? []),
    ]);
    const excuse = this.#unlearned(group, partition) ?? this.#excuse(running);
    this.violations.push(
      violationOf(GROUP_SETTLES, {
        kind,
        partition,
        at,
        event,
        text: [text],
        permitted: waiver?.text ?? excuse?.text,
        cause: waiver?.cause ?? excuse?.cause ?? this.#context.liveness.settledIn,
      }),
    );
  }

  /**
   * A cooperative leader gave the partition to nobody, as its owner had to give it up first. That was a static member which
   * came back before it knew: it is told what it has, has nothing to give up, and so calls for no rebalance (KIP-345, KIP-429).
   */
  #unlearned(
    { assigned, isConsumerGroup, replaced }: GroupGhost,
    partition: PartitionName,
  ): Excuse | undefined {
    if (replaced === undefined || isConsumerGroup || partition === "") return undefined;
    if (assigned?.assignments.some(({ partitions }) => partitions.includes(partition)) !== false) {
      return undefined;
    }
    const text = `${replaced.instance} came back at ${formatSeconds(replaced.at)} as a static member, without a rebalance, before it had given ${partition} up`;
    return { text, cause: replaced.event };
  }

  #excuse(running: readonly Member[]): Excuse | undefined {
    for (const [client] of running) {
      const gaveUp = this.#context.groups.clients.get(client)?.gaveUp;
      if (gaveUp === undefined) continue;
      const text = `${client} has tried rebalance.max.retries times, and waits for the next change`;
      return { text, cause: gaveUp.event };
    }
    const slow = running.find(([client]) => this.#slow.has(client))?.[0];
    if (slow === undefined) return undefined;
    return { text: `${slow} does not poll within max.poll.interval.ms`, cause: undefined };
  }
}
