import { unreachable } from "../base/invariant.ts";
import type { FactKind } from "../trace/fact.ts";
import type {
  BooleanExpression,
  Comparison,
  GroupQuantity,
  NodesExpression,
  NumberExpression,
  PartitionQuantity,
} from "./expression.ts";
import type { ExpressionWorld } from "./expression-world.ts";
import type { RosterNode } from "./roster.ts";
import { resolveNodes } from "./target.ts";

/** Does the predicate hold now? Asked after an event, never within one. */
export function holds(predicate: BooleanExpression, world: ExpressionWorld): boolean {
  switch (predicate.kind) {
    case "compare-numbers":
      return compare(
        predicate.operator,
        numberOf(predicate.left, world),
        numberOf(predicate.right, world),
      );
    case "compare-nodes": {
      const same = sameNodes(
        resolveNodes(predicate.left, world),
        resolveNodes(predicate.right, world),
      );
      return predicate.operator === "==" ? same : !same;
    }
    case "appending":
      return isAppending(predicate.nodes, world);
    case "and":
      return holds(predicate.left, world) && holds(predicate.right, world);
    case "or":
      return holds(predicate.left, world) || holds(predicate.right, world);
    case "not":
      return !holds(predicate.operand, world);
    default:
      return unreachable(predicate);
  }
}

function compare(operator: Comparison, left: number, right: number): boolean {
  switch (operator) {
    case "==":
      return left === right;
    case "!=":
      return left !== right;
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
    default:
      return unreachable(operator);
  }
}

/** Kinds of facts without which the predicate's value cannot change. */
export function factsBehind(predicate: BooleanExpression): ReadonlySet<FactKind> {
  const kinds = new Set<FactKind>();
  visit(predicate, (part) => {
    for (const kind of FACTS[part] ?? []) kinds.add(kind);
  });
  return kinds;
}

/** Does it ask about the event itself? Then it is false between events, whatever came last. */
export function isMomentary(predicate: BooleanExpression): boolean {
  let found = false;
  visit(predicate, (part) => {
    if (part === "appending") found = true;
  });
  return found;
}

function numberOf(number: NumberExpression, world: ExpressionWorld): number {
  switch (number.kind) {
    case "literal":
      return number.value;
    case "size":
      return resolveNodes(number.of, world).length;
    case "of-client":
      return clientNumber(number, world);
    case "of-group":
      return groupNumber(number.quantity, number.group, world);
    case "of-partition":
      return partitionNumber(number.quantity, number.partition, number.broker, world);
    case "arithmetic": {
      const left = numberOf(number.left, world);
      const right = numberOf(number.right, world);
      if (number.operator === "+") return left + right;
      return number.operator === "-" ? left - right : left * right;
    }
    default:
      return unreachable(number);
  }
}

function partitionNumber(
  quantity: PartitionQuantity,
  name: string,
  broker: NodesExpression | undefined,
  world: ExpressionWorld,
): number {
  const partition = world.view.partition(name);
  if (quantity === "epoch") return partition.leaderEpoch;
  if (quantity === "isr-size") return partition.isr.length;
  if (broker === undefined) {
    return quantity === "hw" ? partition.highWatermark : partition.logEndOffset;
  }
  // Of several brokers, the least; of none, nothing.
  let least: number | undefined;
  for (const { id } of resolveNodes(broker, world)) {
    const log = partition.log(id);
    const value = quantity === "hw" ? log.highWatermark : log.logEndOffset;
    if (least === undefined || value < least) least = value;
  }
  return least ?? 0;
}

function clientNumber(
  { quantity, client: name, partition }: ClientNumber,
  world: ExpressionWorld,
): number {
  const client = world.view.client(name);
  switch (quantity) {
    case "stall":
      return client.longestStall(world.now());
    case "lag":
      return client.lag(partition);
    case "current-lag":
      return client.currentLag(partition);
    default:
      return client[quantity];
  }
}

function groupNumber(quantity: GroupQuantity, name: string, world: ExpressionWorld): number {
  const group = world.view.group(name);
  if (quantity === "unowned") return group.ownership.meanUnowned(world.now());
  return quantity === "shared" ? group.ownership.longestShared(world.now()) : group[quantity];
}

function isAppending(nodes: NodesExpression, world: ExpressionWorld): boolean {
  const event = world.event();
  for (const { id } of resolveNodes(nodes, world)) {
    for (const partition of world.roster.partitions) {
      const { logs } = world.view.partition(partition);
      if (logs.some((log) => log.broker === id && log.appendedIn === event)) return true;
    }
  }
  return false;
}

/** Both are in the order of addresses. */
function sameNodes(left: readonly RosterNode[], right: readonly RosterNode[]): boolean {
  return left.length === right.length && left.every((node, i) => node === right[i]);
}

type ClientNumber = Extract<NumberExpression, { kind: "of-client" }>;

const REGISTRATION: readonly FactKind[] = ["partition-changed"];
const LAGS: readonly FactKind[] = [
  "polled",
  "position-reset",
  "partitions-revoked",
  "partitions-lost",
  "high-watermark-moved",
  "partition-changed",
  "became-leader",
];
const ENDED: readonly FactKind[] = ["send-ended"];

/** The facts that can change the value of each word. A word without an entry never changes. */
const FACTS: Readonly<Record<string, readonly FactKind[]>> = {
  leader: REGISTRATION,
  followers: REGISTRATION,
  isr: REGISTRATION,
  osr: REGISTRATION,
  elr: REGISTRATION,
  replicas: REGISTRATION,
  epoch: REGISTRATION,
  "isr-size": REGISTRATION,
  hw: ["high-watermark-moved", "partition-changed", "became-leader", "log-loaded", "truncated"],
  leo: [
    "appended",
    "truncated",
    "log-loaded",
    "became-leader",
    "became-follower",
    "partition-changed",
  ],
  alive: ["node-started", "node-stopped", "node-paused", "node-resumed"],
  controller: ["controller-elected", "controller-resigned"],
  appending: ["appended"],
  binding: ["fault-begun"],
  sent: ["record-sent"],
  acked: ENDED,
  failed: ENDED,
  unknown: ENDED,
  retries: ["request-failed"],
  read: ["polled"],
  lag: LAGS,
  "current-lag": [...LAGS, "last-stable-offset-moved"],
  stall: ["send-ended", "record-sent"],
  committed: ["transaction-ended"],
  aborted: ["transaction-ended"],
  rows: ["row-stored"],
  "transaction-coordinator": ["transaction-state-changed"],
  "group-coordinator": ["group-state-changed", "offsets-committed"],
  processed: ["records-processed"],
  reprocessed: ["records-processed"],
  skipped: ["records-processed", "offsets-committed", "position-reset"],
  uncommitted: ["records-processed", "offsets-committed"],
  rebalances: ["group-state-changed", "zookeeper-rebalance-ended"],
  unowned: ["partitions-assigned", "partitions-revoked", "partitions-lost", "node-stopped"],
  shared: ["partitions-assigned", "partitions-revoked", "partitions-lost", "node-stopped"],
};

type Expression = BooleanExpression | NumberExpression | NodesExpression;

/** Tells the words that an expression is made of. */
function visit(expression: Expression, tell: (word: string) => void): void {
  switch (expression.kind) {
    case "compare-numbers":
    case "compare-nodes":
    case "and":
    case "or":
    case "arithmetic":
    case "combine":
      visit(expression.left, tell);
      visit(expression.right, tell);
      return;
    case "not":
      visit(expression.operand, tell);
      return;
    case "appending":
      tell("appending");
      visit(expression.nodes, tell);
      return;
    case "alive":
      tell("alive");
      visit(expression.of, tell);
      return;
    case "size":
    case "pick":
      visit(expression.of, tell);
      return;
    case "of-partition":
      tell(expression.quantity);
      if (expression.broker !== undefined) visit(expression.broker, tell);
      return;
    case "of-client":
    case "of-group":
      tell(expression.quantity);
      return;
    case "relation":
      tell(expression.relation);
      return;
    case "group":
      tell(expression.group);
      return;
    case "group-coordinator":
      tell("group-coordinator");
      return;
    case "transaction-coordinator":
      tell("transaction-coordinator");
      return;
    case "binding":
      tell("binding");
      return;
    case "literal":
    case "node":
    case "rack":
      return;
    default:
      unreachable(expression);
  }
}
