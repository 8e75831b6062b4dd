import { byText } from "../base/order.ts";
import type { Duration, Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import type { Violation } from "../checkers/guarantee.ts";
import { topicPartition } from "../kafka/ids.ts";
import type { ClusterView } from "../trace/cluster-view.ts";
import type { ClientSpec } from "./cluster-spec.ts";
import type { Unfired } from "./director.ts";
import type {
  ClientRow,
  ExpectationOutcome,
  GroupRow,
  PartitionRow,
  RunResult,
} from "./run-result.ts";

export interface Evidence {
  /** Why the run ended before its time, if it did. */
  readonly stopped: string | undefined;
  readonly unfired: readonly Unfired[];
  readonly clients: readonly ClientRow[];
  readonly violations: readonly Violation[];
  readonly expectations: readonly ExpectationOutcome[];
}

/**
 * PASS, FAIL or INCONCLUSIVE. What is broken is broken, however the run ended: a violation that is a bug,
 * or an expectation that is not met. Otherwise a run in which nothing was put to the test says nothing.
 */
export function verdictOf(evidence: Evidence): Pick<RunResult, "verdict" | "reasons"> {
  const { violations, expectations } = evidence;
  const isBroken =
    violations.some(({ permitted }) => permitted === undefined) ||
    expectations.some(({ ok }) => ok === false);
  const reasons = reasonsToDoubt(evidence);
  if (isBroken) return { verdict: "fail", reasons: [] };
  return reasons.length > 0
    ? { verdict: "inconclusive", reasons }
    : { verdict: "pass", reasons: [] };
}

function reasonsToDoubt(evidence: Evidence): string[] {
  const { stopped, unfired, clients, expectations } = evidence;
  const reasons: string[] = [];
  if (stopped !== undefined) reasons.push(stopped);
  for (const { fault, reason, waited } of unfired) {
    const name = fault.name === undefined ? `\`${fault.text}\`` : `[${fault.name}]`;
    reasons.push(`fault ${name} never fired: ${reason}${waitedFor(waited)}`);
  }
  const producers = clients.filter((client) => client.kind === "producer");
  if (producers.length > 0 && producers.every(({ acked }) => acked === 0)) {
    reasons.push("no record was acknowledged, so that nothing could be lost");
  }
  const unreached = expectations.filter(({ ok }) => ok === undefined).map(({ text }) => text);
  // Where something else is to blame, it has been said; the expectations show themselves.
  if (reasons.length === 0 && unreached.length > 0)
    reasons.push(`not reached: ${unreached.join("; ")}`);
  return reasons;
}

function waitedFor(waited: Duration): string {
  return waited === 0 ? "" : `; waited ${formatSeconds(waited)}`;
}

/** By topic, then by number: `orders-10` after `orders-9`. */
function byTopic(left: string, right: string): number {
  const [a, b] = [topicPartition(left), topicPartition(right)];
  return byText(a.topic, b.topic) || a.partition - b.partition;
}

/** The partitions at the end, as Kafka's topic tool lists them. */
export function partitionRows(view: ClusterView): PartitionRow[] {
  const inOrder = [...view.partitions.values()].sort((left, right) =>
    byTopic(left.name, right.name),
  );
  return inOrder.map((partition) => {
    return {
      ...topicPartition(partition.name),
      leader: partition.leader,
      leaderEpoch: partition.leaderEpoch,
      highWatermark: partition.highWatermark,
      logEndOffset: partition.logEndOffset,
      isr: [...partition.isr].sort((a, b) => a - b),
      outOfSync: partition.outOfSync,
    };
  });
}

export function clientRows(
  clients: readonly ClientSpec[],
  view: ClusterView,
  at: Instant,
): ClientRow[] {
  return clients.map(({ kind, name }): ClientRow => {
    const client = view.client(name);
    if (kind === "consumer") {
      const { read, again, failedCalls } = client;
      const lag = client.lag();
      const worstRealtimeLag = client.worstRealtimeLag(at);
      return { kind, name, read, again, lag, worstRealtimeLag, failedCalls };
    }
    if (kind === "processor") {
      const { read, again, acked, committed, aborted, rows, failedCalls } = client;
      const lag = client.lag();
      return { kind, name, read, again, lag, acked, committed, aborted, rows, failedCalls };
    }
    const { sent, acked, failed, unknown, retries } = client;
    const longestStall = client.longestStall(at);
    return { kind, name, sent, acked, failed, unknown, retries, longestStall };
  });
}

export function groupRows(view: ClusterView, at: Instant): GroupRow[] {
  const heard = [...view.groups.values()].filter(({ rebalances, ownership }) => {
    return rebalances > 0 || ownership.unowned(at).length > 0;
  });
  return heard.map((group) => {
    const { name, processed, reprocessed, rebalances, ownership } = group;
    const unowned = ownership
      .unowned(at)
      .sort((left, right) => byTopic(left.partition, right.partition));
    return { name, processed, reprocessed, rebalances, unowned };
  });
}
