import { expect, test } from "vitest";
import { MINUTE, SECOND } from "../../../src/base/time.ts";
import { fixed, frame, NetWorld, uniform } from "../../support/net-world.ts";

test("a handshake costs one round trip, and what was sent before it departs then, in order", () => {
  const world = new NetWorld(2);

  const id = world.network(0).connect(1);
  world.network(0).send(id, frame("first"));
  world.network(0).send(id, frame("second"));
  world.runUntil(10_000);

  expect(world.station(0).heard).toEqual([`2000 connected ${id}`]);
  expect(world.station(1).heard).toEqual([`3000 frame ${id} first`, `3000 frame ${id} second`]);
});

test("frames keep their order however unequal their latencies are", () => {
  const world = new NetWorld(2, { quality: { latency: uniform(1, 5_000) } });
  const id = world.connected(0, 1);
  const sent = Array.from({ length: 200 }, (_, i) => String(i));

  for (const body of sent) world.network(0).send(id, frame(body));
  world.runUntil(SECOND);

  expect(world.station(1).bodies()).toEqual(sent);
});

test("a frame departs when the work of its step is done, and none before the one sent before it", () => {
  const world = new NetWorld(2);
  const id = world.connected(0, 1);
  const now = world.scheduler.now;

  world.station(0).charged = 500;
  world.network(0).send(id, frame("worked for"));
  world.station(0).charged = 0;
  world.network(0).send(id, frame("sent after it"));
  world.runUntil(SECOND);

  expect(world.station(1).heard).toEqual([
    `${now + 1_500} frame ${id} worked for`,
    `${now + 1_500} frame ${id} sent after it`,
  ]);
});

test("a machine whose process is down refuses: the asker learns of it after a round trip", () => {
  const world = new NetWorld(2);
  world.stop(1, "crash");

  const id = world.network(0).connect(1);
  world.runDry();

  expect(world.station(0).heard).toEqual([`2000 closed ${id}`]);
});

test("a machine without power does not answer: connecting fails after the setup timeout", () => {
  const world = new NetWorld(2);
  world.stop(1, "power-off");

  const id = world.network(0).connect(1);
  world.runDry();

  expect(world.station(0).heard).toEqual([`${10 * SECOND} closed ${id}`]);
});

test("a connection cut off in either direction is not established, and a repeated SYN makes it so", () => {
  for (const [from, to] of [
    [0, 1],
    [1, 0],
  ] as const) {
    const world = new NetWorld(2);
    world.fabric.cut(from, to);

    const id = world.network(0).connect(1);
    world.runUntil(2 * SECOND);
    world.fabric.heal(from, to);
    world.runUntil(9 * SECOND);

    expect(world.station(0).heard).toEqual([`${3 * SECOND + 2_000} connected ${id}`]);
  }
});

test("a process that starts while a SYN waits accepts the repeated one", () => {
  const world = new NetWorld(2);
  world.stop(1, "power-off");

  const id = world.network(0).connect(1);
  world.runUntil(500_000);
  world.start(1);
  world.runUntil(9 * SECOND);

  expect(world.station(0).heard).toEqual([`${SECOND + 2_000} connected ${id}`]);
});

test("after a close, what was sent before arrives, then the peer learns of it; the closer hears nothing", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  const now = world.scheduler.now;

  world.network(1).send(id, frame("crossing"));
  world.network(0).send(id, frame("last words"));
  world.network(0).close(id);
  world.network(0).send(id, frame("too late"));
  world.runDry();

  expect(world.station(0).heard).toEqual([]);
  expect(world.station(1).heard).toEqual([
    `${now + 1_000} frame ${id} last words`,
    `${now + 1_000} closed ${id}`,
  ]);
});

test("when both sides close at once, neither hears of it", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);

  world.network(0).close(id);
  world.network(1).close(id);
  world.runDry();

  expect([...world.station(0).heard, ...world.station(1).heard]).toEqual([]);
});

test("a connection closed before it is established leaves no trace at either side", () => {
  const world = new NetWorld(2);

  const id = world.network(0).connect(1);
  world.network(0).send(id, frame("never"));
  world.runUntil(1_500);
  world.network(0).close(id);
  world.runDry();

  expect([...world.station(0).heard, ...world.station(1).heard]).toEqual([]);
});

test("a reply in flight is lost when the server crashes, and the client learns of it by a reset", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  const now = world.scheduler.now;
  world.station(1).onFrame = () => world.network(1).send(id, frame("reply"));

  world.network(0).send(id, frame("request"));
  world.runUntil(now + 1_500);
  world.stop(1, "crash");
  world.runDry();

  expect(world.station(1).bodies()).toEqual(["request"]);
  expect(world.station(0).heard).toEqual([`${now + 2_500} closed ${id}`]);
});

test("a request in flight is lost when the server crashes and another incarnation is up at once", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  const now = world.scheduler.now;

  world.network(0).send(id, frame("request"));
  world.stop(1, "crash");
  world.start(1);
  world.network(0).send(id, frame("another"));
  world.runDry();

  expect(world.station(1).heard).toEqual([]);
  expect(world.station(0).heard).toEqual([`${now + 1_000} closed ${id}`]);
});

test("what a process sent before it exited arrives, then its peer sees the connection closed", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  const now = world.scheduler.now;

  world.network(1).send(id, frame("goodbye"));
  world.stop(1, "exit");
  world.runDry();

  expect(world.station(0).heard).toEqual([
    `${now + 1_000} frame ${id} goodbye`,
    `${now + 1_000} closed ${id}`,
  ]);
});

test("a process that dies before its SYN-ACK has arrived is told of as a reset", () => {
  const world = new NetWorld(2);

  const id = world.network(0).connect(1);
  world.runUntil(1_500);
  world.stop(1, "crash");
  world.runDry();

  expect(world.station(0).heard).toEqual([`2500 closed ${id}`]);
});

test("a node that lost power is silent until it answers an old connection with a reset", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  world.network(1).send(id, frame("in flight"));
  world.stop(1, "power-off");
  world.runUntil(world.scheduler.now + MINUTE);
  world.start(1);
  world.runUntil(world.scheduler.now + MINUTE);
  expect(world.station(0).heard).toEqual([]);
  const now = world.scheduler.now;

  world.network(0).send(id, frame("are you there?"));
  world.runDry();

  expect(world.station(0).heard).toEqual([`${now + 2_000} closed ${id}`]);
  expect(world.station(1).heard).toEqual([]);
});

test("what was sent to a machine without power is answered by a reset once it is up again", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  world.network(0).send(id, frame("in flight"));
  world.stop(1, "power-off");
  world.runUntil(world.scheduler.now + MINUTE);
  world.network(0).send(id, frame("into the dark"));
  world.runUntil(world.scheduler.now + MINUTE);
  expect(world.station(0).heard).toEqual([]);
  const now = world.scheduler.now;

  world.start(1);
  world.runDry();

  expect(world.station(0).heard).toEqual([`${now + 2_000} closed ${id}`]);
  expect(world.station(1).heard).toEqual([]);
});

test("a machine that never comes back is given up after the retransmission timeout", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  world.stop(1, "power-off");
  const now = world.scheduler.now;

  world.network(0).send(id, frame("into the dark"));
  world.runDry();

  expect(world.station(0).heard).toEqual([`${now + 15 * MINUTE} closed ${id}`]);
});

test("a power-off after a crash takes back the reset that had not arrived", () => {
  const world = new NetWorld(2);
  const id = world.acquainted(0, 1);
  world.stop(1, "crash");
  world.stop(1, "power-off");
  world.start(1);
  world.runUntil(world.scheduler.now + SECOND);
  expect(world.station(0).heard).toEqual([]);
  const now = world.scheduler.now;

  world.network(0).send(id, frame("anyone?"));
  world.runDry();

  expect(world.station(0).heard).toEqual([`${now + 2_000} closed ${id}`]);
});

test("a connection without a frame for connections.max.idle.ms is closed by the accepting side", () => {
  const world = new NetWorld(2, { maxIdle: 10 * SECOND });
  const id = world.connected(0, 1);
  world.runUntil(8 * SECOND);
  world.network(0).send(id, frame("still here"));

  world.runDry();

  const closed = 18 * SECOND + 1_000;
  expect(world.station(1).heard).toEqual([
    `${8 * SECOND + 1_000} frame ${id} still here`,
    `${closed} closed ${id}`,
  ]);
  expect(world.station(0).heard).toEqual([`${closed + 1_000} closed ${id}`]);
});

test("a process that is paused closes no idle connection", () => {
  const world = new NetWorld(2, { maxIdle: 10 * SECOND });
  world.connected(0, 1);
  world.station(1).isPaused = true;

  world.runUntil(15 * SECOND);

  expect(world.station(0).heard).toEqual([]);
});

test("a connection is never idle for too long where connections.max.idle.ms is off", () => {
  const world = new NetWorld(2, { maxIdle: undefined });
  world.connected(0, 1);

  world.runDry();

  expect(world.scheduler.now).toBeLessThan(SECOND);
});

test("links may be unlike, and unlike by direction", () => {
  const world = new NetWorld(3);
  world.fabric.setQuality(0, 1, { latency: fixed(50) });
  const id = world.connected(0, 1);
  expect(world.scheduler.now).toBe(1_050);

  world.network(0).send(id, frame("there"));
  world.network(1).send(id, frame("and back"));
  world.runUntil(SECOND);

  expect(world.station(1).heard).toEqual([`1100 frame ${id} there`]);
  expect(world.station(0).heard).toEqual([`2050 frame ${id} and back`]);
});

test("a node may connect to itself: it knows the two sides by different ids", () => {
  const world = new NetWorld(1);
  const station = world.station(0);
  const port = world.fabric.networkFor(station);
  const heard: string[] = [];
  station.frame = (connection, from, { body }) => {
    heard.push(`${connection} ${from} ${String(body)}`);
    if (body === "ask") port.send(connection, frame("answer"));
  };

  const id = port.connect(0);
  port.send(id, frame("ask"));
  world.runUntil(SECOND);
  world.stop(0, "crash");
  world.runDry();

  expect(heard).toEqual([`${id + 1} 0 ask`, `${id} 0 answer`]);
  expect(station.heard).toEqual(["2000 connected 0"]);
});

test("a machine that lost power after it had answered a SYN answers the first frame with a reset", () => {
  const world = new NetWorld(2);
  const id = world.network(0).connect(1);
  world.runUntil(1_500);
  world.stop(1, "power-off");
  world.runUntil(2_500);
  expect(world.station(0).take()).toEqual([`2000 connected ${id}`]);
  world.start(1);

  world.network(0).send(id, frame("hello"));
  world.runDry();

  expect(world.station(0).heard).toEqual([`4500 closed ${id}`]);
  expect(world.station(1).heard).toEqual([]);
});

test("a refusal that a cut swallows is repeated with the SYN", () => {
  const world = new NetWorld(2);
  world.stop(1, "crash");
  world.fabric.cut(1, 0);
  const id = world.network(0).connect(1);
  world.runUntil(500_000);

  world.fabric.heal(1, 0);
  world.runDry();

  expect(world.station(0).heard).toEqual([`${SECOND + 2_000} closed ${id}`]);
});
