import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { describeGuarantees } from "../../../src/checkers/describe-guarantees.ts";
import { GUARANTEES } from "../../../src/checkers/registry.ts";
import { RULES, watchersOf } from "../../../src/checkers/rules.ts";

test("docs/guarantees.md is what the guarantees say of themselves", async () => {
  await expect(describeGuarantees()).toMatchFileSnapshot("../../../docs/guarantees.md");
});

test("every rule is watched by a guarantee, or held by a file that is there", () => {
  const rulesOf = (letter: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${letter}${i + 1}`);
  const numbered = RULES.map(({ name }) => name).filter((name) => /^[A-Z][0-9]+$/.test(name));
  const places = RULES.flatMap(({ elsewhere = [] }) => elsewhere.map(([file]) => file));

  const unwatched = RULES.filter(
    (rule) => rule.elsewhere === undefined && watchersOf(rule, GUARANTEES).length === 0,
  );

  expect(unwatched).toEqual([]);
  expect(places.filter((file) => !existsSync(file))).toEqual([]);
  expect(numbered).toEqual([
    ...rulesOf("M", 8),
    ...rulesOf("R", 15),
    ...rulesOf("L", 3),
    ...rulesOf("V", 5),
    ...rulesOf("K", 5),
    ...rulesOf("P", 4),
    ...rulesOf("T", 7),
  ]);
});

test("a rule is not taken for another whose name begins alike", () => {
  const watched = (name: string) => watchersOf({ name, demands: "" }, GUARANTEES);

  expect(watched("R1")).toEqual(["no-divergence"]);
  expect(watched("V1")).not.toContain("acked-everywhere");
});
