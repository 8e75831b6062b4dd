import { expect, test } from "vitest";
import { SECOND } from "../../../src/base/time.ts";
import { Fabric } from "../../../src/net/fabric.ts";
import type { Disk } from "../../../src/ports/disk.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../../src/ports/network.ts";
import type { Node, World } from "../../../src/ports/node.ts";
import { Host } from "../../../src/sim/host.ts";
import { Rng } from "../../../src/sim/rng.ts";
import { Scheduler } from "../../../src/sim/scheduler.ts";
import { fixed, frame } from "../../support/net-world.ts";

/** Answers each request after half a millisecond of work; exits when asked to. */
class Server implements Node {
  readonly #world: World;
  readonly #work: () => void;

  constructor(world: World, work: () => void) {
    this.#world = world;
    this.#work = work;
  }

  onFrame(connection: ConnectionId, _from: NodeAddress, { body }: Frame): void {
    this.#work();
    this.#world.network.send(connection, frame(`reply to ${String(body)}`));
    if (body === "exit") this.#world.process.exit("asked to");
  }

  onStart(): void {}
  onTimer(): void {}
  onConnected(): void {}
  onClosed(): void {}
  onSynced(): void {}
  onShutdown(): void {}
}

/** Connects at once, sends what it was made for, and writes down what happens. */
class Client implements Node {
  readonly #world: World;
  readonly #requests: readonly string[];
  readonly #heard: string[];

  constructor(world: World, requests: readonly string[], heard: string[]) {
    this.#world = world;
    this.#requests = requests;
    this.#heard = heard;
  }

  onStart(): void {
    const connection = this.#world.network.connect(1);
    for (const body of this.#requests) this.#world.network.send(connection, frame(body));
  }

  onFrame(_connection: ConnectionId, _from: NodeAddress, { body }: Frame): void {
    this.#heard.push(`${this.#world.clock.now()} ${String(body)}`);
  }

  onConnected(): void {
    this.#heard.push(`${this.#world.clock.now()} connected`);
  }

  onClosed(): void {
    this.#heard.push(`${this.#world.clock.now()} closed`);
  }

  onTimer(): void {}
  onSynced(): void {}
  onShutdown(): void {}
}

const NO_DISK: Disk = {
  exists: () => false,
  open: () => {
    throw new Error("no disk in this test");
  },
  list: () => [],
  rename: () => undefined,
  remove: () => undefined,
  makeDirectory: () => undefined,
  syncDirectory: () => undefined,
};

/** A client and a server on real hosts; the latency is 1,000 us. */
function twoHosts(requests: readonly string[]): {
  readonly heard: string[];
  readonly client: Host;
  readonly server: Host;
  readonly runUntil: (time: number) => void;
} {
  const scheduler = new Scheduler();
  const random = new Rng("42");
  const nodes = ["client", "server"];
  const fabric = new Fabric({ scheduler, random, nodes, quality: { latency: fixed(1_000) } });
  const heard: string[] = [];
  const newHost = (address: number, program: (world: World, host: () => Host) => Node): Host => {
    const host: Host = new Host({
      address,
      name: nodes[address] ?? "",
      scheduler,
      random: random.fork(`node ${address}`),
      facts: { note: () => undefined },
      program: (world) => program(world, () => host),
      network: (station) => fabric.networkFor(station),
      disk: () => NO_DISK,
      watchers: [fabric],
    });
    return host;
  };
  const server = newHost(1, (world, host) => new Server(world, () => host().charge(500)));
  const client = newHost(0, (world) => new Client(world, requests, heard));
  const kind = scheduler.register("stop", { handle: () => undefined });
  const runUntil = (time: number): void => {
    scheduler.at(time, kind, 0, undefined);
    while (scheduler.now < time) scheduler.step();
  };
  server.start();
  client.start();
  return { heard, client, server, runUntil };
}

test("a reply departs when the work of its step is done", () => {
  const { heard, runUntil } = twoHosts(["ping"]);

  runUntil(SECOND);

  expect(heard).toEqual(["2000 connected", "4500 reply to ping"]);
});

test("a paused host takes in frames and works on them when it is resumed", () => {
  const { heard, server, runUntil } = twoHosts(["ping"]);
  server.pause();
  runUntil(500_000);
  const whilePaused = [...heard];

  server.resume();
  runUntil(SECOND);

  expect(whilePaused).toEqual(["2000 connected"]);
  expect(heard).toEqual(["2000 connected", "501500 reply to ping"]);
});

test("a reply that a process sent in its last step arrives after the process has exited", () => {
  const { heard, runUntil } = twoHosts(["exit"]);

  runUntil(SECOND);

  expect(heard).toEqual(["2000 connected", "4500 reply to exit", "4500 closed"]);
});

test("a request is carried out and its reply lost when the server crashes after the step", () => {
  const { heard, server, runUntil } = twoHosts(["ping"]);
  runUntil(3_200);

  server.crash("killed");
  runUntil(SECOND);

  expect(heard).toEqual(["2000 connected", "4200 closed"]);
});

test("a client restarted while its first connection is being made hears of its second only", () => {
  const { heard, client, runUntil } = twoHosts(["ping"]);
  runUntil(1_500);

  client.crash("killed");
  client.start();
  runUntil(SECOND);

  expect(heard).toEqual(["3500 connected", "6000 reply to ping"]);
});
