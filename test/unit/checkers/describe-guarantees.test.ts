import { expect, test } from "vitest";
import { describeGuarantees } from "../../../src/checkers/describe-guarantees.ts";

test("docs/guarantees.md is what the guarantees say of themselves", async () => {
  await expect(describeGuarantees()).toMatchFileSnapshot("../../../docs/guarantees.md");
});
