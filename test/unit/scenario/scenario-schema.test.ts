import { expect, test } from "vitest";
import { FAULT_KINDS } from "../../../src/faults/registry.ts";
import { describeTypes } from "../../../src/scenario/describe-types.ts";
import { EXPECTATION_KINDS } from "../../../src/scenario/expectation/registry.ts";
import { scenarioSchema } from "../../../src/scenario/read-scenario.ts";

test("schema/scenario.v1.schema.json is what the forms say (update with `npx vitest run -u`)", async () => {
  const text = `${JSON.stringify(scenarioSchema(), undefined, 1)}\n`;

  await expect(text).toMatchFileSnapshot("../../../schema/scenario.v1.schema.json");
});

test("src/library/scenario-value.ts is what the schema says (update with `npx vitest run -u`)", async () => {
  await expect(describeTypes()).toMatchFileSnapshot("../../../src/library/scenario-value.ts");
});

test("the schema knows every fault and every expectation", () => {
  const text = JSON.stringify(scenarioSchema());

  for (const { name } of FAULT_KINDS) expect(text).toContain(`{"required":["${name}"]}`);
  for (const { name, meaning } of EXPECTATION_KINDS) {
    expect(text).toContain(`"${name}":{`);
    expect(text).toContain(JSON.stringify(meaning));
  }
});
