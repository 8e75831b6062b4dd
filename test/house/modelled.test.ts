import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { byText } from "../../src/base/order.ts";
import * as apis from "../../src/kafka/protocol/apis.ts";

test("docs/modelled.md names every API with the version that is spoken, and no other", () => {
  const page = readFileSync("docs/modelled.md", "utf8");
  const told = [...page.matchAll(/\| ([A-Z]\w+) \| (\d+) (?=\|)/g)].map(
    ([, name, version]) => `${name} v${version}`,
  );

  const spoken = Object.values(apis).flatMap((api) =>
    typeof api === "object" && "name" in api ? [`${api.name} v${api.version}`] : [],
  );

  expect(told.sort(byText)).toEqual(spoken.sort(byText));
});
