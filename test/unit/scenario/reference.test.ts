import { expect, test } from "vitest";
import { describeFaults } from "../../../src/faults/describe-faults.ts";
import { FAULT_KINDS } from "../../../src/faults/registry.ts";
import { describeLanguage } from "../../../src/scenario/describe-language.ts";

test("docs/faults.md is what the faults say of themselves", async () => {
  const page = describeFaults();

  for (const { name } of FAULT_KINDS) expect(page).toContain(`\n## ${name}\n`);
  await expect(page).toMatchFileSnapshot("../../../docs/faults.md");
});

test("docs/scenario-language.md is what the reader knows", async () => {
  await expect(describeLanguage()).toMatchFileSnapshot("../../../docs/scenario-language.md");
});
