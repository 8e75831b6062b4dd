import type { Instant } from "../base/time.ts";
import { toMillis } from "../base/time.ts";
import type { Offset } from "../kafka/ids.ts";
import type { LogStartMoved } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import type { CheckSetup, TopicSetup } from "./check-setup.ts";
import { topicOf } from "./check-setup.ts";
import type { ClockSkews } from "./clock-skews.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLog } from "./replica-log.ts";
import type { ReplicaLogs } from "./replica-logs.ts";
import type { Waiver } from "./waivers/waiver.ts";

/** A log that now begins where it must not. */
export interface ForbiddenStart {
  readonly partition: PartitionGhost;
  readonly log: ReplicaLog;
  readonly fact: LogStartMoved;
  /** The end of a sentence that begins with the move: `though the records from 40 on are younger than ...`. */
  readonly why: string;
  /** The first offset that should still be there. */
  readonly first: Offset;
  readonly waiver: Waiver | undefined;
  readonly at: Instant;
  readonly event: number;
}

export type ForbiddenStartListener = (start: ForbiddenStart) => void;

/** Why not, from which offset on, and whether something excuses it. */
interface Objection {
  readonly why: string;
  readonly first: Offset;
  readonly waiver?: Waiver | undefined;
}

/**
 * Where logs may begin: records go by retention, by DeleteRecords, or because they are gone from the
 * leader, and only what is below the high watermark. All else is a loss.
 */
export class Expiry {
  /** Moves judged, and those that took something. */
  evaluations = 0;
  interesting = 0;
  readonly #setup: CheckSetup;
  readonly #logs: ReplicaLogs;
  readonly #skews: ClockSkews;
  readonly #listeners: ForbiddenStartListener[] = [];
  /** By partition: up to where records may be gone. */
  readonly #permitted: Offset[] = [];
  /** By partition: up to where they are, be it permitted or told already. */
  readonly #known: Offset[] = [];

  constructor(logs: ReplicaLogs, setup: CheckSetup, skews: ClockSkews) {
    this.#setup = setup;
    this.#logs = logs;
    this.#skews = skews;
    logs.onStartMoved((partition, log, fact, at, event) =>
      this.#judge(partition, log, fact, at, event),
    );
  }

  onForbidden(listener: ForbiddenStartListener): void {
    this.#listeners.push(listener);
  }

  /** Below this offset no replica owes anybody a record. */
  permitted(partition: PartitionGhost): Offset {
    return this.#permitted[partition.index] ?? 0;
  }

  #judge(
    partition: PartitionGhost,
    log: ReplicaLog,
    fact: LogStartMoved,
    at: Instant,
    event: number,
  ): void {
    this.evaluations++;
    if (fact.to > fact.from) this.interesting++;
    const objection = this.#objection(partition, log, fact, at);
    const known = this.#known[partition.index] ?? 0;
    this.#known[partition.index] = Math.max(known, fact.to);
    const isPermitted = objection === undefined || objection.waiver !== undefined;
    // An emptied log lacks what it never had: its start says nothing of the others.
    if (isPermitted && fact.reason !== "fully-truncated") {
      this.#permitted[partition.index] = Math.max(this.permitted(partition), fact.to);
    }
    if (objection === undefined) return;
    const { why, first, waiver } = objection;
    const start = { partition, log, fact, why, first, waiver, at, event };
    for (const listener of this.#listeners) listener(start);
  }

  #objection(
    partition: PartitionGhost,
    log: ReplicaLog,
    { from, to, reason }: LogStartMoved,
    at: Instant,
  ): Objection | undefined {
    const known = this.#known[partition.index] ?? 0;
    if (reason === "fully-truncated") {
      // Cut below its own start, or as far as its leader begins.
      if (to <= from || to <= known) return undefined;
      return { why: "where no other replica's log begins", first: Math.max(from, known) };
    }
    if (to <= from) return { why: "which is not onwards", first: to };
    const { highWatermark } = log;
    if (to > highWatermark) {
      return { why: `beyond its high watermark ${highWatermark}`, first: highWatermark };
    }
    const topic = this.#setup.topics.get(topicOf(partition.name));
    switch (reason) {
      case "leader":
        if (to <= known) return undefined;
        return { why: "further than any other replica", first: Math.max(from, known) };
      case "retention-time":
        return topic === undefined
          ? undefined
          : this.#tooYoung(topic, partition, log, { from, to, at });
      case "retention-size":
        return topic === undefined ? undefined : tooSmall(topic, log, from, to);
      default:
        return undefined;
    }
  }

  #tooYoung(
    topic: TopicSetup,
    partition: PartitionGhost,
    log: ReplicaLog,
    { from, to, at }: { readonly from: Offset; readonly to: Offset; readonly at: Instant },
  ): Objection | undefined {
    const { retentionMs } = topic;
    const policy = notBy(topic, "retention.ms", retentionMs, from);
    if (policy !== undefined) return policy;
    const { tree, nodes } = log;
    const horizon = toMillis(this.#setup.clockStart + at) - retentionMs;
    for (let i = Math.max(0, log.indexOf(from)); i < log.count; i++) {
      const node = nodes[i] as number;
      const first = tree.baseOffset(node);
      if (first >= to) break;
      // Of a batch that has been cleaned the youngest record may be gone.
      const isWhole = log.absences === undefined;
      if (!isWhole || (tree.maxTimestamp[node] as number) < horizon) continue;
      const why = `though the records from ${Math.max(first, from)} on are younger than retention.ms (${retentionMs})`;
      const skew = this.#skews.waive(brokerName(log.broker));
      // A stop in order writes the last entry of a time index after its last flush (`LogSegment.close`).
      const waiver = skew ?? this.#logs.waiveTimeIndex(partition.name, log.broker);
      return { why, first, waiver };
    }
    return undefined;
  }
}

/** What is left must still be as large as retention.bytes (`UnifiedLog.deleteRetentionSizeBreachedSegments`). */
function tooSmall(
  topic: TopicSetup,
  log: ReplicaLog,
  from: Offset,
  to: Offset,
): Objection | undefined {
  const { retentionBytes } = topic;
  const policy = notBy(topic, "retention.bytes", retentionBytes, from);
  if (policy !== undefined) return policy;
  const { tree, nodes } = log;
  let left = 0;
  for (let i = log.count - 1; i >= 0 && left < retentionBytes; i--) {
    const node = nodes[i] as number;
    if (tree.baseOffset(node) < to) break;
    left += tree.size[node] as number;
  }
  if (left >= retentionBytes) return undefined;
  return {
    why: `though ${left} bytes are less than retention.bytes (${retentionBytes})`,
    first: from,
  };
}

function notBy(
  topic: TopicSetup,
  config: string,
  value: number,
  first: Offset,
): Objection | undefined {
  if (!topic.deletesOldSegments) return { why: "though cleanup.policy is not delete", first };
  return value < 0 ? { why: `though ${config} is ${value}`, first } : undefined;
}
