import { SECOND } from "../src/base/time.ts";
import { Fabric } from "../src/net/fabric.ts";
import type { LinkQuality } from "../src/net/link.ts";
import type { Station } from "../src/net/station.ts";
import type { ConnectionId, Frame, Network, NodeAddress } from "../src/ports/network.ts";
import { Distribution } from "../src/sim/distribution.ts";
import { Rng } from "../src/sim/rng.ts";
import { Scheduler } from "../src/sim/scheduler.ts";
import type { Contender } from "./measure.ts";
import { timed } from "./measure.ts";

const NODES = 100;
const IN_FLIGHT = 1_000;
const DELIVERIES = 1_000_000;
const LATENCY = Distribution.uniform(500, 5_000);

/** Answers each frame with a fresh one on the same connection, and does nothing else. */
class Echo implements Station {
  readonly address: NodeAddress;
  readonly isPaused = false;
  delivered = 0;
  readonly #scheduler: Scheduler;
  readonly #network: Network;

  constructor(address: NodeAddress, scheduler: Scheduler, fabric: Fabric) {
    this.address = address;
    this.#scheduler = scheduler;
    this.#network = fabric.networkFor(this);
    fabric.hostStarted(this);
  }

  departure(): number {
    return this.#scheduler.now;
  }

  connect(to: NodeAddress): void {
    const id = this.#network.connect(to);
    this.#network.send(id, request(0));
  }

  connected(): void {}

  frame(connection: ConnectionId, _from: NodeAddress, frame: Frame): void {
    this.delivered++;
    this.#network.send(connection, request(frame.correlationId + 1));
  }

  closed(): void {}
}

function request(correlationId: number): Frame {
  return {
    apiKey: 1,
    apiVersion: 17,
    correlationId,
    isResponse: false,
    body: undefined,
    size: 200,
  };
}

/** Deliveries over the fabric, with and without a limit of the bandwidth. */
export function networkContenders(): Contender[] {
  return [
    { name: "deliveries, unlimited bandwidth", run: () => deliver(undefined) },
    { name: "deliveries, 125 MB/s a link", run: () => deliver(125_000_000) },
  ];
}

function deliver(bytesPerSecond: number | undefined): ReturnType<Contender["run"]> {
  const scheduler = new Scheduler();
  const quality: LinkQuality =
    bytesPerSecond === undefined ? { latency: LATENCY } : { latency: LATENCY, bytesPerSecond };
  const nodes = Array.from({ length: NODES }, (_, i) => `node-${i}`);
  const fabric = new Fabric({ scheduler, random: new Rng("bench"), nodes, quality });
  const stations = nodes.map((_, address) => new Echo(address, scheduler, fabric));
  for (let i = 0; i < IN_FLIGHT; i++) {
    const from = i % NODES;
    stations[from]?.connect((from + 1 + Math.floor(i / NODES)) % NODES);
  }
  while (scheduler.now < SECOND / 10) scheduler.step();
  return timed(DELIVERIES, () => {
    for (let i = 0; i < DELIVERIES; i++) scheduler.step();
  });
}
