import type { Duration } from "../base/time.ts";
import { HOUR, SECOND } from "../base/time.ts";
import type { OffsetRange } from "../ports/disk-failure.ts";
import type { Ratio } from "../ports/random.ts";
import type { DurationSpec, IntegerSpec, RateSpec, WordSpec } from "./draw.ts";
import { DURATION_PATTERN, Mistake, parseDuration } from "./duration.ts";
import type { Form, JsonSchema } from "./form.ts";
import { expectScalar } from "./form.ts";
import { shortened } from "./reading.ts";

/** A form of one scalar, read from its text. */
function scalar<Value>(
  takes: string,
  schema: JsonSchema,
  parse: (text: string, label: string) => Value | Mistake | undefined,
): Form<Value> {
  return {
    takes,
    schema,
    read(node, reading, label) {
      const found = expectScalar(node, reading, label, takes);
      if (found === undefined) return undefined;
      const value = parse(found.text.trim(), label);
      if (value instanceof Mistake) return reading.complain(found.place, value.message);
      if (value !== undefined) return value;
      const text = shortened(found.text);
      return reading.complain(found.place, `\`${label}\` takes ${takes}, not \`${text}\``);
    },
  };
}

/** Any text, not empty. */
export const TEXT: Form<string> = scalar("a text", { type: "string" }, (text) =>
  text === "" ? undefined : text,
);

export const FLAG: Form<boolean> = scalar("true or false", { type: "boolean" }, (text) =>
  text === "true" ? true : text === "false" ? false : undefined,
);

/** A name of lower-case letters, digits and hyphens. */
export const KEBAB_NAME: Form<string> = scalar(
  "a name of lower-case letters, digits and hyphens",
  { type: "string", pattern: "^[a-z0-9][a-z0-9-]*$" },
  (text) => (/^[a-z0-9][a-z0-9-]*$/.test(text) && text.length <= 100 ? text : undefined),
);

/** One of a few words. */
export function word<Word extends string>(words: readonly Word[]): Form<Word> {
  return {
    takes: `one of ${words.join(", ")}`,
    schema: { enum: words },
    read(node, reading, label) {
      const found = expectScalar(node, reading, label, this.takes);
      if (found === undefined) return undefined;
      const known = words.find((one) => one === found.text);
      return known ?? reading.unfit(found.place, label, found.text, words);
    },
  };
}

/** A word that the plan may draw: `one-of(both|to|from)`. */
export function drawnWord(words: readonly string[]): Form<WordSpec> {
  const known = word(words);
  return {
    takes: `${known.takes}, or one-of(${words.join("|")})`,
    schema: { anyOf: [known.schema, ONE_OF_SCHEMA] },
    read(node, reading, label) {
      const options = node.kind === "scalar" ? optionsOf(node.text) : undefined;
      if (options === undefined) {
        const value = known.read(node, reading, label);
        return value === undefined ? undefined : { kind: "fixed", value };
      }
      for (const option of options) {
        if (words.includes(option)) continue;
        return reading.unfit(node.place, label, option, words);
      }
      return { kind: "one-of", options };
    },
  };
}

/** An integer from `min` to `max`. */
export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): Form<number> {
  const takes = integerRange(min, max);
  return scalar(takes, integerSchema(min, max), (text) => parseInteger(text, min, max));
}

/** An integer that the plan may draw: `one-of(3|5)`, `uniform(3..5)`. */
export function drawnInteger(
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): Form<IntegerSpec> {
  const takes = `${integerRange(min, max)}, or a draw such as one-of(${min}|${min + 2})`;
  const schema = { anyOf: [integerSchema(min, max), ONE_OF_SCHEMA, UNIFORM_SCHEMA] };
  return scalar<IntegerSpec>(takes, schema, (text) => {
    const options = optionsOf(text)?.map((option) => parseInteger(option, min, max));
    if (options !== undefined) {
      const known = options.filter((option) => option !== undefined);
      return known.length === options.length ? { kind: "one-of", options: known } : undefined;
    }
    const range = rangeOf(text);
    if (range === undefined) {
      const value = parseInteger(text, min, max);
      return value === undefined ? undefined : { kind: "fixed", value };
    }
    const low = parseInteger(range.low, min, max);
    const high = parseInteger(range.high, min, max);
    if (low === undefined || high === undefined || low > high) return undefined;
    return { kind: "uniform", low, high };
  });
}

function integerRange(min: number, max: number): string {
  const upper = max === Number.MAX_SAFE_INTEGER ? "" : ` to ${max}`;
  return upper === "" ? `an integer from ${min} on` : `an integer from ${min}${upper}`;
}

function integerSchema(min: number, max: number): JsonSchema {
  const maximum = max === Number.MAX_SAFE_INTEGER ? {} : { maximum: max };
  return { type: "integer", minimum: min, ...maximum };
}

function parseInteger(text: string, min: number, max: number): number | undefined {
  if (!/^-?[0-9]{1,16}$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= min && value <= max ? value : undefined;
}

const DURATION_SCHEMA: JsonSchema = {
  anyOf: [{ const: 0 }, { type: "string", pattern: DURATION_PATTERN }],
};
const ONE_OF_SCHEMA: JsonSchema = { type: "string", pattern: "^one-of\\(.+\\)$" };
const UNIFORM_SCHEMA: JsonSchema = { type: "string", pattern: "^uniform\\(.+[.][.].+\\)$" };

/** A known duration; a unit is required, except for 0. */
export const DURATION: Form<Duration> = scalar(
  "a duration such as 250ms or 1m30s",
  DURATION_SCHEMA,
  (text, label) => {
    if (/^(uniform|exponential|lognormal|one-of)\(/.test(text)) {
      return new Mistake(`\`${label}\` cannot be drawn; write a duration such as 30s`);
    }
    return parseDuration(text, label);
  },
);

/** A duration of either sign: `-5s`. */
export const SIGNED_DURATION: Form<Duration> = scalar(
  "a duration such as 5s or -5s",
  { anyOf: [{ const: 0 }, { type: "string", pattern: DURATION_PATTERN.replace("^(", "^-?(") }] },
  (text, label) => {
    const length = parseDuration(text.replace(/^-\s*/, ""), label);
    return length instanceof Mistake || !text.startsWith("-") ? length : -length;
  },
);

/** A duration, or how to draw one: `uniform(1s..15s)`, `lognormal(p50=2s p99=40s)`. */
export const DRAWN_DURATION: Form<DurationSpec> = scalar(
  "a duration such as 250ms, or a draw such as uniform(1s..15s)",
  {
    anyOf: [
      { const: 0 },
      { type: "string", pattern: DURATION_PATTERN },
      { type: "string", pattern: "^(uniform|exponential|lognormal|one-of)\\(.+\\)$" },
    ],
  },
  parseDurationSpec,
);

function parseDurationSpec(text: string, label: string): DurationSpec | Mistake {
  const call = /^([a-z-]+)\((.*)\)$/.exec(text);
  if (call === null) {
    const value = parseDuration(text, label);
    return value instanceof Mistake ? value : { kind: "fixed", value };
  }
  const [, name, inside] = call;
  switch (name) {
    case "uniform":
      return parseUniform(text, label);
    case "exponential": {
      const mean = parseDuration(inside ?? "", label);
      return mean instanceof Mistake ? mean : { kind: "exponential", mean };
    }
    case "lognormal":
      return parseLognormal(inside ?? "", label);
    case "one-of":
      return parseOneOf(text, label);
    default:
      return new Mistake(
        `unknown draw \`${shortened(name ?? "")}\`; there are uniform(1s..5s), exponential(5s), ` +
          "lognormal(p50=2s p99=40s) and one-of(1s|5s)",
      );
  }
}

/** What the simulator's own distributions can do. */
const WIDEST_UNIFORM: Duration = HOUR;
const WIDEST_LOGNORMAL = 1_000_000;

function parseUniform(text: string, label: string): DurationSpec | Mistake {
  const range = rangeOf(text);
  if (range === undefined) return new Mistake(`\`${label}\` takes uniform(LOW..HIGH)`);
  const low = parseDuration(range.low, label);
  const high = parseDuration(range.high, label);
  if (low instanceof Mistake) return low;
  if (high instanceof Mistake) return high;
  if (high - low > WIDEST_UNIFORM) return new Mistake(`\`${label}\`: LOW..HIGH may span 1h`);
  if (low > high) return new Mistake(`\`${label}\`: ${range.low} is more than ${range.high}`);
  return { kind: "uniform", low, high };
}

function parseLognormal(inside: string, label: string): DurationSpec | Mistake {
  const quantiles = /^\s*p50=(\S+)\s+p99=(\S+)\s*$/.exec(inside);
  if (quantiles === null) return new Mistake(`\`${label}\` takes lognormal(p50=2s p99=40s)`);
  const p50 = parseDuration(quantiles[1] ?? "", label);
  const p99 = parseDuration(quantiles[2] ?? "", label);
  if (p50 instanceof Mistake) return p50;
  if (p99 instanceof Mistake) return p99;
  if (p50 <= 0) return new Mistake(`\`${label}\`: p50 must be more than 0`);
  if (p99 > p50 * WIDEST_LOGNORMAL) {
    return new Mistake(`\`${label}\`: p99 may be ${WIDEST_LOGNORMAL} times p50 at most`);
  }
  if (p99 < p50) return new Mistake(`\`${label}\`: p99 must be at least p50`);
  return { kind: "lognormal", p50, p99 };
}

function parseOneOf(text: string, label: string): DurationSpec | Mistake {
  const options: Duration[] = [];
  for (const option of optionsOf(text) ?? []) {
    const value = parseDuration(option, label);
    if (value instanceof Mistake) return value;
    options.push(value);
  }
  if (options.length === 0) return new Mistake(`\`${label}\` takes one-of(1s|5s)`);
  return { kind: "one-of", options };
}

/** A rate: `100/s`, or `exponential(50/s)` for random moments. */
export const RATE: Form<RateSpec> = scalar(
  "a rate such as 100/s",
  { type: "string", pattern: "^(exponential\\()?[0-9]+([.][0-9]+)?/(ms|s|m|h)\\)?$" },
  (text) => {
    const found = /^(exponential\()?([0-9]+(?:[.][0-9]+)?)\/(ms|s|m|h)(\))?$/.exec(text);
    if (found === null || (found[1] === undefined) !== (found[4] === undefined)) return undefined;
    const count = Number(found[2]);
    const per = parseDuration(`1${found[3]}`, "rate");
    if (per instanceof Mistake || count <= 0) return undefined;
    if (count * SECOND > per * 1_000_000) return new Mistake("a rate is at most 1000000/s");
    return { kind: found[1] === undefined ? "steady" : "exponential", count, per };
  },
);

const SIZE_UNITS: Readonly<Record<string, number>> = {
  "": 1,
  B: 1,
  kB: 1000,
  KB: 1000,
  KiB: 1024,
  MB: 1_000_000,
  MiB: 1_048_576,
  GB: 1_000_000_000,
  GiB: 1_073_741_824,
};
/** What a page cache writes back at a time. */
const PAGE = 4096;
const SIZE = "([0-9]+(?:[.][0-9]+)?) ?(B|kB|KB|KiB|MB|MiB|GB|GiB)?";

function parseSize(amount: string | undefined, unit: string | undefined): number | undefined {
  const bytes = Number(amount) * (SIZE_UNITS[unit ?? ""] ?? Number.NaN);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** A number of bytes: `700`, `4KiB`. */
export function size(min: number, max: number): Form<number> {
  return scalar(
    `a size from ${min} to ${max} bytes, such as 700 or 4KiB`,
    {
      anyOf: [
        { type: "integer", minimum: min },
        { type: "string", pattern: `^${SIZE}$` },
      ],
    },
    (text) => {
      const found = new RegExp(`^${SIZE}$`).exec(text);
      const bytes = found === null ? undefined : parseSize(found[1], found[2]);
      return bytes === undefined || bytes < min || bytes > max ? undefined : bytes;
    },
  );
}

/** Offsets, the last one not included: `100..200`. */
export const OFFSETS: Form<OffsetRange> = scalar(
  "offsets such as 100..200, of which the last is not one",
  { type: "string", pattern: "^[0-9]+[.][.][0-9]+$" },
  (text) => {
    const found = /^([0-9]+)[.][.]([0-9]+)$/.exec(text);
    const [from, to] = [Number(found?.[1]), Number(found?.[2])];
    return Number.isSafeInteger(to) && from < to ? { from, to } : undefined;
  },
);

/** How far records go: an offset, or `high-watermark`, which is -1. */
export const BOUND: Form<number> = scalar(
  "an offset, or high-watermark",
  { anyOf: [{ type: "integer", minimum: 0 }, { const: "high-watermark" }] },
  (text) => {
    if (text === "high-watermark") return -1;
    const offset = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
    return Number.isSafeInteger(offset) ? offset : undefined;
  },
);

/** Where in a log: an offset, `beginning` or `end`, which are -2 and -1. */
export const POSITION: Form<number> = scalar(
  "an offset, beginning or end",
  { anyOf: [{ type: "integer", minimum: 0 }, { enum: ["beginning", "end"] }] },
  (text) => {
    if (text === "beginning") return -2;
    if (text === "end") return -1;
    const offset = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
    return Number.isSafeInteger(offset) ? offset : undefined;
  },
);

/** The unit in which a disk writes: a page of 4 KiB is a whole number of them. */
export const SECTOR: Form<number> = scalar(
  "a size that divides 4096 bytes, such as 512 or 4KiB",
  {
    anyOf: [
      { type: "integer", minimum: 1, maximum: PAGE },
      { type: "string", pattern: `^${SIZE}$` },
    ],
  },
  (text) => {
    const found = new RegExp(`^${SIZE}$`).exec(text);
    const bytes = found === null ? undefined : parseSize(found[1], found[2]);
    return bytes === undefined || bytes < 1 || PAGE % bytes !== 0 ? undefined : bytes;
  },
);

/** Bytes a second: `100MiB/s`. */
export const BANDWIDTH: Form<number> = scalar(
  "a bandwidth such as 100MiB/s",
  { type: "string", pattern: `^${SIZE}/s$` },
  (text) => {
    const found = new RegExp(`^${SIZE}/s$`).exec(text);
    const bytes = found === null ? undefined : parseSize(found[1], found[2]);
    return bytes === undefined || bytes < 1 ? undefined : bytes;
  },
);

const MILLION = 1_000_000;

/** A probability, `0.05` or `5%`, in millionths. */
export const PROBABILITY: Form<Ratio> = scalar(
  "a probability such as 0.05 or 5%",
  {
    anyOf: [
      { type: "number", minimum: 0, maximum: 1 },
      { type: "string", pattern: "^[0-9]+([.][0-9]+)?%$" },
    ],
  },
  (text) => {
    const found = /^([0-9]+(?:[.][0-9]+)?|[.][0-9]+)(%)?$/.exec(text);
    if (found === null) return undefined;
    const times = Math.round(Number(found[1]) * (found[2] === undefined ? MILLION : MILLION / 100));
    return times > MILLION ? undefined : { times, outOf: MILLION };
  },
);

/** A clock's drift in parts per million: `200ppm`, `-200ppm`. */
export const DRIFT: Form<number> = scalar(
  "a drift such as 200ppm or -200ppm",
  { type: "string", pattern: "^-?[0-9]+ppm$" },
  (text) => {
    const found = /^(-?[0-9]{1,6})ppm$/.exec(text);
    return found === null ? undefined : Number(found[1]);
  },
);

/** The options of `one-of(a|b)`, trimmed; undefined if the text is no such draw. */
function optionsOf(text: string): string[] | undefined {
  const found = /^one-of\((.+)\)$/.exec(text.trim());
  return found?.[1]?.split("|").map((option) => option.trim());
}

function rangeOf(text: string): { low: string; high: string } | undefined {
  const found = /^uniform\(\s*(.+?)\s*[.][.]\s*(.+?)\s*\)$/.exec(text);
  return found === null ? undefined : { low: found[1] ?? "", high: found[2] ?? "" };
}
