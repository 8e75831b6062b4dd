import { expect, test } from "vitest";
import { complaintsOf } from "../../support/scenario-text.ts";

/** Texts that are no scenario, each with the one thing that is said about it. */
const REFUSED: readonly (readonly [what: string, text: string, complaint: string])[] = [
  ["an empty file", "", "1:1:1 the file is empty; a scenario begins with `version: 1`"],
  ["comments only", "# nothing\n", "1:1:1 the file is empty; a scenario begins with `version: 1`"],
  ["a text", "hello\n", "1:1:5 a scenario is a mapping that begins with `version: 1`"],
  ["a list", "- 1\n", "1:1:3 a scenario is a mapping that begins with `version: 1`"],
  ["a tab", "version: 1\ncluster:\n\tbrokers: 3\n", "3:1:1 a tab stands where YAML wants spaces"],
  [
    "two documents",
    "a: 1\n---\nb: 2\n",
    "2:1:3 a second document begins here; a scenario is one document",
  ],
  ["a binary file", "\u0000\u0001PNG", "1:1:1 this is no text file: it has control characters"],
  [
    "a file that is no UTF-8",
    "a: \ufffd\n",
    "1:4:1 this is no text file: it has control characters",
  ],
  ["an open quote", "name: 'x\n", "1:7:1 this quote is never closed"],
  [
    "an anchor",
    "a: &x [1]\nb: 2\n",
    "1:7:3 anchors and aliases are not part of the scenario language; write the value out",
  ],
  ["a tag", "a: !!str 1\n", "1:10:1 tags are not part of the scenario language"],
  ["YAML 1.1", "%YAML 1.1\n---\na: no\n", "1:1:1 scenarios are YAML 1.2; leave the %YAML line out"],
  ["brackets without end", "[".repeat(1_000_000), "1:33:1 nested deeper than 32 levels"],
  ["mappings without end", "{a: ".repeat(200_000), "1:129:1 nested deeper than 32 levels"],
  ["dashes without end", "- ".repeat(400_000), "1:1:1 nested deeper than 32 levels"],
  [
    "a file of 10 MB",
    "a: b\n".repeat(2_000_000),
    "1:1:1 the file has 9.5 MiB; a scenario may have 1 MiB",
  ],
];

test.each(REFUSED)("%s is refused with one complaint", (_, text, complaint) => {
  expect(complaintsOf(text)).toEqual([complaint]);
});

test("a bomb of aliases is refused before it is unfolded", () => {
  const levels = Array.from({ length: 20 }, (_, i) => {
    const inner = i === 0 ? "x" : `*a${i - 1}`;
    return `a${i}: &a${i} [${Array(10).fill(inner).join(", ")}]`;
  });

  const complaints = complaintsOf(levels.join("\n"));

  expect(complaints).toHaveLength(1);
  expect(complaints[0]).toMatch(/^1:9:\d+ anchors and aliases are not part/);
});

test("indentation without end is refused, not a crash", () => {
  const text = Array.from({ length: 1_000 }, (_, i) => `${" ".repeat(i)}a:\n`).join("");

  expect(complaintsOf(text)).toEqual(["33:33:1 nested deeper than 32 levels"]);
});
