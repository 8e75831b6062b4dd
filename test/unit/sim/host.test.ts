import { beforeEach, describe, expect, test } from "vitest";
import { InvariantViolation } from "../../../src/base/invariant.ts";
import { MILLISECOND } from "../../../src/base/time.ts";
import type { Disk } from "../../../src/ports/disk.ts";
import type { ConnectionId, Frame, Network } from "../../../src/ports/network.ts";
import type { Node, TimerHandle, World } from "../../../src/ports/node.ts";
import type { StopKind } from "../../../src/sim/host.ts";
import { Host } from "../../../src/sim/host.ts";
import { Rng } from "../../../src/sim/rng.ts";
import { Scheduler } from "../../../src/sim/scheduler.ts";
import type { Fact } from "../../../src/trace/fact.ts";

const FRAME: Frame = {
  apiKey: 0,
  apiVersion: 0,
  correlationId: 0,
  isResponse: false,
  body: undefined,
  size: 1,
};

let scheduler: Scheduler;
let host: Host;
/** What the node heard, what the network was asked, and what the watcher was told. */
let heard: string[];
let facts: Fact[];
/** The worlds of all incarnations, first to last. */
let worlds: World[];
/** What the node does with a frame or at its start, beyond noting that it was. */
let onFrame: (world: World) => void;
let onStart: (world: World) => void;

/** Notes all that it hears, each with the reading of its clock. */
class Listener implements Node {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    worlds.push(world);
  }

  onStart(): void {
    this.#hear("start");
    onStart(this.#world);
  }

  onTimer(kind: number, payload: unknown): void {
    this.#hear(`timer ${kind} ${String(payload)}`);
  }

  onConnected(connection: ConnectionId): void {
    this.#hear(`connected ${connection}`);
  }

  onFrame(connection: ConnectionId, from: number): void {
    this.#hear(`frame ${connection} from ${from}`);
    onFrame(this.#world);
  }

  onClosed(connection: ConnectionId, from: number): void {
    this.#hear(`closed ${connection} from ${from}`);
  }

  onSynced(ticket: number, ok: boolean): void {
    this.#hear(`synced ${ticket} ${ok}`);
  }

  onShutdown(): void {
    this.#hear("shutdown");
    this.#world.process.exit("orderly");
  }

  #hear(what: string): void {
    heard.push(`${this.#world.clock.now()} #${this.#world.process.incarnation} ${what}`);
  }
}

/** Notes what it is asked, and when that would depart. */
class Asked implements Network {
  readonly #host: Host;

  constructor(asker: Host) {
    this.#host = asker;
  }

  connect(): ConnectionId {
    heard.push("connect");
    return 7;
  }

  send(): void {
    heard.push(`send at ${this.#host.departure()}`);
  }

  close(): void {
    heard.push("close");
  }

  listen(): void {
    heard.push("listen");
  }
}

const NO_DISK: Disk = {
  exists: () => false,
  open: () => expect.fail("no files here"),
  list: () => [],
  rename: () => undefined,
  remove: () => undefined,
  makeDirectory: () => undefined,
  syncDirectory: () => undefined,
};

function build(serial: boolean): Host {
  return new Host({
    address: 4,
    name: "broker-4",
    scheduler,
    random: new Rng("42").fork("broker-4"),
    facts: { note: (fact) => facts.push(fact) },
    program: (world) => new Listener(world),
    network: (asker) => new Asked(asker),
    disk: () => NO_DISK,
    watchers: [
      {
        hostStarted: (it) => heard.push(`${it.name} started`),
        hostStopped: (it, how) => heard.push(`${it.name} stopped: ${how}`),
      },
    ],
    serial,
  });
}

/** Does something at an instant, as a fault or the network would. */
function at(time: number, action: () => void): void {
  const kind = scheduler.register("test", { handle: action });
  scheduler.at(time, kind, 0, undefined);
}

function run(): void {
  while (scheduler.step());
}

function lastWorld(): World {
  return worlds.at(-1) ?? expect.fail("the host was never started");
}

beforeEach(() => {
  scheduler = new Scheduler();
  heard = [];
  facts = [];
  worlds = [];
  onFrame = () => undefined;
  onStart = () => undefined;
  host = build(false);
});

describe("what a node hears", () => {
  test("it starts once, then hears each thing as it comes", () => {
    onStart = (world) => {
      world.timers.start(30, 5, "tick");
    };
    at(0, () => host.start());
    at(10, () => host.connected(7));
    at(20, () => host.frame(7, 2, FRAME));
    at(40, () => host.synced(0, 99, true));
    at(50, () => host.closed(7, 2));

    run();

    expect(heard).toEqual([
      "broker-4 started",
      "0 #0 start",
      "10 #0 connected 7",
      "20 #0 frame 7 from 2",
      "30 #0 timer 5 tick",
      "40 #0 synced 99 true",
      "50 #0 closed 7 from 2",
    ]);
    expect(facts).toEqual([{ kind: "node-started", node: "broker-4", incarnation: 0 }]);
  });

  test("a host that is down hears nothing", () => {
    at(1, () => host.frame(7, 2, FRAME));
    at(2, () => host.shutdown());
    at(3, () => host.synced(-1, 0, true));

    run();

    expect(heard).toEqual([]);
    expect(host.isUp).toBe(false);
    expect(host.incarnation).toBe(-1);
  });

  test("a drifting clock shows its own time, and its timers last as long as that clock says", () => {
    onStart = (world) => {
      world.timers.start(MILLISECOND, 0);
    };
    host.clock.set(5_000, 1_000_000);
    at(0, () => host.start());

    run();

    expect(heard.slice(1)).toEqual(["5000 #0 start", "6000 #0 timer 0 undefined"]);
    expect(scheduler.now).toBe(MILLISECOND / 2);
  });

  test("a bug in a handler is not swallowed", () => {
    onFrame = () => {
      throw new InvariantViolation("broken");
    };
    at(0, () => host.start());
    at(1, () => host.frame(7, 2, FRAME));

    expect(run).toThrow("broken");
  });
});

describe("the time that a step takes", () => {
  test("frames depart when the work that was charged before them is done", () => {
    onFrame = (world) => {
      world.network.send(7, FRAME);
      host.charge(300);
      world.network.send(7, FRAME);
      host.charge(50);
      world.network.send(7, FRAME);
    };
    at(0, () => host.start());
    at(10, () => host.frame(7, 2, FRAME));
    at(11, () => host.frame(7, 2, FRAME));

    run();

    expect(heard.filter((line) => line.startsWith("send"))).toEqual([
      "send at 10",
      "send at 310",
      "send at 360",
      "send at 11",
      "send at 311",
      "send at 361",
    ]);
    expect(host.departure()).toBe(scheduler.now);
  });

  test("a serial host is busy until its work is done; what comes meanwhile waits in order", () => {
    host = build(true);
    onFrame = () => host.charge(100);
    onStart = (world) => {
      world.timers.start(15, 1);
    };
    at(0, () => host.start());
    at(10, () => host.frame(1, 2, FRAME));
    at(20, () => host.frame(2, 2, FRAME));
    at(30, () => host.synced(0, 5, true));
    at(250, () => host.frame(3, 2, FRAME));

    run();

    expect(heard.slice(2)).toEqual([
      "10 #0 frame 1 from 2",
      "110 #0 timer 1 undefined",
      "110 #0 frame 2 from 2",
      "210 #0 synced 5 true",
      "250 #0 frame 3 from 2",
    ]);
  });
});

describe("lifecycle", () => {
  test("a wake-up that a dead incarnation had asked for does not hurry its successor", () => {
    host = build(true);
    onFrame = () => host.charge(100);
    at(0, () => host.start());
    at(10, () => host.frame(1, 2, FRAME));
    at(20, () => host.frame(2, 2, FRAME));
    at(30, () => host.crash("fault"));
    at(40, () => host.start());
    at(50, () => host.frame(3, 2, FRAME));
    at(60, () => host.frame(4, 2, FRAME));

    run();

    expect(heard.slice(-2)).toEqual(["50 #1 frame 3 from 2", "150 #1 frame 4 from 2"]);
  });

  test("a crash ends the incarnation: its timers never fire, and the next one starts afresh", () => {
    onStart = (world) => {
      world.timers.start(100, 1, `of #${world.process.incarnation}`);
    };
    at(0, () => host.start());
    at(50, () => host.crash("fault"));
    at(60, () => host.frame(7, 2, FRAME));
    at(80, () => host.start());

    run();

    expect(heard).toEqual([
      "broker-4 started",
      "0 #0 start",
      "broker-4 stopped: crash",
      "broker-4 started",
      "80 #1 start",
      "180 #1 timer 1 of #1",
    ]);
    expect(facts.map((fact) => fact.kind)).toEqual([
      "node-started",
      "node-stopped",
      "node-started",
    ]);
  });

  test("nothing of a dead incarnation reaches the world or its successor", () => {
    at(0, () => host.start());
    at(1, () => host.crash("fault"));
    at(2, () => host.start());
    run();
    const [dead] = worlds;
    const alive = lastWorld();
    heard.length = 0;
    facts.length = 0;
    const timer = alive.timers.start(10, 3, "alive");

    dead?.timers.start(5, 1, "dead");
    dead?.timers.cancel(timer);
    dead?.network.connect(1);
    dead?.network.send(7, FRAME);
    dead?.network.close(7);
    dead?.facts.note({ kind: "node-paused", node: "ghost" });
    dead?.process.exit("ghost");
    host.synced(0, 1, true);
    run();

    expect(heard).toEqual(["12 #1 timer 3 alive"]);
    expect(facts).toEqual([]);
    expect(host.isUp).toBe(true);
  });

  test("each incarnation draws from a stream of its own", () => {
    const draw = (world: World | undefined): number | undefined => world?.random.below(1_000_000);
    const other = new Rng("42").fork("broker-4");

    host.start();
    for (let i = 0; i < 3; i++) draw(lastWorld());
    host.crash("fault");
    host.start();

    expect(draw(lastWorld())).toBe(other.fork("incarnation 1").below(1_000_000));
  });

  test("a controlled shutdown ends when the node exits, after the step in which it did", () => {
    at(0, () => host.start());
    at(10, () => host.shutdown());
    onFrame = (world) => {
      world.process.exit("fatal");
      world.network.send(7, FRAME);
      heard.push(host.isUp ? "still up" : "gone");
    };
    at(20, () => host.start());
    at(30, () => host.frame(7, 2, FRAME));

    run();

    expect(heard).toEqual([
      "broker-4 started",
      "0 #0 start",
      "10 #0 shutdown",
      "broker-4 stopped: exit",
      "broker-4 started",
      "20 #1 start",
      "30 #1 frame 7 from 2",
      "send at 30",
      "still up",
      "broker-4 stopped: exit",
    ]);
    expect(facts.filter((fact) => fact.kind === "node-stopped")).toEqual([
      { kind: "node-stopped", node: "broker-4", how: "exit", reason: "orderly" },
      { kind: "node-stopped", node: "broker-4", how: "exit", reason: "fatal" },
    ]);
  });

  test("a crash that a step brings on its own host falls after that step", () => {
    onFrame = (world) => {
      host.crash("trigger");
      world.network.send(7, FRAME);
    };
    at(0, () => host.start());
    at(1, () => host.frame(7, 2, FRAME));

    run();

    expect(heard.slice(2)).toEqual(["1 #0 frame 7 from 2", "send at 1", "broker-4 stopped: crash"]);
  });

  test("a power-off is told to the disk even when the process is down already", () => {
    const stops: StopKind[] = [];
    at(0, () => host.start());
    at(1, () => host.crash("fault"));
    at(2, () => host.powerOff("fault"));

    run();
    for (const line of heard) {
      const how = line.split("stopped: ")[1];
      if (how !== undefined) stops.push(how as StopKind);
    }

    expect(stops).toEqual(["crash", "power-off"]);
    expect(facts.filter((fact) => fact.kind === "node-stopped")).toHaveLength(1);
  });

  test("what is in that state already stays as it is", () => {
    at(0, () => host.resume());
    at(0, () => host.pause());
    at(0, () => host.crash("none"));
    at(1, () => host.start());
    at(2, () => host.start());
    at(3, () => host.pause());
    at(4, () => host.pause());

    run();

    expect(heard).toEqual(["broker-4 started", "1 #0 start"]);
    expect(facts.map((fact) => fact.kind)).toEqual(["node-started", "node-paused"]);
  });
});

describe("pause", () => {
  test("what comes meanwhile is handled in order at resume, timers late", () => {
    onStart = (world) => {
      world.timers.start(30, 1, "due while paused");
      world.timers.start(90, 2, "due later");
    };
    at(0, () => host.start());
    at(10, () => host.pause());
    at(20, () => host.frame(7, 2, FRAME));
    at(40, () => host.synced(0, 3, false));
    at(45, () => host.closed(7, 2));
    at(50, () => host.resume());

    run();

    expect(heard.slice(2)).toEqual([
      "50 #0 frame 7 from 2",
      "50 #0 timer 1 due while paused",
      "50 #0 synced 3 false",
      "50 #0 closed 7 from 2",
      "90 #0 timer 2 due later",
    ]);
    expect(facts.map((fact) => fact.kind)).toEqual(["node-started", "node-paused", "node-resumed"]);
  });

  test("a timer that came due meanwhile can still be cancelled by what is handled before it", () => {
    let timer: TimerHandle = 0;
    onStart = (world) => {
      timer = world.timers.start(30, 1);
    };
    onFrame = (world) => world.timers.cancel(timer);
    at(0, () => host.start());
    at(10, () => host.pause());
    at(20, () => host.frame(7, 2, FRAME));
    at(50, () => host.resume());

    run();

    expect(heard.slice(2)).toEqual(["50 #0 frame 7 from 2"]);
  });

  test("what arrives while the backlog is worked off waits behind it", () => {
    at(0, () => host.start());
    at(10, () => host.pause());
    at(20, () => host.frame(1, 2, FRAME));
    at(20, () => host.frame(2, 2, FRAME));
    at(50, () => {
      host.resume();
      host.frame(3, 2, FRAME);
    });
    at(50, () => host.frame(4, 2, FRAME));

    run();

    expect(heard.slice(2)).toEqual([
      "50 #0 frame 1 from 2",
      "50 #0 frame 2 from 2",
      "50 #0 frame 3 from 2",
      "50 #0 frame 4 from 2",
    ]);
  });

  test("pausing again stops the work in the middle of the backlog", () => {
    onFrame = () => host.pause();
    at(0, () => host.start());
    at(10, () => host.pause());
    at(20, () => host.frame(1, 2, FRAME));
    at(20, () => host.frame(2, 2, FRAME));
    at(50, () => host.resume());
    at(60, () => host.resume());

    run();

    expect(heard.slice(2)).toEqual(["50 #0 frame 1 from 2", "60 #0 frame 2 from 2"]);
    expect(host.isPaused).toBe(true);
  });

  test("SIGTERM waits for the resume, and a crash forgets all that waits", () => {
    at(0, () => host.start());
    at(10, () => host.pause());
    at(20, () => host.frame(7, 2, FRAME));
    at(20, () => host.shutdown());
    at(30, () => host.crash("fault"));
    at(40, () => host.start());
    at(50, () => host.pause());
    at(51, () => host.shutdown());
    at(60, () => host.resume());

    run();

    expect(heard.slice(2)).toEqual([
      "broker-4 stopped: crash",
      "broker-4 started",
      "40 #1 start",
      "60 #1 shutdown",
      "broker-4 stopped: exit",
    ]);
  });

  test("a resume just before a crash wakes nobody in the next incarnation", () => {
    at(0, () => host.start());
    at(10, () => host.pause());
    at(20, () => host.frame(7, 2, FRAME));
    at(30, () => {
      host.resume();
      host.crash("fault");
      host.start();
      host.pause();
      host.frame(8, 2, FRAME);
    });
    at(40, () => host.resume());

    run();

    expect(heard.slice(2)).toEqual([
      "broker-4 stopped: crash",
      "broker-4 started",
      "30 #1 start",
      "40 #1 frame 8 from 2",
    ]);
  });
});
