import type { Instant } from "../base/time.ts";
import { fromMillis } from "../base/time.ts";
import type { Offset } from "../kafka/ids.ts";
import type { BatchNode } from "./batch-tree.ts";
import { brokerName } from "./broker-name.ts";
import { topicOf } from "./check-setup.ts";
import type { CleanedRecord, Cleaning } from "./cleaning.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { KeyNumber, Place, RecordKeys } from "./record-keys.ts";
import { NO_KEY } from "./record-keys.ts";
import { RecordRun } from "./record-run.ts";
import type { ReplicaLog } from "./replica-log.ts";
import { counted } from "./wording.ts";

export const LAST_VALUE_KEPT: Guarantee = {
  name: "last-value-kept",
  sentence:
    "Compaction takes a record only if a later one with its key is in the same log below the high watermark; a tombstone also once delete.retention.ms is over and nothing older is left.",
  source: "LogCleaner, KIP-534; K2",
  kinds: ["last-value-lost"],
  condition:
    "Of every replica that cleans its log. Records without a key go with any cleaning, and so do those of transactions that were aborted. Permitted: a tombstone on a broker whose clock was set wrong.",
  testedBy: "cleanings that took something",
  example: [
    "last-value-lost   orders-0   at 45.030s, event 22810",
    "  broker-2 cleaned offsets 0..412, and with that took the last value of 2 keys, at 2 of offsets 17..305.",
  ],
  create: (context) => new LastValueKept(context),
};

/** Where a key has values that are there, in one log after a cleaning. */
interface LaterValues {
  /** The last of all, and the last below the high watermark; -1 if there is none. */
  last: Offset;
  lastCommitted: Offset;
}

class LastValueKept implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** By partition: when a tombstone first survived a cleaning, wherever that was. */
  readonly #survivors: Map<Place, Instant>[] = [];
  /** By partition: batches of transactions that were aborted, and are no values of their keys. */
  readonly #aborted: Set<BatchNode>[] = [];

  constructor(context: CheckContext) {
    this.#context = context;
    context.logs.onCleaned((cleaning) => this.#clean(cleaning));
    context.transactions?.parts.onCommitted(({ marker, partition: { index } }, others) => {
      if (marker !== "ABORT") return;
      this.#aborted[index] ??= new Set();
      for (const { node } of others) this.#aborted[index].add(node);
    });
  }

  #clean(cleaning: Cleaning): void {
    const { partition, log, removed, at } = cleaning;
    const { keys } = partition.tree;
    this.evaluations++;
    if (keys === undefined) {
      this.#reportUnwanted(cleaning);
      return;
    }
    const survivors = this.#survivorsOf(partition);
    if (removed.length > 0) {
      this.interesting++;
      this.#judge(cleaning, keys, survivors);
    }
    noteSurvivors(cleaning, log, keys, survivors, at);
  }

  #survivorsOf(partition: PartitionGhost): Map<Place, Instant> {
    const known = this.#survivors[partition.index];
    if (known !== undefined) return known;
    const made = new Map<Place, Instant>();
    this.#survivors[partition.index] = made;
    return made;
  }

  #judge(cleaning: Cleaning, keys: RecordKeys, survivors: ReadonlyMap<Place, Instant>): void {
    const aborted = this.#aborted[cleaning.partition.index] ?? NO_NODES;
    const later = laterValues(cleaning, keys, aborted);
    const lost = new RecordRun();
    const uncommitted = new RecordRun();
    const early = new RecordRun();
    const tombstones: CleanedRecord[] = [];
    for (const [key, record] of lastOfEachKey(cleaning, keys, aborted)) {
      const { offset } = record;
      const values = later.get(key);
      if (values !== undefined && values.lastCommitted > offset) continue;
      if (keys.isTombstone(record.place)) {
        if (this.#isDue(cleaning, record, survivors)) tombstones.push(record);
        else early.add(offset, offset, 1);
      } else if (values !== undefined && values.last > offset) {
        uncommitted.add(offset, offset, 1);
      } else {
        lost.add(offset, offset, 1);
      }
    }
    if (lost.count > 0) {
      this.#report(
        cleaning,
        lost,
        `took the last value of ${counted(lost.count, "key")}`,
        undefined,
      );
    }
    if (uncommitted.count > 0) {
      const whose = "whose later values are not below the high watermark";
      this.#report(cleaning, uncommitted, `took ${uncommitted.size} ${whose}`, undefined);
    }
    if (early.count > 0) {
      const what = `took ${counted(early.count, "tombstone")} before delete.retention.ms was over`;
      const waiver = this.#context.skews.waive(brokerName(cleaning.log.broker));
      this.#report(cleaning, early, what, waiver?.text);
    }
    if (tombstones.length > 0) this.#seekRevived(cleaning, keys, tombstones);
  }

  /** Has a tombstone that is its key's last been through a cleaning delete.retention.ms ago? */
  #isDue(
    { partition, at }: Cleaning,
    { place }: CleanedRecord,
    survivors: ReadonlyMap<Place, Instant>,
  ): boolean {
    const since = survivors.get(place);
    const topic = this.#context.setup.topics.get(topicOf(partition.name));
    // Horizons are whole milliseconds.
    return since !== undefined && at - since >= fromMillis((topic?.deleteRetentionMs ?? 0) - 1);
  }

  /** A tombstone that goes while an older value is there brings that back. */
  #seekRevived(cleaning: Cleaning, keys: RecordKeys, tombstones: readonly CleanedRecord[]): void {
    const { log } = cleaning;
    const ends = new Map<KeyNumber, Offset>();
    for (const { place, offset } of tombstones) ends.set(keys.at(place), offset);
    const revived = new RecordRun();
    const top = tombstones.at(-1)?.offset ?? 0;
    forEachRecord(log, log.start, top, (place, offset) => {
      const end = ends.get(keys.at(place));
      if (end !== undefined && offset < end) revived.add(offset, offset, 1);
    });
    // What a power loss may have brought back is not known to be there.
    if (revived.count === 0 || log.absences?.areUncertain === true) return;
    const what = `took tombstones while ${revived.size} with their keys ${revived.count === 1 ? "is" : "are"} left`;
    this.#report(cleaning, revived, what, undefined);
  }

  #reportUnwanted(cleaning: Cleaning): void {
    const { partition, log, from, to, at, event } = cleaning;
    this.violations.push(
      violationOf(LAST_VALUE_KEPT, {
        partition: partition.name,
        at,
        event,
        text: [
          `${brokerName(log.broker)} cleaned offsets ${from}..${to - 1}, though cleanup.policy is not compact.`,
        ],
        offsets: [from, to - 1],
        count: to - from,
      }),
    );
  }

  #report(cleaning: Cleaning, run: RecordRun, what: string, permitted: string | undefined): void {
    const { partition, log, from, to, at, event } = cleaning;
    this.violations.push(
      violationOf(LAST_VALUE_KEPT, {
        partition: partition.name,
        at,
        event,
        text: [
          `${brokerName(log.broker)} cleaned offsets ${from}..${to - 1}, and with that ${what}, at ${run.text}.`,
        ],
        offsets: run.offsets,
        count: run.count,
        permitted,
      }),
    );
  }
}

const NO_NODES: ReadonlySet<BatchNode> = new Set();

/** Of the records of each key that went, the last: it followed the others, and so must answer for them. */
function lastOfEachKey(
  { removed }: Cleaning,
  keys: RecordKeys,
  aborted: ReadonlySet<BatchNode>,
): ReadonlyMap<KeyNumber, CleanedRecord> {
  const last = new Map<KeyNumber, CleanedRecord>();
  for (const record of removed) {
    const key = keys.at(record.place);
    if (key !== NO_KEY && !aborted.has(record.node)) last.set(key, record);
  }
  return last;
}

/** Of the keys of the records that went: where their last values are now. From the end down, until all are found. */
function laterValues(
  { log, removed }: Cleaning,
  keys: RecordKeys,
  aborted: ReadonlySet<BatchNode>,
): ReadonlyMap<KeyNumber, LaterValues> {
  const later = new Map<KeyNumber, LaterValues>();
  for (const { place } of removed) later.set(keys.at(place), { last: -1, lastCommitted: -1 });
  let wanted = later.size;
  const { tree, nodes, peakHighWatermark } = log;
  const lowest = removed[0]?.offset ?? 0;
  const isUncertain = log.absences?.areUncertain === true;
  for (let i = log.count - 1; i >= 0 && wanted > 0; i--) {
    const node = nodes[i] as number;
    const last = tree.lastOffset[node] as number;
    if (last <= lowest) break;
    if (aborted.has(node)) continue;
    for (let offset = last; offset >= tree.baseOffset(node); offset--) {
      const place = tree.placeOf(node, offset);
      const values = later.get(keys.at(place));
      if (values === undefined || values.lastCommitted >= 0) continue;
      if (!isUncertain && !log.hasRecord(place)) continue;
      if (values.last < 0) values.last = offset;
      if (offset >= peakHighWatermark) continue;
      values.lastCommitted = offset;
      wanted--;
    }
  }
  return later;
}

function noteSurvivors(
  { from, to }: Cleaning,
  log: ReplicaLog,
  keys: RecordKeys,
  survivors: Map<Place, Instant>,
  at: Instant,
): void {
  forEachRecord(log, from, to, (place) => {
    if (keys.isTombstone(place) && !survivors.has(place)) survivors.set(place, at);
  });
}

/** The records at offsets [from, to) that the log has, in order. */
function forEachRecord(
  log: ReplicaLog,
  from: Offset,
  to: Offset,
  visit: (place: Place, offset: Offset) => void,
): void {
  const { tree, nodes } = log;
  for (let i = Math.max(0, log.indexOf(from)); i < log.count; i++) {
    const node = nodes[i] as number;
    const base = tree.baseOffset(node);
    if (base >= to) return;
    const last = Math.min(tree.lastOffset[node] as number, to - 1);
    for (let offset = Math.max(base, from); offset <= last; offset++) {
      const place = tree.placeOf(node, offset);
      if (log.hasRecord(place)) visit(place, offset);
    }
  }
}
