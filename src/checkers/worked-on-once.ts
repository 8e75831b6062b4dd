import type { Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import { GROUP_METADATA_TOPIC } from "../kafka/coordinator/internal-topics.ts";
import { partitionFor } from "../kafka/coordinator/partition-for.ts";
import type { Offset } from "../kafka/ids.ts";
import { partitionName } from "../kafka/ids.ts";
import { NO_NODE, NO_VALUE } from "./batch-tree.ts";
import { brokerName } from "./broker-name.ts";
import { hasRegistries } from "./check-setup.ts";
import { violationOf } from "./finding.ts";
import type { Begin, GroupWork, Parting, Repeat } from "./group-work.ts";
import { GroupWorks } from "./group-work.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { RecordRun } from "./record-run.ts";
import { earlierRule } from "./waivers/earlier-rule.ts";
import { uncleanElection } from "./waivers/unclean-election.ts";
import type { Waiver } from "./waivers/waiver.ts";

export const WORKED_ON_ONCE: Guarantee = {
  name: "worked-on-once",
  sentence:
    "The members of a group work on each record of their partitions once: what they have worked on lies side by side, from where the first of them began to what the group has committed.",
  source:
    "KafkaConsumer's delivery semantics; T7 for groups, whose offsets no transaction holds together with the work",
  kinds: ["record-worked-on-again", "record-left-out"],
  condition:
    "Of clients with `process` processed-as-promised tells. Left out: at the end, but not of compacted topics, nor of what has expired, nor of what was aborted. Permitted: again, if a member stopped, or lost the partition, perhaps without having heard of it, before the group's offset had come past the record, or took the offset back; left out, if it was committed before it was worked on by an application that does so, or, with groups: zookeeper-2011, by a rebalance; both, if auto.offset.reset or the application set the position anew, or the group's offset is lost with the log that held it.",
  testedBy: "beginnings of members where others had been before",
  example: [
    "record-worked-on-again   orders-0   c2   at 22.870s, event 31402",
    "  c2 worked again on offsets 412..418, 7 records that c1 had worked on.",
    "  permitted: c1 stopped (crash) at 20.120s before the group had committed them",
  ],
  create: (context) => new WorkedOnOnce(context),
};

/** Records of one partition that one thing happened to, for one cause. */
interface Finding {
  readonly kind: "record-worked-on-again" | "record-left-out";
  readonly work: GroupWork;
  /** Who worked again; empty if nobody did. */
  readonly client: string;
  /** Who had worked on them. */
  readonly before: string;
  readonly waiver: Waiver | undefined;
  readonly run: RecordRun;
  readonly offsets: Set<Offset>;
  /** How often, if some of them more than once. */
  times: number;
  readonly at: Instant;
  readonly event: number;
}

class WorkedOnOnce implements Checker {
  evaluations = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  readonly #works: GroupWorks;
  readonly #findings = new Map<string, Finding>();

  constructor(context: CheckContext) {
    this.#context = context;
    const { facts, setup } = context;
    this.#works = new GroupWorks(facts, setup.processors, (work, repeat) => {
      this.#again(work, repeat);
    });
    facts.on("records-processed", ({ client, firstOffset, lastOffset }) => {
      if (!setup.processors.has(client)) this.evaluations += lastOffset - firstOffset + 1;
    });
  }

  get interesting(): number {
    let interesting = 0;
    for (const { begins } of this.#works.all()) interesting += Math.max(0, begins.length - 1);
    return interesting;
  }

  atEnd(at: Instant, event: number): void {
    for (const work of this.#works.all()) this.#lookForGaps(work, at, event);
    for (const finding of this.#findings.values()) this.violations.push(describe(finding));
  }

  // Again.

  #again(work: GroupWork, repeat: Repeat): void {
    const { client, at, event, before } = repeat;
    const waiver = this.#whyAgain(work, repeat);
    this.#find(
      { kind: "record-worked-on-again", work, client, before: before.client, waiver, at, event },
      repeat.offset,
    );
  }

  #whyAgain(work: GroupWork, { client, offset, event, before }: Repeat): Waiver | undefined {
    const begin = work.beginOf(client);
    // It went on, and yet came to the same record.
    if (begin === undefined || (before.client === client && before.order > begin.order)) {
      return undefined;
    }
    const isByOffset = begin.reason === "committed" || begin.reason === "initial";
    if (isByOffset && begin.leastCommitted > offset) return this.#lostOffset(work, event);
    if (before.order > begin.order) {
      const text = `${before.client} and ${client} had both been given it: the group rebalanced while one of them was at work`;
      return { text, cause: begin.event };
    }
    if (begin.reason !== "committed") return resetWaiver(begin);
    if (work.highestCommitted > offset) {
      const text = `the group's offset was ${work.highestCommitted} once, and was taken back by a later commit`;
      return { text, cause: begin.event };
    }
    const parting = work.partingAfter(before.client, before.since);
    if (parting !== undefined) return partingWaiver(parting);
    // Whoever could not be reached while the others rebalanced hears of it last (see one-owner).
    const { clients } = this.#context.groups;
    const [theirs, ours] = [before.client, client].map((name) => clients.get(name)?.generation);
    if (theirs === undefined || ours === undefined || theirs >= ours) return undefined;
    const text = `${before.client} had not heard yet that generation ${theirs} was over`;
    return { text, cause: begin.event };
  }

  /** A member has not found what its group had committed. */
  #lostOffset({ group }: GroupWork, event: number): Waiver | undefined {
    const { logs, setup } = this.#context;
    const [configs] = setup.brokers;
    const count = configs?.["offsets.topic.num.partitions"] ?? 0;
    if (count === 0) return undefined;
    const log = logs.partition(partitionName(GROUP_METADATA_TOPIC, partitionFor(group, count)));
    const cut = log.cuts.find(({ excuse }) => excuse !== "none");
    if (cut !== undefined) {
      const what = cut.excuse === "power" ? "power loss" : "damaged disk";
      const text = `${what} of ${brokerName(cut.log.broker)}, with the group's offset in ${log.name}`;
      return { text, cause: cut.event };
    }
    const election = log.uncleanElections.at(-1);
    const unclean = election && uncleanElection(log, election, setup);
    return unclean ?? earlierRule(log, setup, event);
  }

  // Left out.

  #lookForGaps(work: GroupWork, at: Instant, event: number): void {
    const { logs, expiry } = this.#context;
    const partition = logs.partition(work.name);
    if (partition.tree.keys !== undefined) return;
    const from = Math.max(work.start, expiry.permitted(partition));
    for (let offset = from; offset < work.committed; offset++) {
      if (work.worked[offset] !== undefined || !this.#isRecord(partition, offset)) continue;
      const given = work.given[offset];
      const parting = given && work.partingAfter(given.client, given.order);
      // Whoever has it may be at it still.
      if (given !== undefined && parting === undefined) continue;
      const waiver = this.#whyLeftOut(work, offset, parting);
      this.#find(
        { kind: "record-left-out", work, client: "", before: "", waiver, at, event },
        offset,
      );
    }
  }

  /** Not a marker, nor something that no leader has any more, nor aborted, which not all are given. */
  #isRecord(partition: PartitionGhost, offset: Offset): boolean {
    const { canon, tree } = partition;
    const node = canon.nodeAt(offset);
    if (node === NO_NODE || tree.valueAt(node, offset) === NO_VALUE) return false;
    return this.#context.transactions?.parts.isHidden(partition, node, true) !== true;
  }

  #whyLeftOut(
    { begins, name }: GroupWork,
    offset: Offset,
    parting: Parting | undefined,
  ): Waiver | undefined {
    if (parting !== undefined && this.#context.setup.commitsEarly.has(parting.client)) {
      const { client, at, event, how } = parting;
      const text = `${client} commits before it has worked on what it commits, and ${how} at ${formatSeconds(at)}`;
      return { text, cause: event };
    }
    if (parting !== undefined && hasRegistries(this.#context.setup)) {
      // What the application has taken counts as consumed, done or not (`ConsumerIterator.next`).
      const { client, at, event, how } = parting;
      const text = `${client} ${how} at ${formatSeconds(at)}, and in ZooKeeper's groups a rebalance commits what is at work`;
      return { text, cause: event };
    }
    const jump = begins.find(({ reason, to }) => reason !== "committed" && to > offset);
    if (jump !== undefined) return resetWaiver(jump);
    const partition = this.#context.logs.partition(name);
    return earlierRule(partition, this.#context.setup, parting?.event ?? 0);
  }

  #find(found: Omit<Finding, "run" | "offsets" | "times">, offset: Offset): void {
    const { kind, work, client, before, waiver } = found;
    const key = `${kind} ${work.group} ${work.name} ${client} ${before} ${waiver?.text ?? ""}`;
    const known = this.#findings.get(key) ?? {
      ...found,
      run: new RecordRun(),
      offsets: new Set(),
      times: 0,
    };
    this.#findings.set(key, known);
    known.times++;
    if (known.offsets.has(offset)) return;
    known.offsets.add(offset);
    known.run.add(offset, offset, 1);
  }
}

function partingWaiver({ client, at, event, how }: Parting): Waiver {
  const text = `${client} ${how} at ${formatSeconds(at)} before the group had committed them`;
  return { text, cause: event };
}

/** The position was set by other than the group's offset. */
function resetWaiver({ client, reason, to, event }: Begin): Waiver {
  return { text: `${client} began at offset ${to} (${RESETS[reason] ?? reason})`, cause: event };
}

/** `position-reset`'s reasons in words. */
const RESETS: Readonly<Record<string, string>> = {
  initial: "nothing was committed: auto.offset.reset",
  "out-of-range": "what was committed was out of range: auto.offset.reset",
  seek: "the application sought it",
  "seek-to-beginning": "the application sought it",
  "seek-to-end": "the application sought it",
  truncation: "the log had been cut below its position",
};

function describe(finding: Finding): Violation {
  const { kind, work, client, before, run, times, waiver, at, event } = finding;
  const { group, name, start, committed } = work;
  const often = times > run.count ? `, ${times} times in all` : "";
  const text =
    kind === "record-worked-on-again"
      ? `${client} worked again on ${run.text}, ${run.size} that ${before === client ? "it" : before} had worked on${often}.`
      : `Nobody of ${group} has worked on ${run.text}, ${run.size}, though it began at ${start} and has committed ${committed}.`;
  return violationOf(WORKED_ON_ONCE, {
    kind,
    partition: name,
    client,
    at,
    event,
    text: [text],
    offsets: run.offsets,
    count: run.count,
    permitted: waiver?.text,
    cause: waiver?.cause,
  });
}
