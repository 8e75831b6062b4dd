/** One of Kafka's configs that the simulator models. */
export interface ConfigDefinition {
  readonly type: "number" | "boolean" | "text";
  readonly default: ConfigValue;
  /** Bounds of a number, both included. */
  readonly min?: number;
  readonly max?: number;
  /** A number between them that is refused. */
  readonly except?: number;
  /** May a number have decimals? */
  readonly isFraction?: boolean;
  readonly oneOf?: readonly string[];
  /** Besides those words, a text of this form. */
  readonly orLike?: TextForm;
  /** A text is a list with commas, each of which must be one of these. */
  readonly each?: readonly string[];
}

export interface TextForm {
  readonly pattern: RegExp;
  /** For people: `by_duration:PT1H`. */
  readonly example: string;
}

export type ConfigValue = number | boolean | string;

/** Kafka's config names with what each takes. */
export type ConfigTable = Readonly<Record<string, ConfigDefinition>>;

/** The values of a table: each name with its type. */
export type Configs<Table extends ConfigTable> = {
  readonly [Name in keyof Table]: Table[Name]["default"] extends number
    ? number
    : Table[Name]["default"] extends boolean
      ? boolean
      : string;
};

export function number(value: number, min?: number, max?: number): NumberDefinition {
  return {
    type: "number",
    default: value,
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  };
}

/** A number between 0 and 1, or other bounds, with decimals. */
export function fraction(value: number, min: number = 0, max: number = 1): NumberDefinition {
  return { ...number(value, min, max), isFraction: true };
}

export function boolean(value: boolean): BooleanDefinition {
  return { type: "boolean", default: value };
}

export function text(value: string, oneOf?: readonly string[], orLike?: TextForm): TextDefinition {
  return {
    type: "text",
    default: value,
    ...(oneOf === undefined ? {} : { oneOf }),
    ...(orLike === undefined ? {} : { orLike }),
  };
}

/** A list of words, written with commas. */
export function list(value: string, each: readonly string[]): TextDefinition {
  return { type: "text", default: value, each };
}

export interface NumberDefinition extends ConfigDefinition {
  readonly type: "number";
  readonly default: number;
}

export interface BooleanDefinition extends ConfigDefinition {
  readonly type: "boolean";
  readonly default: boolean;
}

export interface TextDefinition extends ConfigDefinition {
  readonly type: "text";
  readonly default: string;
}

/**
 * What is wrong with a value for a config, or undefined. Numbers and booleans may also be given
 * as text, as in a properties file.
 */
export function complainAboutConfig(
  definition: ConfigDefinition,
  value: unknown,
): string | undefined {
  const parsed = parseConfig(definition, value);
  if (parsed === undefined)
    return `takes a ${definition.type === "text" ? "text" : definition.type}`;
  if (typeof parsed === "number") {
    const { min, max, except, isFraction } = definition;
    if (isFraction !== true && !Number.isSafeInteger(parsed)) return "takes a whole number";
    if (min !== undefined && parsed < min) return `must be at least ${min}`;
    if (max !== undefined && parsed > max) return `must be at most ${max}`;
    if (parsed === except) return `must not be ${except}`;
  }
  const { oneOf, each, orLike } = definition;
  if (each !== undefined) {
    const stranger = String(parsed)
      .split(",")
      .find((word) => !each.includes(word.trim()));
    if (stranger !== undefined) return `takes a list of ${each.join(", ")}`;
  }
  if (oneOf !== undefined && !oneOf.includes(String(parsed))) {
    if (orLike?.pattern.test(String(parsed)) === true) return undefined;
    const words = oneOf.join(", ");
    if (orLike !== undefined) return `must be one of ${words}, or like ${orLike.example}`;
    return `must be one of ${words}`;
  }
  return undefined;
}

/** The value in the definition's type, or undefined if it is of another. */
export function parseConfig(definition: ConfigDefinition, value: unknown): ConfigValue | undefined {
  if (definition.type === "text") {
    return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  }
  if (definition.type === "boolean") {
    if (typeof value === "boolean") return value;
    return value === "true" ? true : value === "false" ? false : undefined;
  }
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  return typeof value === "string" && /^-?[0-9]+(\.[0-9]+)?$/.test(value)
    ? Number(value)
    : undefined;
}

/** All values of a table: its defaults, overridden. Overrides have been checked before. */
export function resolveConfigs<Table extends ConfigTable>(
  table: Table,
  ...overrides: readonly Readonly<Record<string, unknown>>[]
): Configs<Table> {
  const values: Record<string, ConfigValue> = {};
  for (const [name, definition] of Object.entries(table)) {
    let value = definition.default;
    for (const override of overrides) {
      const given = override[name];
      if (given !== undefined) value = parseConfig(definition, given) ?? value;
    }
    values[name] = value;
  }
  // Engines make a hash table of an object that is filled name by name, and a record of one that is parsed:
  // logs read their configs for every batch. Each name has been given a value of its definition's type.
  return JSON.parse(JSON.stringify(values)) as Configs<Table>;
}
