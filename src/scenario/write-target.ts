import { unreachable } from "../base/invariant.ts";
import type { NodesExpression, PartitionsExpression, PickAmount } from "./expression.ts";
import { ALL_PARTITIONS } from "./vocabulary.ts";

/** A target in the words of the language: read again it is the same. */
export function writeTarget(target: NodesExpression): string {
  switch (target.kind) {
    case "node":
      return target.name;
    case "group":
      return target.group;
    case "binding":
      return `$${target.name}`;
    case "rack":
      return `rack(${target.rack})`;
    case "transaction-coordinator":
      return `transaction-coordinator(${target.transactionalId})`;
    case "group-coordinator":
      return `group-coordinator(${target.group})`;
    case "relation":
      return `${target.relation}(${writePartitions(target.partitions)})`;
    case "alive":
      return `alive(${writeTarget(target.of)})`;
    case "pick":
      return writePick(target.amount, writeTarget(target.of), operand(target.of));
    case "combine":
      return `${leftOf(target)} ${target.operator} ${operand(target.right)}`;
    default:
      return unreachable(target);
  }
}

function writePartitions(partitions: PartitionsExpression): string {
  switch (partitions.kind) {
    case "partition":
      return partitions.partition;
    case "topic":
      return partitions.topic;
    case "all-partitions":
      return ALL_PARTITIONS;
    case "pick": {
      const from = writePartitions(partitions.of);
      return writePick(partitions.amount, from, from);
    }
    default:
      return unreachable(partitions);
  }
}

/** `any(brokers)`, but `any 2 of brokers`. */
function writePick(amount: PickAmount, from: string, operand: string): string {
  if (amount === 1) return `any(${from})`;
  return typeof amount === "number" ? `any ${amount} of ${operand}` : `${amount}(${from})`;
}

/** Operators of one rank are read from the left; only `&` binds tighter than the others. */
function leftOf({ operator, left }: Extract<NodesExpression, { kind: "combine" }>): string {
  const isLooser = operator === "&" && left.kind === "combine" && left.operator !== "&";
  return isLooser ? operand(left) : writeTarget(left);
}

/** In parentheses, if an operator beside it could tear it apart. */
function operand(target: NodesExpression): string {
  const text = writeTarget(target);
  return target.kind === "combine" ? `(${text})` : text;
}
