import { byNumber } from "../../base/order.ts";
import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { BrokerId, TopicId } from "../ids.ts";
import type { WordSource } from "../uuid.ts";
import type { DecisionContext } from "./decision.ts";
import { isBrokerActive } from "./decision.ts";
import { defaultDirectory } from "./directory-id.ts";
import type { PartitionRecord } from "./records.ts";
import { RECOVERED } from "./records.ts";
import { placeReplicas } from "./replica-placement.ts";

/** Why a topic or partitions of one cannot be created, in Kafka's words. */
export class Refusal {
  readonly error: ErrorCode;
  readonly message: string;

  constructor(error: ErrorCode, message: string) {
    this.error = error;
    this.message = message;
  }
}

/** The replicas of so many new partitions, over the brokers that do not shut down (`ReplicaPlacer.place`). */
export function chooseReplicas(
  { image }: DecisionContext,
  count: number,
  replicationFactor: number,
  random: WordSource,
): Refusal | readonly (readonly BrokerId[])[] {
  const brokers = [...image.brokers.values()]
    .filter((broker) => !broker.inControlledShutdown)
    .map(({ brokerId: id, rack, fenced }) => ({ id, rack, fenced }))
    .sort((a, b) => byNumber(a.id, b.id));
  const begin = `Unable to replicate the partition ${replicationFactor} time(s): `;
  if (brokers.every((broker) => broker.fenced)) {
    const message = `${begin}All brokers are currently fenced.`;
    return new Refusal(ERRORS.INVALID_REPLICATION_FACTOR, message);
  }
  if (replicationFactor > brokers.length) {
    const message =
      `${begin}The target replication factor of ${replicationFactor} cannot be reached ` +
      `because only ${brokers.length} broker(s) are registered.`;
    return new Refusal(ERRORS.INVALID_REPLICATION_FACTOR, message);
  }
  return placeReplicas(brokers, count, replicationFactor, random);
}

/** A partition as it begins: those of its replicas that are active are its ISR, and the first leads. Undefined if none is. */
export function newPartition(
  context: DecisionContext,
  topicId: TopicId,
  partitionId: number,
  replicas: readonly BrokerId[],
): PartitionRecord | undefined {
  const isr = replicas.filter((broker) => isBrokerActive(context, broker));
  const [leader] = isr;
  if (leader === undefined) return undefined;
  return {
    type: "PartitionRecord",
    partitionId,
    topicId,
    replicas,
    isr,
    removingReplicas: [],
    addingReplicas: [],
    leader,
    leaderRecoveryState: RECOVERED,
    leaderEpoch: 0,
    partitionEpoch: 0,
    directories: replicas.map((broker) => defaultDirectory(context.image.brokers.get(broker))),
    eligibleLeaderReplicas: undefined,
    lastKnownElr: undefined,
  };
}
