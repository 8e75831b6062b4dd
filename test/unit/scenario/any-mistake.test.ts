import fc from "fast-check";
import { expect, test } from "vitest";
import { formatComplaint } from "../../../src/scenario/complaint.ts";
import { defineScenario, readScenario } from "../../../src/scenario/read-scenario.ts";
import { GOOD_SCENARIO } from "../../support/scenario-text.ts";

const LINES = GOOD_SCENARIO.split("\n");

/** One way to spoil a text. */
const spoil = fc.oneof(
  // A line less, twice, or moved.
  fc.nat(LINES.length - 1).map((at) => (lines: string[]) => lines.splice(at, 1)),
  fc.nat(LINES.length - 1).map((at) => (lines: string[]) => lines.splice(at, 0, lines[at] ?? "")),
  // Letters changed, doubled, removed.
  fc
    .record({
      at: fc.nat(LINES.length - 1),
      column: fc.nat(60),
      count: fc.nat(3),
      put: fc.constantFrom(
        "",
        "x",
        ":",
        "-",
        "0",
        "{",
        "]",
        ",",
        " ",
        "  ",
        "$",
        "(",
        "'",
        "&a ",
        "\t",
      ),
    })
    .map(({ at, column, count, put }) => (lines: string[]) => {
      const line = lines[at] ?? "";
      lines[at] = line.slice(0, column) + put + line.slice(column + count);
    }),
  // A value of another type.
  fc
    .record({
      at: fc.nat(LINES.length - 1),
      value: fc.constantFrom("", "7", "-1", "1.5", "true", "~", "[]", "{}", "[1, 2]", "no", "30s"),
    })
    .map(({ at, value }) => (lines: string[]) => {
      lines[at] = (lines[at] ?? "").replace(/: .*$/, `: ${value}`);
    }),
);

test("whatever is mistyped, a scenario comes back or complaints with their places do", () => {
  const property = fc.property(fc.array(spoil, { minLength: 1, maxLength: 4 }), (spoils) => {
    const lines = [...LINES];
    for (const one of spoils) one(lines);
    const text = lines.join("\n");

    const { scenario, complaints } = readScenario(text, "spoilt.yaml");

    expect(scenario === undefined).toBe(complaints.length > 0);
    for (const complaint of complaints) {
      expect(complaint.line).toBeGreaterThan(0);
      expect(complaint.line).toBeLessThanOrEqual(lines.length);
      expect(complaint.column).toBeGreaterThan(0);
      expect(complaint.length).toBeGreaterThan(0);
      expect(formatComplaint(complaint, text)).not.toContain("undefined");
      expect(complaint.message).not.toContain("undefined");
    }
  });

  fc.assert(property, { seed: 42, numRuns: 400 });
});

test("a scenario made of any values at all comes back or is complained about", () => {
  const property = fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue(), (cluster, faults) => {
    const value = {
      version: 1,
      name: "any",
      kafka: "4.3",
      cluster,
      topics: { orders: { partitions: 1 } },
      faults,
      duration: "1s",
    };

    const { scenario, complaints } = defineScenario(value, "any");

    expect(scenario === undefined).toBe(complaints.length > 0);
  });

  fc.assert(property, { seed: 42, numRuns: 300 });
});
