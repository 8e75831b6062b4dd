import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { byText } from "../../../src/base/order.ts";
import { complaintsOf, scenarioOf } from "../../support/scenario-text.ts";

const FILES = readdirSync("scenarios")
  .filter((file) => file.endsWith(".yaml"))
  .sort(byText);

test.each(FILES)("%s is read without a complaint, and so is each of its variants", (file) => {
  const text = readFileSync(`scenarios/${file}`, "utf8");

  expect(complaintsOf(text)).toEqual([]);
  expect(`${scenarioOf(text).name}.yaml`).toBe(file);
});
