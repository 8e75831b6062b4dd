import { beforeEach, describe, expect, test, vi } from "vitest";
import { MILLISECOND, SECOND } from "../../../../src/base/time.ts";
import { ALLOCATE_PRODUCER_IDS } from "../../../../src/kafka/protocol/apis.ts";
import type {
  AllocateProducerIdsRequest,
  AllocateProducerIdsResponse,
} from "../../../../src/kafka/protocol/init-producer-id.ts";
import type { ResponseHandler } from "../../../../src/nodes/rpc/rpc-client.ts";
import { RpcClient } from "../../../../src/nodes/rpc/rpc-client.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../../../src/ports/network.ts";
import type { Node } from "../../../../src/ports/node.ts";
import type { FakeRequest } from "../../../support/fake-world.ts";
import { FakeWorld } from "../../../support/fake-world.ts";

const TIMEOUT_TIMER = 3;
const PEER: NodeAddress = 1;
const OTHER: NodeAddress = 2;

/** Sends numbered requests, and keeps what it is told of each. */
class Asker implements Node, ResponseHandler<AllocateProducerIdsResponse, number> {
  readonly rpc: RpcClient;
  /** `answered 1 by 7 from 1`: request, number in the answer, peer. Or `lost 1 to 1`. */
  readonly told: string[] = [];
  /** Called when a request is lost. */
  onLost: (context: number) => void = () => {};

  constructor(world: FakeWorld) {
    this.rpc = new RpcClient(world, TIMEOUT_TIMER);
  }

  ask(
    context: number,
    options: { to?: NodeAddress; purpose?: string; timeout?: number } = {},
  ): void {
    const { to = PEER, purpose = "all", timeout = 30 * SECOND } = options;
    this.rpc.send(to, purpose, ALLOCATE_PRODUCER_IDS, numbered(context), timeout, this, context);
  }

  onResponse(response: AllocateProducerIdsResponse, context: number, from: NodeAddress): void {
    this.told.push(`answered ${context} by ${response.producerIdStart} from ${from}`);
  }

  onDisconnect(context: number, from: NodeAddress): void {
    this.told.push(`lost ${context} to ${from}`);
    this.onLost(context);
  }

  onStart(): void {}
  onSynced(): void {}
  onShutdown(): void {}

  onTimer(kind: number): void {
    expect(kind).toBe(TIMEOUT_TIMER);
    this.rpc.onTimer();
  }

  onConnected(connection: ConnectionId): void {
    this.rpc.onConnected(connection);
  }

  onFrame(connection: ConnectionId, _from: NodeAddress, frame: Frame): void {
    this.rpc.onFrame(connection, frame);
  }

  onClosed(connection: ConnectionId): void {
    this.rpc.onClosed(connection);
  }
}

function numbered(brokerId: number): AllocateProducerIdsRequest {
  return { brokerId, brokerEpoch: 0 };
}

/** Answers with the number that was sent. */
function answer(request: FakeRequest): void {
  const { brokerId } = request.body(ALLOCATE_PRODUCER_IDS);
  request.reply(ALLOCATE_PRODUCER_IDS, {
    throttleTimeMs: 0,
    errorCode: 0,
    producerIdStart: brokerId,
    producerIdLen: 1,
  });
}

let world: FakeWorld;
let asker: Asker;

beforeEach(() => {
  world = new FakeWorld();
  asker = new Asker(world);
  world.begin(asker);
});

describe("requests to a peer", () => {
  test("share one connection and arrive in the order in which they were sent", () => {
    asker.ask(1);
    asker.ask(2);
    world.run(10 * MILLISECOND);
    asker.ask(3);
    world.run(10 * MILLISECOND);

    expect(world.attempts).toHaveLength(1);
    expect(world.requestsOf(ALLOCATE_PRODUCER_IDS).map(({ brokerId }) => brokerId)).toEqual([
      1, 2, 3,
    ]);
  });

  test("of another purpose have a connection of their own", () => {
    asker.ask(1, { purpose: "fetcher" });
    asker.ask(2, { purpose: "controller" });
    world.run(10 * MILLISECOND);

    const [first, second] = world.requests;
    expect(first?.connection).not.toBe(second?.connection);
    expect(asker.rpc.purposeOf(first?.connection ?? -1)).toBe("fetcher");
  });

  test("carry key, version and size of their API, and numbers that are never used twice", () => {
    asker.ask(1);
    asker.ask(2, { to: OTHER });
    world.run(10 * MILLISECOND);

    const frames = world.requests.map(({ frame }) => frame);
    expect(frames[0]).toMatchObject({
      apiKey: ALLOCATE_PRODUCER_IDS.key,
      apiVersion: ALLOCATE_PRODUCER_IDS.version,
      isResponse: false,
      size: ALLOCATE_PRODUCER_IDS.requestSize(numbered(1)),
    });
    expect(frames[0]?.correlationId).not.toBe(frames[1]?.correlationId);
  });
});

describe("an answer", () => {
  test("goes to the handler with the context of its request", () => {
    world.onRequest = answer;
    asker.ask(1);
    asker.ask(2);
    asker.ask(3, { to: OTHER });
    world.run(10 * MILLISECOND);

    expect(asker.told).toEqual([
      "answered 1 by 1 from 1",
      "answered 2 by 2 from 1",
      "answered 3 by 3 from 2",
    ]);
    expect(asker.rpc.inFlight(PEER, "all")).toBe(0);
  });

  test("that overtook another still finds its own request", () => {
    asker.ask(1);
    asker.ask(2);
    asker.ask(3);
    world.run(10 * MILLISECOND);
    for (const request of [...world.requests].reverse()) answer(request);
    world.run(10 * MILLISECOND);

    expect(asker.told).toEqual([
      "answered 3 by 3 from 1",
      "answered 2 by 2 from 1",
      "answered 1 by 1 from 1",
    ]);
  });

  test("that comes twice is heard once", () => {
    world.onRequest = (request) => {
      answer(request);
      answer(request);
    };
    asker.ask(1);
    asker.ask(2);
    world.run(10 * MILLISECOND);

    expect(asker.told).toEqual(["answered 1 by 1 from 1", "answered 2 by 2 from 1"]);
  });

  test("that comes after the timeout is not heard", () => {
    world.onRequest = (request) => world.later(2 * SECOND, () => answer(request));
    asker.ask(1, { timeout: SECOND });
    world.run(10 * SECOND);

    expect(asker.told).toEqual(["lost 1 to 1"]);
  });

  test("in time stops the clock: nothing is lost later", () => {
    world.onRequest = answer;
    asker.ask(1, { timeout: SECOND });
    world.run(10 * SECOND);

    expect(asker.told).toEqual(["answered 1 by 1 from 1"]);
    expect(asker.rpc.connectionState(PEER, "all")).toBe("connected");
  });
});

describe("a timeout", () => {
  test("closes the connection, and all that waits on it is lost in order", () => {
    const close = vi.spyOn(world, "close");
    asker.ask(1, { timeout: 2 * SECOND });
    asker.ask(2, { timeout: SECOND });
    asker.ask(3, { to: OTHER });
    asker.ask(4, { purpose: "fetcher" });
    world.run(1_500 * MILLISECOND);

    expect(asker.told).toEqual(["lost 1 to 1", "lost 2 to 1"]);
    expect(close.mock.calls).toEqual([[world.requests[0]?.connection]]);
    expect(asker.rpc.connectionState(PEER, "all")).toBe("none");
    expect(asker.rpc.connectionState(PEER, "fetcher")).toBe("connected");
    expect(asker.rpc.connectionState(OTHER, "all")).toBe("connected");
  });

  test("comes at its own time, whatever was sent and answered before", () => {
    world.onRequest = (request) => {
      if (request.body(ALLOCATE_PRODUCER_IDS).brokerId !== 2) answer(request);
    };
    asker.ask(1, { timeout: SECOND });
    world.run(300 * MILLISECOND);
    asker.ask(2, { timeout: SECOND });
    asker.ask(3, { timeout: SECOND, to: OTHER });
    world.run(999_999);
    expect(asker.told).toEqual(["answered 1 by 1 from 1", "answered 3 by 3 from 2"]);

    world.run(1);

    expect(asker.told.slice(2)).toEqual(["lost 2 to 1"]);
  });

  test("does not strike a request whose time is past while its answer is still to be heard", () => {
    asker.ask(1, { timeout: SECOND });
    asker.ask(2, { timeout: 2 * SECOND, to: OTHER });
    // The process stood still: as it goes on, a timeout comes before an answer that had come in time.
    const elapsed = vi.spyOn(world.clock, "elapsed");
    world.later(SECOND - 1, () => elapsed.mockReturnValue(5 * SECOND));
    world.later(SECOND - world.latency, () => answer(world.requests[1] as FakeRequest));
    world.run(SECOND);

    expect(asker.told).toEqual(["lost 1 to 1", "answered 2 by 2 from 2"]);
  });

  test("counts from the sending, also while the connection does not stand", () => {
    world.latency = 5 * SECOND;
    asker.ask(1, { timeout: SECOND });
    world.run(2 * SECOND);

    expect(asker.told).toEqual(["lost 1 to 1"]);
  });

  test("is followed by a new connection for what is sent next, also from within the news", () => {
    asker.onLost = (context) => {
      world.onRequest = answer;
      if (context < 10) asker.ask(context + 10);
    };
    asker.ask(1, { timeout: SECOND });
    asker.ask(2, { timeout: SECOND });
    world.run(3 * SECOND);

    expect(asker.told).toEqual([
      "lost 1 to 1",
      "lost 2 to 1",
      "answered 11 by 11 from 1",
      "answered 12 by 12 from 1",
    ]);
    expect(world.attempts).toHaveLength(2);
  });
});

describe("a connection that breaks", () => {
  test("loses all that waits on it, once", () => {
    asker.ask(1, { timeout: SECOND });
    asker.ask(2, { timeout: SECOND });
    world.run(10 * MILLISECOND);

    world.disconnect(PEER);
    world.run(10 * SECOND);

    expect(asker.told).toEqual(["lost 1 to 1", "lost 2 to 1"]);
  });

  test("loses what was sent before it stood, if the peer refuses", () => {
    world.refused.add(PEER);
    asker.ask(1);
    world.run(10 * MILLISECOND);

    expect(asker.told).toEqual(["lost 1 to 1"]);
    expect(asker.rpc.connectionState(PEER, "all")).toBe("none");
  });

  test("by our own will breaks every purpose to that peer, and no other peer's", () => {
    asker.ask(1);
    asker.ask(2, { purpose: "fetcher" });
    asker.ask(3, { to: OTHER });
    world.run(10 * MILLISECOND);

    asker.rpc.disconnect(PEER);

    expect(asker.told).toEqual(["lost 1 to 1", "lost 2 to 1"]);
    expect(asker.rpc.inFlight(OTHER, "all")).toBe(1);
  });
});

test("a request that expects no answer neither waits nor times out", () => {
  asker.rpc.send(PEER, "all", ALLOCATE_PRODUCER_IDS, numbered(1), SECOND, undefined, undefined);
  world.run(10 * SECOND);

  expect(world.requests).toHaveLength(1);
  expect(asker.rpc.inFlight(PEER, "all")).toBe(0);
  expect(asker.rpc.connectionState(PEER, "all")).toBe("connected");
});

test("a connection can be opened before there is anything to send, and is then used", () => {
  asker.rpc.connect(PEER, "all");
  expect(asker.rpc.connectionState(PEER, "all")).toBe("connecting");

  world.run(10 * MILLISECOND);
  expect(asker.rpc.connectionState(PEER, "all")).toBe("connected");

  asker.ask(1);
  world.run(10 * MILLISECOND);
  expect(world.attempts).toHaveLength(1);
});
