import type { ConfigValue } from "../kafka/config/config-table.ts";
import type { ProtocolSwitches } from "../kafka/protocol-switches.ts";
import { PRESENT_FEATURES, PRESENT_RULES } from "../kafka/protocol-switches.ts";
import type { ClientSpec, ConfigSpec, Scenario, TopicSpec } from "../scenario/scenario.ts";

/** A setting that loses less, which an operator could choose. */
export interface SaferSetting {
  /** As it would be written: `min.insync.replicas=2`. */
  readonly name: string;
  /** The scenario with the setting; undefined if it has it already, or can't. */
  readonly apply: (scenario: Scenario) => Scenario | undefined;
}

/** In the order in which an operator would think of them. */
export const SAFER_SETTINGS: readonly SaferSetting[] = [
  ofProducers("acks", "all", (value) => value === "all" || String(value) === "-1"),
  ofTopics("min.insync.replicas", 2, (value) => Number(value ?? 1) >= 2),
  ofTopics("unclean.leader.election.enable", false, (value) => String(value ?? false) === "false"),
  ofProducers("enable.idempotence", true, (value) => String(value) === "true"),
  ofTopics("flush.messages", 1, (value) => String(value) === "1"),
  {
    name: "eligible.leader.replicas.version=1",
    apply: (scenario) => {
      const { features } = scenario.cluster;
      const name = "eligible.leader.replicas.version";
      if ((features[name] ?? PRESENT_FEATURES[name]) === 1) return undefined;
      return withCluster(scenario, { features: { ...features, [name]: 1 } });
    },
  },
  { name: "Kafka's present protocol", apply: withPresentProtocol },
];

/** `isSafe`: is a value, or its absence, as safe already? */
type Judge = (value: ConfigValue | undefined) => boolean;

function ofTopics(name: string, value: ConfigValue, isSafe: Judge): SaferSetting {
  return {
    name: `${name}=${value}`,
    apply: (scenario) => {
      const inherited = scenario.cluster.config.values[name];
      const topics = scenario.topics.map((topic): TopicSpec => {
        if (isSafe(topic.config.values[name] ?? inherited)) return topic;
        return { ...topic, config: withValue(topic.config, name, value) };
      });
      const isChanged = topics.some((topic, at) => topic !== scenario.topics[at]);
      return isChanged ? { ...scenario, topics } : undefined;
    },
  };
}

function ofProducers(name: string, value: ConfigValue, isSafe: Judge): SaferSetting {
  return {
    name: `${name}=${value}`,
    apply: (scenario) => {
      const clients = scenario.clients.map((client): ClientSpec => {
        const given = client.config.values[name];
        // Both are Kafka's defaults: what is not given is as it should be.
        if (client.kind !== "producer" || given === undefined || isSafe(given)) return client;
        return { ...client, config: withValue(client.config, name, value) };
      });
      const isChanged = clients.some((client, at) => client !== scenario.clients[at]);
      return isChanged ? { ...scenario, clients } : undefined;
    },
  };
}

function withValue(config: ConfigSpec, name: string, value: ConfigValue): ConfigSpec {
  return { ...config, values: { ...config.values, [name]: value } };
}

function withPresentProtocol(scenario: Scenario): Scenario | undefined {
  const { protocol } = scenario.cluster;
  const names = Object.keys(protocol) as (keyof ProtocolSwitches)[];
  if (names.every((name) => protocol[name] === PRESENT_RULES[name])) return undefined;
  return withCluster(scenario, { protocol: {} });
}

function withCluster(scenario: Scenario, changes: Partial<Scenario["cluster"]>): Scenario {
  return { ...scenario, cluster: { ...scenario.cluster, ...changes } };
}
