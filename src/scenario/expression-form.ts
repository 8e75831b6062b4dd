import type { PartitionName } from "../kafka/ids.ts";
import type { BooleanExpression, NodesExpression } from "./expression.ts";
import type { Form } from "./form.ts";
import { expectScalar } from "./form.ts";
import {
  checkExpression,
  parsePartitions,
  parsePredicate,
  parseTarget,
} from "./parse-expression.ts";
import type { Place } from "./place.ts";
import type { Reading } from "./reading.ts";
import type { YamlNode } from "./yaml-node.ts";

/** An expression with the words in which it was written. */
export interface Written<Expression> {
  readonly expression: Expression;
  readonly text: string;
  readonly place: Place;
}

function expression<Expression>(
  takes: string,
  parse: (
    node: ReturnType<typeof expectScalar> & object,
    reading: Reading,
  ) => Expression | undefined,
): Form<Written<Expression>> {
  return {
    takes,
    schema: { type: "string" },
    read(node: YamlNode, reading, label) {
      const scalar = expectScalar(node, reading, label, takes);
      if (scalar === undefined) return undefined;
      const parsed = parse(scalar, reading);
      if (parsed === undefined) return undefined;
      return {
        expression: parsed,
        text: scalar.text.replace(/\s+/g, " ").trim(),
        place: scalar.place,
      };
    },
  };
}

/** A set of nodes. */
export const TARGET: Form<Written<NodesExpression>> = expression(
  "a target such as leader(orders-0)",
  parseTarget,
);

/** A condition. */
export const PREDICATE: Form<Written<BooleanExpression>> = expression(
  "a condition such as hw(orders-0) >= 100",
  parsePredicate,
);

/** One partition. */
export const PARTITION: Form<PartitionName> = {
  takes: "a partition such as orders-0",
  schema: { type: "string" },
  read(node, reading, label) {
    const scalar = expectScalar(node, reading, label, this.takes);
    if (scalar === undefined) return undefined;
    const parsed = parsePartitions(scalar, reading);
    if (parsed === undefined || parsed.kind === "partition") return parsed?.partition;
    return reading.complain(scalar.place, `\`${label}\` takes one partition, such as orders-0`);
  },
};

/** Any expression, kept as text. */
export const EXPRESSION_TEXT: Form<string> = {
  takes: "an expression such as epoch(orders-0)",
  schema: { type: "string" },
  read(node, reading, label) {
    const scalar = expectScalar(node, reading, label, this.takes);
    if (scalar === undefined) return undefined;
    return checkExpression(scalar, reading) && scalar.text;
  },
};
