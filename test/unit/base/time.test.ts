import { describe, expect, test } from "vitest";
import { DAY, formatSeconds, fromMillis, toMillis } from "../../../src/base/time.ts";

test("a day is as many microseconds as it should be", () => {
  expect(DAY).toBe(86_400_000_000);
});

test("a Kafka timestamp is whole milliseconds, rounded down also before zero", () => {
  expect(toMillis(1_999)).toBe(1);
  expect(toMillis(-1)).toBe(-1);
  expect(toMillis(fromMillis(30_000))).toBe(30_000);
});

describe("an instant is shown in seconds with three decimals", () => {
  test.each([
    [0, "0.000s"],
    [999, "0.000s"],
    [1_000, "0.001s"],
    [10_391_999, "10.391s"],
    [-1_500_000, "-1.500s"],
    [-50_000, "-0.050s"],
  ])("%i us", (instant, shown) => {
    expect(formatSeconds(instant)).toBe(shown);
  });
});
