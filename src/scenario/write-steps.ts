import { unreachable } from "../base/invariant.ts";
import type { DurationSpec } from "./draw.ts";
import { formatDuration } from "./duration.ts";
import type { ArgumentSpec, FaultSpec, Trigger } from "./scenario.ts";
import { writeTarget } from "./write-target.ts";

/** How long a condition is waited for where nothing is said of it: see `timeout` of a step. */
const UNSAID = new Set(["timeout: 2m", "times: 1"]);

/** A step in one line: `at 3s, crash: broker-2, for 4s`. */
export function describeStep({ trigger, text, for: time }: FaultSpec): string {
  const when = triggerLines(trigger).map((line) => line.replace(": ", " "));
  return [...when, text, ...(time === undefined ? [] : [`for ${writeDuration(time)}`])].join(", ");
}

/**
 * Steps as YAML, to stand under `faults:`: read again they are the same, but for their places and
 * numbers. Ends with a newline; empty for no steps.
 */
export function writeSteps(steps: readonly FaultSpec[]): string {
  return steps
    .flatMap((step) => linesOf(step).map((line, i) => `  ${i === 0 ? "- " : "  "}${line}\n`))
    .join("");
}

function linesOf(step: FaultSpec): string[] {
  const { name, kind, trigger, bindings, optional, keep } = step;
  return [
    ...(name === undefined ? [] : [`name: ${plain(name)}`]),
    ...triggerLines(trigger),
    ...faultLines(step),
    ...(step.for === undefined ? [] : [`for: ${writeDuration(step.for)}`]),
    ...bindings.map((binding) =>
      binding.parameter === kind.name ? `as: ${plain(binding.name)}` : "",
    ),
    ...innerBindings(step),
    ...(optional ? ["optional: true"] : []),
    ...(keep === undefined ? [] : [`keep: ${plain(keep.text)}`]),
  ].filter((line) => line !== "");
}

/** Nodes of one parameter among others: `as: { to: stale-leader }`. */
function innerBindings({ kind, bindings }: FaultSpec): string[] {
  const inner = bindings.filter(({ parameter }) => parameter !== kind.name);
  if (inner.length === 0) return [];
  const pairs = inner.map(({ parameter, name }) => `${parameter}: ${plain(name)}`);
  return [`as: { ${pairs.join(", ")} }`];
}

function triggerLines(trigger: Trigger): string[] {
  switch (trigger.kind) {
    case "at":
      return [`at: ${writeDuration(trigger.time)}`];
    case "after":
      return [`after: ${plain(trigger.fault)}`, `delay: ${writeDuration(trigger.delay)}`];
    case "when":
    case "message": {
      const { text, times, timeout } = trigger;
      const more = [`times: ${times}`, `timeout: ${formatDuration(timeout)}`];
      return [`when: ${plain(text)}`, ...more.filter((line) => !UNSAID.has(line))];
    }
    default:
      return unreachable(trigger);
  }
}

function faultLines({ kind, arguments: given }: FaultSpec): string[] {
  if (kind.subject === undefined) {
    return [
      `${kind.name}:`,
      ...[...given].map(([name, value]) => `  ${name}: ${writeArgument(value)}`),
    ];
  }
  return [...given].map(([name, value]) => `${name}: ${writeArgument(value)}`);
}

function writeArgument(argument: ArgumentSpec): string {
  if (argument.kind !== "groups") return plain(argument.text);
  const groups = argument.groups.map((group) => `[${JSON.stringify(writeTarget(group))}]`);
  return `[${groups.join(", ")}]`;
}

function writeDuration(spec: DurationSpec): string {
  switch (spec.kind) {
    case "fixed":
      return formatDuration(spec.value);
    case "uniform":
      return `uniform(${formatDuration(spec.low)}..${formatDuration(spec.high)})`;
    case "exponential":
      return `exponential(${formatDuration(spec.mean)})`;
    case "lognormal":
      return `lognormal(p50=${formatDuration(spec.p50)} p99=${formatDuration(spec.p99)})`;
    case "one-of":
      return `one-of(${spec.options.map(formatDuration).join("|")})`;
    default:
      return unreachable(spec);
  }
}

/** Without quotes where YAML takes it for this very text; JSON's quotes are YAML's, too. */
function plain(text: string): string {
  const isPlain =
    /^-?[A-Za-z0-9$(][^\n"'#]*$/.test(text) && !/: |:$|\s$|^(true|false|null)$/.test(text);
  return isPlain ? text : JSON.stringify(text);
}
