import { unreachable } from "../base/invariant.ts";
import type { PartitionName } from "../kafka/ids.ts";
import { Mistake, parseDuration } from "./duration.ts";
import type {
  BooleanExpression,
  ClientQuantity,
  Comparison,
  GroupQuantity,
  NodeGroup,
  NodesExpression,
  NumberExpression,
  PartitionQuantity,
  PartitionRelation,
  PartitionsExpression,
  PickAmount,
} from "./expression.ts";
import type { KnownNames } from "./known-names.ts";
import type { MessagePattern } from "./message-pattern.ts";
import { MESSAGE_NAMES, messageNamed } from "./message-pattern.ts";
import { nearestName } from "./nearest-name.ts";
import type { Place } from "./place.ts";
import type { Reading } from "./reading.ts";
import { shortened } from "./reading.ts";
import type { Token } from "./tokens.ts";
import { tokenize } from "./tokens.ts";
import {
  ALL_PARTITIONS,
  CLIENT_QUANTITIES,
  FUNCTION_NAMES,
  GROUP_QUANTITIES,
  GROUPS,
  PARTITION_QUANTITIES,
  RELATIONS,
} from "./vocabulary.ts";
import type { YamlScalar } from "./yaml-node.ts";

/** Longer expressions are refused, and with them any nesting that could exhaust the stack. */
const LONGEST_EXPRESSION = 500;

/** A set of nodes, or undefined after complaining. Draws (`any`, `minority`) are allowed. */
export function parseTarget(node: YamlScalar, reading: Reading): NodesExpression | undefined {
  return attempt(node, reading, true, (parser) => parser.wholeNodes());
}

/** A set of partitions, or undefined after complaining. */
export function parsePartitions(
  node: YamlScalar,
  reading: Reading,
): PartitionsExpression | undefined {
  return attempt(node, reading, false, (parser) => parser.wholePartitions());
}

/** Something that holds or does not, or undefined after complaining. Draws are not allowed. */
export function parsePredicate(node: YamlScalar, reading: Reading): BooleanExpression | undefined {
  return attempt(node, reading, false, (parser) => parser.wholeBoolean());
}

/** A number or a set to look at, or undefined after complaining: `epoch(orders-0)`. */
export function checkExpression(node: YamlScalar, reading: Reading): true | undefined {
  return attempt(node, reading, false, (parser) => parser.wholeAnything());
}

/** Does what the target means depend on chance? */
export function isDraw(target: NodesExpression): boolean {
  switch (target.kind) {
    case "pick":
      return true;
    case "alive":
      return isDraw(target.of);
    case "relation":
      return target.partitions.kind === "pick";
    case "combine":
      return isDraw(target.left) || isDraw(target.right);
    default:
      return false;
  }
}

/** Is it a message pattern rather than a predicate? */
export function isMessagePattern(text: string): boolean {
  return /^\s*(?:[0-9]+(?:st|nd|rd|th)\s+)?deliver\s*\(/.test(text);
}

/** `3rd deliver(ProduceResponse -> p1)`, or undefined after complaining. */
export function parseMessagePattern(
  node: YamlScalar,
  reading: Reading,
): MessagePattern | undefined {
  return attempt(node, reading, false, (parser) => parser.wholeMessagePattern());
}

function attempt<Result>(
  node: YamlScalar,
  reading: Reading,
  mayDraw: boolean,
  parse: (parser: ExpressionParser) => Result,
): Result | undefined {
  const { text } = node;
  if (text.length > LONGEST_EXPRESSION) {
    return reading.complain(node.place, `longer than ${LONGEST_EXPRESSION} characters`);
  }
  const tokens = tokenize(text);
  if (typeof tokens === "number") {
    const character = text.charAt(tokens);
    return reading.complain(placeIn(node, tokens, 1), `\`${character}\` has no meaning here`);
  }
  try {
    return parse(new ExpressionParser(tokens, text, reading.names, mayDraw));
  } catch (error) {
    if (!(error instanceof Misread)) throw error;
    const place = placeIn(node, error.start, error.end - error.start);
    return reading.complain(place, error.message, error.suggestion);
  }
}

/** The place of a part of a scalar's text; of the whole scalar if its text is not verbatim. */
function placeIn(node: YamlScalar, start: number, length: number): Place {
  if (node.textColumn === undefined) return node.place;
  const { line } = node.place;
  return { line, column: node.textColumn + start, length: Math.max(1, length) };
}

/** Ends the parse of one expression; becomes a complaint and goes no further. */
class Misread extends Error {
  readonly start: number;
  readonly end: number;
  readonly suggestion: string | undefined;

  constructor(message: string, start: number, end: number, suggestion?: string) {
    super(message);
    this.start = start;
    this.end = end;
    this.suggestion = suggestion;
  }
}

/** A part of an expression with its type, and where it stands. */
type Part = { readonly start: number; readonly end: number } & (
  | { readonly type: "nodes"; readonly value: NodesExpression }
  | { readonly type: "partitions"; readonly value: PartitionsExpression }
  | { readonly type: "number" | "duration"; readonly value: NumberExpression }
  | { readonly type: "boolean"; readonly value: BooleanExpression }
);

const TYPE_NAMES = {
  nodes: "a set of nodes",
  partitions: "a set of partitions",
  number: "a number",
  duration: "a duration",
  boolean: "a condition",
} as const;

/** What a name alone is taken for, where it could be several things. */
type Expected = "nodes" | "partitions";

class ExpressionParser {
  readonly #tokens: readonly Token[];
  readonly #text: string;
  readonly #names: KnownNames;
  readonly #mayDraw: boolean;
  #next = 0;

  constructor(tokens: readonly Token[], text: string, names: KnownNames, mayDraw: boolean) {
    this.#tokens = tokens;
    this.#text = text;
    this.#names = names;
    this.#mayDraw = mayDraw;
  }

  wholeNodes(): NodesExpression {
    const part = this.#nodes(this.#either("nodes"));
    this.#expectEnd();
    return part;
  }

  wholePartitions(): PartitionsExpression {
    const part = this.#partitions(this.#either("partitions"));
    this.#expectEnd();
    return part;
  }

  wholeBoolean(): BooleanExpression {
    const part = this.#either("nodes");
    if (part.type !== "boolean") this.#refuse(part, "a condition such as hw(orders-0) >= 100");
    this.#expectEnd();
    return part.value;
  }

  wholeAnything(): true {
    this.#either("nodes");
    this.#expectEnd();
    return true;
  }

  wholeMessagePattern(): MessagePattern {
    const first = this.#peek();
    let ordinal = 1;
    if (/^[0-9]+(st|nd|rd|th)$/.test(first.text)) {
      ordinal = Number.parseInt(this.#take().text, 10);
      if (ordinal < 1 || ordinal > 1_000_000_000) this.#wrong(first, "there is no such message");
    }
    this.#take();
    this.#expect("(");
    const name = this.#take();
    const message = messageNamed(name.text);
    if (message === undefined) this.#unknown(name, "message", MESSAGE_NAMES);
    const from = this.#isSymbol("->") ? undefined : this.#nodes(this.#either("nodes"));
    this.#expect("->");
    const to = this.#isSymbol(")") ? undefined : this.#nodes(this.#either("nodes"));
    this.#expect(")");
    this.#expectEnd();
    return { ordinal, ...message, from, to };
  }

  // From the loosest operator to the tightest.

  #either(expected: Expected): Part {
    let left = this.#both(expected);
    while (this.#isName("or")) {
      this.#take();
      left = this.#logical("or", left, this.#both(expected));
    }
    return left;
  }

  #both(expected: Expected): Part {
    let left = this.#negated(expected);
    while (this.#isName("and")) {
      this.#take();
      left = this.#logical("and", left, this.#negated(expected));
    }
    return left;
  }

  #logical(kind: "and" | "or", left: Part, right: Part): Part {
    if (left.type !== "boolean") this.#refuse(left, `a condition before \`${kind}\``);
    if (right.type !== "boolean") this.#refuse(right, `a condition after \`${kind}\``);
    const value: BooleanExpression = { kind, left: left.value, right: right.value };
    return { type: "boolean", value, start: left.start, end: right.end };
  }

  #negated(expected: Expected): Part {
    if (!this.#isName("not")) return this.#compared(expected);
    const { start } = this.#take();
    const operand = this.#negated(expected);
    if (operand.type !== "boolean") this.#refuse(operand, "a condition after `not`");
    const value: BooleanExpression = { kind: "not", operand: operand.value };
    return { type: "boolean", value, start, end: operand.end };
  }

  #compared(expected: Expected): Part {
    const left = this.#sum(expected);
    const operator = comparisonOf(this.#peek());
    if (operator === undefined) return left;
    this.#take();
    const right = this.#sum("nodes");
    const value = this.#comparison(operator, left, right);
    if (comparisonOf(this.#peek()) !== undefined) {
      this.#wrong(this.#peek(), "comparisons do not chain; join two with `and`");
    }
    return { type: "boolean", value, start: left.start, end: right.end };
  }

  #comparison(operator: Comparison, left: Part, right: Part): BooleanExpression {
    if (left.type === "nodes" && right.type === "nodes") {
      if (operator === "==" || operator === "!=") {
        return { kind: "compare-nodes", operator, left: left.value, right: right.value };
      }
      this.#wrongPart(right, "two sets of nodes compare with == or != only");
    }
    // A set beside a number stands for how many it has.
    const a = this.#counted(left);
    const b = this.#counted(right);
    if (a.type !== b.type) {
      // Zero needs no unit.
      const zero = [a, b].find((one) => one.value.kind === "literal" && one.value.value === 0);
      if (zero === undefined)
        this.#refuse(right, `${TYPE_NAMES[a.type]} as before \`${operator}\``);
    }
    return { kind: "compare-numbers", operator, left: a.value, right: b.value };
  }

  #counted(part: Part): {
    readonly type: "number" | "duration";
    readonly value: NumberExpression;
  } {
    if (part.type === "nodes") return { type: "number", value: { kind: "size", of: part.value } };
    if (part.type === "number" || part.type === "duration") return part;
    return this.#refuse(part, "a number or a set of nodes to compare");
  }

  #sum(expected: Expected): Part {
    let left = this.#product(expected);
    for (;;) {
      const operator = this.#isSymbol("+") ? "+" : this.#isSymbol("-") ? "-" : undefined;
      if (operator === undefined) return left;
      this.#take();
      left = this.#combined(operator, left, this.#product(expected));
    }
  }

  #product(expected: Expected): Part {
    let left = this.#primary(expected);
    for (;;) {
      const operator = this.#isSymbol("*") ? "*" : this.#isSymbol("&") ? "&" : undefined;
      if (operator === undefined) return left;
      this.#take();
      left = this.#combined(operator, left, this.#primary(expected));
    }
  }

  #combined(operator: "+" | "-" | "*" | "&", left: Part, right: Part): Part {
    const { start } = left;
    const { end } = right;
    if (left.type === "nodes" && right.type === "nodes" && operator !== "*") {
      const value: NodesExpression = {
        kind: "combine",
        operator,
        left: left.value,
        right: right.value,
      };
      return { type: "nodes", value, start, end };
    }
    const isNumber = left.type === "number" || left.type === "duration";
    if (!isNumber || operator === "&") return this.#refuse(left, `no \`${operator}\` after it`);
    if (right.type !== "number" && right.type !== "duration") {
      return this.#refuse(right, `${TYPE_NAMES[left.type]} after \`${operator}\``);
    }
    const bothDurations = left.type === "duration" && right.type === "duration";
    if (operator === "*" ? bothDurations : left.type !== right.type) {
      return this.#refuse(right, `${operator === "*" ? "a number" : TYPE_NAMES[left.type]} here`);
    }
    const value: NumberExpression = {
      kind: "arithmetic",
      operator,
      left: left.value,
      right: right.value,
    };
    const type = left.type === "duration" || right.type === "duration" ? "duration" : "number";
    return { type, value, start, end };
  }

  #primary(expected: Expected): Part {
    const token = this.#take();
    const { start, text } = token;
    const end = start + text.length;
    switch (token.kind) {
      case "number":
        return { type: "number", value: { kind: "literal", value: Number(text) }, start, end };
      case "duration": {
        const value = parseDuration(text, text);
        if (value instanceof Mistake) return this.#wrong(token, value.message);
        return { type: "duration", value: { kind: "literal", value }, start, end };
      }
      case "binding":
        return { type: "nodes", value: this.#binding(token), start, end };
      case "name":
        return this.#isSymbol("(") || text === "any"
          ? this.#call(token, expected)
          : this.#name(token, expected);
      case "symbol": {
        if (text !== "(") return this.#wrong(token, `\`${text}\` stands where a value should`);
        const inner = this.#either(expected);
        const close = this.#expect(")");
        return { ...inner, start, end: close.start + 1 };
      }
      case "end":
        return this.#wrong(token, "the expression ends where a value should stand");
      default:
        return unreachable(token.kind);
    }
  }

  #binding(token: Token): NodesExpression {
    const name = token.text.slice(1);
    const { bindings } = this.#names;
    if (!bindings.has(name)) {
      const all = [...bindings].map((one) => `$${one}`);
      const nearest = nearestName(token.text, all);
      const hint = nearest === undefined ? "" : `; did you mean \`${nearest}\`?`;
      this.#wrong(token, `no fault binds \`${token.text}\` with \`as: ${name}\`${hint}`, nearest);
    }
    return { kind: "binding", name };
  }

  #name(token: Token, expected: Expected): Part {
    const { text, start } = token;
    const end = start + text.length;
    const nodes = this.#nodeNamed(text);
    const partitions = this.#partitionsNamed(text);
    if (expected === "partitions" ? partitions !== undefined : nodes === undefined) {
      if (partitions !== undefined) return { type: "partitions", value: partitions, start, end };
    }
    if (nodes !== undefined) return { type: "nodes", value: nodes, start, end };
    if (FUNCTION_NAMES.includes(text)) {
      const argument = Object.hasOwn(CLIENT_QUANTITIES, text)
        ? "a client"
        : Object.hasOwn(GROUP_QUANTITIES, text)
          ? "a group"
          : "an argument";
      return this.#wrong(token, `\`${text}\` needs ${argument} in parentheses`);
    }
    const { names } = this;
    if (expected === "partitions") {
      if (!this.#names.areTopicsKnown) {
        return { type: "partitions", value: { kind: "partition", partition: text }, start, end };
      }
      return this.#unknown(token, "partition", names.partitions);
    }
    if (!this.#names.areNodesKnown) {
      return { type: "nodes", value: { kind: "node", name: text }, start, end };
    }
    return this.#unknown(token, "name", names.nodes);
  }

  /** What could stand in the place of a name, for suggestions. */
  get names(): { readonly nodes: readonly string[]; readonly partitions: readonly string[] } {
    const { nodes, topics } = this.#names;
    return {
      nodes: [...nodes.keys(), ...Object.keys(GROUPS), ...FUNCTION_NAMES],
      partitions: [...[...topics.values()].flat(), ...topics.keys(), ALL_PARTITIONS],
    };
  }

  #nodeNamed(text: string): NodesExpression | undefined {
    if (Object.hasOwn(GROUPS, text)) return { kind: "group", group: text as NodeGroup };
    return this.#names.nodes.has(text) ? { kind: "node", name: text } : undefined;
  }

  #partitionsNamed(text: string): PartitionsExpression | undefined {
    if (text === ALL_PARTITIONS) return { kind: "all-partitions" };
    for (const [topic, partitions] of this.#names.topics) {
      if (topic === text) return { kind: "topic", topic };
      if (partitions.includes(text)) return { kind: "partition", partition: text };
    }
    return undefined;
  }

  #call(token: Token, expected: Expected): Part {
    const { text, start } = token;
    if (text === "any" || text === "minority" || text === "majority") {
      return this.#pick(token, expected);
    }
    if (Object.hasOwn(RELATIONS, text)) {
      const partitions = this.#argument("partitions");
      const relation = text as PartitionRelation;
      const value: NodesExpression = {
        kind: "relation",
        relation,
        partitions: this.#partitions(partitions),
      };
      return { type: "nodes", value, start, end: this.#closed() };
    }
    if (Object.hasOwn(PARTITION_QUANTITIES, text)) return this.#partitionQuantity(token);
    if (Object.hasOwn(CLIENT_QUANTITIES, text)) return this.#clientQuantity(token);
    if (text === "rack") return this.#rack(token);
    if (Object.hasOwn(GROUP_QUANTITIES, text)) return this.#groupQuantity(token);
    if (text === "transaction-coordinator") return this.#transactionCoordinator(token);
    if (text === "group-coordinator") return this.#groupCoordinator(token);
    if (text === "alive" || text === "appending") {
      const of = this.#nodes(this.#argument("nodes"));
      const end = this.#closed();
      if (text === "alive") return { type: "nodes", value: { kind: "alive", of }, start, end };
      return { type: "boolean", value: { kind: "appending", nodes: of }, start, end };
    }
    return this.#unknown(token, "function", FUNCTION_NAMES);
  }

  /** `any(X)`, `any 2 of X`, `minority(X)`, `majority(X)`. */
  #pick(token: Token, expected: Expected): Part {
    if (!this.#mayDraw) this.#wrong(token, `\`${token.text}\` draws by chance; only targets can`);
    const counts = token.text === "any" && this.#peek().kind === "number";
    let amount: PickAmount = token.text === "any" ? 1 : (token.text as "minority" | "majority");
    let from: Part;
    if (counts) {
      const count = this.#take();
      amount = Number(count.text);
      if (!Number.isInteger(amount) || amount < 1) this.#wrong(count, "write how many, from 1 on");
      if (!this.#isName("of")) this.#wrong(this.#peek(), "write any 2 of brokers");
      this.#take();
      from = this.#primary(expected);
    } else {
      from = this.#argument(expected);
      this.#closed();
    }
    const { end } = from;
    const { start } = token;
    if (from.type === "nodes") {
      return { type: "nodes", value: { kind: "pick", amount, of: from.value }, start, end };
    }
    if (from.type === "partitions") {
      return { type: "partitions", value: { kind: "pick", amount, of: from.value }, start, end };
    }
    return this.#refuse(from, "nodes or partitions to choose from");
  }

  #partitionQuantity(token: Token): Part {
    const partition = this.#onePartition(this.#argument("partitions"), token.text);
    let broker: NodesExpression | undefined;
    if (
      (this.#isSymbol(",") || this.#isName("at")) &&
      (token.text === "hw" || token.text === "leo")
    ) {
      this.#take();
      broker = this.#nodes(this.#either("nodes"));
    }
    const value: NumberExpression = {
      kind: "of-partition",
      quantity: token.text as PartitionQuantity,
      partition,
      broker,
    };
    return { type: "number", value, start: token.start, end: this.#closed() };
  }

  #clientQuantity(token: Token): Part {
    this.#expect("(");
    const name = this.#take();
    const clients = [...this.#names.nodes].filter(([, role]) => role === "client");
    if (this.#names.areNodesKnown && !clients.some(([client]) => client === name.text)) {
      this.#unknown(
        name,
        "client",
        clients.map(([client]) => client),
      );
    }
    const quantity = token.text as ClientQuantity;
    let partition: PartitionName | undefined;
    if (this.#isName("of") && (quantity === "lag" || quantity === "current-lag")) {
      this.#take();
      partition = this.#onePartition(this.#either("partitions"), quantity);
    }
    const value: NumberExpression = { kind: "of-client", quantity, client: name.text, partition };
    const type = token.text === "stall" ? "duration" : "number";
    return { type, value, start: token.start, end: this.#closed() };
  }

  #rack(token: Token): Part {
    this.#expect("(");
    const name = this.#take();
    const { racks, areRacksKnown } = this.#names;
    if (areRacksKnown && !racks.has(name.text)) this.#unknown(name, "rack", [...racks]);
    const value: NodesExpression = { kind: "rack", rack: name.text };
    return { type: "nodes", value, start: token.start, end: this.#closed() };
  }

  #transactionCoordinator(token: Token): Part {
    this.#expect("(");
    const transactionalId = this.#take().text;
    const value: NodesExpression = { kind: "transaction-coordinator", transactionalId };
    return { type: "nodes", value, start: token.start, end: this.#closed() };
  }

  #groupCoordinator(token: Token): Part {
    const group = this.#group();
    const value: NodesExpression = { kind: "group-coordinator", group };
    return { type: "nodes", value, start: token.start, end: this.#closed() };
  }

  #groupQuantity(token: Token): Part {
    const group = this.#group();
    const quantity = token.text as GroupQuantity;
    const value: NumberExpression = { kind: "of-group", quantity, group };
    const type = quantity === "unowned" || quantity === "shared" ? "duration" : "number";
    return { type, value, start: token.start, end: this.#closed() };
  }

  #group(): string {
    this.#expect("(");
    const name = this.#take();
    const { areNodesKnown, groups } = this.#names;
    if (areNodesKnown && !groups.has(name.text)) this.#unknown(name, "group", [...groups]);
    return name.text;
  }

  #argument(expected: Expected): Part {
    this.#expect("(");
    return this.#either(expected);
  }

  /** Takes the closing parenthesis; where the call ends. */
  #closed(): number {
    return this.#expect(")").start + 1;
  }

  #nodes(part: Part): NodesExpression {
    return part.type === "nodes" ? part.value : this.#refuse(part, "a set of nodes");
  }

  #partitions(part: Part): PartitionsExpression {
    return part.type === "partitions" ? part.value : this.#refuse(part, "a partition");
  }

  #onePartition(part: Part, quantity: string): PartitionName {
    const partitions = this.#partitions(part);
    if (partitions.kind === "partition") return partitions.partition;
    return this.#wrongPart(part, `\`${quantity}\` takes one partition, such as orders-0`);
  }

  // Tokens.

  #peek(): Token {
    return this.#tokens[this.#next] ?? { kind: "end", text: "the end", start: this.#text.length };
  }

  #take(): Token {
    const token = this.#peek();
    if (token.kind !== "end") this.#next++;
    return token;
  }

  #isSymbol(text: string): boolean {
    const token = this.#peek();
    return token.kind === "symbol" && token.text === text;
  }

  #isName(text: string): boolean {
    const token = this.#peek();
    return token.kind === "name" && token.text === text;
  }

  #expect(symbol: string): Token {
    if (this.#isSymbol(symbol)) return this.#take();
    const token = this.#peek();
    if (token.kind !== "end") {
      return this.#wrong(token, `\`${token.text}\` stands where \`${symbol}\` should stand`);
    }
    // YAML has cut it in two: [ leo(orders-0, broker-1) ] is a list of two halves.
    const hint = "; between [ ] or { } a comma ends a value, so write leo(orders-0 at broker-1)";
    const cause = this.#isOneOfHalves() ? hint : "";
    return this.#wrong(token, `the expression ends where \`${symbol}\` should stand${cause}`);
  }

  #isOneOfHalves(): boolean {
    return /\b(hw|leo)\([^()]*$/.test(this.#text);
  }

  #expectEnd(): void {
    const token = this.#peek();
    if (token.kind === "end") return;
    const hint =
      token.kind === "name" || token.kind === "binding" ? "; is an operator missing?" : "";
    this.#wrong(token, `\`${token.text}\` stands after the end of the expression${hint}`);
  }

  // Ways to end.

  #wrong(token: Token, message: string, suggestion?: string): never {
    const length = token.kind === "end" ? 1 : token.text.length;
    throw new Misread(message, token.start, token.start + length, suggestion);
  }

  #wrongPart(part: Part, message: string): never {
    throw new Misread(message, part.start, part.end);
  }

  #refuse(part: Part, wanted: string): never {
    const found = shortened(this.#text.slice(part.start, part.end));
    this.#wrongPart(part, `\`${found}\` is ${TYPE_NAMES[part.type]}; wanted is ${wanted}`);
  }

  #unknown(token: Token, what: string, valid: readonly string[]): never {
    if (token.kind !== "name") {
      const found = token.kind === "end" ? "the expression ends" : `\`${token.text}\` stands`;
      this.#wrong(token, `${found} where the name of a ${what} should stand`);
    }
    const nearest = nearestName(token.text, valid);
    const glued = /^(.+)-([a-z]+)$/.exec(token.text);
    const apart = glued !== null && FUNCTION_NAMES.includes(glued[2] ?? "");
    const hint = apart
      ? "; a minus needs spaces around it"
      : nearest === undefined
        ? valid.length > 0 && valid.length <= 8
          ? `; there is ${valid.map((one) => `\`${one}\``).join(", ")}`
          : ""
        : `; did you mean \`${nearest}\`?`;
    this.#wrong(token, `unknown ${what} \`${shortened(token.text)}\`${hint}`, nearest);
  }
}

function comparisonOf(token: Token): Comparison | undefined {
  if (token.kind !== "symbol") return undefined;
  switch (token.text) {
    case "==":
    case "!=":
    case "<":
    case "<=":
    case ">":
    case ">=":
      return token.text;
    default:
      return undefined;
  }
}
