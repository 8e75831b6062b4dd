import { expect, test } from "vitest";
import { ACKED_GETS_READ } from "../../../src/checkers/acked-gets-read.ts";
import { ACKS_IN_ORDER } from "../../../src/checkers/acks-in-order.ts";
import { APPENDS_IN_REAL_TIME } from "../../../src/checkers/appends-in-real-time.ts";
import { FAILED_NEVER_READ } from "../../../src/checkers/failed-never-read.ts";
import { OFFSETS_AGREE } from "../../../src/checkers/offsets-agree.ts";
import { POLLS_IN_ORDER } from "../../../src/checkers/polls-in-order.ts";
import { READERS_AGREE } from "../../../src/checkers/readers-agree.ts";
import { SEEN_ONCE } from "../../../src/checkers/seen-once.ts";
import { ClientFacts } from "../../support/client-facts.ts";
import { History } from "../../support/fact-builders.ts";

/** All of them: what a history shows is to be found, and nothing else. */
const BLACK_BOX = [
  OFFSETS_AGREE,
  SEEN_ONCE,
  ACKED_GETS_READ,
  FAILED_NEVER_READ,
  POLLS_IN_ORDER,
  READERS_AGREE,
  ACKS_IN_ORDER,
  APPENDS_IN_REAL_TIME,
];

const watch = (): ClientFacts => new ClientFacts(BLACK_BOX);

test("an orderly history holds them all", () => {
  const facts = watch();
  facts.acked([0, 1], 0).acked([0], 2, "p2").acked([2], 3).send([3]).ended([3], "failed");
  for (const client of ["c1", "c2"]) facts.seek(client, 0).poll(client, [0, 0, 1], [2, [2, 0], 2]);
  facts.settle();

  expect(facts.told()).toEqual([]);
  const states = facts.checkers.summaries().map(({ name, state }) => `${name} ${state}`);
  expect(states).toEqual(BLACK_BOX.map(({ name }) => `${name} held`));
});

test("inconsistent offsets: two who read there, or who sent there, or one of each", () => {
  const polls = watch().poll("c1", [5, 1]).poll("c2", [5, 2]);
  polls.send([1, 2]);
  const known = watch().send([1, 2]).poll("c1", [5, 1]).poll("c2", [5, 2]);
  const sends = watch().send([1]).send([7], "p2").ended([1], "acked", 5);
  sends.ended([7], "acked", 5, "p2");
  const mixed = watch().send([1, 2]).ended([1], "acked", 5).poll("c1", [5, 2]);

  // Records whose writers nobody knows cannot be told apart.
  expect(polls.told()).toEqual([]);
  expect(known.told()[0]).toBe(
    "record-changed: c2 read p1's record 2 at offset 5, where p1's record 1 had been seen.",
  );
  expect(sends.told()[0]).toBe(
    "record-changed: p2 was told of p2's record 7 at offset 5, where p1's record 1 had been seen.",
  );
  expect(mixed.told()[0]).toMatch(/^record-changed: c1 read p1's record 2/);
});

test("duplicate: a record at two offsets, however it was seen", () => {
  const polled = watch().send([1, 2]).poll("c1", [0, 1, 2, 1]);
  const acked = watch().send([1]).poll("c1", [3, 1]).ended([1], "acked", 4);

  expect(polled.told()).toEqual([
    "record-seen-twice: c1 read p1's record 1 at offset 2, which had been seen at offset 0.",
  ]);
  expect(acked.told()).toEqual([
    "record-seen-twice: p1 was told of p1's record 1 at offset 4, which had been seen at offset 3.",
  ]);
});

test("reading a record again where it stands is no duplicate", () => {
  const facts = watch().acked([0, 1], 0).seek("c1", 0).poll("c1", [0, 0, 1]);
  facts.seek("c1", 0, "initial", 2).poll("c1", [0, 0, 1]);

  expect(facts.told()).toEqual([]);
});

test("lost write: acknowledged, passed by a reader, and read by nobody", () => {
  const facts = watch().acked([0], 0).acked([1], 1).acked([2], 2);
  facts.seek("c1", 0).poll("c1", [0, 0], [2, 2]);

  expect(facts.told()).toEqual([
    "acked-record-passed: 1 record of p1, at offset 1, was acknowledged, and c1 has read past it, but nobody has read it.",
    "poll-skipped: c1 went from offset 1 to offset 2, past 1 record that others know.",
  ]);
});

test("what nobody has come to yet is not lost, nor what another has read", () => {
  const early = watch().acked([0], 0).acked([1], 1).seek("c1", 0).poll("c1", [0, 0]);
  const other = watch().acked([0], 0).acked([1], 1).seek("c1", 0).seek("c2", 1);
  other.poll("c1", [0, 0]).poll("c2", [1, 1]);
  const unknown = watch().acked([0], 0).send([1]).ended([1], "unknown").acked([2], 2);
  unknown.seek("c1", 0).poll("c1", [0, 0], [2, 2]);

  expect(early.told()).toEqual([]);
  expect(other.told()).toEqual([]);
  expect(unknown.told()).toEqual([]);
});

test("unseen: acknowledged, awaited by a reader, and not read though nothing is left to heal", () => {
  const facts = watch().acked([0], 0).acked([1], 1).seek("c1", 0).poll("c1", [0, 0]).settle();

  expect(facts.told()).toEqual([
    "acked-record-unseen: 1 record of p1, at offset 1, was acknowledged, but nobody has read it.",
  ]);
});

test("what a slow application has not come to yet is not unseen, unless others await it, too", () => {
  const unread = (working: readonly string[]): string[] => {
    const facts = new ClientFacts(BLACK_BOX, { working });
    return facts.acked([0], 0).acked([1], 1).seek("c1", 0).seek("c2", 0).settle().told();
  };

  expect(unread(["c1", "c2"])).toEqual([]);
  expect(unread(["c1"])).toEqual([
    "acked-record-unseen: 2 records of p1, at offsets 0..1, were acknowledged, but nobody has read them.",
  ]);
});

test("G1a: read, though its client was told that it is not written, before or after", () => {
  const after = watch().send([1]).ended([1], "failed").poll("c1", [0, 1]);
  const before = watch().send([1]).poll("c1", [0, 1]).ended([1], "failed");
  const maybe = watch().send([1]).ended([1], "unknown").poll("c1", [0, 1]);

  expect(after.told()).toEqual([
    "failed-record-read: c1 read p1's record 1 at offset 0, of which p1 had been told that it is not written.",
  ]);
  expect(before.told()).toHaveLength(1);
  expect(maybe.told()).toEqual([]);
});

test("poll skips and polls that go back, within a poll and from one to the next", () => {
  const within = watch().acked([0, 1, 2], 0).seek("c1", 0).poll("c1", [0, 0], [2, 2]);
  const between = watch().acked([0, 1, 2], 0).seek("c1", 0).poll("c1", [0, 0]).poll("c1", [2, 2]);
  const back = watch().acked([0, 1], 0).seek("c1", 0).poll("c1", [0, 0, 1]).poll("c1", [0, 0]);

  const skipped =
    "poll-skipped: c1 went from offset 1 to offset 2, past 1 record that others know.";
  expect(within.told()).toContain(skipped);
  expect(between.told()).toContain(skipped);
  expect(back.told()).toEqual(["poll-went-back: c1 was given offset 0, having come to 2."]);
});

test("offsets at which nobody knows anything are no skip, and no lost write", () => {
  const facts = watch().acked([0], 0).acked([1], 4).seek("c1", 0).poll("c1", [0, 0], [4, 1]);

  expect(facts.told()).toEqual([]);
});

test("a position that is set anew may skip, by its own cause", () => {
  const facts = watch().acked([0, 1, 2], 0).seek("c1", 0).poll("c1", [0, 0]);
  facts.seek("c1", 2, "out-of-range", 1).poll("c1", [2, 2]);

  expect(facts.violations().map(({ kind, permitted }) => [kind, permitted])).toEqual([
    ["poll-skipped", "c1's position was set anew (out-of-range)"],
  ]);
});

test("next pointers: who has read a record is given the same next", () => {
  const facts = watch().acked([0, 1, 2], 0).seek("c1", 0).poll("c1", [0, 0, 1, 2]);
  facts.seek("c2", 0).poll("c2", [0, 0], [2, 2]);

  expect(facts.told()).toEqual([
    "poll-skipped: c2 went from offset 1 to offset 2, past 1 record that others know.",
    "readers-differ: c2 was given offset 2 after offset 0, others offset 1.",
  ]);
});

test("nonmonotonic sends: seen in another order than sent", () => {
  const facts = watch().send([1, 2, 3]).ended([1], "acked", 4);
  facts.ended([2], "acked", 2).ended([3], "acked", 5);
  const two = watch().acked([1], 4, "p1").acked([9], 5, "p2");

  expect(facts.told()).toEqual([
    "acks-out-of-order: p1 sent record 1 before record 2, but saw them at offsets 4 and 2: 1 record.",
  ]);
  expect(two.told()).toEqual([]);
});

test("real time: behind an offset that was known before it was sent", () => {
  const facts = watch().acked([1], 5).acked([7], 3, "p2");
  const beside = watch().send([1]).send([7], "p2").ended([1], "acked", 5);
  beside.ended([7], "acked", 3, "p2");

  expect(facts.told()).toEqual([
    "append-behind-known: p2 was told of p2's record 7 at offset 3, but when it was sent offset 5 was known.",
  ]);
  expect(beside.told()).toEqual([]);
});

test("what one loss makes clients see is permitted by what permits the loss", () => {
  const history = new History({
    guarantees: BLACK_BOX,
    clients: { p1: { acks: 1 }, p2: { acks: 1 } },
  });
  const sent = (client: string, value: number) =>
    history.note({ kind: "record-sent", client, partition: "orders-0", value });
  sent("p1", 0);
  history.write([0]);
  history.ack([0], 0, { acks: 1 });
  history.elect(2, { isr: [2, 3] });
  sent("p2", 0);
  const batch = history.commit([0], { client: 2 });

  history.ack([0], 0, { acks: 1, client: "p2" }).poll([batch]);

  const violations = history.violations();
  expect(violations.map(({ kind }) => kind)).toEqual([
    "record-changed",
    "append-behind-known",
    "acked-record-passed",
  ]);
  for (const { permitted } of violations) {
    expect(permitted).toBe("acks=1: broker-1 was replaced before its followers had them");
  }
});

test("a consumer goes past what is gone, where a marker has come to stand instead", () => {
  const history = new History({
    guarantees: [POLLS_IN_ORDER],
    clients: { p1: { acks: 1 }, p2: { acks: 1 } },
  });
  for (const value of [0, 1, 2])
    history.note({ kind: "record-sent", client: "p1", partition: "orders-0", value });
  const first = history.commit([0]);
  history.write([1]);
  history.ack([1], 1, { acks: 1 });
  history.elect(2, { isr: [2, 3] });
  const marker = history.endTransaction("ABORT");
  history.copy([3]).highWatermark(2, marker.nextOffset);
  const next = history.commit([2]);

  history.poll([first]).poll([next]);

  const told = history.violations().map(({ kind, permitted }) => [kind, permitted]);
  expect(told).toEqual([
    ["poll-skipped", "acks=1: broker-1 was replaced before its followers had them"],
  ]);
});

test("what a leader of the past tells last goes as it does, also where a tombstone stands", () => {
  const history = new History({
    guarantees: [OFFSETS_AGREE],
    clients: { p1: { acks: 1 }, p2: { acks: 1 } },
    topic: { isCompacted: true },
  });
  for (const client of ["p1", "p2"])
    history.note({ kind: "record-sent", client, partition: "orders-0", value: 0 });
  history.write([0], { keys: ["a"], tombstones: [0] });
  history.ack([0], 0, { acks: 1 });
  history.elect(2, { isr: [2, 3] });
  history.write([0], { client: 2, keys: ["a"] });
  history.elect(1, { isr: [1] });

  history.ack([0], 0, { acks: 1, client: "p2" });

  expect(history.violations().map(({ kind, permitted }) => [kind, permitted])).toEqual([
    ["record-changed", "acks=1: broker-2 was replaced before its followers had them"],
  ]);
});

test("a leader of the past may tell where a record stands, in a log that is given up", () => {
  const history = new History({
    guarantees: BLACK_BOX,
    clients: { p1: { acks: -1 }, p2: { acks: 1 } },
  });
  const sent = (client: string, values: readonly number[]): void => {
    for (const value of values)
      history.note({ kind: "record-sent", client, partition: "orders-0", value });
  };
  history.write([7], { client: 2 });
  history.elect(2, { isr: [2, 3] });
  sent("p1", [0, 1, 2]);
  history.commit([0, 1, 2]);
  history.ack([0, 1, 2], 0);
  sent("p2", [7]);

  history.ack([7], 0, { acks: 1, client: "p2" });

  const early = history.violations().find(({ kind }) => kind === "append-behind-known");
  expect(early?.permitted).toBe("acks=1: broker-1 was replaced before its followers had them");
});

test("a consumer that starts again, and what had expired or was cleaned, skip nothing", () => {
  const restarted = watch().acked([0, 1, 2], 0).seek("c1", 0).poll("c1", [0, 0, 1]);
  restarted.note({ kind: "node-stopped", node: "c1", how: "crash", reason: "test" });
  restarted.seek("c1", 0).poll("c1", [0, 0, 1, 2]);
  const compacted = new ClientFacts(BLACK_BOX, { topic: { isCompacted: true } });
  compacted.acked([0, 1, 2], 0).seek("c1", 0).poll("c1", [0, 0], [2, 2]);

  expect(restarted.told()).toEqual([]);
  expect(compacted.told()).toEqual([]);
});
