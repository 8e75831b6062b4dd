import type { Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import type { Offset, PartitionName } from "../kafka/ids.ts";
import type { MemberSetup } from "./check-setup.ts";
import { readsCommitted, topicOf } from "./check-setup.ts";
import { lastDue } from "./due-records.ts";
import { violationOf } from "./finding.ts";
import { groupBound } from "./group-bound.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { isLed } from "./stuck-replica.ts";
import { stuckWaiver } from "./waivers/stuck-waiver.ts";

export const GROUPS_CATCH_UP: Guarantee = {
  name: "groups-catch-up",
  sentence:
    "When nothing is left to heal, the owner of a partition is given all that is committed in it, and auto commits come up to where it is.",
  source: "KafkaConsumer; LV3",
  kinds: ["member-stalls", "commit-behind"],
  condition:
    "At the end, of partitions that are led and have an owner, if that has made no step for as long as it may wait by its configs, in a cluster that has settled and made none either. Readers of committed records wait for open transactions (see transactions-end), and nobody is given markers. Of commits: with enable.auto.commit. Permitted: as for isr-refills.",
  testedBy: "partitions of which their owner was given something while the cluster settled",
  example: [
    "member-stalls   orders-2   c1   at 120.000s, event 81220",
    "  c1 owns orders-2 and reads on from 310; the high watermark is 412, and it has been given nothing since 31.004s.",
  ],
  create: (context) => new GroupsCatchUp(context),
};

interface Progress {
  position: Offset;
  at: Instant;
}

class GroupsCatchUp implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** By client, then partition. */
  readonly #progress = new Map<string, Map<PartitionName, Progress>>();
  /** When a client did anything last. */
  readonly #stepAt = new Map<string, Instant>();

  constructor(context: CheckContext) {
    this.#context = context;
    const { facts, setup } = context;
    if (setup.members.size === 0) return;
    facts.on("polled", ({ client, partition, lastOffset }, at) => {
      this.#move(client, partition, lastOffset + 1, at);
    });
    facts.on("position-reset", ({ client, partition, to }, at) => {
      this.#move(client, partition, to, at);
    });
    for (const kind of ["records-processed", "partitions-assigned"] as const) {
      facts.on(kind, ({ client }, at) => {
        this.#stepAt.set(client, at);
      });
    }
  }

  #move(client: string, partition: PartitionName, position: Offset, at: Instant): void {
    if (!this.#context.setup.members.has(client)) return;
    let mine = this.#progress.get(client);
    if (mine === undefined) {
      mine = new Map();
      this.#progress.set(client, mine);
    }
    this.#stepAt.set(client, at);
    const known = mine.get(partition);
    if (known === undefined) mine.set(partition, { position, at });
    else {
      known.position = position;
      known.at = at;
    }
  }

  atEnd(at: Instant, event: number): void {
    const { groups, liveness, logs, setup } = this.#context;
    if (!liveness.isJudged(at)) return;
    for (const [client, member] of setup.members) {
      const node = liveness.nodes.get(client);
      if (node?.isUp !== true || node.isPaused) continue;
      for (const [name, since] of groups.clients.get(client)?.owned ?? []) {
        const partition = logs.partition(name);
        if (!isLed(this.#context, partition)) continue;
        const last = Math.max(since, node.since, this.#stepAt.get(client) ?? 0);
        this.#look(client, member, partition, last, at, event);
      }
    }
  }

  #look(
    client: string,
    member: MemberSetup,
    partition: PartitionGhost,
    since: Instant,
    at: Instant,
    event: number,
  ): void {
    const { groups, liveness, setup } = this.#context;
    const progress = this.#progress.get(client)?.get(partition.name);
    const position = progress?.position ?? 0;
    this.evaluations++;
    if ((progress?.at ?? 0) > (liveness.settledAt ?? at)) this.interesting++;
    const last = Math.max(
      since,
      liveness.steppedAt,
      liveness.isrStepAt(partition),
      liveness.movedAt(partition, partition.leader),
    );
    if (liveness.quietFor(last, at) < groupBound(this.#context, [[client, member]])) return;
    const end = this.#readableEnd(client, partition);
    const isCompacted = setup.topics.get(topicOf(partition.name))?.isCompacted === true;
    const hasNone = member.configs["auto.offset.reset"] === "none" && progress === undefined;
    if (this.#isDue(partition, client, position, end) && !isCompacted && !hasNone) {
      const text = `${client} owns ${partition.name} and reads on from ${position}; the high watermark is ${partition.leaderLog?.highWatermark}, and it has been given nothing since ${formatSeconds(progress?.at ?? since)}.`;
      this.#report("member-stalls", client, partition, text, at, event);
      return;
    }
    const all = groups.group(member.group).committed.get(partition.name);
    const committed = all?.at(-1)?.offset ?? -1;
    const isAuto = member.configs["enable.auto.commit"] && progress !== undefined;
    // Past what nobody is given it goes without a word.
    const isThere = committed >= position && !this.#isDue(partition, client, position, committed);
    if (!isAuto || isThere) return;
    const text = `${client} has come to ${position} in ${partition.name}; ${member.group} has committed ${committed < 0 ? "nothing" : committed} of it.`;
    this.#report("commit-behind", client, partition, text, at, event);
  }

  /** Readers of committed records only read up to the first that is undecided. */
  #readableEnd(client: string, partition: PartitionGhost): Offset {
    const { setup, transactions } = this.#context;
    const { leaderLog } = partition;
    if (leaderLog === undefined) return 0;
    const { highWatermark } = leaderLog;
    const isCommittedOnly = readsCommitted(setup, client);
    const open = isCommittedOnly
      ? transactions?.parts.openAtLeader(partition, leaderLog)
      : undefined;
    return Math.min(highWatermark, open?.firstUnstable(highWatermark) ?? highWatermark);
  }

  #isDue(partition: PartitionGhost, client: string, from: Offset, to: Offset): boolean {
    return lastDue(this.#context, partition, client, from, to) !== undefined;
  }

  #report(
    kind: string,
    client: string,
    partition: PartitionGhost,
    text: string,
    at: Instant,
    event: number,
  ): void {
    const waiver = stuckWaiver(this.#context, partition, [partition.leader]);
    this.interesting++;
    this.violations.push(
      violationOf(GROUPS_CATCH_UP, {
        kind,
        partition: partition.name,
        client,
        at,
        event,
        text: [text],
        permitted: waiver?.text ?? this.#context.groups.waiver,
        cause: waiver?.cause ?? this.#context.liveness.settledIn,
      }),
    );
  }
}
