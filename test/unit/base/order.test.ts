import { expect, test } from "vitest";
import { byNumber, byText } from "../../../src/base/order.ts";

test("texts are ordered by code unit, capitals first, whatever the locale says", () => {
  expect(["b", "a", "Z", "ä", "a-10", "a-9"].sort(byText)).toEqual([
    "Z",
    "a",
    "a-10",
    "a-9",
    "b",
    "ä",
  ]);
});

test("equal texts are equal, so that a sort keeps their order", () => {
  expect(byText("a", "a")).toBe(0);
});

test("numbers are ordered by value", () => {
  expect([10, 9, -1, 2].sort(byNumber)).toEqual([-1, 2, 9, 10]);
});
