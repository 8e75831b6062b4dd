import fc from "fast-check";
import { expect, test } from "vitest";
import type { Core, Troubles } from "../../../src/cluster/settle-core.ts";
import { drawCore } from "../../../src/cluster/settle-core.ts";
import { Rng } from "../../../src/sim/rng.ts";
import { Story } from "../../support/story.ts";

const SEEDS = Array.from({ length: 60 }, (_, seed) => String(seed));

const HEALTHY: Troubles = { spoiledBeyond: () => new Set(), isCut: () => false };

/** Three brokers, three controllers, a producer; when the story ends a core is healed. */
function story(faults: string, seed: string): Story {
  return new Story(
    `version: 1
name: core
kafka: "4.3"
cluster: { brokers: 3, controllers: 3 }
topics: { orders: { partitions: 1, replication.factor: 3 } }
clients: { p1: { produce: orders } }
faults:
${faults}
duration: 5s
settle: { time: 10s, core: majority }
`,
    seed,
  );
}

/** The core that a story drew, by the names of its servers; and who stays broken. */
function drawnIn(told: Story): { core: readonly string[]; frozen: readonly string[] } {
  let drawn: { core: readonly string[]; frozen: readonly string[] } | undefined;
  told.facts.on("core-drawn", (fact) => {
    drawn = fact;
  });
  told.run();
  if (drawn === undefined) throw new Error("no core was drawn");
  return drawn;
}

function idsOf({ servers }: Core): number[] {
  return servers.map(({ id }) => id);
}

test("a core has most controllers and brokers, the in-sync replicas that are needed, and one that may lead", () => {
  const subset = fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { minLength: 1 });
  const situation = fc.record({ isr: subset, elr: subset, min: fc.integer({ min: 1, max: 3 }) });
  fc.assert(
    fc.property(situation, fc.nat(), ({ isr, elr, min }, seed) => {
      const { roster, view, register } = prepared();
      register({ partition: "orders-0", isr, elr, minInsyncReplicas: min });

      const core = drawCore(roster, view, HEALTHY, new Rng(String(seed)));

      const brokers = idsOf(core).filter((id) => id < 3000);
      expect(idsOf(core).filter((id) => id > 3000).length).toBeGreaterThanOrEqual(2);
      expect(brokers.length).toBeGreaterThanOrEqual(Math.max(2, min));
      expect(brokers.some((id) => isr.includes(id) || elr.includes(id))).toBe(true);
      expect(core.servers.length + core.others.length).toBe(6);
    }),
    { seed: 42, numRuns: 300 },
  );
});

function prepared(): Pick<Story, "roster" | "view"> & { register: Story["register"] } {
  const told = story("  - { at: 1s, mark: here }", "1");
  return { roster: told.roster, view: told.view, register: (change) => told.register(change) };
}

test("a leader of whom half is broken is healed, unless the core's controllers cannot hear it either", () => {
  const { roster, view } = prepared();
  const leader = 0;
  const spoiledBeyond = (healed: ReadonlySet<number>): Set<number> => {
    return new Set(healed.has(leader) ? [] : [leader]);
  };
  const outside = (isCut: Troubles["isCut"]): number => {
    const cores = SEEDS.map((seed) =>
      drawCore(roster, view, { spoiledBeyond, isCut }, new Rng(seed)),
    );
    return cores.filter(({ others }) => others.some(({ address }) => address === leader)).length;
  };

  expect(outside(() => false)).toBe(0);
  expect(outside((one) => one === leader)).toBeGreaterThan(5);
});

test("chance decides who is in the core, and the same seed decides the same", () => {
  const cores = SEEDS.map((seed) => {
    const { core } = drawnIn(story("  - { at: 1s, mark: here }", seed));
    expect(drawnIn(story("  - { at: 1s, mark: here }", seed)).core).toEqual(core);
    return core;
  });

  for (const name of ["broker-1", "broker-2", "broker-3", "controller-1"]) {
    expect(cores.filter((core) => !core.includes(name)).length).toBeGreaterThan(3);
  }
  expect(new Set(cores.map((core) => core.length))).toEqual(new Set([4, 5, 6]));
});

test("links within the core are healed, those that lead out of it stay cut for ever", () => {
  for (const seed of SEEDS) {
    const told = story("  - { at: 1s, isolate: broker-1, for: 6s }", seed);

    const { core, frozen } = drawnIn(told);

    const isIn = (address: number): boolean => {
      const { name, role } = told.roster.at(address);
      return role === "client" || core.includes(name);
    };
    const left = [...told.hands.open.keys()].map((cut) => cut.slice("cut ".length).split(">"));
    const ends = left.map((link) => link.map(Number));
    // Of the six links to other servers and one to the client, both ways: those that are not all within.
    expect(ends.every((link) => !link.every(isIn))).toBe(true);
    const beyond = told.roster.nodes.filter(({ address }) => address > 0 && !isIn(address)).length;
    expect(ends.length).toBe(core.includes("broker-1") ? beyond * 2 : 12);
    expect(frozen.includes("broker-1")).toBe(!core.includes("broker-1"));
  }
});

test("outside the core what is down stays down, and what is paused stays paused", () => {
  for (const seed of SEEDS) {
    const told = story(
      "  - { at: 1s, pause: broker-1, for: 6s }\n  - { at: 1s, crash: broker-2 + controller-1 }\n  - { at: 1s, slow-disk: broker-3, factor: 10 }",
      seed,
    );

    const { core, frozen } = drawnIn(told);

    for (const name of ["broker-1", "broker-2", "controller-1"]) {
      expect(told.view.node(name).isAlive).toBe(core.includes(name));
    }
    expect([...told.hands.open.keys()]).toEqual(
      core.includes("broker-3") ? [] : ["slow-disk 2 10"],
    );
    const broken = ["broker-1", "broker-2", "broker-3", "controller-1"];
    expect(frozen).toEqual(broken.filter((name) => !core.includes(name)));
  }
});

test("a node that stops during the settling is started again within the core only", () => {
  for (const seed of SEEDS.slice(0, 20)) {
    const told = story("  - { at: 1s, mark: here }", seed);
    told.at(8, { kind: "node-stopped", node: "broker-2", how: "exit", reason: "late shutdown" });

    const { core } = drawnIn(told);

    expect(told.hands.log).toEqual(core.includes("broker-2") ? ["restart 1"] : []);
  }
});

test("producers go on for half of the time, and the timeline says who is healed", () => {
  const told = story("  - { at: 1s, isolate: broker-1 }", "1");
  let stoppedAt = 0;
  told.do(9, () => {
    stoppedAt = told.settled;
  });

  const { core, frozen } = drawnIn(told);

  expect([stoppedAt, told.settled]).toEqual([0, 1]);
  expect(told.told).toContain(
    `5s settle only ${core.join(", ")} are healed; faults end there${frozen.length > 0 ? `; for ${frozen.join(", ")} faults stay` : ""} []`,
  );
});
