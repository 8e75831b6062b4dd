import type { Duration } from "../base/time.ts";
import type { PartitionName } from "../kafka/ids.ts";

/** What random faults are to strike: the parts of a planned cluster by name, and its decisive times. */
export interface Terrain {
  readonly brokers: readonly string[];
  readonly controllers: readonly string[];
  readonly clients: readonly string[];
  readonly producers: readonly ProducerTraffic[];
  readonly partitions: readonly PartitionName[];
  /** `replica.lag.time.max.ms`. */
  readonly lagTime: Duration;
  /** `broker.session.timeout.ms`. */
  readonly sessionTimeout: Duration;
  /** Times after which something is done again: segments are rolled, logs flushed, high watermarks written. */
  readonly rhythms: readonly Duration[];
  /** The least `min.insync.replicas` of any topic, and at most as many as its partitions have replicas. */
  readonly minInSync: number;
}

export interface ProducerTraffic {
  readonly name: string;
  readonly recordsPerSecond: number;
}

/** Brokers and controllers. */
export function serversOf({ brokers, controllers }: Terrain): string[] {
  return [...brokers, ...controllers];
}
