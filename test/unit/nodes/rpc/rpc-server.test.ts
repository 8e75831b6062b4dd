import { beforeEach, describe, expect, test } from "vitest";
import { ALLOCATE_PRODUCER_IDS } from "../../../../src/kafka/protocol/apis.ts";
import type { AllocateProducerIdsRequest } from "../../../../src/kafka/protocol/init-producer-id.ts";
import type { IncomingRequest, RequestHandler } from "../../../../src/nodes/rpc/rpc-server.ts";
import { RpcServer } from "../../../../src/nodes/rpc/rpc-server.ts";
import type { ConnectionId } from "../../../../src/ports/network.ts";
import { ASKER, AskedWorld } from "../../../support/asked-world.ts";

/** Keeps requests until the test answers them. */
class Worker implements RequestHandler {
  readonly begun: IncomingRequest[] = [];

  onRequest(request: IncomingRequest): void {
    this.begun.push(request);
  }

  /** The numbers of the requests begun so far. */
  get numbers(): number[] {
    return this.begun.map(({ body }) => (body as AllocateProducerIdsRequest).brokerId);
  }

  get last(): IncomingRequest {
    const request = this.begun.at(-1);
    if (request === undefined) throw new Error("no request has begun");
    return request;
  }
}

let world: AskedWorld;
let worker: Worker;
let server: RpcServer;
let connection: ConnectionId;

beforeEach(() => {
  world = new AskedWorld();
  worker = new Worker();
  server = new RpcServer(world, worker);
  connection = world.accept();
});

function arrive(number: number, on: ConnectionId = connection): void {
  const body = { brokerId: number, brokerEpoch: 0 };
  server.onFrame(on, ASKER, world.request(ALLOCATE_PRODUCER_IDS, body));
}

function answer(request: IncomingRequest): void {
  const { brokerId } = request.body as AllocateProducerIdsRequest;
  const body = { throttleTimeMs: 0, errorCode: 0, producerIdStart: brokerId, producerIdLen: 1 };
  request.reply(ALLOCATE_PRODUCER_IDS, body);
}

/** What was answered on the connection, by the number of the request. */
function answered(): number[] {
  return world.answersOf(ALLOCATE_PRODUCER_IDS).map(({ producerIdStart }) => producerIdStart);
}

describe("requests of one connection", () => {
  test("are worked on one at a time: what is pipelined waits for the answer before", () => {
    arrive(1);
    arrive(2);
    arrive(3);
    expect(worker.numbers).toEqual([1]);

    answer(worker.last);
    expect(worker.numbers).toEqual([1, 2]);

    answer(worker.last);
    answer(worker.last);
    expect(answered()).toEqual([1, 2, 3]);
  });

  test("do not wait for those of another", () => {
    const other = world.accept();
    arrive(1);
    arrive(2, other);

    expect(worker.numbers).toEqual([1, 2]);
  });

  test("are worked on again after a pause", () => {
    arrive(1);
    answer(worker.last);
    arrive(2);

    expect(worker.numbers).toEqual([1, 2]);
  });
});

test("an answer has the number of its request, and key, version and size of its API", () => {
  arrive(1);
  arrive(2);
  answer(worker.last);

  const [frame] = world.answersTo(connection);
  expect(frame).toMatchObject({
    apiKey: ALLOCATE_PRODUCER_IDS.key,
    apiVersion: ALLOCATE_PRODUCER_IDS.version,
    correlationId: worker.begun[0]?.frame.correlationId,
    isResponse: true,
    size: ALLOCATE_PRODUCER_IDS.responseSize({
      throttleTimeMs: 0,
      errorCode: 0,
      producerIdStart: 1,
      producerIdLen: 1,
    }),
  });
  expect(worker.begun[0]?.from).toBe(ASKER);
});

test("a request that gets no answer makes way for the next", () => {
  arrive(1);
  arrive(2);

  worker.last.done();

  expect(worker.numbers).toEqual([1, 2]);
  expect(world.answers).toEqual([]);
});

describe("hanging up on a request", () => {
  test("closes its connection and drops what waits there", () => {
    arrive(1);
    arrive(2);

    worker.last.hangUp();

    expect(world.hungUp).toEqual([connection]);
    expect(worker.numbers).toEqual([1]);
    expect(worker.last.isOpen).toBe(false);
  });

  test("leaves nothing to answer", () => {
    arrive(1);

    worker.last.hangUp();
    answer(worker.last);
    worker.last.hangUp();

    expect(world.answers).toEqual([]);
    expect(world.hungUp).toEqual([connection]);
  });

  test("leaves other connections alone", () => {
    const other = world.accept();
    arrive(1, other);
    arrive(2);

    worker.last.hangUp();
    answer(worker.begun[0] as IncomingRequest);

    expect(answered()).toEqual([1]);
  });
});

describe("when the asker is gone", () => {
  test("nobody is answered, and what waited never begins", () => {
    arrive(1);
    arrive(2);
    expect(worker.last.isOpen).toBe(true);

    server.onClosed(connection);
    expect(worker.last.isOpen).toBe(false);
    answer(worker.last);

    expect(world.answers).toEqual([]);
    expect(worker.numbers).toEqual([1]);
  });

  test("a request without an answer ends as quietly", () => {
    arrive(1);
    arrive(2);

    server.onClosed(connection);
    worker.last.done();

    expect(worker.numbers).toEqual([1]);
  });

  test("closing what was never open is no matter", () => {
    server.onClosed(connection);

    arrive(1);
    expect(worker.numbers).toEqual([1]);
  });
});
