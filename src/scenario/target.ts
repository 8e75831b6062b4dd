import { fail, unreachable } from "../base/invariant.ts";
import { byNumber } from "../base/order.ts";
import type { BrokerId, PartitionName } from "../kafka/ids.ts";
import type { Random } from "../ports/random.ts";
import type {
  NodeGroup,
  NodesExpression,
  PartitionRelation,
  PartitionsExpression,
  PickAmount,
} from "./expression.ts";
import type { ExpressionWorld } from "./expression-world.ts";
import { partitionsOf } from "./expression-world.ts";
import type { RosterNode } from "./roster.ts";

/**
 * The nodes that a target means at this instant, in the order of their addresses; perhaps none.
 * `random` decides what `any` and its like choose; expressions without them may do without it.
 */
export function resolveNodes(
  target: NodesExpression,
  world: ExpressionWorld,
  random?: Random,
): readonly RosterNode[] {
  switch (target.kind) {
    case "node": {
      const node = world.roster.named(target.name);
      return node === undefined ? [] : [node];
    }
    case "group":
      return groupOf(target.group, world);
    case "binding":
      return world.bindings.get(target.name) ?? [];
    case "rack":
      return world.roster.ofRole("broker").filter((node) => node.rack === target.rack);
    case "transaction-coordinator": {
      const broker = world.view.transactionCoordinator(target.transactionalId);
      const node = broker === undefined ? undefined : world.roster.withId(broker);
      return node === undefined ? [] : [node];
    }
    case "group-coordinator": {
      const { coordinator } = world.view.group(target.group);
      const node = coordinator === undefined ? undefined : world.roster.withId(coordinator);
      return node === undefined ? [] : [node];
    }
    case "relation":
      return related(target.relation, resolvePartitions(target.partitions, world, random), world);
    case "alive":
      return resolveNodes(target.of, world, random).filter(
        ({ name, address }) =>
          world.view.node(name).isAlive && world.gone?.includes(address) !== true,
      );
    case "pick": {
      const from = resolveNodes(target.of, world, random);
      return choose(from, target.amount, random).sort((a, b) => byNumber(a.address, b.address));
    }
    case "combine": {
      const left = resolveNodes(target.left, world, random);
      const right = resolveNodes(target.right, world, random);
      if (target.operator === "-") return left.filter((node) => !right.includes(node));
      if (target.operator === "&") return left.filter((node) => right.includes(node));
      return inOrder(new Set([...left, ...right]));
    }
    default:
      return unreachable(target);
  }
}

/** The partitions that an expression means, in the order of the roster. */
export function resolvePartitions(
  partitions: PartitionsExpression,
  world: ExpressionWorld,
  random?: Random,
): readonly PartitionName[] {
  switch (partitions.kind) {
    case "partition":
      return [partitions.partition];
    case "topic":
      return partitionsOf(world.roster, partitions.topic);
    case "all-partitions":
      return world.roster.partitions;
    case "pick":
      return choose(resolvePartitions(partitions.of, world, random), partitions.amount, random);
    default:
      return unreachable(partitions);
  }
}

/**
 * What a target means, in words that fit behind the names of its nodes: `leader of orders-0`. Empty
 * if the names say it already.
 */
export function roleOf(target: NodesExpression): string {
  switch (target.kind) {
    case "relation": {
      const { partitions, relation } = target;
      if (partitions.kind === "partition") return `${relation} of ${partitions.partition}`;
      return partitions.kind === "topic" ? `${relation} of ${partitions.topic}` : "";
    }
    case "rack":
      return `rack ${target.rack}`;
    case "transaction-coordinator":
      return `transaction coordinator of ${target.transactionalId}`;
    case "group-coordinator":
      return `coordinator of ${target.group}`;
    case "group":
      return target.group === "controller" ? "active" : "";
    case "pick":
      return roleOf(target.of);
    default:
      return "";
  }
}

/** Does the target ask for what no step has bound yet? Then it cannot be told what it means. */
export function isUnbound(target: NodesExpression, world: ExpressionWorld): boolean {
  switch (target.kind) {
    case "binding":
      return !world.bindings.has(target.name);
    case "alive":
    case "pick":
      return isUnbound(target.of, world);
    case "combine":
      return isUnbound(target.left, world) || isUnbound(target.right, world);
    default:
      return false;
  }
}

function groupOf(group: NodeGroup, world: ExpressionWorld): readonly RosterNode[] {
  const { roster, view } = world;
  switch (group) {
    case "brokers":
      return roster.ofRole("broker");
    case "controllers":
      return roster.ofRole("controller");
    case "controller": {
      const active = roster.withId(view.controller);
      return active === undefined ? [] : [active];
    }
    case "clients":
      return roster.ofRole("client");
    case "all":
      return roster.nodes.filter(({ role }) => role === "broker" || role === "controller");
    case "none":
      return [];
    default:
      return unreachable(group);
  }
}

function related(
  relation: PartitionRelation,
  partitions: readonly PartitionName[],
  world: ExpressionWorld,
): readonly RosterNode[] {
  const found = new Set<RosterNode>();
  for (const partition of partitions) {
    for (const id of relatedIds(relation, partition, world)) {
      const node = world.roster.withId(id);
      if (node !== undefined) found.add(node);
    }
  }
  return inOrder(found);
}

function relatedIds(
  relation: PartitionRelation,
  name: PartitionName,
  world: ExpressionWorld,
): readonly BrokerId[] {
  const partition = world.view.partition(name);
  switch (relation) {
    case "leader":
      // NO_LEADER is nobody's id.
      return [partition.leader];
    case "followers":
      return partition.replicas.filter((id) => id !== partition.leader);
    case "isr":
      return partition.isr;
    case "osr":
      return partition.outOfSync;
    case "elr":
      return partition.elr;
    case "replicas":
      return partition.replicas;
    default:
      return unreachable(relation);
  }
}

function inOrder(nodes: ReadonlySet<RosterNode>): RosterNode[] {
  return [...nodes].sort((a, b) => byNumber(a.address, b.address));
}

/** Draws without repetition; all, if there are not more. */
function choose<Item>(
  from: readonly Item[],
  amount: PickAmount,
  random: Random | undefined,
): Item[] {
  const count =
    amount === "minority"
      ? Math.floor((from.length - 1) / 2)
      : amount === "majority"
        ? Math.floor(from.length / 2) + 1
        : amount;
  const left = [...from];
  const chosen: Item[] = [];
  const dice = random ?? fail("a draw in an expression that may not draw");
  while (chosen.length < count && left.length > 0) {
    chosen.push(...left.splice(dice.below(left.length), 1));
  }
  return chosen;
}
