/**
 * Rules that Kafka once had, or was about to have, each a named option beside the present one.
 * Scenarios set them under `protocol:`; code asks each in one place. Published models show what
 * goes wrong with them (KIP-101, KIP-279, KIP-320, and Vanlightly's and Gustafson's TLA+).
 */
export interface ProtocolSwitches {
  /**
   * How a follower finds where to cut its log when it begins to follow: at its high watermark
   * (before 0.11), at the end of its last epoch as the leader tells (KIP-101), walking back epoch by
   * epoch (KIP-279), or as the fetch tells (KIP-595, since 2.7: the present rule).
   */
  readonly truncation: "high-watermark" | "kip-101" | "kip-279" | "on-fetch";
  /** Does a leader refuse fetches and epoch questions of another leader epoch (KIP-320)? */
  readonly "fetch.epoch-fencing": boolean;
  /**
   * When may a follower join the ISR: from the high watermark on (before 2.3), or only if it also has
   * reached the start of the leader's own epoch (KAFKA-7128: the present rule)?
   */
  readonly "isr.expand-rule": "high-watermark" | "leader-epoch-start";
  /** Does a fetch that is answered with a diverging epoch still move the follower's progress (KAFKA-13141)? */
  readonly "leader.update-state-on-diverging-fetch": boolean;
  /** Does the high watermark stand still while the ISR is below min.insync.replicas (KAFKA-15583)? */
  readonly "leader.hw-requires-min-isr": boolean;
  /** Over which ISR is the high watermark taken: with what is being added (KIP-497), or as committed? */
  readonly "isr.hw-set": "committed" | "maximal";
  /**
   * Does a fetch get the first batch that there is, however large (KIP-74), and is there a bound on all that it gets?
   * Before 0.10.1 a batch larger than what may be fetched of a partition stopped whoever came to it.
   */
  readonly "fetch.min-one-batch": boolean;
  /**
   * Who sees to it that members of a group share its partitions: a coordinator (since 0.9), or all of them by themselves, by
   * registries in ZooKeeper, as in the paper of 2011 and until 0.8 (`ZookeeperConsumerConnector`)?
   */
  readonly groups: "coordinator" | "zookeeper-2011";
}

export const PRESENT_RULES: ProtocolSwitches = {
  truncation: "on-fetch",
  "fetch.epoch-fencing": true,
  "isr.expand-rule": "leader-epoch-start",
  "leader.update-state-on-diverging-fetch": false,
  "leader.hw-requires-min-isr": true,
  "isr.hw-set": "maximal",
  "fetch.min-one-batch": true,
  groups: "coordinator",
};

/** What each switch may be set to: the table that scenarios are checked against. */
export const SWITCH_OPTIONS: {
  readonly [Name in keyof ProtocolSwitches]: readonly ProtocolSwitches[Name][];
} = {
  truncation: ["high-watermark", "kip-101", "kip-279", "on-fetch"],
  "fetch.epoch-fencing": [true, false],
  "isr.expand-rule": ["high-watermark", "leader-epoch-start"],
  "leader.update-state-on-diverging-fetch": [true, false],
  "leader.hw-requires-min-isr": [true, false],
  "isr.hw-set": ["committed", "maximal"],
  "fetch.min-one-batch": [true, false],
  groups: ["coordinator", "zookeeper-2011"],
};

/** Kafka's feature levels that change behaviour, with those of a newly formatted 4.3 cluster. */
export interface FeatureLevels {
  readonly "eligible.leader.replicas.version": number;
  /**
   * From 1 on the coordinator writes flexible records. With 2 partitions are added to a transaction by
   * producing to them, every transaction ends with a new producer epoch, and markers must bring it
   * (KIP-890 part 2, KIP-1228).
   */
  readonly "transaction.version": number;
}

export const PRESENT_FEATURES: FeatureLevels = {
  "eligible.leader.replicas.version": 1,
  "transaction.version": 2,
};

/** The highest level of each that Kafka 4.3 knows. */
export const MAX_FEATURES: FeatureLevels = {
  "eligible.leader.replicas.version": 1,
  "transaction.version": 2,
};
