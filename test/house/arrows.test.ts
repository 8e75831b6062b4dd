import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { byText } from "../../src/base/order.ts";

interface Rule {
  readonly name: string;
  readonly to: { readonly pathNot?: string };
}

const file = pathToFileURL(resolve(".dependency-cruiser.mjs")).href;
const rules: { readonly default: { readonly forbidden: readonly Rule[] } } = await import(file);

/** Folder by folder, what it may import besides itself. */
type Arrows = Record<string, readonly string[]>;

/** The rows of the table: `| src/kafka/ | ... | base | ... |`. */
function drawn(): Arrows {
  const arrows: Record<string, readonly string[]> = {};
  const row = /^\| `src\/([a-z]+)\/` \|[^|]*\| ([^|]*) \|/gm;
  for (const [, folder = "", may = ""] of readFileSync("ARCHITECTURE.md", "utf8").matchAll(row)) {
    const above = Object.keys(arrows);
    const listed = may === "all of the above" ? above : may.split(", ");
    arrows[folder] = may === "nothing" ? [] : [...listed].sort(byText);
  }
  return arrows;
}

/** What `npm run layers` enforces. */
function enforced(): Arrows {
  const arrows: Record<string, readonly string[]> = {};
  for (const { name, to } of rules.default.forbidden) {
    const [, folder] = /^([a-z]+)-imports-only-its-neighbours$/.exec(name) ?? [];
    if (folder === undefined) continue;
    const [, allowed = ""] = /\((.*)\)/.exec(to.pathNot ?? "") ?? [];
    arrows[folder] = allowed
      .split("|")
      .filter((one) => one !== folder)
      .sort(byText);
  }
  return arrows;
}

test("the arrows drawn in ARCHITECTURE.md are those that are enforced", () => {
  expect(drawn()).toEqual(enforced());
  expect(Object.keys(drawn()).length).toBeGreaterThan(10);
});
