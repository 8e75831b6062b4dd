import { expect, test } from "vitest";
import { KnownOffsets } from "../../../src/trace/known-offsets.ts";
import { parseOp } from "../../guarantees/histories/client-op.ts";

/** The history of Jepsen's test of realtime-lag, retold. */
const LAGGING = [
  "0 0-1 ok assign x",
  "0 2-3 ok poll",
  "0 4-5 ok send x:a@0",
  "0 6-7 ok poll",
  "1 8-9 ok send x:c@2 x:d@3",
  "0 10-11 ok poll",
  "0 12-13 ok poll x:0=a,1=b",
  "0 14-15 ok assign x y",
  "0 16-17 ok poll",
  "0 18-19 ok assign y",
  "0 20-21 ok assign x",
  "0 22-23 ok poll",
  "0 24-25 ok poll x:0=a,1=b poll x:2=c,3=d",
  "1 26-27 info send x:b",
];

/** By its definition: for each key that a poll is of, when it was invoked, and the lag in seconds. */
function lags(lines: readonly string[]): string[] {
  const ops = lines.map(parseOp);
  const known = { x: new KnownOffsets(), y: new KnownOffsets() };
  const of = (key: string): KnownOffsets => (key === "x" ? known.x : known.y);
  for (const { over, ends, sends, polls } of ops) {
    if (ends === "ok") for (const { key, offset } of sends) of(key).note(offset, over);
    for (const { key, records } of polls.flat()) {
      for (const { offset } of records) of(key).note(offset, over);
    }
  }
  let next = new Map<string, number>();
  const found: string[] = [];
  for (const { invoked, polls, assigns } of ops) {
    for (const { key, records } of polls.flat()) next.set(key, (records.at(-1)?.offset ?? -1) + 1);
    if (polls.length > 0) {
      for (const [key, offset] of next) {
        found.push(`${invoked} ${key} ${of(key).lag(offset, invoked)}`);
      }
    }
    if (assigns !== undefined) next = new Map(assigns.map((key) => [key, next.get(key) ?? 0]));
  }
  return found;
}

test("a poll lags from when it was first known that there is something after what it has read", () => {
  expect(lags(LAGGING)).toEqual([
    "2 x 0",
    "6 x 1",
    "10 x 5",
    "12 x 3",
    "16 x 7",
    "16 y 0",
    "22 x 17",
    "24 x 0",
  ]);
});

test("what is learned later of an offset that was known already changes nothing", () => {
  const known = new KnownOffsets();

  known.note(5, 10);
  known.note(3, 20);
  known.note(5, 30);
  known.note(6, 40);

  expect([0, 3, 5, 6, 7].map((next) => known.lag(next, 100))).toEqual([90, 90, 90, 60, 0]);
  expect(known.lag(6, 35)).toBe(0);
});
