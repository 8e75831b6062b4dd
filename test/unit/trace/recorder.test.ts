import { expect, test } from "vitest";
import type { Fact } from "../../../src/trace/fact.ts";
import { FactRecorder } from "../../../src/trace/recorder.ts";

const PAUSED: Fact = { kind: "node-paused", node: "broker-1" };
const RESUMED: Fact = { kind: "node-resumed", node: "broker-1" };

/** A recorder whose clock stands, with what it told the digest. */
function recorder(): { facts: FactRecorder; digested: Fact[] } {
  const digested: Fact[] = [];
  const clock = { now: 7, event: 3, mixFact: (fact: Fact) => digested.push(fact) };
  return { facts: new FactRecorder(clock), digested };
}

test("a listener hears the facts of its kind, with the instant and the event, and no others", () => {
  const { facts } = recorder();
  const heard: unknown[] = [];
  facts.on("node-paused", (fact, at, event) => heard.push([fact, at, event]));

  facts.note(RESUMED);
  facts.note(PAUSED);

  expect(heard).toEqual([[PAUSED, 7, 3]]);
});

test("listeners hear in the order in which they subscribed; those for everything come last", () => {
  const { facts } = recorder();
  const order: string[] = [];
  facts.onAny(() => order.push("any"));
  facts.on("node-paused", () => order.push("first"));
  facts.on("node-paused", () => order.push("second"));

  facts.note(PAUSED);

  expect(order).toEqual(["first", "second", "any"]);
});

test("every fact is in the digest, heard or not, before anybody hears it", () => {
  const { facts, digested } = recorder();
  let digestedWhenHeard = -1;
  facts.on("node-resumed", () => {
    digestedWhenHeard = digested.length;
  });

  facts.note(PAUSED);
  facts.note(RESUMED);

  expect(digested).toEqual([PAUSED, RESUMED]);
  expect(digestedWhenHeard).toBe(2);
});
