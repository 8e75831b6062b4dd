import type { Duration } from "../base/time.ts";
import { MINUTE } from "../base/time.ts";
import type { FaultKind, Parameter } from "../faults/fault-kind.ts";
import { FAULT_KINDS } from "../faults/registry.ts";
import type { DurationSpec } from "./draw.ts";
import { PREDICATE } from "./expression-form.ts";
import { parameterSchema, readArgument } from "./fault-argument.ts";
import type { Form, JsonSchema, Key } from "./form.ts";
import { expectList, expectMap, expectScalar, nameOf, readKeys } from "./form.ts";
import type { StepNames } from "./known-names.ts";
import { isMessagePattern, parseMessagePattern, parsePredicate } from "./parse-expression.ts";
import type { Place } from "./place.ts";
import type { Reading } from "./reading.ts";
import { shortened } from "./reading.ts";
import { DRAWN_DURATION, DURATION, FLAG, integer, KEBAB_NAME } from "./scalar-form.ts";
import type { ArgumentSpec, Binding, FaultAction, FaultSpec, Trigger } from "./scenario.ts";
import type { YamlEntry, YamlMap, YamlNode } from "./yaml-node.ts";
import { entryOf } from "./yaml-node.ts";

/** How long a condition is waited for, unless the scenario says otherwise. */
const DEFAULT_TIMEOUT: Duration = 2 * MINUTE;

/** `old`, or `{ to: stale-leader }`: checked when the fault is known. */
const AS: Form<YamlNode> = {
  takes: "a name",
  schema: {
    anyOf: [{ type: "string" }, { type: "object", additionalProperties: { type: "string" } }],
  },
  read: (node) => node,
};

const WHEN: Form<YamlNode> = {
  takes: "a condition such as hw(orders-0) >= 100",
  schema: { type: "string" },
  read: (node) => node,
};

const TRIGGERS = {
  at: { form: DRAWN_DURATION, meaning: "Fires at this time after the cluster is ready." },
  when: {
    form: WHEN,
    meaning:
      "Fires after the first event after which a condition holds: hw(orders-0) >= 100, or with a " +
      "message: 3rd deliver(ProduceResponse -> p1).",
  },
  after: { form: KEBAB_NAME, meaning: "Fires when the step of this name has." },
} satisfies Readonly<Record<string, Key<unknown>>>;

const MODIFIERS = {
  name: { form: KEBAB_NAME, meaning: "How other steps and expectations call it." },
  delay: { form: DRAWN_DURATION, meaning: "With `after`: how long after." },
  times: { form: integer(1, 1000), meaning: "With `when`: how often it may fire. Default 1." },
  timeout: { form: DURATION, meaning: "With `when`: how long it is waited for. Default 2m." },
  for: { form: DRAWN_DURATION, meaning: "After so long it ends by itself." },
  as: { form: AS, meaning: "Remembers its nodes, for $NAME in later targets." },
  optional: { form: FLAG, meaning: "It may never fire, or find that its target names no node." },
  keep: {
    form: PREDICATE,
    meaning: "Skipped if this would not hold without the nodes that it stops: alive(brokers) >= 2.",
  },
} satisfies Readonly<Record<string, Key<unknown>>>;

const GENERAL_KEYS: Readonly<Record<string, Key<unknown>>> = { ...TRIGGERS, ...MODIFIERS };

/** The keys that make a step a fault, a trigger or more precise, for the reference. */
export const STEP_KEYS: {
  readonly triggers: Readonly<Record<string, Key<unknown>>>;
  readonly modifiers: Readonly<Record<string, Key<unknown>>>;
} = { triggers: TRIGGERS, modifiers: MODIFIERS };

/** `faults:`. Steps that cannot be read are left out, after the complaints. */
export const FAULTS: Form<readonly FaultSpec[]> = {
  takes: "a list",
  schema: { type: "array", items: stepSchema() },
  read(node, reading, label) {
    const items = expectList(node, reading, label);
    if (items === undefined) return undefined;
    const steps: FaultSpec[] = [];
    const names = new Map<string, YamlMap>();
    for (const item of items) {
      const map = expectMap(item, reading, "a step");
      if (map === undefined) continue;
      const name = complainAboutTwin(map, names, reading);
      const step = readStep(map, steps.length, name, reading);
      if (step !== undefined) steps.push(step);
    }
    complainAboutOrder(items, names, reading);
    return steps;
  },
};

/** What `as` binds and `name` names anywhere in a list of steps, before they are read. */
export function namesOfSteps(node: YamlNode | undefined): StepNames {
  const bindings = new Set<string>();
  const steps = new Set<string>();
  const grown = new Map<string, number>();
  for (const item of node?.kind === "list" ? node.items : []) {
    if (item.kind !== "map") continue;
    const name = entryOf(item, "name")?.value;
    if (name?.kind === "scalar") steps.add(name.text);
    const as = entryOf(item, "as")?.value;
    if (as?.kind === "scalar") bindings.add(as.text);
    for (const { value } of as?.kind === "map" ? as.entries : []) {
      if (value.kind === "scalar") bindings.add(value.text);
    }
    const topic = entryOf(item, "add-partitions")?.value;
    const total = entryOf(item, "total")?.value;
    if (topic?.kind === "scalar" && total?.kind === "scalar") {
      grown.set(topic.text, Math.max(grown.get(topic.text) ?? 0, Number(total.value) || 0));
    }
  }
  return { bindings, steps, grown };
}

function complainAboutTwin(
  map: YamlMap,
  names: Map<string, YamlMap>,
  reading: Reading,
): string | undefined {
  const name = entryOf(map, "name")?.value;
  if (name?.kind !== "scalar") return undefined;
  if (names.has(name.text)) {
    reading.complain(name.place, `two steps have the name \`${shortened(name.text)}\``);
  } else names.set(name.text, map);
  return name.text;
}

/** `after` must name a step, and no step may wait for itself. */
function complainAboutOrder(
  items: readonly YamlNode[],
  names: ReadonlyMap<string, YamlMap>,
  reading: Reading,
): void {
  for (const item of items) {
    const after = item.kind === "map" ? entryOf(item, "after")?.value : undefined;
    if (item.kind !== "map" || after?.kind !== "scalar" || after.value === undefined) continue;
    if (!names.has(after.text)) {
      reading.unknown(after.place, "step", after.text, names.keys());
      continue;
    }
    const seen = new Set<YamlMap>();
    let step: YamlMap | undefined = item;
    while (step !== undefined && !seen.has(step)) {
      seen.add(step);
      const next: YamlNode | undefined = entryOf(step, "after")?.value;
      step = next?.kind === "scalar" ? names.get(next.text) : undefined;
      if (step === item) reading.complain(after.place, "this step waits for itself");
    }
  }
}

function readStep(
  map: YamlMap,
  number: number,
  name: string | undefined,
  reading: Reading,
): FaultSpec | undefined {
  const action = findAction(map, GENERAL_KEYS, "a step", reading);
  const values = readKeys(map, { ...TRIGGERS, ...MODIFIERS }, reading);
  const trigger = readTrigger(map, values, reading);
  const read = action && readAction(map, action, values, reading);
  if (read === undefined || trigger === undefined) return undefined;
  return { number, name, trigger, ...read };
}

/** One generator of random faults: a fault with neither name nor trigger, and how often it strikes. */
export function readGenerator(
  map: YamlMap,
  keys: Readonly<Record<string, Key<unknown>>>,
  reading: Reading,
): FaultAction | undefined {
  const action = findAction(map, keys, "a generator", reading);
  const { for: time } = readKeys(map, { for: MODIFIERS.for }, reading);
  const read = action && readAction(map, action, { for: time }, reading);
  return read && { ...read, optional: true };
}

type ActionValues = {
  readonly [Key in "for" | "optional" | "keep"]?: FaultAction[Key] | undefined;
};

function readAction(
  map: YamlMap,
  { kind, entry }: Action,
  values: ActionValues,
  reading: Reading,
): FaultAction | undefined {
  const given = readArguments(map, kind, entry, reading);
  if (given === undefined) return undefined;
  if (values.for !== undefined && !kind.heals) {
    const place = placeOfKey(map, "for");
    reading.complain(place, `\`${kind.name}\` is over at once; \`for\` means nothing to it`);
  }
  return {
    kind,
    arguments: given,
    for: values.for,
    bindings: readBindings(map, kind, given, reading),
    optional: values.optional ?? false,
    keep: values.keep,
    text: stepText(kind, entry, given),
    place: entry.keyPlace,
  };
}

/** The key of a step that names its fault. */
interface Action {
  readonly kind: FaultKind;
  readonly entry: YamlEntry;
}

/** The one key of a step that names a fault. All keys that mean nothing are complained about. */
function findAction(
  map: YamlMap,
  keys: Readonly<Record<string, Key<unknown>>>,
  what: string,
  reading: Reading,
): Action | undefined {
  const actions: Action[] = [];
  const strangers: YamlEntry[] = [];
  for (const entry of map.entries) {
    const kind = FAULT_KINDS.find((one) => one.name === entry.key);
    if (kind !== undefined) actions.push({ kind, entry });
    else if (!Object.hasOwn(keys, entry.key)) strangers.push(entry);
  }
  const [action, second] = actions;
  if (action === undefined) {
    const [stranger] = strangers.filter((entry) => !isParameter(entry.key));
    const names = FAULT_KINDS.map((kind) => kind.name);
    if (stranger === undefined) {
      return reading.complain(map.place, `${what} needs a fault: one of ${names.join(", ")}`);
    }
    return reading.unknown(stranger.keyPlace, "fault", stranger.key, [
      ...names,
      ...Object.keys(keys),
    ]);
  }
  if (second !== undefined) {
    const both = `\`${action.kind.name}\` and \`${second.kind.name}\` are two`;
    reading.complain(second.entry.keyPlace, `${what} has one fault; ${both}`);
  }
  const own = action.kind.subject === undefined ? [] : action.kind.parameters;
  for (const { key, keyPlace } of strangers) {
    if (own.some((parameter) => parameter.name === key)) continue;
    complainAboutStranger(key, keyPlace, action.kind, { keys, what }, reading);
  }
  return action;
}

function isParameter(key: string): boolean {
  return FAULT_KINDS.some(({ parameters }) => parameters.some(({ name }) => name === key));
}

function complainAboutStranger(
  key: string,
  place: Place,
  kind: FaultKind,
  { keys, what }: { readonly keys: Readonly<Record<string, Key<unknown>>>; readonly what: string },
  reading: Reading,
): void {
  const owners = FAULT_KINDS.filter(
    ({ subject, parameters }) =>
      subject !== undefined && parameters.some(({ name }) => name === key),
  );
  if (owners.length > 0) {
    const names = owners.map(({ name }) => `\`${name}\``).join(", ");
    reading.complain(place, `\`${key}\` means nothing to \`${kind.name}\`; it goes with ${names}`);
    return;
  }
  const own = kind.subject === undefined ? [] : kind.parameters.map(({ name }) => name);
  reading.unknown(place, `key of ${what}`, key, [
    ...own,
    ...Object.keys(keys),
    ...FAULT_KINDS.map(({ name }) => name),
  ]);
}

type StepValues = {
  readonly at?: DurationSpec | undefined;
  readonly when?: YamlNode | undefined;
  readonly after?: string | undefined;
  readonly delay?: DurationSpec | undefined;
  readonly times?: number | undefined;
  readonly timeout?: Duration | undefined;
};

function readTrigger(map: YamlMap, values: StepValues, reading: Reading): Trigger | undefined {
  const given = map.entries.filter(({ key }) => Object.hasOwn(TRIGGERS, key));
  const [first, second] = given;
  if (first === undefined) {
    return reading.complain(map.place, "a step needs a trigger: `at`, `when` or `after`");
  }
  if (second !== undefined) {
    const both = `\`${first.key}\` and \`${second.key}\` are two`;
    reading.complain(second.keyPlace, `a step has one trigger; ${both}`);
  }
  for (const [modifier, trigger] of [
    ["delay", "after"],
    ["times", "when"],
    ["timeout", "when"],
  ] as const) {
    if (entryOf(map, modifier) === undefined || first.key === trigger) continue;
    const place = placeOfKey(map, modifier);
    reading.complain(place, `\`${modifier}\` goes with \`${trigger}\`, not with \`${first.key}\``);
  }
  const { at, when, after, delay, times, timeout } = values;
  if (at !== undefined) return { kind: "at", time: at };
  if (after !== undefined) {
    return { kind: "after", fault: after, delay: delay ?? { kind: "fixed", value: 0 } };
  }
  return when && readCondition(when, times ?? 1, timeout ?? DEFAULT_TIMEOUT, reading);
}

function readCondition(
  node: YamlNode,
  times: number,
  timeout: Duration,
  reading: Reading,
): Trigger | undefined {
  const scalar = expectScalar(node, reading, "when", WHEN.takes);
  if (scalar === undefined) return undefined;
  const text = scalar.text.replace(/\s+/g, " ").trim();
  if (isMessagePattern(text)) {
    const pattern = parseMessagePattern(scalar, reading);
    return pattern && { kind: "message", pattern, text, times, timeout };
  }
  const predicate = parsePredicate(scalar, reading);
  return predicate && { kind: "when", predicate, text, times, timeout };
}

/** What the fault is told; undefined if some of it cannot be read. */
function readArguments(
  map: YamlMap,
  kind: FaultKind,
  entry: YamlEntry,
  reading: Reading,
): ReadonlyMap<string, ArgumentSpec> | undefined {
  const given = new Map<string, ArgumentSpec>();
  let isComplete = true;
  const take = (parameter: Parameter, found: YamlEntry | undefined): void => {
    if (found === undefined) {
      if (parameter.required === true) {
        reading.complain(entry.keyPlace, `\`${kind.name}\` needs the key \`${parameter.name}\``);
        isComplete = false;
      }
      return;
    }
    const argument = readArgument(parameter, found.value, reading);
    if (argument === undefined) isComplete = false;
    else given.set(parameter.name, argument);
  };
  let where = map;
  if (kind.subject !== undefined) take(kind.subject, entry);
  else {
    const inner = expectMap(entry.value, reading, kind.name);
    if (inner === undefined) return undefined;
    where = inner;
    const names = kind.parameters.map(({ name }) => name);
    for (const { key, keyPlace } of inner.entries) {
      if (!names.includes(key)) reading.unknown(keyPlace, `key of \`${kind.name}\``, key, names);
    }
  }
  for (const parameter of kind.parameters) take(parameter, entryOf(where, parameter.name));
  const names = new Set(
    kind.parameters.map(({ name }) => name).filter((name) => entryOf(where, name) !== undefined),
  );
  const complaint = kind.complain?.(names);
  if (complaint !== undefined) {
    reading.complain(entry.keyPlace, complaint);
    return undefined;
  }
  return isComplete ? given : undefined;
}

/** `as: old` binds what stands behind the fault's key; `as: { to: old }` one of its parameters. */
function readBindings(
  map: YamlMap,
  kind: FaultKind,
  given: ReadonlyMap<string, ArgumentSpec>,
  reading: Reading,
): readonly Binding[] {
  const as = entryOf(map, "as")?.value;
  if (as === undefined) return [];
  const targets = [...given].filter(([, one]) => one.kind === "nodes").map(([name]) => name);
  if (as.kind === "scalar") {
    const name = KEBAB_NAME.read(as, reading, "as");
    if (name === undefined) return [];
    if (targets.includes(kind.name)) return [{ parameter: kind.name, name }];
    const [first] = targets;
    const hint = first === undefined ? "it has no target" : `write \`as: { ${first}: ${name} }\``;
    reading.complain(as.place, `\`${kind.name}\` does not say which nodes to remember: ${hint}`);
    return [];
  }
  if (as.kind === "list") {
    reading.complain(as.place, `\`as\` takes a name, not ${nameOf(as)}`);
    return [];
  }
  const bindings: Binding[] = [];
  for (const { key, keyPlace, value } of as.entries) {
    const name = KEBAB_NAME.read(value, reading, "as");
    if (!targets.includes(key))
      reading.unknown(keyPlace, `target of \`${kind.name}\``, key, targets);
    else if (name !== undefined) bindings.push({ parameter: key, name });
  }
  return bindings;
}

function placeOfKey(map: YamlMap, key: string): Place {
  return entryOf(map, key)?.keyPlace ?? map.place;
}

function stepText(
  kind: FaultKind,
  entry: YamlEntry,
  given: ReadonlyMap<string, ArgumentSpec>,
): string {
  if (entry.value.kind === "scalar") return `${kind.name}: ${shortened(entry.value.text)}`;
  const parts = [...given].map(([name, { text }]) => (text === "" ? name : `${name}: ${text}`));
  return `${kind.name}: { ${parts.join(", ")} }`;
}

// The schema.

function stepSchema(): JsonSchema {
  const { allOf, ...shape } = actionSchema(GENERAL_KEYS);
  const triggers = Object.keys(TRIGGERS).map((name) => ({ required: [name] }));
  return { ...shape, allOf: [...allOf, { oneOf: triggers }] };
}

/** A mapping that has one fault, with what it is told, beside these keys. */
export function actionSchema(
  keys: Readonly<Record<string, Key<unknown>>>,
): JsonSchema & { readonly allOf: readonly JsonSchema[] } {
  const properties: Record<string, unknown> = {};
  for (const [name, key] of Object.entries(keys)) {
    properties[name] = { description: key.meaning, ...key.form.schema };
  }
  for (const { name, meaning, subject, parameters } of FAULT_KINDS) {
    if (subject === undefined) {
      properties[name] = { description: meaning, ...parametersSchema(parameters) };
      continue;
    }
    properties[name] = { description: meaning, ...parameterSchema(subject) };
    for (const parameter of parameters) {
      properties[parameter.name] ??= {
        description: parameter.meaning,
        ...parameterSchema(parameter),
      };
    }
  }
  return {
    type: "object",
    additionalProperties: false,
    properties,
    allOf: [{ oneOf: FAULT_KINDS.map(({ name }) => ({ required: [name] })) }],
  };
}

function parametersSchema(parameters: readonly Parameter[]): JsonSchema {
  const properties: Record<string, unknown> = {};
  for (const parameter of parameters) {
    properties[parameter.name] = { description: parameter.meaning, ...parameterSchema(parameter) };
  }
  return { type: "object", additionalProperties: false, properties };
}
