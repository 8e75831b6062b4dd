import { formatSeconds } from "../../base/time.ts";
import { brokerName } from "../broker-name.ts";
import type { PartitionGhost } from "../partition-ghost.ts";
import type { Waiver } from "./waiver.ts";

/**
 * A coordinator has written before its broker was let in: with the first metadata after a start it takes up its
 * office, though the registration may have to wait until the session of the process before is over
 * (`BrokerServer.startup`, `BrokerMetadataPublisher`). If the broker had led before, nothing tells what is
 * written then from what a power cut took: both have the same leader epoch.
 */
export function earlyCoordinator({ earlyWrite }: PartitionGhost): Waiver | undefined {
  if (earlyWrite === undefined) return undefined;
  const { broker, at, event } = earlyWrite;
  const text = `${brokerName(broker)} wrote to it as a coordinator at ${formatSeconds(at)}, before the controller had let it in after its start`;
  return { text, cause: event };
}
