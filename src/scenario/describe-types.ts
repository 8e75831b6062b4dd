import { fail } from "../base/invariant.ts";
import { BY_DURATION_PATTERN } from "../kafka/client/reset-policy.ts";
import type { JsonSchema } from "./form.ts";
import { scenarioSchema } from "./read-scenario.ts";
import { DRAWN_DURATION, DURATION, SIGNED_DURATION } from "./scalar-form.ts";

/**
 * The file src/library/scenario-value.ts: what a scenario is as a value of TypeScript, every key with what it means,
 * from the schema and so from the forms that read it. The compiler then knows every key, word and config; that a step
 * has one fault, or that a topic exists, is seen when the value is read.
 */
export function describeTypes(): string {
  const types = new Types();
  types.declare(
    "ScenarioValue",
    scenarioSchema(),
    "A scenario as a value, in the shape of the YAML.",
  );
  return `${HEAD}\n${types.text()}`;
}

const HEAD = `// Written by describeTypes (src/scenario). To renew: npx vitest run test/unit/scenario/scenario-schema.test.ts --update

type Unit = "us" | "ms" | "s" | "m" | "h";
type Length = \`\${number}\${Unit}\` | \`\${number}\${Unit}\${number}\${Unit}\`;

/** \`250ms\`, \`1m30s\`; only 0 has no unit. */
export type DurationValue = 0 | Length;

/** Of either sign: \`-5s\`. */
export type SignedDurationValue = DurationValue | \`-\${Length}\`;

/** A duration, or how to draw one: \`uniform(1s..5s)\`, \`exponential(5s)\`, \`lognormal(p50=2s p99=40s)\`, \`one-of(1s|5s)\`. */
export type DrawnDurationValue =
  | DurationValue
  | \`\${"uniform" | "exponential" | "lognormal" | "one-of"}(\${string})\`;
`;

/** Forms that have a type of their own, by what they look like. */
const SCALARS = new Map<string, string>(
  [
    [DURATION.schema, "DurationValue"],
    [SIGNED_DURATION.schema, "SignedDurationValue"],
    [DRAWN_DURATION.schema, "DrawnDurationValue"],
    [{ type: "string", pattern: "^one-of\\(.+\\)$" }, drawnBy("one-of")],
    [{ type: "string", pattern: BY_DURATION_PATTERN.source }, `\`by_duration:$\{string}\``],
    [{ type: "string", pattern: "^uniform\\(.+[.][.].+\\)$" }, drawnBy("uniform")],
  ].map(([schema, type]) => [JSON.stringify(schema), String(type)]),
);

/** What the mappings are called, by the way to them; \`*\` is any of a list, or of names that a scenario chooses. */
const NAMES: Readonly<Record<string, string>> = {
  "/cluster": "ClusterValue",
  "/cluster/brokers/*": "BrokerValue",
  "/cluster/network": "NetworkValue",
  "/cluster/disk": "DiskValue",
  "/cluster/protocol": "ProtocolValue",
  "/topics/*": "TopicValue",
  "/clients/*/produce": "ProducerValue",
  "/clients/*/produce/transaction": "TransactionValue",
  "/clients/*/consume": "ConsumerValue",
  "/clients/*/process": "ProcessorValue",
  "/faults/*": "StepValue",
  "/random-faults": "RandomFaultsValue",
  "/random-faults/generators/*/shape": "ShapeGeneratorValue",
  "/random-faults/generators/*": "FaultGeneratorValue",
  "/variants/*": "VariantValue",
  "/lesson": "LessonValue",
};

/** Lists of words that have a name, likewise. */
const WORDS: Readonly<Record<string, string>> = {
  "/random-faults/generators/*": "ShapeName",
  "/random-faults/generators/*/shape": "ShapeName",
  "/expect/violation/violation": "ViolationKind",
};

const DEFINITIONS: Readonly<Record<string, string>> = {
  "broker-config": "BrokerConfigValue",
  "topic-config": "TopicConfigValue",
  "producer-config": "ProducerConfigValue",
  "consumer-config": "ConsumerConfigValue",
  expectation: "ExpectationValue",
};

const WIDTH = 100;
const UNMODELLED = "Not modelled";

class Types {
  readonly #declared = new Map<string, string>();

  text(): string {
    return [...this.#declared.values()].join("\n");
  }

  /** Takes the place of a name before its parts are told, so that what is whole stands before what it is made of. */
  declare(name: string, schema: JsonSchema, meaning: string, path: string = ""): void {
    if (this.#declared.has(name)) return;
    this.#declared.set(name, "");
    const definitions = partsOf(schema, "definitions");
    this.#declared.set(name, this.#interface(name, schema, meaning, path));
    for (const [key, definition] of definitions) {
      const known = DEFINITIONS[key] ?? fail(`a definition without a name: ${key}`);
      if (definition["anyOf"] === undefined) {
        const side = key.replace("-config", "");
        const configs = `Kafka's ${side} configs that are modelled, by Kafka's names.`;
        this.declare(known, definition, configs);
      } else {
        this.#declared.set(known, "");
        this.#declared.set(known, this.#expectations(known, definition));
      }
    }
  }

  #interface(name: string, schema: JsonSchema, meaning: string, path: string): string {
    const required = listOf(schema, "required");
    const lines = partsOf(schema, "properties").flatMap(([key, part]) => {
      const described = String(part["description"] ?? "");
      if (described.startsWith(UNMODELLED)) return [];
      const mark = required.includes(key) ? "" : "?";
      const property = /^[a-z]+$/.test(key) ? key : JSON.stringify(key);
      const type = this.#options(part, `${path}/${key}`);
      return [...comment(described, "  "), ...assigned(`  readonly ${property}${mark}:`, type)];
    });
    const head = [...comment(meaning, ""), `export interface ${name} {`];
    return `${[...head, ...lines, "}"].join("\n")}\n`;
  }

  #expectations(name: string, schema: JsonSchema): string {
    const [guarantees, ...kinds] = schemasOf(schema, "anyOf");
    const words = listOf(guarantees ?? {}, "enum").map((word) => JSON.stringify(word));
    const parts = kinds.map((kind) => {
      const [key = ""] = listOf(kind, "required");
      const part = `${pascal(key)}Expectation`;
      this.declare(part, kind, String(kind["description"]), `/expect/${key}`);
      return part;
    });
    return [
      ...comment("What will be so: a guarantee, by its name, or one of these.", ""),
      ...assigned(`export type ${name} =`, ["GuaranteeName", ...parts]),
      "",
      ...comment("The name of a guarantee: see docs/guarantees.md.", ""),
      ...assigned("export type GuaranteeName =", words),
      "",
    ].join("\n");
  }

  /** The members of the union that a part is. */
  #options(schema: JsonSchema, path: string): string[] {
    const { description: _, ...shape } = schema;
    const known = SCALARS.get(JSON.stringify(shape));
    if (known !== undefined) return [known];
    const reference = schema["$ref"];
    if (typeof reference === "string") {
      const name = reference.slice(reference.lastIndexOf("/") + 1);
      return [DEFINITIONS[name] ?? fail(`no such definition: ${name}`)];
    }
    const either = [...schemasOf(schema, "anyOf"), ...schemasOf(schema, "oneOf")];
    if (either.length > 0) {
      return [...new Set(either.flatMap((one) => this.#options(one, path)))];
    }
    if ("const" in schema) return [JSON.stringify(schema["const"])];
    const words: unknown = schema["enum"];
    if (Array.isArray(words)) {
      if (words.includes(true)) return ["boolean"];
      const options = words.map((word) => JSON.stringify(word));
      const name = WORDS[path];
      if (name === undefined) return options;
      this.#declared.set(name, `${assigned(`export type ${name} =`, options).join("\n")}\n`);
      return [name];
    }
    const { type } = schema;
    const types = Array.isArray(type) ? type.map(String) : [String(type)];
    return types.flatMap((one) => this.#ofType(one, schema, path));
  }

  #ofType(type: string, schema: JsonSchema, path: string): string[] {
    switch (type) {
      case "integer":
      case "number":
        return ["number"];
      case "string":
      case "boolean":
        return [type];
      case "array": {
        const items = schemaAt(schema, "items");
        // The sides of a partition: each a target, or a list of targets.
        if (items === undefined) return ["readonly string[]"];
        const options = this.#options(items, `${path}/*`);
        const [only = ""] = options;
        return [`readonly ${options.length === 1 ? only : `(${options.join(" | ")})`}[]`];
      }
      case "object":
        return [this.#object(schema, path)];
      default:
        return fail(`a schema of type ${type} at ${path}`);
    }
  }

  #object(schema: JsonSchema, path: string): string {
    const others = schemaAt(schema, "additionalProperties");
    if (others !== undefined) {
      return `Readonly<Record<string, ${this.#options(others, `${path}/*`).join(" | ")}>>`;
    }
    if (schema["properties"] === undefined) return "Readonly<Record<string, unknown>>";
    const [first = ""] = listOf(schema, "required");
    const own = NAMES[`${path}/${first}`] === undefined ? path : `${path}/${first}`;
    const name = NAMES[own];
    if (name !== undefined) {
      this.declare(name, schema, `\`${own.slice(1).replaceAll("/*", ", each")}\`.`, own);
      return name;
    }
    const required = listOf(schema, "required");
    const parts = partsOf(schema, "properties").map(([key, part]) => {
      const property = /^[a-z]+$/.test(key) ? key : JSON.stringify(key);
      const mark = required.includes(key) ? "" : "?";
      return `readonly ${property}${mark}: ${this.#options(part, `${path}/${key}`).join(" | ")}`;
    });
    return `{ ${parts.join("; ")} }`;
  }
}

function drawnBy(name: string): string {
  return `\`${name}($\{string})\``;
}

/** A property or a type, its members on lines of their own where one has no room for them. */
function assigned(head: string, options: readonly string[]): string[] {
  const line = `${head} ${options.join(" | ")};`;
  if (line.length <= WIDTH) return [line];
  const [only = ""] = options;
  if (options.length === 1) return brokenObject(head, only);
  const indent = " ".repeat(head.length - head.trimStart().length + 2);
  const lines = options.flatMap((option, i) => {
    const own = brokenObject(`${indent}|`, option);
    const last = own.pop() ?? "";
    return [...own, i === options.length - 1 ? last : last.slice(0, -1)];
  });
  return [head, ...lines];
}

/** A mapping that has no name and no room: a line for each of its keys, as the formatter has it. */
function brokenObject(head: string, option: string): string[] {
  const line = `${head} ${option};`;
  if (line.length <= WIDTH || !option.startsWith("{ ")) return [line];
  const margin = head.length - head.trimStart().length + (head.endsWith("|") ? 2 : 0);
  const indent = " ".repeat(margin);
  // Not where a mapping within it has its own.
  const parts = option.slice(2, -2).split(/; (?![^{]*\})/);
  return [`${head} {`, ...parts.map((part) => `${indent}  ${part};`), `${indent}};`];
}

/** Lines of a comment of the width that is left. */
function comment(words: string, indent: string): string[] {
  const text = words.replaceAll("*/", "*\\/");
  if (text === "") return [];
  const one = `${indent}/** ${text} */`;
  if (one.length <= WIDTH) return [one];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && `${indent} * ${line} ${word}`.length > WIDTH) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [`${indent}/**`, ...[...lines, line].map((each) => `${indent} * ${each}`), `${indent} */`];
}

function pascal(key: string): string {
  return key
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

function partsOf(schema: JsonSchema, keyword: string): (readonly [string, JsonSchema])[] {
  const parts = schema[keyword];
  return isMap(parts) ? Object.entries(parts).map(([key, part]) => [key, schemaOf(part)]) : [];
}

function schemasOf(schema: JsonSchema, keyword: string): JsonSchema[] {
  const parts = schema[keyword];
  return Array.isArray(parts) ? parts.map(schemaOf) : [];
}

function schemaAt(schema: JsonSchema, keyword: string): JsonSchema | undefined {
  const part = schema[keyword];
  return isMap(part) ? part : undefined;
}

function listOf(schema: JsonSchema, keyword: string): string[] {
  const words = schema[keyword];
  return Array.isArray(words) ? words.map(String) : [];
}

function schemaOf(value: unknown): JsonSchema {
  return isMap(value) ? value : fail("a schema that is none");
}

function isMap(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
