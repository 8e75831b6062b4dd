import fc from "fast-check";
import { expect, test } from "vitest";
import { MINUTE, SECOND } from "../../../src/base/time.ts";
import { frame, NetWorld, uniform } from "../../support/net-world.ts";

/** What may happen next, to nodes and connections picked by number. */
type Action =
  | { readonly kind: "send"; readonly connection: number; readonly back: boolean }
  | { readonly kind: "cut" | "heal" | "slow" | "delay" | "undo"; readonly link: number }
  | { readonly kind: "wait"; readonly time: number }
  | { readonly kind: "close"; readonly connection: number; readonly back: boolean }
  | { readonly kind: "connect"; readonly connection: number }
  | { readonly kind: "reset"; readonly link: number }
  | { readonly kind: "stop"; readonly node: number; readonly how: "crash" | "power-off" | "exit" }
  | { readonly kind: "start"; readonly node: number };

const NODES = 3;
/** Every ordered pair of two nodes. */
const LINKS = [
  [0, 1],
  [1, 0],
  [0, 2],
  [2, 0],
  [1, 2],
  [2, 1],
] as const;

const connection = fc.nat({ max: 5 });
const link = fc.nat({ max: LINKS.length - 1 });
const node = fc.nat({ max: NODES - 1 });
const peaceful: fc.WeightedArbitrary<Action>[] = [
  {
    weight: 12,
    arbitrary: fc.record({ kind: fc.constant("send" as const), connection, back: fc.boolean() }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom("cut", "heal", "heal", "slow", "delay", "undo"),
      link,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      time: fc.integer({ min: 0, max: 4_000 }),
    }),
  },
];
const violent: fc.WeightedArbitrary<Action>[] = [
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("close" as const), connection, back: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("connect" as const), connection }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reset" as const), link }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("stop" as const),
      node,
      how: fc.constantFrom("crash", "power-off", "exit"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("start" as const), node }) },
];

/** One connection that the trial made. */
interface Made {
  readonly id: number;
  readonly from: number;
  readonly to: number;
}

/** Carries out actions on connections between three nodes, and notes what was sent and what arrived. */
class Trial {
  readonly world: NetWorld;
  /** By connection and direction, `3>` and `3<`: the numbers of the frames sent. */
  readonly sent = new Map<string, number[]>();
  readonly arrived = new Map<string, number[]>();
  /** By node and connection, how often the node was told that it is gone. */
  readonly told = new Map<string, number>();
  /** By node and connection: the node has closed it, was told of its end, or died. */
  readonly #over = new Set<string>();
  /** The latest connection of each of LINKS. */
  readonly #latest: Made[] = [];
  readonly #all = new Map<number, Made>();
  readonly #cuts = LINKS.map(() => 0);
  readonly #undos: (() => void)[][] = LINKS.map(() => []);
  readonly #down = new Set<number>();
  #next = 0;

  constructor(seed: string) {
    const quality = { latency: uniform(1, 2_000), bytesPerSecond: 1_000_000 };
    this.world = new NetWorld(NODES, { quality, maxIdle: undefined }, seed);
    LINKS.forEach((_, at) => {
      this.#connect(at);
    });
    this.world.fabric.observe((from, to) => {
      const at = LINKS.findIndex(([one, other]) => one === from && other === to);
      expect(this.#cuts[at]).toBe(0);
    });
    for (const station of this.world.stations) {
      station.onFrame = (id, { body }) => {
        const from = this.#all.get(id)?.from === station.address ? "<" : ">";
        append(this.arrived, `${id}${from}`, Number(body));
      };
    }
  }

  act(action: Action): void {
    const { world } = this;
    switch (action.kind) {
      case "send":
        this.#send(action.connection, action.back);
        break;
      case "wait":
        world.runUntil(world.scheduler.now + action.time);
        break;
      case "close": {
        const { id, from, to } = this.#pick(action.connection);
        const closer = action.back && this.arrived.has(`${id}>`) ? to : from;
        world.network(closer).close(id);
        this.#over.add(`${closer} ${id}`);
        break;
      }
      case "connect":
        this.#connect(action.connection);
        break;
      case "stop":
        if (this.#down.has(action.node) && action.how !== "power-off") break;
        this.#down.add(action.node);
        for (const id of this.#all.keys()) this.#over.add(`${action.node} ${id}`);
        world.stop(action.node, action.how);
        break;
      case "start":
        if (this.#down.delete(action.node)) world.start(action.node);
        break;
      default:
        this.#actOnLink(action.kind, action.link);
    }
  }

  /** Heals and starts everything and lets all that is under way arrive. */
  calm(): void {
    LINKS.forEach((_, at) => {
      while ((this.#cuts[at] ?? 0) > 0) this.#actOnLink("heal", at);
      while ((this.#undos[at]?.length ?? 0) > 0) this.#actOnLink("undo", at);
    });
    for (const address of [...this.#down]) this.act({ kind: "start", node: address });
    this.world.runUntil(this.world.scheduler.now + 20 * MINUTE);
    this.#hear();
  }

  /** Each side that believes in a connection sends on it: that arrives, or the side is told. */
  probe(): void {
    const probes: { readonly key: string; readonly direction: string; readonly body: number }[] =
      [];
    for (const { id, from, to } of this.#all.values()) {
      for (const sender of [from, to]) {
        const direction = `${id}${sender === from ? ">" : "<"}`;
        const key = `${sender} ${id}`;
        // An accepting side knows of the connection by the first frame only.
        if (this.#over.has(key) || (sender === to && !this.arrived.has(`${id}>`))) continue;
        const body = this.#next++;
        this.world.network(sender).send(id, frame(body));
        probes.push({ key, direction, body });
      }
    }
    this.world.runUntil(this.world.scheduler.now + MINUTE);
    this.#hear();
    for (const { key, direction, body } of probes) {
      const isHeard = this.arrived.get(direction)?.includes(body) === true;
      expect(isHeard || this.told.has(key)).toBe(true);
    }
  }

  #hear(): void {
    for (const station of this.world.stations) {
      for (const line of station.take()) {
        const [, what, id] = line.split(" ");
        if (what !== "closed") continue;
        const key = `${station.address} ${id}`;
        this.told.set(key, (this.told.get(key) ?? 0) + 1);
        this.#over.add(key);
      }
    }
  }

  #actOnLink(kind: "cut" | "heal" | "slow" | "delay" | "undo" | "reset", at: number): void {
    const [from, to] = LINKS[at] ?? [0, 1];
    const { fabric } = this.world;
    if (kind === "cut") {
      fabric.cut(from, to);
      this.#cuts[at] = (this.#cuts[at] ?? 0) + 1;
    } else if (kind === "heal" && (this.#cuts[at] ?? 0) > 0) {
      fabric.heal(from, to);
      this.#cuts[at] = (this.#cuts[at] ?? 0) - 1;
    } else if (kind === "slow") this.#undos[at]?.push(fabric.slow(from, to, 50_000));
    else if (kind === "delay") this.#undos[at]?.push(fabric.delay(from, to, uniform(0, 5_000)));
    else if (kind === "undo") this.#undos[at]?.shift()?.();
    else if (kind === "reset") fabric.reset(from, to);
  }

  #send(which: number, back: boolean): void {
    const { id, from, to } = this.#pick(which);
    // An accepting side knows of the connection by the first frame only.
    if (back && !this.arrived.has(`${id}>`)) return;
    const body = this.#next++;
    append(this.sent, `${id}${back ? "<" : ">"}`, body);
    this.world.network(back ? to : from).send(id, frame(body, 50 + (body % 100)));
  }

  /** Connects anew; a node that is down asks for nothing. */
  #connect(at: number): void {
    const [from, to] = LINKS[at] ?? [0, 1];
    if (this.#down.has(from)) return;
    const id = this.world.network(from).connect(to);
    this.#latest[at] = { id, from, to };
    this.#all.set(id, { id, from, to });
  }

  #pick(which: number): Made {
    const picked = this.#latest[which];
    if (picked === undefined) throw new Error(`no connection ${which}`);
    return picked;
  }
}

function append(lists: Map<string, number[]>, key: string, item: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

test("in any schedule of sends, cuts and heals each direction delivers all, in order, exactly once", () => {
  const actions = fc.array(fc.oneof(...peaceful), { maxLength: 80, size: "max" });
  fc.assert(
    fc.property(actions, fc.string(), (schedule, seed) => {
      const trial = new Trial(seed);
      trial.world.runUntil(SECOND);

      for (const action of schedule) trial.act(action);
      trial.calm();

      expect(trial.arrived).toEqual(trial.sent);
      expect(trial.told.size).toBe(0);
    }),
    { seed: 42, numRuns: 200 },
  );
});

test("whatever else happens, each direction delivers a prefix, and a side that believes in a dead connection is told once it sends", () => {
  const actions = fc.array(fc.oneof(...peaceful, ...violent), { maxLength: 200, size: "max" });
  let cutShort = 0;
  fc.assert(
    fc.property(actions, fc.string(), fc.boolean(), (schedule, seed, settled) => {
      const trial = new Trial(seed);
      if (settled) trial.world.runUntil(SECOND);

      for (const action of schedule) trial.act(action);
      trial.calm();

      for (const [direction, arrived] of trial.arrived) {
        const sent = trial.sent.get(direction) ?? [];
        expect(arrived).toEqual(sent.slice(0, arrived.length));
        if (arrived.length < sent.length) cutShort++;
      }
      trial.probe();
      for (const [, times] of trial.told) expect(times).toBe(1);
    }),
    { seed: 42, numRuns: 400 },
  );
  expect(cutShort).toBeGreaterThan(300);
});
