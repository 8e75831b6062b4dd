import type {
  ClientQuantity,
  GroupQuantity,
  NodeGroup,
  PartitionQuantity,
  PartitionRelation,
} from "./expression.ts";

/** A word of targets and predicates: how it is written, and what it means. */
export interface Word {
  readonly usage: string;
  readonly meaning: string;
}

/** Words that stand for nodes by themselves. */
export const GROUPS: Readonly<Record<NodeGroup, Word>> = {
  brokers: { usage: "brokers", meaning: "Every broker." },
  controllers: { usage: "controllers", meaning: "Every controller." },
  controller: { usage: "controller", meaning: "The active controller." },
  clients: { usage: "clients", meaning: "Every client." },
  all: { usage: "all", meaning: "Every broker and every controller." },
  none: { usage: "none", meaning: "No node: what `leader(p)` is while there is none." },
};

/** Functions from partitions to nodes. */
export const RELATIONS: Readonly<Record<PartitionRelation, Word>> = {
  leader: { usage: "leader(orders-0)", meaning: "Its leader." },
  followers: { usage: "followers(orders-0)", meaning: "Its replicas but the leader." },
  isr: { usage: "isr(orders-0)", meaning: "Its in-sync replicas, as committed by the controller." },
  osr: { usage: "osr(orders-0)", meaning: "Its replicas that are out of sync." },
  elr: { usage: "elr(orders-0)", meaning: "Its eligible leader replicas (KIP-966)." },
  replicas: { usage: "replicas(orders-0)", meaning: "All its replicas." },
};

/** Other functions that give nodes; `any`, `minority` and `majority` only in targets. */
export const NODE_FUNCTIONS = {
  rack: { usage: "rack(a)", meaning: "The brokers of a rack." },
  "transaction-coordinator": {
    usage: "transaction-coordinator(app)",
    meaning: "The broker that coordinates a `transactional.id`, once it has been heard of.",
  },
  "group-coordinator": {
    usage: "group-coordinator(workers)",
    meaning: "The broker that coordinates a group of consumers, once it has been heard of.",
  },
  alive: { usage: "alive(brokers)", meaning: "Those that run and are not paused." },
  any: { usage: "any(brokers), any 2 of brokers", meaning: "One of a set, or so many, by chance." },
  minority: {
    usage: "minority(brokers)",
    meaning: "The most that are fewer than half, by chance.",
  },
  majority: {
    usage: "majority(brokers)",
    meaning: "The fewest that are more than half, by chance.",
  },
} as const satisfies Readonly<Record<string, Word>>;

/** Functions from one partition to a number. */
export const PARTITION_QUANTITIES: Readonly<Record<PartitionQuantity, Word>> = {
  hw: {
    usage: "hw(orders-0), hw(orders-0 at broker-1)",
    meaning: "Its high watermark at its leader, or at a broker.",
  },
  leo: {
    usage: "leo(orders-0), leo(orders-0 at broker-1)",
    meaning: "Its log end offset at its leader, or at a broker.",
  },
  epoch: { usage: "epoch(orders-0)", meaning: "Its leader epoch." },
  "isr-size": { usage: "isr-size(orders-0)", meaning: "How many replicas are in sync." },
};

/** Functions from a client to a number, or a duration. */
export const CLIENT_QUANTITIES: Readonly<Record<ClientQuantity, Word>> = {
  sent: { usage: "sent(p1)", meaning: "Records that a producer was given." },
  acked: { usage: "acked(p1)", meaning: "Records that it was told are written." },
  failed: { usage: "failed(p1)", meaning: "Records that definitely are not written." },
  unknown: { usage: "unknown(p1)", meaning: "Records that may be written or not." },
  retries: { usage: "retries(p1)", meaning: "Requests that failed and were tried again." },
  read: { usage: "read(c1)", meaning: "Records that a consumer was handed." },
  lag: {
    usage: "lag(c1), lag(c1 of orders-0)",
    meaning: "Records below the high watermark that it has not read; all, or of one partition.",
  },
  "current-lag": {
    usage: "current-lag(c1), current-lag(c1 of orders-0)",
    meaning:
      "The same, but as `currentLag` has it: who reads committed records is not told of what is behind an open transaction.",
  },
  stall: {
    usage: "stall(p1)",
    meaning: "The longest wait for an acknowledgement so far, a duration.",
  },
  committed: {
    usage: "committed(p1)",
    meaning: "Transactions that a producer was told are committed.",
  },
  aborted: { usage: "aborted(p1)", meaning: "Transactions of a producer that are not." },
  rows: {
    usage: "rows(a1)",
    meaning: "Rows that an application has added to its store outside of Kafka.",
  },
};

/** Functions from a group of consumers to a number. */
export const GROUP_QUANTITIES: Readonly<Record<GroupQuantity, Word>> = {
  processed: {
    usage: "processed(workers)",
    meaning: "Different records that members of a group have worked on.",
  },
  reprocessed: {
    usage: "reprocessed(workers)",
    meaning: "How often one of them worked on a record that had been worked on before.",
  },
  skipped: {
    usage: "skipped(workers)",
    meaning:
      "Records before what the group has committed, from where it began, that nobody has worked on.",
  },
  uncommitted: {
    usage: "uncommitted(workers)",
    meaning: "Records that were worked on and lie behind what is committed.",
  },
  rebalances: {
    usage: "rebalances(workers)",
    meaning:
      "How often the group has come to rest in a new generation; without a coordinator, how often a member has taken its share.",
  },
  unowned: {
    usage: "unowned(workers)",
    meaning:
      "How long the partitions of a group had no owner, each since it first had one, on average; a duration.",
  },
  shared: {
    usage: "shared(workers)",
    meaning:
      "The longest time that a partition of a group had more than one owner, each of whom took it for his own; a duration.",
  },
};

/** Functions that hold or do not. */
export const BOOLEAN_FUNCTIONS = {
  appending: {
    usage: "appending(leader(orders-0))",
    meaning: "True in the event in which such a broker appended to a log.",
  },
} as const satisfies Readonly<Record<string, Word>>;

/** The word for all partitions. */
export const ALL_PARTITIONS = "partitions";

/** Names that neither a topic nor a client can have. */
export const RESERVED_WORDS: ReadonlySet<string> = new Set([
  ...Object.keys(GROUPS),
  ALL_PARTITIONS,
  "and",
  "or",
  "not",
  "of",
  "any",
]);

/** Every function of the language, for suggestions. */
export const FUNCTION_NAMES: readonly string[] = [
  ...Object.keys(RELATIONS),
  ...Object.keys(NODE_FUNCTIONS),
  ...Object.keys(PARTITION_QUANTITIES),
  ...Object.keys(CLIENT_QUANTITIES),
  ...Object.keys(GROUP_QUANTITIES),
  ...Object.keys(BOOLEAN_FUNCTIONS),
];
