import type { Instant } from "../base/time.ts";
import type {
  CheckSetup,
  ClientSetup,
  ConsumerSetup,
  MemberSetup,
  ProcessorSetup,
  TopicSetup,
} from "../checkers/check-setup.ts";
import { acksOf } from "../kafka/client/idempotence.ts";
import { BROKER_CONFIGS } from "../kafka/config/broker-configs.ts";
import { resolveConfigs } from "../kafka/config/config-table.ts";
import { deletesOldSegments, isCompacted, topicConfigsOf } from "../kafka/config/topic-configs.ts";
import type { Cluster } from "./cluster.ts";
import { WALL_CLOCK_START } from "./cluster.ts";
import type { ClusterSpec, MembershipPlan } from "./cluster-spec.ts";

/** What the guarantees are told of the configuration. */
export function checkSetupOf(cluster: Cluster): CheckSetup {
  const { spec, table } = cluster;
  const clients = new Map<string, ClientSetup>();
  const consumers = new Map<string, ConsumerSetup>();
  const members = new Map<string, MemberSetup>();
  const working = new Set<string>();
  const processors = new Map<string, ProcessorSetup>();
  const commitsEarly = new Set<string>();
  for (const [at, client] of spec.clients.entries()) {
    if (client.kind === "consumer") {
      const { configs, membership, name, partitions, topics } = client;
      if (membership !== undefined && membership.subscription.kind !== "assigned") {
        members.set(name, { group: membership.group, topics, configs });
      }
      if (membership?.work.pace !== undefined) working.add(name);
      if (membership !== undefined && isCommittedEarly(membership)) commitsEarly.add(name);
      // What a member of a group reads is decided by the group.
      const [topic] = membership === undefined ? topics : [];
      if (topic !== undefined)
        consumers.set(name, { topic, configs, ...(partitions && { partitions }) });
      continue;
    }
    if (client.kind === "processor") {
      const { consumerConfigs, group, guarantee, store, subscription, to } = client;
      if (subscription.kind === "topics") {
        members.set(client.name, { group, topics: subscription.topics, configs: consumerConfigs });
      }
      working.add(client.name);
      processors.set(client.name, { consumerConfigs, group, guarantee, store, to });
      if (to === undefined) continue;
    }
    clients.set(client.name, {
      address: table.clients[at]?.address ?? -1,
      acks: acksOf(client.configs),
      idempotent: client.idempotence,
      configs: client.configs,
    });
  }
  return {
    brokers: spec.brokers.map(({ configs }) =>
      resolveConfigs(BROKER_CONFIGS, spec.configs, configs),
    ),
    clients,
    consumers,
    members,
    working,
    processors,
    commitsEarly,
    topics: topicSetups(spec),
    switches: spec.rules.switches,
    features: spec.features,
    // Facts count time from the scenario's zero.
    get clockStart(): Instant {
      return WALL_CLOCK_START + cluster.clock.zero;
    },
  };
}

/** Before the work, or of a pool of workers each that is done, whatever others are at. */
function isCommittedEarly({ commit, work }: MembershipPlan): boolean {
  const { mode, when } = commit;
  if (mode === "each-finished") return work.workers > 1;
  return (mode === "sync" || mode === "async") && when === "before";
}

function topicSetups(spec: ClusterSpec): Map<string, TopicSetup> {
  const inherited = resolveConfigs(BROKER_CONFIGS, spec.configs);
  return new Map(
    spec.topics.map(({ name, configs }) => {
      const own = Object.fromEntries(configs.map((config) => [config.name, config.value]));
      const resolved = topicConfigsOf(own, inherited);
      return [
        name,
        {
          flushMessages: resolved["flush.messages"],
          uncleanLeaderElection: resolved["unclean.leader.election.enable"],
          deletesOldSegments: deletesOldSegments(resolved),
          isCompacted: isCompacted(resolved),
          retentionMs: resolved["retention.ms"],
          retentionBytes: resolved["retention.bytes"],
          deleteRetentionMs: resolved["delete.retention.ms"],
        },
      ];
    }),
  );
}
