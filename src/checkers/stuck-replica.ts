import type { Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import type { BrokerId } from "../kafka/ids.ts";
import { brokerName } from "./broker-name.ts";
import type { CheckContext } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";

/** Why a broker can do nothing at all, as a clause; undefined if it can. */
export function whyIdle(context: CheckContext, broker: BrokerId): string | undefined {
  const name = brokerName(broker);
  return whyDown(context, name) ?? (context.brokers.isFenced(broker) ? "is fenced" : undefined);
}

/** `is down since 12.000s (crash)`, `is paused since 12.000s`; undefined if it runs. */
export function whyDown({ liveness }: CheckContext, node: string): string | undefined {
  const state = liveness.nodes.get(node);
  if (state === undefined) return "was never started";
  const since = formatSeconds(state.since);
  if (!state.isUp) return `is down since ${since} (${state.reason})`;
  return state.isPaused ? `is paused since ${since}` : undefined;
}

/** What keeps a replica that should be like its leader from being so, as a clause about it. */
export function whyBehind(
  context: CheckContext,
  partition: PartitionGhost,
  broker: BrokerId,
  at: Instant,
): string {
  const idle = whyIdle(context, broker);
  if (idle !== undefined) return idle;
  const failed = context.liveness.failedDirectories.get(broker);
  if (failed !== undefined) {
    return `gave up its log directory ${failed.directory} at ${formatSeconds(failed.at)}`;
  }
  const { leader, leaderEpoch, leaderLog } = partition;
  const log = partition.log(broker);
  if (log.role !== "follower" || log.roleEpoch < leaderEpoch) {
    return `does not follow ${brokerName(leader)}, which leads in epoch ${leaderEpoch}`;
  }
  const end = leaderLog?.end ?? 0;
  if (log.end < end || log.highWatermark < (leaderLog?.highWatermark ?? 0)) {
    const quiet = formatSeconds(
      context.liveness.quietFor(context.liveness.movedAt(partition, broker), at),
    );
    return `has fetched nothing for ${quiet}: its log ends at ${log.end}, its high watermark is ${log.highWatermark}; ${brokerName(leader)}'s are ${end} and ${leaderLog?.highWatermark}`;
  }
  if (leaderLog !== undefined && log.count > 0 && !leaderLog.contains(log.tip)) {
    const node = log.nodes[log.commonCount(leaderLog)] as number;
    return `parts from ${brokerName(leader)}, the leader, at offset ${partition.tree.baseOffset(node)}`;
  }
  return `has all that ${brokerName(leader)}, the leader, has`;
}

/** Does the leader's own part in the partition work, so that more can be demanded? If not, say who leads. */
export function isLed(context: CheckContext, partition: PartitionGhost): boolean {
  const { registration } = partition;
  if (registration === undefined || registration.leader < 0) return false;
  return (
    partition.leading &&
    partition.leader === registration.leader &&
    partition.leaderEpoch === registration.leaderEpoch &&
    context.logs.isUp(registration.leader)
  );
}
