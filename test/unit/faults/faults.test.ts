import { expect, test } from "vitest";
import { byText } from "../../../src/base/order.ts";
import { story } from "../../support/story.ts";

/** What the hands are told of one fault. Brokers are 0 to 2, controllers 3 to 5, p1 is 6 and c1 is 7. */
function done(fault: string): string[] {
  const told = story(`  - { at: 1s, ${fault} }\n  - { at: 2s, mark: the end }`);
  told.do(2, () => told.hands.log.push("then"));
  told.run();
  return told.hands.log.slice(0, told.hands.log.indexOf("then"));
}

test("a one-way isolation holds what a node sends, or what is sent to it", () => {
  expect(done("isolate: broker-1, direction: to")).toEqual(
    [1, 2, 3, 4, 5, 6, 7].map((to) => `cut 0>${to}`),
  );
  expect(done("isolate: broker-1, direction: from")).toEqual(
    [1, 2, 3, 4, 5, 6, 7].map((from) => `cut ${from}>0`),
  );
});

test("nodes that are isolated together still talk among themselves", () => {
  const cuts = done("isolate: broker-1 + broker-2");

  expect(cuts).toHaveLength(2 * 2 * 6);
  expect(cuts).not.toContain("cut 0>1");
});

test("a partition into groups cuts every pair of groups, and nobody else", () => {
  expect(
    done("partition: { groups: [[broker-1, broker-2], [broker-3], [p1]] }").sort(byText),
  ).toEqual(
    ["0>2", "2>0", "1>2", "2>1", "0>6", "6>0", "1>6", "6>1", "2>6", "6>2"]
      .map((link) => `cut ${link}`)
      .sort(byText),
  );
});

test("a partition may be one-way", () => {
  expect(done("partition: { from: broker-1, to: broker-2, direction: to }")).toEqual(["cut 0>1"]);
  expect(done("partition: { from: broker-1, to: broker-2, direction: from }")).toEqual(["cut 1>0"]);
});

test("a power cut says what becomes of unflushed pages; by default they are lost", () => {
  expect(done("power-off: rack(a), unflushed: torn")).toEqual([
    "unflushed torn",
    "power-off 0",
    "unflushed torn",
    "power-off 1",
  ]);
  expect(done("power-off: broker-3")).toEqual(["unflushed lost", "power-off 2"]);
});

test("links are chosen from one side, from both, or all", () => {
  expect(done("drop: 5%, from: broker-1, to: p1")).toEqual([
    'disturb 0>6 {"drop":{"times":50000,"outOf":1000000}}',
  ]);
  expect(done("slow-link: 1MiB/s, to: broker-1")).toHaveLength(7);
  expect(done("slow-link: 1MiB/s, to: broker-1")[0]).toBe("slow 1>0 1048576");
  expect(done("delay-link: 5ms, links: all")).toHaveLength(8 * 7);
  expect(done("delay-link: 5ms, from: broker-1, to: broker-2, direction: both")).toEqual([
    "delay 0>1",
    "delay 1>0",
  ]);
});

test("a reset resets each pair of nodes once", () => {
  expect(done("reset: broker-1, with: p1 + c1")).toEqual(["reset 0-6", "reset 0-7"]);
  expect(done("reset: broker-1 + broker-2, with: broker-1 + broker-2")).toEqual(["reset 0-1"]);
});

test("a clock jumps by its offset and then drifts", () => {
  expect(done("clock-skew: broker-2, offset: -5s, drift: 200ppm")).toEqual(["skew 1 -5000000 200"]);
});

test("machines that get power one after the other start each at its own time", () => {
  const told = story(
    "  - { at: 1s, power-off: rack(a) }\n  - { at: 5s, power-on: rack(a), stagger: uniform(1s..4s) }",
  );
  const starts: number[] = [];
  told.facts.on("node-started", (fact, at) => {
    if (fact.incarnation > 0) starts.push(at);
  });

  told.run();

  expect(starts).toHaveLength(2);
  expect(starts[0]).toBeGreaterThanOrEqual(6_000_000);
  expect(starts[1]).toBeLessThanOrEqual(9_000_000);
  expect(starts[0]).not.toBe(starts[1]);
});

const ANYWHERE = '"area":{"file":"any"}';
const CERTAIN = '"chance":{"times":1,"outOf":1}';

test("calls of a disk fail everywhere and always, unless it is said where, how likely, how often", () => {
  expect(done("disk-read-error: broker-1")).toEqual([
    `read-error 0 {${ANYWHERE},${CERTAIN},"count":null,"evict":true}`,
  ]);
  expect(
    done(
      "disk-read-error: broker-1, log: orders-1, file: index, chance: 5%, count: 2, page-cache: kept",
    ),
  ).toEqual([
    'read-error 0 {"area":{"log":"orders-1","file":"index"},' +
      '"chance":{"times":50000,"outOf":1000000},"count":2,"evict":false}',
  ]);
  expect(done("disk-write-error: rack(a), directory: kafka-logs")).toEqual(
    [0, 1].map(
      (node) =>
        `write-error ${node} {"area":{"file":"any","directory":"kafka-logs"},${CERTAIN},"count":null,"evict":false}`,
    ),
  );
});

test.each(["fsync-fails", "misdirected-write", "misdirected-read"])(
  "%s happens once, unless it is said how often",
  (fault) => {
    expect(done(`${fault}: broker-1`)[0]).toContain('"count":1');
    expect(done(`${fault}: broker-1, count: 7`)[0]).toContain('"count":7');
  },
);

test("a disk is filled up to what is to be left", () => {
  expect(done("disk-full: broker-1")).toEqual(['fill-disk 0 {"file":"any"} 0']);
  expect(done("disk-full: broker-1, free: 10KiB")).toEqual(['fill-disk 0 {"file":"any"} 10240']);
});

test("a disk stalls for its time, drawn for each, and not for as long as a fault lasts", () => {
  expect(done("disk-stall: broker-1, time: 5s")).toEqual(["stall-disk 0 5000000 all"]);
  const [one, other] = done("disk-stall: rack(a), time: uniform(1s..9s), operations: fsync");
  expect(one).toMatch(/^stall-disk 0 \d{7} fsync$/);
  expect(other).toMatch(/^stall-disk 1 \d{7} fsync$/);
  expect(one?.split(" ")[2]).not.toBe(other?.split(" ")[2]);
});

test("bits rot where it is said, and are put right only where it is said for how long", () => {
  const rot = "bit-rot: broker-1, log: orders-0, bits: 3, offsets: 10..20";
  const expected =
    'rot-disk 0 {"area":{"log":"orders-0","file":"any"},"bits":3,"offsets":{"from":10,"to":20},"evict":true}';

  expect(done(rot)).toEqual([expected]);
  const told = story(`  - { at: 1s, ${rot}, for: 2s }`);
  told.run();
  expect(told.hands.log).toEqual([expected, "undo rot-disk 0"]);
});

test("the name of a log directory may be written with its slash, and must be one of `log.dirs`", () => {
  expect(done("disk-lost: broker-1, directory: /kafka-logs")).toEqual([
    'lose-disk 0 {"file":"any","directory":"kafka-logs"}',
  ]);
  expect(() => story("  - { at: 1s, disk-lost: broker-1, directory: kafka-log }")).toThrow(
    "kafka-logs",
  );
});
