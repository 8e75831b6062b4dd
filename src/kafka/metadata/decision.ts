import type { BrokerConfigs } from "../config/broker-configs.ts";
import { complainAboutConfig, parseConfig } from "../config/config-table.ts";
import { TOPIC_CONFIGS } from "../config/topic-configs.ts";
import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { BrokerEpoch, BrokerId } from "../ids.ts";
import type { AlterPartitionData } from "../protocol/alter-partition.ts";
import { isActive } from "./broker-registration.ts";
import type { ElectionMode, ElectionRule } from "./election.ts";
import type { MetadataImage, TopicImage } from "./image.ts";
import type { PartitionRegistration } from "./partition-registration.ts";
import type { MetadataRecord } from "./records.ts";

/**
 * What the controller decided: records to append, and what to answer once they are committed. A
 * decision changes nothing by itself (Kafka's `ControllerResult`).
 */
export interface Decision<Response> {
  readonly records: readonly MetadataRecord[];
  readonly response: Response;
}

/** What decisions are taken from. */
export interface DecisionContext {
  /** All that is committed, and all that is on its way to be. */
  readonly image: MetadataImage;
  readonly configs: BrokerConfigs;
  readonly rules: ControllerRules;
}

/** The decisions that keep partitions safe, in one place so that a test can break one. */
export interface ControllerRules {
  readonly elect: ElectionRule;
  readonly judgeAlterPartition: JudgeAlterPartition;
}

/** Says what is wrong with one leader's proposal for one partition, NONE if nothing is. */
export type JudgeAlterPartition = (
  image: MetadataImage,
  sender: BrokerId,
  partition: PartitionRegistration | undefined,
  proposal: AlterPartitionData,
) => ErrorCode;

export const ELR_FEATURE = "eligible.leader.replicas.version";

export function isElrEnabled(image: MetadataImage): boolean {
  return image.featureLevel(ELR_FEATURE) > 0;
}

export function isBrokerActive(context: DecisionContext, broker: BrokerId): boolean {
  return isActive(context.image.brokers.get(broker));
}

/** STALE_BROKER_EPOCH unless the broker is registered with just this epoch. */
export function checkBrokerEpoch(
  context: DecisionContext,
  broker: BrokerId,
  epoch: BrokerEpoch,
): ErrorCode {
  const isCurrent = context.image.brokers.get(broker)?.brokerEpoch === epoch;
  return isCurrent ? ERRORS.NONE : ERRORS.STALE_BROKER_EPOCH;
}

/** The topic's min.insync.replicas, the replicas of its first partition at most (`getTopicEffectiveMinIsr`). */
export function effectiveMinInsyncReplicas(
  image: MetadataImage,
  configs: BrokerConfigs,
  topic: TopicImage,
): number {
  const own = image.topicConfigs(topic.name)["min.insync.replicas"];
  const minimum = own === undefined ? configs["min.insync.replicas"] : Number(own);
  return Math.min(minimum, topic.partitions[0]?.replicas.length ?? minimum);
}

/** Elections that keep partitions of this topic going: unclean ones if it or the broker allows them. */
export function electionModeOf(context: DecisionContext, topic: TopicImage): ElectionMode {
  const own = context.image.topicConfigs(topic.name)["unclean.leader.election.enable"];
  const enabled =
    own === undefined ? context.configs["unclean.leader.election.enable"] : own === "true";
  return enabled ? "unclean" : "online";
}

/** What is wrong with a config of a topic to be created, or undefined. */
export function complainAboutTopicConfig(name: string, value: string): string | undefined {
  if (!isTopicConfig(name)) return `Unknown topic config name: ${name}`;
  const complaint = complainAboutConfig(TOPIC_CONFIGS[name], value);
  if (complaint === undefined) return undefined;
  const shown = parseConfig(TOPIC_CONFIGS[name], value) ?? value;
  return `Invalid value ${shown} for configuration ${name}: ${complaint}`;
}

function isTopicConfig(name: string): name is keyof typeof TOPIC_CONFIGS {
  return Object.hasOwn(TOPIC_CONFIGS, name);
}
