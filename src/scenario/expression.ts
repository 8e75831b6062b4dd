import type { PartitionName } from "../kafka/ids.ts";

/** A set of nodes, resolved when it is needed: `isr(orders-0) - leader(orders-0)`. */
export type NodesExpression =
  | { readonly kind: "node"; readonly name: string }
  | { readonly kind: "group"; readonly group: NodeGroup }
  /** `$old`: what a fault bound with `as: old`. */
  | { readonly kind: "binding"; readonly name: string }
  | { readonly kind: "rack"; readonly rack: string }
  /** Who coordinates a `transactional.id`. */
  | { readonly kind: "transaction-coordinator"; readonly transactionalId: string }
  /** Who coordinates a group of consumers. */
  | { readonly kind: "group-coordinator"; readonly group: string }
  | {
      readonly kind: "relation";
      readonly relation: PartitionRelation;
      readonly partitions: PartitionsExpression;
    }
  /** Those of a set that run and are not paused. */
  | { readonly kind: "alive"; readonly of: NodesExpression }
  | { readonly kind: "pick"; readonly amount: PickAmount; readonly of: NodesExpression }
  | {
      readonly kind: "combine";
      readonly operator: "+" | "-" | "&";
      readonly left: NodesExpression;
      readonly right: NodesExpression;
    };

/** Groups of nodes: each has its word in the language. `controller` is the active one. */
export type NodeGroup = "brokers" | "controllers" | "controller" | "clients" | "all" | "none";

/** What brokers can be to a partition: each has its function in the language. */
export type PartitionRelation = "leader" | "followers" | "isr" | "osr" | "elr" | "replicas";

/** How many are drawn from a set: so many, fewer than half of it, or more than half. */
export type PickAmount = number | "minority" | "majority";

/** A set of partitions: `orders-0`, `orders` (all of a topic), `any(partitions)`. */
export type PartitionsExpression =
  | { readonly kind: "partition"; readonly partition: PartitionName }
  | { readonly kind: "topic"; readonly topic: string }
  | { readonly kind: "all-partitions" }
  | { readonly kind: "pick"; readonly amount: PickAmount; readonly of: PartitionsExpression };

/** A number, or a duration in microseconds. */
export type NumberExpression =
  | { readonly kind: "literal"; readonly value: number }
  | {
      readonly kind: "of-partition";
      readonly quantity: PartitionQuantity;
      readonly partition: PartitionName;
      /** Whose view of it; undefined: the leader's. */
      readonly broker: NodesExpression | undefined;
    }
  | {
      readonly kind: "of-client";
      readonly quantity: ClientQuantity;
      readonly client: string;
      /** Of lags: only of this one. */
      readonly partition: PartitionName | undefined;
    }
  | { readonly kind: "of-group"; readonly quantity: GroupQuantity; readonly group: string }
  /** How many nodes a set has. */
  | { readonly kind: "size"; readonly of: NodesExpression }
  | {
      readonly kind: "arithmetic";
      readonly operator: "+" | "-" | "*";
      readonly left: NumberExpression;
      readonly right: NumberExpression;
    };

export type PartitionQuantity = "hw" | "leo" | "epoch" | "isr-size";
export type ClientQuantity =
  | "sent"
  | "acked"
  | "failed"
  | "unknown"
  | "retries"
  | "read"
  | "lag"
  | "current-lag"
  | "stall"
  | "committed"
  | "aborted"
  | "rows";

export type GroupQuantity =
  | "processed"
  | "reprocessed"
  | "skipped"
  | "uncommitted"
  | "rebalances"
  | "unowned"
  | "shared";

/** Something that holds or does not. */
export type BooleanExpression =
  | {
      readonly kind: "compare-numbers";
      readonly operator: Comparison;
      readonly left: NumberExpression;
      readonly right: NumberExpression;
    }
  | {
      readonly kind: "compare-nodes";
      readonly operator: "==" | "!=";
      readonly left: NodesExpression;
      readonly right: NodesExpression;
    }
  /** True in the event in which one of these brokers appended to a log. */
  | { readonly kind: "appending"; readonly nodes: NodesExpression }
  | {
      readonly kind: "and" | "or";
      readonly left: BooleanExpression;
      readonly right: BooleanExpression;
    }
  | { readonly kind: "not"; readonly operand: BooleanExpression };

export type Comparison = "==" | "!=" | "<" | "<=" | ">" | ">=";
