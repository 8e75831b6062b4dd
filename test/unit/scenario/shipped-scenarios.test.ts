import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { byText } from "../../../src/base/order.ts";
import { FAULT_KINDS } from "../../../src/faults/registry.ts";
import type { Scenario } from "../../../src/scenario/scenario.ts";
import { complaintsOf, scenarioOf } from "../../support/scenario-text.ts";

const FILES = readdirSync("scenarios")
  .filter((file) => file.endsWith(".yaml"))
  .sort(byText);

test.each(FILES)("%s is read without a complaint, and so is each of its variants", (file) => {
  const text = readFileSync(`scenarios/${file}`, "utf8");

  expect(complaintsOf(text)).toEqual([]);
  expect(`${scenarioOf(text).name}.yaml`).toBe(file);
});

test("every way in which a disk fails strikes where there are copies and, if it harms, where there are none", () => {
  const kinds = FAULT_KINDS.map(({ name }) => name).filter((name) => {
    return /^(disk|fsync|misdirected)-|^bit-rot$/.test(name);
  });
  const stories = shippedStories("disk-faults");
  const struck = (replicas: number): string[] =>
    stories
      .filter(({ topics }) => topics[0]?.replicas?.[0]?.length === replicas)
      .flatMap(({ faults }) => faults.map(({ kind }) => kind.name));

  expect(kinds.length).toBeGreaterThan(10);
  expect(kinds.filter((kind) => !struck(3).includes(kind))).toEqual([]);
  expect(kinds.filter((kind) => !struck(1).includes(kind))).toEqual(["disk-spikes", "disk-stall"]);
});

test("every end of unflushed pages is met in a power cut that hits all copies", () => {
  const met = shippedStories("power-loss").map(({ faults }) => {
    const argument = faults[0]?.arguments.get("unflushed");
    return argument?.kind === "word" && argument.word.kind === "fixed" ? argument.word.value : "";
  });

  for (const end of ["lost", "torn", "zeros", "garbage", "any"]) expect(met).toContain(end);
});

function shippedStories(name: string): readonly Scenario[] {
  const scenario = scenarioOf(readFileSync(`scenarios/${name}.yaml`, "utf8"));
  return [scenario, ...scenario.variants];
}
