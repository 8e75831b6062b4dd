import { expect, test } from "vitest";
import { SECOND } from "../../../src/base/time.ts";
import { fixed, frame, NetWorld, uniform } from "../../support/net-world.ts";

test("a reset closes both sides after a latency, and what is in flight is lost", () => {
  const world = new NetWorld(3);
  const opened = world.acquainted(0, 1);
  const accepted = world.acquainted(1, 0);
  const elsewhere = world.acquainted(0, 2);
  const now = world.scheduler.now;
  for (const id of [opened, accepted, elsewhere]) world.network(0).send(id, frame("in flight"));

  const count = world.fabric.reset(0, 1);
  world.network(1).send(opened, frame("into the void"));
  world.runUntil(now + SECOND);

  expect(count).toBe(2);
  expect(world.fabric.reset(0, 1)).toBe(0);
  const closed = [`${now + 1_000} closed ${opened}`, `${now + 1_000} closed ${accepted}`];
  expect(world.station(0).heard).toEqual(closed);
  expect(world.station(1).heard).toEqual(closed);
  expect(world.station(2).bodies()).toEqual(["in flight"]);
});

test("a reset behind a cut is heard after the heal", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  world.fabric.cut(0, 1);
  world.fabric.reset(0, 1);
  world.runUntil(world.scheduler.now + SECOND);
  const beforeHeal = world.station(1).take();
  const now = world.scheduler.now;

  world.fabric.heal(0, 1);
  world.runDry();

  expect(beforeHeal).toEqual([]);
  expect(world.station(0).heard).toHaveLength(1);
  expect(world.station(1).heard).toEqual([`${now + 1_000} closed ${id}`]);
});

test("delays add up, and end each with its own undo", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  const latencies: number[] = [];
  const measure = (): void => {
    const now = world.scheduler.now;
    world.network(0).send(id, frame("probe"));
    world.runUntil(now + SECOND);
    latencies.push(Number(world.station(1).take()[0]?.split(" ")[0]) - now);
  };

  const undoShort = world.fabric.delay(0, 1, fixed(200));
  const undoLong = world.fabric.delay(0, 1, fixed(5_000));
  measure();
  undoShort();
  measure();
  undoLong();
  measure();

  expect(latencies).toEqual([6_200, 6_000, 1_000]);
  expect(undoLong).toThrow("taken back twice");
});

test("of several limits of a link's bandwidth the least counts", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  const latencies: number[] = [];
  const measure = (): void => {
    const now = world.scheduler.now;
    world.network(0).send(id, frame("probe", 1_000));
    world.runUntil(now + 2 * SECOND);
    latencies.push(Number(world.station(1).take()[0]?.split(" ")[0]) - now);
  };

  const undoSlow = world.fabric.slow(0, 1, 10_000);
  const undoSlower = world.fabric.slow(0, 1, 1_000);
  measure();
  undoSlower();
  measure();
  undoSlow();
  measure();

  expect(latencies).toEqual([1_001_000, 101_000, 1_000]);
});

test("connections between two nodes share the bandwidth of their link", () => {
  const world = new NetWorld(2, { quality: { latency: fixed(0), bytesPerSecond: 1_000 } });
  const one = world.acquainted(0, 1);
  const other = world.acquainted(0, 1);
  world.runUntil(world.scheduler.now + 10 * SECOND);
  for (const station of world.stations) station.take();
  const now = world.scheduler.now;

  world.network(0).send(one, frame("a", 500));
  world.network(0).send(other, frame("b", 500));
  world.network(1).send(one, frame("c", 500));
  world.runUntil(now + 2 * SECOND);

  expect(world.station(1).heard).toEqual([
    `${now + 500_000} frame ${one} a`,
    `${now + SECOND} frame ${other} b`,
  ]);
  expect(world.station(0).heard).toEqual([`${now + 500_000} frame ${one} c`]);
});

test("what a slow link has piled up flows once the link is fast again", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  const now = world.scheduler.now;
  const undo = world.fabric.slow(0, 1, 1_000);
  const sent = Array.from({ length: 60 }, (_, i) => String(i));
  for (const body of sent) world.network(0).send(id, frame(body, 1_000));
  world.runUntil(now + 5_500_000);
  expect(world.station(1).bodies()).toEqual(["0", "1", "2", "3", "4"]);

  undo();
  world.network(0).send(id, frame("60"));
  world.runUntil(now + 6 * SECOND);

  expect(world.station(1).bodies()).toEqual([...sent, "60"]);
});

test("a dropped message vanishes without the connection noticing", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);

  const undo = world.fabric.disturb(0, 1, { drop: { times: 1, outOf: 1 } });
  world.network(0).send(id, frame("dropped"));
  undo();
  world.network(0).send(id, frame("kept"));
  world.runUntil(world.scheduler.now + SECOND);

  expect(world.station(1).bodies()).toEqual(["kept"]);
  expect(world.station(0).heard).toEqual([]);
});

test("a duplicated message is delivered twice", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);

  const undo = world.fabric.disturb(0, 1, { duplicate: { times: 1, outOf: 1 } });
  world.network(0).send(id, frame("double"));
  undo();
  world.network(0).send(id, frame("single"));
  world.runUntil(world.scheduler.now + SECOND);

  expect(world.station(1).bodies()).toEqual(["double", "double", "single"]);
});

test("a reordered message is overtaken by later ones", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);

  const undo = world.fabric.disturb(0, 1, { reorder: { times: 1, outOf: 1 } });
  world.network(0).send(id, frame("slow"));
  undo();
  world.network(0).send(id, frame("fast"));
  world.runUntil(world.scheduler.now + SECOND);

  expect(world.station(1).bodies()).toEqual(["fast", "slow"]);
});

test("a reordered message whose link is cut under way arrives after the heal, last", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  const undo = world.fabric.disturb(0, 1, { reorder: { times: 1, outOf: 1 } });
  world.network(0).send(id, frame("slow"));
  undo();
  world.fabric.cut(0, 1);
  world.network(0).send(id, frame("fast"));
  world.runUntil(world.scheduler.now + SECOND);

  world.fabric.heal(0, 1);
  world.runUntil(world.scheduler.now + SECOND);

  expect(world.station(1).bodies()).toEqual(["fast", "slow"]);
});

test("a disturbance meets about as many messages as its ratio says, in that direction only", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  world.fabric.disturb(0, 1, { drop: { times: 1, outOf: 4 } });

  for (let i = 0; i < 1_000; i++) {
    world.network(0).send(id, frame(i));
    world.network(1).send(id, frame(i));
  }
  world.runUntil(world.scheduler.now + SECOND);

  expect(world.station(1).heard.length).toBeGreaterThan(700);
  expect(world.station(1).heard.length).toBeLessThan(800);
  expect(world.station(0).heard).toHaveLength(1_000);
});

test("a draw on one link moves no other link", () => {
  const arrivals = (busyElsewhere: boolean): string[] => {
    const world = new NetWorld(3, { quality: { latency: uniform(100, 100_000) } });
    const id = world.connected(0, 1);
    const other = world.connected(2, 1);
    const start = 10 * SECOND;
    world.runUntil(start);
    if (busyElsewhere) for (let i = 0; i < 50; i++) world.network(2).send(other, frame("noise"));
    for (let i = 0; i < 50; i++) world.network(0).send(id, frame(i));
    world.runUntil(20 * SECOND);
    return world.station(1).heard.filter((line) => line.includes(`frame ${id} `));
  };

  expect(arrivals(true)).toEqual(arrivals(false));
});

test("a disturbance that decides nothing moves no latency of its link", () => {
  const arrivals = (disturbed: boolean): string[] => {
    const world = new NetWorld(2, { quality: { latency: uniform(100, 100_000) } });
    const id = world.connected(0, 1);
    if (disturbed) world.fabric.disturb(0, 1, { drop: { times: 0, outOf: 7 } });
    for (let i = 0; i < 50; i++) world.network(0).send(id, frame(i));
    world.runUntil(20 * SECOND);
    return world.station(1).heard;
  };

  expect(arrivals(true)).toEqual(arrivals(false));
});

test("the observer sees each frame just before the node that it is for", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  const seen: string[] = [];
  world.fabric.observe((from, to, { body }) => {
    seen.push(`${from} ${to} ${String(body)} ${world.station(to).heard.length}`);
  });

  world.network(0).send(id, frame("there"));
  world.network(1).send(id, frame("back"));
  world.runUntil(world.scheduler.now + SECOND);
  world.network(1).close(id);
  world.runDry();

  expect(seen).toEqual(["0 1 there 0", "1 0 back 0"]);
});

test("an incarnation hears nothing of its predecessor's connections", () => {
  const world = new NetWorld(2);
  const old = world.acquainted(0, 1);
  world.network(1).send(old, frame("for the old one"));
  world.stop(0, "crash");
  world.start(0);
  const young = world.network(0).connect(1);
  world.network(0).send(old, frame("from the new one"));
  world.network(0).close(old);

  world.runUntil(world.scheduler.now + SECOND);

  expect(young).not.toBe(old);
  expect(world.station(0).heard).toHaveLength(1);
  expect(world.station(0).heard[0]).toContain(`connected ${young}`);
  expect(world.station(1).bodies()).toEqual([]);
});

test("the same seed gives the same run, another seed another", () => {
  const digest = (seed: string): string => {
    const world = new NetWorld(2, { quality: { latency: uniform(1, 9_999) } }, seed);
    const id = world.connected(0, 1);
    for (let i = 0; i < 20; i++) world.network(0).send(id, frame(i));
    world.runUntil(SECOND);
    return world.scheduler.digest.value();
  };

  expect(digest("1")).toBe(digest("1"));
  expect(digest("1")).not.toBe(digest("2"));
});

test("a reordered message is lost with its connection, like any other in flight", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  world.fabric.delay(0, 1, fixed(500));
  world.fabric.disturb(0, 1, { reorder: { times: 1, outOf: 1 } });

  world.network(0).send(id, frame("slow"));
  world.fabric.setQuality(0, 1, { latency: fixed(10_000) });
  world.fabric.reset(0, 1);
  world.runDry();

  expect(world.station(1).heard).toHaveLength(1);
  expect(world.station(1).bodies()).toEqual([]);
});

test("a listing of events says what each of the network is", () => {
  const world = new NetWorld(2);
  const listed: string[] = [];
  world.scheduler.recordEvents(1, 1_000, ({ kind, detail }) => {
    if (kind !== "stop") listed.push(`${kind}: ${detail}`);
  });
  const id = world.network(0).connect(1);
  world.network(0).send(id, frame("hello"));
  world.network(0).close(world.network(0).connect(1));
  world.runUntil(SECOND);
  world.network(0).close(id);
  world.runUntil(2 * SECOND);

  expect(listed).toEqual([
    "connection: broker-1->broker-2, connection 0: syn",
    "connection: nothing: the connection is gone",
    "connection: broker-2->broker-1, connection 0: syn-ack",
    "arrival: broker-1->broker-2, connection 0: request 0 of API 1 v1, 100 B",
    "arrival: broker-1->broker-2, connection 0: the end",
  ]);
});

test("a process that has closed its port refuses connections, and keeps those that stand", () => {
  const world = new NetWorld(3);
  const standing = world.acquainted(0, 1);

  world.network(1).listen(false);
  const refused = world.network(2).connect(1);
  world.network(0).send(standing, frame("still there"));
  world.runUntil(world.scheduler.now + SECOND);

  expect(world.station(2).take()[0]).toMatch(new RegExp(`closed ${refused}$`));
  expect(world.station(1).bodies()).toEqual(["still there"]);

  world.network(1).listen(true);
  const accepted = world.network(2).connect(1);
  world.runUntil(world.scheduler.now + SECOND);

  expect(world.station(2).take()[0]).toMatch(new RegExp(`connected ${accepted}$`));
});

test("a process that has died takes its closed port with it", () => {
  const world = new NetWorld(2);
  const old = world.station(1);
  world.network(1).listen(false);
  world.fabric.hostStopped(old, "crash");
  world.fabric.hostStarted(old);

  const id = world.network(0).connect(1);
  world.runUntil(world.scheduler.now + SECOND);

  expect(world.station(0).take()[0]).toMatch(new RegExp(`connected ${id}$`));
});
