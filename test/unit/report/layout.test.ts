import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { flowed, WIDTH, wrapped } from "../../../src/report/layout.ts";
import { shellWords } from "../../../src/report/shell-words.ts";

const word = fc.stringMatching(/^[a-z{}()=-]{1,30}$/);

test("a wrapped text keeps its words, its indent and the width", () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 40 }), fc.nat(20), (words, indent) => {
      const lines = wrapped(words.join(" "), indent);

      expect(lines.join(" ").split(" ").filter(Boolean)).toEqual(words);
      for (const line of lines) {
        expect(line.length).toBeLessThanOrEqual(WIDTH);
        expect(/^ */.exec(line)?.[0]).toHaveLength(indent);
      }
    }),
    { seed: 42, numRuns: 200 },
  );
});

test("parts are never taken apart, not even where one alone is too wide", () => {
  const wide = "x".repeat(WIDTH + 1);

  expect(flowed(["PASS", wide, "a b", "c"], "   ", 6)).toEqual([
    "PASS",
    `      ${wide}`,
    "      a b   c",
  ]);
});

test("a line as wide as the terminal is not broken", () => {
  expect(flowed(["a".repeat(40), "b".repeat(39)], " ", 2)).toHaveLength(1);
  expect(flowed(["a".repeat(40), "b".repeat(40)], " ", 2)).toHaveLength(2);
});

test.skipIf(process.platform === "win32")(
  "words that are pasted into a shell arrive as they were",
  () => {
    const words = ["a b", "it's", "$HOME", "", "`x`", 'a"b', "x;y", "--seed", "né", "*"];

    const echo = `printf '%s\\n' ${shellWords(words)}`;

    expect(execFileSync("sh", ["-c", echo], { encoding: "utf8" })).toBe(`${words.join("\n")}\n`);
    expect(shellWords(["sim", "run", "scenarios/a.yaml", "--seed", "4"])).toBe(
      "sim run scenarios/a.yaml --seed 4",
    );
  },
);
