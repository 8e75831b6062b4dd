import { expect, test } from "vitest";
import { MINUTE, SECOND } from "../../../src/base/time.ts";
import { frame, NetWorld, uniform } from "../../support/net-world.ts";

test("a partition holds bytes and delivers them in order after it heals", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  world.network(0).send(id, frame("in flight"));
  world.fabric.cut(0, 1);
  world.network(0).send(id, frame("sent while cut"));
  world.runUntil(world.scheduler.now + 20 * SECOND);
  expect(world.station(1).heard).toEqual([]);
  const now = world.scheduler.now;

  world.fabric.heal(0, 1);
  world.network(0).send(id, frame("sent after"));
  world.runUntil(now + SECOND);

  expect(world.station(1).heard).toEqual([
    `${now + 1_000} frame ${id} in flight`,
    `${now + 1_000} frame ${id} sent while cut`,
    `${now + 1_000} frame ${id} sent after`,
  ]);
});

test("a frame that outlasts a short cut stays behind one that the cut held", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  const now = world.scheduler.now;
  world.network(0).send(id, frame("early"));
  world.runUntil(now + 900);
  world.network(0).send(id, frame("late"));
  world.fabric.cut(0, 1);
  world.runUntil(now + 1_500);

  world.fabric.heal(0, 1);
  world.runUntil(now + SECOND);

  expect(world.station(1).heard).toEqual([
    `${now + 2_500} frame ${id} early`,
    `${now + 2_500} frame ${id} late`,
  ]);
});

test("a cut that ends before a frame is due does not touch the frame", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  const now = world.scheduler.now;

  world.network(0).send(id, frame("lucky"));
  world.runUntil(now + 100);
  world.fabric.cut(0, 1);
  world.runUntil(now + 200);
  world.fabric.heal(0, 1);
  world.runUntil(now + SECOND);

  expect(world.station(1).heard).toEqual([`${now + 1_000} frame ${id} lucky`]);
});

test("a one-way partition holds one direction only", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  const now = world.scheduler.now;
  world.fabric.cut(0, 1);

  world.network(0).send(id, frame("held"));
  world.network(1).send(id, frame("free"));
  world.runUntil(now + SECOND);

  expect(world.station(1).heard).toEqual([]);
  expect(world.station(0).heard).toEqual([`${now + 1_000} frame ${id} free`]);
});

test("a link cut twice is open only when both cuts are healed", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  world.fabric.cut(0, 1);
  world.fabric.cut(0, 1);
  world.network(0).send(id, frame("patient"));

  world.fabric.heal(0, 1);
  world.runUntil(world.scheduler.now + SECOND);
  const afterOne = world.station(1).take();
  world.fabric.heal(0, 1);
  world.runUntil(world.scheduler.now + SECOND);

  expect(afterOne).toEqual([]);
  expect(world.station(1).bodies()).toEqual(["patient"]);
  expect(() => world.fabric.heal(0, 1)).toThrow("the link broker-1->broker-2 is not cut");
});

test("a connection that a cut holds for too long is given up; the peer learns of it after the heal", () => {
  const world = new NetWorld(2, { maxIdle: undefined });
  const id = world.acquainted(0, 1);
  const now = world.scheduler.now;
  world.fabric.cut(0, 1);
  world.fabric.cut(1, 0);
  world.network(0).send(id, frame("lost in the end"));

  world.runUntil(now + 20 * MINUTE);
  const duringCut = [world.station(0).take(), world.station(1).take()];
  world.fabric.heal(0, 1);
  world.fabric.heal(1, 0);
  world.runDry();

  expect(duringCut).toEqual([[`${now + 15 * MINUTE} closed ${id}`], []]);
  expect(world.station(0).heard).toEqual([]);
  expect(world.station(1).heard).toEqual([`${now + 20 * MINUTE + 1_000} closed ${id}`]);
});

test("a cut that heals in time stops the retransmission timeout", () => {
  const world = new NetWorld(2, { maxIdle: undefined });
  const id = world.acquainted(0, 1);
  world.fabric.cut(0, 1);
  world.network(0).send(id, frame("in time"));
  world.runUntil(world.scheduler.now + 14 * MINUTE);
  world.fabric.heal(0, 1);

  world.runDry();

  expect(world.station(1).bodies()).toEqual(["in time"]);
  expect(world.station(0).heard).toEqual([]);
});

test("a crash behind a partition is heard of after it heals, by the peers that still run", () => {
  const world = new NetWorld(3);
  const one = world.acquainted(0, 1);
  world.acquainted(2, 1);
  world.fabric.cut(1, 0);
  world.fabric.cut(1, 2);
  world.stop(1, "crash");
  world.stop(2, "crash");
  world.start(2);
  world.runUntil(world.scheduler.now + 20 * SECOND);
  expect(world.station(0).heard).toEqual([]);
  const now = world.scheduler.now;

  world.fabric.heal(1, 0);
  world.fabric.heal(1, 2);
  world.runDry();

  expect(world.station(0).heard).toEqual([`${now + 1_000} closed ${one}`]);
  expect(world.station(2).heard).toEqual([]);
});

test("what a cut holds takes bandwidth again after it heals", () => {
  const world = new NetWorld(2, {
    quality: { latency: uniform(1_000, 1_000), bytesPerSecond: 1_000_000 },
  });
  const id = world.acquainted(0, 1);
  world.fabric.cut(0, 1);
  for (const body of ["a", "b", "c"]) world.network(0).send(id, frame(body, 500));
  world.runUntil(world.scheduler.now + SECOND);
  const now = world.scheduler.now;

  world.fabric.heal(0, 1);
  world.runUntil(now + SECOND);

  expect(world.station(1).heard).toEqual([
    `${now + 1_500} frame ${id} a`,
    `${now + 2_000} frame ${id} b`,
    `${now + 2_500} frame ${id} c`,
  ]);
});

test("a frame that was in flight when the cut began counts for the retransmission timeout", () => {
  const world = new NetWorld(2, { maxIdle: undefined, retransmissionTimeout: 5 * SECOND });
  const id = world.acquainted(0, 1);
  const now = world.scheduler.now;

  world.network(0).send(id, frame("in flight"));
  world.fabric.cut(0, 1);
  world.runDry();

  expect(world.station(0).heard).toEqual([`${now + 1_000 + 5 * SECOND} closed ${id}`]);
});
