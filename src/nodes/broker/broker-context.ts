import type { Duration, Instant } from "../../base/time.ts";
import type { BrokerConfigs } from "../../kafka/config/broker-configs.ts";
import type { BrokerEpoch, BrokerId, TopicId } from "../../kafka/ids.ts";
import type { MetadataImage } from "../../kafka/metadata/image.ts";
import type { FeatureLevels } from "../../kafka/protocol-switches.ts";
import type { ReplicationRules } from "../../kafka/replication/replication-rules.ts";
import type { DiskError } from "../../ports/disk.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { World } from "../../ports/node.ts";
import type { FactSink } from "../../trace/fact.ts";
import type { RpcClient } from "../rpc/rpc-client.ts";
import type { ControllerChannel } from "./controller-channel.ts";
import type { IsrChannel } from "./isr-channel.ts";
import type { Partition } from "./partition.ts";

/** What the parts of one broker share. */
export interface BrokerContext {
  readonly world: World;
  readonly facts: FactSink;
  readonly brokerId: BrokerId;
  readonly clusterId: string;
  readonly configs: BrokerConfigs;
  readonly features: FeatureLevels;
  readonly rules: ReplicationRules;
  readonly image: MetadataImage;
  readonly rpc: RpcClient;
  readonly controller: ControllerChannel;
  readonly isrChannel: IsrChannel;
  /** replica.lag.time.max.ms, in microseconds. */
  readonly maxLag: Duration;
  /**
   * Has the controller unfenced this process once, so that its port is open? Before, it may take
   * itself for a leader of long ago, by metadata that do not know yet that it went down.
   */
  readonly isServing: boolean;
  /** -1 until registered. */
  brokerEpoch: BrokerEpoch;
  now(): Instant;
  partition(topicId: TopicId, index: number): Partition | undefined;
  partitions(): Iterable<Partition>;
  /** Where a broker listens, as its registration tells; undefined if it has none. */
  addressOf(broker: BrokerId): NodeAddress | undefined;
  /** A disk call failed: the log directory in which it did goes offline, with all that is in it. */
  diskFailed(problem: DiskError): void;
}
