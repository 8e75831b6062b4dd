import type { Duration, Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import type { Offset } from "../kafka/ids.ts";
import type { SendEnded } from "../trace/fact.ts";
import { UNKNOWN_CLIENT } from "./batch-tree.ts";
import { brokerName } from "./broker-name.ts";
import type { ConsumerSetup } from "./check-setup.ts";
import { reads } from "./check-setup.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { stallBound } from "./liveness-bounds.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { pendingSends } from "./pending-sends.ts";
import type { ReplicaLog } from "./replica-log.ts";
import { lastHeard } from "./sends-end.ts";
import { isLed } from "./stuck-replica.ts";
import { stuckWaiver } from "./waivers/stuck-waiver.ts";
import { stuckIdWaiver } from "./waivers/transaction-waiver.ts";
import { counted } from "./wording.ts";

export const WORK_GOES_ON: Guarantee = {
  name: "work-goes-on",
  sentence:
    "When nothing is left to heal, what is sent to a partition that is led gets acknowledged, and what is committed gets read.",
  source: "Kafka's RaftEventSimulationTest (a cluster that makes progress), KAFKA-15489; LV3, LV10",
  kinds: ["writes-stall", "reads-stall"],
  condition:
    "At the end, if a client has made no step for as long as it may wait by its configs, in a cluster that has settled and made none either. Not for a producer that hears OUT_OF_ORDER_SEQUENCE_NUMBER, whom only delivery.timeout.ms frees (KAFKA-14359). Readers of committed records wait for open transactions (see transactions-end), and for nothing that transactions brought. Permitted: as for isr-refills, and as for sends-end.",
  testedBy: "clients and partitions between which something got through while the cluster settled",
  example: [
    "writes-stall   orders-0   p1   at 120.000s, event 81220",
    "  7 sends of p1 wait since 12.000s, though broker-1 leads: its log ends at 415, its high watermark is 310, the ISR is {1,2}. It last heard REQUEST_TIMED_OUT, at Produce to broker-1.",
  ],
  create: (context) => new WorkGoesOn(context),
};

class WorkGoesOn implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** Sends that expired when the cluster should have taken them, by client and partition. */
  readonly #expired = new Map<string, { fact: SendEnded; count: number }>();

  constructor(context: CheckContext) {
    this.#context = context;
    let isSettling = false;
    context.facts.on("fault-begun", ({ verb }) => {
      if (verb !== "settle" || isSettling) return;
      isSettling = true;
      context.facts.on("send-ended", (fact, at) => {
        if (fact.outcome !== "acked") this.#expire(fact, at);
      });
    });
  }

  /** What was sent when all had recovered is not to end with its time. */
  #expire(fact: SendEnded, at: Instant): void {
    if (fact.error !== "REQUEST_TIMED_OUT") return;
    const { logs } = this.#context;
    const partition = logs.partition(fact.partition);
    const bound = this.#boundOf(fact.client);
    if (bound === undefined || this.#quietFor(partition, 0, at) < bound) return;
    const key = `${fact.client} ${fact.partition}`;
    const known = this.#expired.get(key) ?? { fact, count: 0 };
    known.count += fact.values.length;
    this.#expired.set(key, known);
  }

  atEnd(at: Instant, event: number): void {
    if (!this.#context.liveness.isJudged(at)) return;
    this.#lookAtWrites(at, event);
    for (const [client, setup] of this.#context.setup.consumers) {
      this.#lookAtReads(client, setup, at, event);
    }
  }

  /** How long a partition has had nothing new: neither a leader, nor an ISR, nor an acknowledgement. */
  #quietFor(partition: PartitionGhost, since: Instant, at: Instant): Duration {
    const { liveness } = this.#context;
    const last = Math.max(
      since,
      liveness.steppedAt,
      liveness.isrStepAt(partition),
      liveness.ackedAt(partition),
    );
    return liveness.quietFor(last, at);
  }

  #boundOf(client: string): Duration | undefined {
    const { setup, liveness } = this.#context;
    const configs = setup.clients.get(client)?.configs;
    if (configs === undefined) return undefined;
    if (liveness.lastErrors.get(client)?.error === "OUT_OF_ORDER_SEQUENCE_NUMBER") return undefined;
    // A leader that is none any more acknowledges nothing: a producer finds out by itself.
    return this.#longerThanSteps(stallBound(configs, false));
  }

  /** While the cluster may still make a step, its clients may still have to wait for it. */
  #longerThanSteps(bound: Duration): Duration {
    return Math.max(bound, this.#context.liveness.bounds.quiet);
  }

  #lookAtWrites(at: Instant, event: number): void {
    const { logs, liveness } = this.#context;
    const settledAt = liveness.settledAt ?? at;
    for (const partition of logs.partitions) {
      this.evaluations++;
      if (liveness.ackedAt(partition) > settledAt) this.interesting++;
    }
    for (const { client, partition, count, oldest } of pendingSends(this.#context)) {
      const bound = this.#boundOf(client);
      const since = Math.max(oldest, liveness.nodes.get(client)?.since ?? 0);
      if (bound === undefined || this.#quietFor(partition, since, at) < bound) continue;
      const what = `${counted(count, "send")} of ${client} wait${count === 1 ? "s" : ""} since ${formatSeconds(oldest)}`;
      this.#reportWrites(client, partition, what, count, at, event);
    }
    for (const { fact, count } of this.#expired.values()) {
      const what = `${counted(count, "send")} of ${fact.client} expired`;
      const partition = logs.partition(fact.partition);
      this.#reportWrites(fact.client, partition, what, count, at, event);
    }
  }

  #reportWrites(
    client: string,
    partition: PartitionGhost,
    what: string,
    count: number,
    at: Instant,
    event: number,
  ): void {
    // Without a leader it is not the writes that are stuck.
    if (!isLed(this.#context, partition)) return;
    const { leader, leaderLog, registration } = partition;
    const { isr = [] } = registration ?? {};
    const state = `its log ends at ${leaderLog?.end}, its high watermark is ${leaderLog?.highWatermark}, the ISR is {${isr.join(",")}}`;
    const waiver = stuckWaiver(this.#context, partition, isr);
    this.interesting++;
    this.violations.push(
      violationOf(WORK_GOES_ON, {
        kind: "writes-stall",
        partition: partition.name,
        client,
        at,
        event,
        text: [
          `${what}, though ${brokerName(leader)} leads: ${state}. ${lastHeard(this.#context, client)}.`,
        ],
        count,
        permitted: waiver?.text ?? stuckIdWaiver(this.#context, client),
        cause: waiver?.cause ?? this.#context.liveness.settledIn,
      }),
    );
  }

  #lookAtReads(client: string, setup: ConsumerSetup, at: Instant, event: number): void {
    const { liveness, logs } = this.#context;
    const state = liveness.nodes.get(client);
    if (state?.isUp !== true || state.isPaused) return;
    const settledAt = liveness.settledAt ?? at;
    for (const partition of logs.partitions) {
      if (!reads(setup, partition.name) || !isLed(this.#context, partition)) continue;
      this.evaluations++;
      if (liveness.readAt(partition, client) > settledAt) this.interesting++;
      const position = this.#positionOf(client, partition);
      const unread = this.#unreadFrom(partition, position, setup);
      if (unread === 0) continue;
      if (position < 0 && setup.configs["auto.offset.reset"] === "none") continue;
      const last = Math.max(
        state.since,
        liveness.readAt(partition, client),
        liveness.movedAt(partition, partition.leader),
      );
      const bound = this.#longerThanSteps(stallBound(setup.configs, liveness.isPartial));
      if (this.#quietFor(partition, last, at) < bound) continue;
      this.#reportReads(client, partition, position, unread, at, event);
    }
  }

  /** Readers of committed records wait for open transactions, and get nothing of those that were aborted. */
  #unreadFrom(partition: PartitionGhost, position: Offset, { configs }: ConsumerSetup): number {
    const { transactions } = this.#context;
    const { leaderLog } = partition;
    if (leaderLog === undefined) return 0;
    const { highWatermark } = leaderLog;
    const isCommitted = configs["isolation.level"] === "read_committed";
    const open = isCommitted ? transactions?.parts.openAtLeader(partition, leaderLog) : undefined;
    if (open === undefined) return unreadFrom(leaderLog, position, highWatermark, false);
    const end = Math.min(highWatermark, open.firstUnstable(highWatermark));
    return unreadFrom(leaderLog, position, end, true);
  }

  /** -1 if it has none. */
  #positionOf(client: string, { index }: PartitionGhost): Offset {
    const readers = this.#context.history.partitions[index]?.readers ?? [];
    return readers.find((reader) => reader.client === client)?.position ?? -1;
  }

  #reportReads(
    client: string,
    partition: PartitionGhost,
    position: Offset,
    unread: number,
    at: Instant,
    event: number,
  ): void {
    const { leader, leaderLog } = partition;
    const end = leaderLog?.highWatermark ?? 0;
    const where = position < 0 ? "has no position" : `reads on from ${position}`;
    const waiver = stuckWaiver(this.#context, partition, [leader]);
    this.interesting++;
    this.violations.push(
      violationOf(WORK_GOES_ON, {
        kind: "reads-stall",
        partition: partition.name,
        client,
        at,
        event,
        text: [
          `${client} ${where} and gets nothing, though the high watermark at ${brokerName(leader)}, the leader, is ${end}: ${counted(unread, "offset")}. ${lastHeard(this.#context, client)}.`,
        ],
        offsets: [Math.max(position, 0), end - 1],
        count: unread,
        permitted: waiver?.text,
        cause: waiver?.cause ?? this.#context.liveness.settledIn,
      }),
    );
  }
}

/**
 * Offsets with records from the position up to `upTo`; 0 if only markers are left, and, with `skipsTransactions`,
 * what transactions brought.
 */
function unreadFrom(
  { tree, nodes, count, start }: ReplicaLog,
  position: Offset,
  upTo: Offset,
  skipsTransactions: boolean,
): number {
  let unread = 0;
  for (let i = count - 1; i >= 0; i--) {
    const node = nodes[i] as number;
    const first = Math.max(tree.baseOffset(node), position, start);
    const end = Math.min((tree.lastOffset[node] as number) + 1, upTo);
    if ((tree.lastOffset[node] as number) < Math.max(position, start)) break;
    const { client, isTransactional } = tree.writerOf(node);
    if (end <= first || client === UNKNOWN_CLIENT || (skipsTransactions && isTransactional))
      continue;
    unread += end - first;
  }
  return unread;
}
