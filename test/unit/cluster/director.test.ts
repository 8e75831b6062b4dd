import { expect, test } from "vitest";
import { FETCH, PRODUCE } from "../../../src/kafka/protocol/apis.ts";
import type { Frame } from "../../../src/ports/network.ts";
import { GOOD_SCENARIO } from "../../support/scenario-text.ts";
import { appended, moved, Story, sent, story } from "../../support/story.ts";

test("faults fire at their time, and end after theirs; then the cluster settles", () => {
  const told = story("  - { name: cut, at: 2s, isolate: broker-1, for: 3s }");

  told.run();

  expect(told.told).toEqual([
    "2s isolate broker-1 | all others [cut]",
    "5s end of isolate [cut]",
    "5s settle nothing is left to heal []",
  ]);
  expect(told.scheduler.now).toBe(15_000_000);
  expect(told.settled).toBe(1);
});

test("a condition fires after the event in which it becomes true, on whom it then means", () => {
  const told = story(
    "  - { name: kill, when: hw(orders-0) >= 100, crash: leader(orders-0), as: old }\n  - { after: kill, delay: 20s, restart: $old }",
  );
  told.at(1, moved(99));
  told.do(2, () => told.register({ partition: "orders-0", leader: 2, leaderEpoch: 1 }));
  told.at(3, moved(120, 2));

  told.run();

  expect(told.told).toEqual([
    "3s crash broker-2, leader of orders-0 [kill]",
    "23s restart broker-2 [$old]",
    "23s settle nothing is left to heal []",
  ]);
  expect(told.hands.log).toEqual(["crash 1", "restart 1"]);
});

test("a condition that holds already fires at once", () => {
  const told = story("  - { when: alive(brokers) == 3, mark: all are there }");

  told.run();

  expect(told.told[0]).toBe("0s mark all are there []");
});

test("a condition fires again only when it becomes true anew, as often as it may", () => {
  const told = story("  - { when: isr-size(orders-0) < 3, times: 2, mark: shrunk }");
  const isr =
    (...members: number[]) =>
    () =>
      told.register({ partition: "orders-0", isr: members });
  told
    .do(1, isr(1, 2))
    .do(2, isr(1))
    .do(3, isr(1, 2, 3))
    .do(4, isr(1, 3))
    .do(5, isr(1, 2, 3));
  told.do(6, isr(1));

  told.run();

  expect(told.told).toEqual([
    "1s mark shrunk []",
    "4s mark shrunk []",
    "4s settle nothing is left to heal []",
  ]);
});

test("a condition about the event itself fires in each such event", () => {
  const told = story(
    "  - { when: acked(p1) >= 2 and appending(leader(orders-0)), times: 2, mark: now }",
  );
  told
    .at(1, appended(1, 0))
    .at(2, ...sent("p1", 2))
    .at(3, appended(2, 0))
    .at(4, appended(1, 1));
  told.at(5, appended(1, 2)).at(6, appended(1, 3));

  told.run();

  expect(told.told.slice(0, 2)).toEqual(["4s mark now []", "5s mark now []"]);
});

test("what never becomes true is given up after its timeout, and so is all that waits for it", () => {
  const told = story(
    "  - { name: a, when: isr-size(orders-0) == 1, timeout: 30s, mark: alone }\n  - { name: b, after: a, crash: broker-1 }\n  - { after: b, restart: broker-1 }",
  );

  told.run();

  expect(
    told.director.unfired().map(({ fault, reason, waited }) => [fault.name, reason, waited]),
  ).toEqual([
    ["a", "`isr-size(orders-0) == 1` never held", 30_000_000],
    ["b", "`a` never fired", 0],
    [undefined, "`b` never fired", 0],
  ]);
  expect(told.scheduler.now).toBe(40_000_000);
});

test("a target that names nobody leaves its step unfired, unless it is optional", () => {
  const told = story(
    "  - { name: a, at: 1s, crash: osr(orders-0) }\n  - { name: b, at: 1s, crash: osr(orders-0), optional: true }\n  - { after: b, mark: on }",
  );

  told.run();

  expect(told.director.unfired().map(({ reason }) => reason)).toEqual([
    "`osr(orders-0)` named no node at 1.000s",
  ]);
  expect(told.told[0]).toBe("1s mark on []");
});

test("an optional step that nothing sets off is none that failed to fire", () => {
  const told = story(
    "  - { when: isr-size(orders-0) == 1, timeout: 3s, mark: alone, optional: true }\n  - { at: 1s, mark: on }",
  );

  told.run();

  expect(told.director.unfired()).toEqual([]);
});

test("a step is skipped if what it is to keep would not hold without the nodes that it stops", () => {
  const told = story(
    "  - { at: 1s, crash: broker-1, keep: alive(brokers) >= 2 }\n  - { at: 2s, pause: broker-1 + broker-2, keep: alive(brokers) >= 2 }\n  - { at: 3s, isolate: broker-1 + broker-2, keep: alive(brokers) >= 2 }",
  );

  told.run();

  expect(told.told.slice(0, 3)).toEqual([
    "1s crash broker-1 []",
    "2s skip pause broker-1, broker-2: `alive(brokers) >= 2` would not hold []",
    "3s isolate broker-1, broker-2 | all others []",
  ]);
  expect(told.director.unfired()).toEqual([]);
});

test("a fault that would do nothing at all has not fired", () => {
  const told = story("  - { at: 1s, partition: { from: leader(orders-0), to: broker-1 } }");

  told.run();

  expect(told.director.unfired().map(({ reason }) => reason)).toEqual([
    "`partition: { from: leader(orders-0), to: broker-1 }` had nothing to act on at 1.000s",
  ]);
});

test("a binding is the nodes that were meant then, whatever is meant later", () => {
  const told = story(
    "  - { at: 1s, partition: { from: followers(orders-0), to: leader(orders-0) }, as: { to: stale } }\n  - { at: 3s, crash: $stale }",
  );
  told.do(2, () => told.register({ partition: "orders-0", leader: 3, leaderEpoch: 1 }));

  told.run();

  expect(told.told.slice(0, 2)).toEqual([
    "1s partition broker-2, broker-3 | broker-1 []",
    "3s crash broker-1 [$stale]",
  ]);
});

test("the nth message fires, counted from and to whom it says", () => {
  const told = story(
    "  - { when: 2nd deliver(ProduceResponse leader(orders-0) -> p1), mark: answered }",
  );
  const [p1, c1] = [6, 7];
  const frame = (apiKey: number, isResponse: boolean): Frame => ({
    apiKey,
    apiVersion: 0,
    correlationId: 0,
    isResponse,
    body: undefined,
    size: 1,
  });
  const deliver = (from: number, to: number, message: Frame) => () =>
    told.director.delivered(from, to, message);
  told.do(1, deliver(0, p1, frame(PRODUCE.key, true)));
  told.do(2, deliver(1, p1, frame(PRODUCE.key, true)));
  told.do(3, deliver(0, p1, frame(PRODUCE.key, false)));
  told.do(4, deliver(0, c1, frame(PRODUCE.key, true)));
  told.do(5, deliver(0, p1, frame(FETCH.key, true)));
  told.do(6, deliver(0, p1, frame(PRODUCE.key, true)));
  told.do(7, deliver(0, p1, frame(PRODUCE.key, true)));

  expect(told.director.watchesMessages).toBe(true);
  told.run();

  expect(told.told[0]).toBe("6s mark answered []");
});

test("settling ends what lasts, resumes what is paused and starts what is down, but no client", () => {
  const told = story(
    "  - { at: 1s, isolate: broker-1 }\n  - { at: 1s, pause: broker-2 }\n  - { at: 1s, crash: broker-3 + controller-1 + p1 }",
  );

  told.run();

  expect(told.told.slice(3)).toEqual([
    "1s settle faults end; broker-2 resumed; broker-3, controller-1 started []",
    "1s end of isolate []",
  ]);
  expect(told.view.node("broker-3").isAlive).toBe(true);
  expect(told.view.node("broker-2").isAlive).toBe(true);
  expect(told.view.node("p1").isUp).toBe(false);
});

test("a node that stops while the cluster settles is started again", () => {
  const told = story("  - { at: 1s, mark: here }");
  told.at(3, { kind: "node-stopped", node: "broker-2", how: "exit", reason: "late shutdown" });

  told.run();

  expect(told.hands.log).toEqual(["restart 1"]);
});

test("the story lasts until producers with a number of records are done", () => {
  const told = new Story(GOOD_SCENARIO.replace("records: 1000", "records: 5"));
  told
    .at(1, moved(100))
    .at(30, ...sent("p1", 3))
    .at(50, ...sent("p1", 2));

  told.run();

  expect(told.told.at(-1)).toBe("50s settle nothing is left to heal []");
  expect(told.scheduler.now).toBe(80_000_000);
});

test("a duration ends the story, whatever is still to come", () => {
  const told = story(
    "  - { name: late, when: hw(orders-0) > 5, crash: broker-1 }\n  - { at: 2s, isolate: broker-2, for: 60s }",
    "duration: 7s\n",
  );
  told.at(8, moved(10));

  told.run();

  expect(told.told).toEqual([
    "2s isolate broker-2 | all others []",
    "7s settle faults end []",
    "7s end of isolate []",
  ]);
  expect(told.director.unfired().map(({ fault, reason }) => [fault.name, reason])).toEqual([
    ["late", "the story was over before"],
  ]);
  expect(told.scheduler.now).toBe(17_000_000);
});

test("the same seed tells the same story, another seed another", () => {
  const faults =
    "  - { at: uniform(1s..60s), crash: any(brokers), for: exponential(5s) }\n  - { at: one-of(2s|3s|4s), isolate: minority(brokers), direction: one-of(both|to|from), for: 1s }";
  const tell = (seed: string) => story(faults, "", seed).run().told.join("\n");

  expect(tell("5")).toBe(tell("5"));
  expect(new Set(["1", "2", "3", "4", "5"].map(tell)).size).toBe(5);
});

function promising(goodCopies: number | undefined, faults: string): Story {
  const disk = goodCopies === undefined ? "" : `  disk: { good-copies: ${goodCopies} }`;
  return new Story(`version: 1
name: promising
kafka: "4.3"
cluster:
  brokers: 3
  controllers: 3
${disk}
topics: { orders: { partitions: 2, replication.factor: 3 } }
faults:
${faults}
settle: 10s
`);
}

test("a fault that would damage more copies than is promised is skipped, and said so", () => {
  const faults = `  - { at: 1s, bit-rot: broker-1, log: orders-0, offsets: 0..100 }
  - { at: 2s, bit-rot: broker-2, log: orders-0, offsets: 50..60 }
  - { at: 3s, bit-rot: broker-2, log: orders-1 }
  - { at: 4s, name: off, power-off: broker-3 }
  - { after: off, delay: 1s, power-on: broker-3 }
  - { at: 6s, power-off: broker-3, unflushed: kept, for: 1s }`;

  const told = promising(2, faults).run();

  expect(told.told).toEqual([
    "1s bit-rot broker-1, log of orders-0, offsets 0..100, 1 bit []",
    "2s skip bit-rot broker-2, log of orders-0, offsets 50..60, 1 bit: orders-0 would have 1 good copy, and 2 are promised []",
    "3s bit-rot broker-2, log of orders-1, 1 bit []",
    "4s skip power-off broker-3; unflushed pages lost: orders-0 would have 1 good copy, and 2 are promised []",
    "5s power-on broker-3 []",
    "6s power-off broker-3; unflushed pages kept []",
    "7s end of power-off []",
    "7s settle nothing is left to heal []",
  ]);
  expect(told.director.unfired()).toEqual([]);
  expect(promising(undefined, faults).run().told.join()).not.toContain("skip");
});

test("the quorum keeps a majority whose disks are as they were, if copies are promised at all", () => {
  const told = promising(
    1,
    `  - { at: 1s, power-off: controllers, for: 1s }
  - { at: 3s, disk-lost: controller-1, for: 1s }
  - { at: 5s, fsync-lies: controller-2, for: 1s }`,
  ).run();

  expect(told.told.filter((line) => line.includes("skip"))).toEqual([
    "5s skip fsync-lies controller-2: __cluster_metadata-0 would have 1 good copy, and 2 are promised []",
  ]);
});
