import { expect, test } from "vitest";
import type { FaultKind, Parameter } from "../../src/faults/fault-kind.ts";
import { FAULT_KINDS } from "../../src/faults/registry.ts";
import { STEP_KEYS } from "../../src/scenario/fault-form.ts";
import type { Story } from "../support/story.ts";
import { story } from "../support/story.ts";

/** Something that each type of parameter takes. */
const SAMPLES: Readonly<Record<Parameter["type"], string>> = {
  nodes: "broker-2",
  servers: "broker-2",
  clients: "p1",
  consumers: "c1",
  groups: "[[broker-1], [broker-2, broker-3]]",
  latency: "uniform(1ms..5ms)",
  stagger: "uniform(1s..2s)",
  duration: "20s",
  offset: "-5s",
  drift: "200ppm",
  factor: "10",
  count: "3",
  size: "10KiB",
  offsets: "100..200",
  bound: "high-watermark",
  position: "beginning",
  moment: "-5s",
  topic: "orders",
  partition: "orders-0",
  "log-directory": "kafka-logs",
  probability: "5%",
  bandwidth: "1MiB/s",
  word: "",
  text: "here",
};

function sample({ name, type, words }: Parameter): string {
  // The other end of a link.
  if (name === "to" || name === "with") return "broker-3";
  return type === "word" ? (words?.at(-1) ?? "") : SAMPLES[type];
}

/** The ways to write a fault that its parameters allow: with all that go together. */
function waysToWrite(kind: FaultKind): string[] {
  const { name, subject, parameters } = kind;
  const choices: Parameter[][] = [[], [...parameters]];
  for (const parameter of parameters) {
    choices.push(
      [parameter],
      parameters.filter((one) => one !== parameter),
    );
  }
  for (const one of parameters) {
    for (const other of parameters) if (one !== other) choices.push([one, other]);
  }
  const allowed = choices.filter((given) => {
    const names = new Set(given.map((parameter) => parameter.name));
    const required = parameters.filter((parameter) => parameter.required === true);
    return required.every((one) => names.has(one.name)) && kind.complain?.(names) === undefined;
  });
  const texts = allowed.map((given) => {
    const fields = given.map((parameter) => `${parameter.name}: ${sample(parameter)}`);
    if (subject === undefined) return `${name}: { ${fields.join(", ")} }`;
    return [`${name}: ${sample(subject)}`, ...fields].join(", ");
  });
  return [...new Set(texts)];
}

const WAYS = FAULT_KINDS.flatMap((kind) => waysToWrite(kind).map((text) => ({ kind, text })));

test("every fault can be written", () => {
  for (const kind of FAULT_KINDS) {
    expect(waysToWrite(kind), kind.name).not.toEqual([]);
  }
});

test.each(WAYS)(
  "a fault written `$text` begins, ends, and leaves the world healed",
  ({ kind, text }) => {
    const told = story(`  - { name: it, at: 1s, ${text}${kind.heals ? ", for: 5s" : ""} }`);

    told.run();

    expect(told.director.unfired()).toEqual([]);
    expect([...told.hands.open.keys()]).toEqual([]);
    if (kind.name !== "mark") expect(told.hands.log).not.toEqual([]);
    expect(told.told[0]).toMatch(new RegExp(`^1s ${kind.name} .+ \\[it\\]$`));
    if (kind.heals) expect(told.told[1]).toBe(`6s end of ${kind.name} [it]`);
    for (const { name, role } of told.roster.nodes) {
      if (role !== "client") expect(told.view.node(name).isAlive, name).toBe(true);
    }
  },
);

test.each(WAYS)(
  "a fault written `$text` that never ends is healed when the cluster settles",
  ({ text }) => {
    const told: Story = story(`  - { at: 1s, ${text} }`);

    told.run();

    expect([...told.hands.open.keys()]).toEqual([]);
    for (const { name, role } of told.roster.nodes) {
      if (role !== "client") expect(told.view.node(name).isAlive, name).toBe(true);
    }
  },
);

test("names of faults, their parameters and the keys of a step do not collide", () => {
  const general = [...Object.keys(STEP_KEYS.triggers), ...Object.keys(STEP_KEYS.modifiers)];
  const faults = FAULT_KINDS.map(({ name }) => name);
  const beside = FAULT_KINDS.flatMap(({ subject, parameters }) =>
    subject === undefined ? [] : parameters.map(({ name }) => name),
  );

  expect(new Set([...general, ...faults]).size).toBe(general.length + faults.length);
  expect(beside.filter((name) => general.includes(name) || faults.includes(name))).toEqual([]);
});
