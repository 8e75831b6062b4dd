import type { Duration } from "../../../base/time.ts";
import { fromMillis } from "../../../base/time.ts";
import type { ConsumerConfigs } from "../../../kafka/config/consumer-configs.ts";
import type { ClientAssignor } from "../../../kafka/group/assignors/client-assignors.ts";
import { clientAssignors } from "../../../kafka/group/assignors/client-assignors.ts";
import type { ProtocolSwitches } from "../../../kafka/protocol-switches.ts";
import type { NodeAddress } from "../../../ports/network.ts";
import type { WorkPlan } from "./work.ts";

/** Which topics a member wants: these, or all whose names match. */
export type Subscription =
  | { readonly kind: "topics"; readonly topics: readonly string[] }
  /** A regular expression that must match the whole name; internal topics are left out. */
  | { readonly kind: "pattern"; readonly pattern: string };

/** `assign` instead of `subscribe`: a consumer does the one or the other. */
export interface SelfAssignment {
  readonly kind: "assigned";
  readonly topic: string;
  readonly partitions: readonly number[];
}

/** How the application has committed what it read. */
export interface CommitPolicy {
  /**
   * `auto`: only as enable.auto.commit says; `sync` and `async`: by commitSync or commitAsync, each poll. The others
   * commit by commitAsync whenever a record is done: the first offset of its partition that is not done, or, wrongly
   * if there are several workers, the one behind the record.
   */
  readonly mode: "auto" | "sync" | "async" | "smallest-unfinished" | "each-finished";
  /** Of sync and async: before it works on what a poll gave it, or after. */
  readonly when: "before" | "after";
}

export interface GroupConsumerOptions {
  /** The scenario's name for the client. */
  readonly name: string;
  /** group.id */
  readonly group: string;
  readonly subscription: Subscription | SelfAssignment;
  readonly work: WorkPlan;
  readonly commit: CommitPolicy;
  readonly configs: ConsumerConfigs;
  /** Rules that Kafka once had; undefined: the present ones. */
  readonly switches?: ProtocolSwitches;
  /** Some brokers, to ask for the others. */
  readonly bootstrap: readonly NodeAddress[];
  /** Where the registries of a group without a coordinator are (groups: zookeeper-2011). */
  readonly zookeeper?: NodeAddress | undefined;
}

/** The configs of groups as the parts of a member use them. */
export interface GroupSettings {
  readonly groupId: string;
  /** group.instance.id */
  readonly instanceId: string | undefined;
  /** group.protocol */
  readonly protocol: "classic" | "consumer";
  /** group.remote.assignor */
  readonly remoteAssignor: string | undefined;
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
  readonly sessionTimeout: Duration;
  readonly heartbeatInterval: Duration;
  readonly maxPollInterval: Duration;
  readonly autoCommit: boolean;
  readonly autoCommitInterval: Duration;
  /** zookeeper.session.timeout.ms, rebalance.backoff.ms and rebalance.max.retries. */
  readonly zookeeperSessionTimeout: Duration;
  readonly rebalanceBackoff: Duration;
  readonly rebalanceMaxRetries: number;
  /** In the order of preference. */
  readonly assignors: readonly ClientAssignor[];
  /** Do all its assignors know how to rebalance without stopping the world (KIP-429)? */
  readonly isCooperative: boolean;
}

export function groupSettings({ group, configs }: GroupConsumerOptions): GroupSettings {
  const instance = configs["group.instance.id"];
  const assignor = configs["group.remote.assignor"];
  const assignors = clientAssignors(configs["partition.assignment.strategy"]);
  return {
    groupId: group,
    instanceId: instance === "" ? undefined : instance,
    protocol: configs["group.protocol"] === "consumer" ? "consumer" : "classic",
    remoteAssignor: assignor === "" ? undefined : assignor,
    sessionTimeoutMs: configs["session.timeout.ms"],
    rebalanceTimeoutMs: configs["max.poll.interval.ms"],
    sessionTimeout: fromMillis(configs["session.timeout.ms"]),
    heartbeatInterval: fromMillis(configs["heartbeat.interval.ms"]),
    maxPollInterval: fromMillis(configs["max.poll.interval.ms"]),
    autoCommit: configs["enable.auto.commit"],
    autoCommitInterval: fromMillis(configs["auto.commit.interval.ms"]),
    zookeeperSessionTimeout: fromMillis(configs["zookeeper.session.timeout.ms"]),
    rebalanceBackoff: fromMillis(configs["rebalance.backoff.ms"]),
    rebalanceMaxRetries: configs["rebalance.max.retries"],
    assignors,
    isCooperative: assignors.every((assignor) => assignor.isCooperative),
  };
}
