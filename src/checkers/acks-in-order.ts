import type { Instant } from "../base/time.ts";
import type { Offset } from "../kafka/ids.ts";
import type { ClientSends, SendsPart } from "./client-sends.ts";
import { ACKED, indexOfSend, UNKNOWN } from "./client-sends.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { RecordId } from "./record-id.ts";
import { recordId } from "./record-id.ts";
import { RecordRun } from "./record-run.ts";
import { waiveSeenTwice } from "./waivers/duplicate-waiver.ts";
import { vanishedRecord } from "./waivers/vanished-record.ts";

export const ACKS_IN_ORDER: Guarantee = {
  name: "acks-in-order",
  sentence:
    "What one client sent to one partition, and was told is written, or gave up and others read, was seen in the order sent.",
  source: "Jepsen's int- and ext- nonmonotonic-send",
  kinds: ["acks-out-of-order"],
  condition:
    "By what clients saw alone, at the end. Permitted: if one of the two is gone from the newest leader's log, as for no-acked-loss; if it was seen twice, as for seen-once; else as for no-reorder, and with enable.idempotence=false if one of the two was given up.",
  testedBy: "sends seen after a client's first to a partition",
  example: [
    "acks-out-of-order   orders-0   at 60.000s, event 41200",
    "  p1 sent record 118 before record 121, but saw them at offsets 123 and 120: 3 records.",
  ],
  create: (context) => new AcksInOrder(context),
};

interface Disorder {
  readonly client: ClientSends;
  readonly partition: PartitionGhost;
  readonly earlier: number;
  readonly later: number;
  readonly earlierOffset: Offset;
  readonly laterOffset: Offset;
}

class AcksInOrder implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** Where a record was seen before it was seen elsewhere. */
  readonly #seenBefore = new Map<RecordId, Offset>();

  constructor(context: CheckContext) {
    this.#context = context;
    context.history.on("twice", ({ id, otherOffset }) => this.#seenBefore.set(id, otherOffset));
  }

  atEnd(at: Instant, event: number): void {
    for (const client of this.#context.history.clients.values()) this.#look(client, at, event);
  }

  #look(client: ClientSends, at: Instant, event: number): void {
    /** By partition: of the sends so far, the one that stands furthest. */
    const furthest: { value: number; offset: Offset }[] = [];
    const found = new Map<
      string,
      { first: Disorder; run: RecordRun; permitted: string | undefined }
    >();
    for (const part of client.parts()) {
      for (let i = 0; i < part.count; i++) {
        const partition = part.partitions[i];
        const offset = part.offsets[i] as number;
        if (partition === undefined || offset < 0 || !isSeen(part, i)) continue;
        this.evaluations++;
        const value = part.first + i;
        const before = furthest[partition.index];
        if (before !== undefined) this.interesting++;
        if (before === undefined || offset > before.offset) {
          furthest[partition.index] = { value, offset };
          continue;
        }
        const disorder: Disorder = {
          client,
          partition,
          earlier: before.value,
          later: value,
          earlierOffset: before.offset,
          laterOffset: offset,
        };
        const permitted = this.#waive(disorder, event);
        const key = `${partition.index} ${permitted ?? ""}`;
        const group = found.get(key) ?? { first: disorder, run: new RecordRun(), permitted };
        found.set(key, group);
        group.run.add(offset, offset, 1);
      }
    }
    for (const { first, run, permitted } of found.values()) {
      this.violations.push(describe(first, run, permitted, at, event));
    }
  }

  #waive(disorder: Disorder, event: number): string | undefined {
    const { client, partition, earlier, later, earlierOffset, laterOffset } = disorder;
    const { retries, setup } = this.#context;
    const { name, address } = client;
    const sightings = [
      [recordId(address, earlier), earlierOffset] as const,
      [recordId(address, later), laterOffset] as const,
    ];
    const judged = vanishedRecord(this.#context, partition, sightings, event);
    if (judged?.waiver !== undefined) return judged.waiver.text;
    for (const [id, offset] of sightings) {
      const before = this.#seenBefore.get(id);
      if (before === undefined) continue;
      const twice = waiveSeenTwice(this.#context, partition, id, before, offset);
      if (twice !== undefined) return twice;
    }
    if (setup.clients.get(name)?.idempotent !== false) {
      return retries.wasDropped(name)
        ? `the network lost an answer, and ${name} had gone on with a new producer epoch`
        : undefined;
    }
    const both = [earlier, later];
    if (both.some((value) => retries.wasRetried(name, value, partition.name))) {
      return `${name} sent one of them again, with enable.idempotence=false`;
    }
    if (both.some((value) => client.partOf(value).outcomes[indexOfSend(value)] === UNKNOWN)) {
      return `${name} had given one of them up, which came late, with enable.idempotence=false`;
    }
    if (!retries.wasOvertaken(name) && !retries.wasDoubled(name)) return undefined;
    return "the network changed their order, with enable.idempotence=false";
  }
}

/** Was it acknowledged, or given up, and read all the same? */
function isSeen(part: SendsPart, index: number): boolean {
  const outcome = part.outcomes[index] as number;
  return outcome === ACKED || (outcome === UNKNOWN && part.reads[index] !== 0);
}

function describe(
  { client, partition, earlier, later, earlierOffset, laterOffset }: Disorder,
  run: RecordRun,
  permitted: string | undefined,
  at: Instant,
  event: number,
): Violation {
  return violationOf(ACKS_IN_ORDER, {
    partition: partition.name,
    client: client.name,
    at,
    event,
    text: [
      `${client.name} sent record ${earlier} before record ${later}, but saw them at offsets ${earlierOffset} and ${laterOffset}: ${run.size}.`,
    ],
    offsets: run.offsets,
    count: run.count,
    permitted,
  });
}
