import fc from "fast-check";
import type { BrokerConfigValue, ClusterValue } from "../scenario-value.ts";

export interface ClusterLimits {
  /** Default 3 to 5. */
  readonly brokers?: { readonly min: number; readonly max: number };
  /** How many controllers there may be, the simplest first. Default 1 or 3. */
  readonly controllers?: readonly (1 | 3 | 5)[];
  /** Configs that all these clusters have. */
  readonly config?: BrokerConfigValue;
}

/** Clusters. They shrink to fewer brokers and controllers, and to Kafka's defaults. */
export function clusterArbitrary({
  brokers = { min: 3, max: 5 },
  controllers = [1, 3],
  config = {},
}: ClusterLimits = {}): fc.Arbitrary<ClusterValue> {
  return fc
    .record({
      brokers: fc.integer(brokers),
      controllers: fc.constantFrom(...controllers),
      config: fc.record(TIMES, { requiredKeys: [] }),
    })
    .map(({ config: drawn, ...size }) => {
      const all: BrokerConfigValue = { ...drawn, ...config };
      return Object.keys(all).length === 0 ? size : { ...size, config: all };
    });
}

/** What decides how soon a cluster takes notice of a fault. */
const TIMES = {
  "replica.lag.time.max.ms": fc.constantFrom(10_000, 5_000, 2_000),
  "broker.session.timeout.ms": fc.constantFrom(6_000, 3_000),
  "controller.quorum.fetch.timeout.ms": fc.constantFrom(1_000, 3_000),
};
