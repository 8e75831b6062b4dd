import { describe, expect, test } from "vitest";
import { MILLISECOND, MINUTE, SECOND } from "../../../../src/base/time.ts";
import type { ErrorName } from "../../../../src/kafka/error-code.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { BROKER_HEARTBEAT, BROKER_REGISTRATION } from "../../../../src/kafka/protocol/apis.ts";
import type {
  BrokerHeartbeatRequest,
  BrokerHeartbeatResponse,
} from "../../../../src/kafka/protocol/broker-lifecycle.ts";
import { BROKER_TIMER } from "../../../../src/nodes/broker/broker-timers.ts";
import { Lifecycle } from "../../../../src/nodes/broker/lifecycle.ts";
import { BrokerFixture, CONTROLLER } from "../../../support/broker-fixture.ts";
import type { FakeRequest } from "../../../support/fake-world.ts";

const ROUND_TRIP = 2 * MILLISECOND;

/** A broker that starts; the test plays the controller, which answers as told. */
class Starting extends BrokerFixture {
  readonly lifecycle: Lifecycle;
  readonly stops: string[] = [];
  /** How often it was told to open its port. */
  unfenced = 0;
  /** The error that registrations are answered with. */
  registration: ErrorName = "NONE";
  heartbeat: Partial<BrokerHeartbeatResponse> = {};
  /** The controller does not answer. */
  silent = false;

  constructor(configs: Readonly<Record<string, unknown>> = {}) {
    super({ configs });
    this.brokerEpoch = -1;
    this.lifecycle = new Lifecycle(this, this.controller, {
      incarnationId: "incarnation-0000000000",
      rack: "r1",
      logDirs: ["directory-000000000000"],
      address: 11,
      host: "broker-1",
      previousBrokerEpoch: 33,
      metadataOffset: () => 70,
      onUnfenced: () => {
        this.unfenced++;
      },
      onMayStop: (reason) => this.stops.push(reason),
    });
    this.world.onRequest = (request) => this.#answer(request);
    this.lifecycle.start();
  }

  #answer(request: FakeRequest): void {
    if (this.silent) return;
    if (request.is(BROKER_REGISTRATION)) {
      const errorCode = ERRORS[this.registration].code;
      const brokerEpoch = errorCode === 0 ? 900 : -1;
      request.reply(BROKER_REGISTRATION, { throttleTimeMs: 0, errorCode, brokerEpoch });
    } else {
      request.reply(BROKER_HEARTBEAT, {
        throttleTimeMs: 0,
        errorCode: 0,
        isCaughtUp: false,
        isFenced: true,
        shouldShutDown: false,
        ...this.heartbeat,
      });
    }
  }

  override onTimer(kind: number, payload: unknown): void {
    if (kind === BROKER_TIMER.heartbeat) this.lifecycle.onTimer();
    else if (kind === BROKER_TIMER.lifecycleDeadline) this.lifecycle.onDeadline();
    else if (kind === BROKER_TIMER.directoryFailureDeadline) {
      this.lifecycle.onDirectoryFailureDeadline(payload);
    } else super.onTimer(kind, payload);
  }

  get heartbeats(): BrokerHeartbeatRequest[] {
    return this.world.requestsOf(BROKER_HEARTBEAT);
  }

  get registrations(): number {
    return this.world.requestsOf(BROKER_REGISTRATION).length;
  }

  /** How long it waited between an answer and its next request of this API, in milliseconds. */
  pauses(api: typeof BROKER_HEARTBEAT | typeof BROKER_REGISTRATION): number[] {
    const times = this.world.requests
      .filter(({ frame }) => frame.apiKey === api.key)
      .map(({ at }) => at);
    return times.slice(1).map((at, i) => (at - (times[i] ?? 0) - ROUND_TRIP) / MILLISECOND);
  }

  /** Lets it register, catch up and be unfenced. */
  run(): this {
    this.heartbeat = { isCaughtUp: true, isFenced: false };
    this.world.run(100 * MILLISECOND);
    return this;
  }
}

describe("a broker that starts", () => {
  test("registers as this process, with its address and the epoch of its last orderly stop", () => {
    const broker = new Starting();
    broker.world.run(10 * MILLISECOND);

    expect(broker.world.requestsOf(BROKER_REGISTRATION)).toMatchObject([
      {
        brokerId: 1,
        clusterId: "cluster",
        incarnationId: "incarnation-0000000000",
        listeners: [{ name: "PLAINTEXT", host: "broker-1", port: 11 }],
        rack: "r1",
        logDirs: ["directory-000000000000"],
        previousBrokerEpoch: 33,
      },
    ]);
    expect(broker.brokerEpoch).toBe(900);
  });

  test("wants to stay fenced until it has caught up with the metadata, and asks every 10 ms", () => {
    const broker = new Starting();
    broker.world.run(50 * MILLISECOND);

    expect(broker.heartbeats.every(({ wantFence }) => wantFence)).toBe(true);
    expect(broker.heartbeats[0]).toMatchObject({ brokerEpoch: 900, currentMetadataOffset: 70 });
    expect(broker.pauses(BROKER_HEARTBEAT)).toEqual([10, 10, 10]);
    expect(broker.lifecycle.isRunning).toBe(false);
  });

  test("asks to be unfenced once it has caught up, and runs once it is", () => {
    const broker = new Starting();
    broker.world.run(20 * MILLISECOND);
    broker.heartbeat = { isCaughtUp: true, isFenced: true };
    broker.world.run(20 * MILLISECOND);
    expect(broker.heartbeats.at(-1)?.wantFence).toBe(false);
    expect(broker.lifecycle.isRunning).toBe(false);

    expect(broker.unfenced).toBe(0);

    broker.heartbeat = { isCaughtUp: true, isFenced: false };
    broker.world.run(2 * SECOND);

    expect(broker.lifecycle.isRunning).toBe(true);
    expect(broker.unfenced).toBe(1);
  });

  test("then tells that it lives every broker.heartbeat.interval.ms", () => {
    const broker = new Starting().run();

    broker.world.run(9 * SECOND);

    expect(broker.pauses(BROKER_HEARTBEAT).slice(-4)).toEqual([2000, 2000, 2000, 2000]);
    expect(broker.unfenced).toBe(1);
    expect(broker.heartbeats.at(-1)).toMatchObject({ wantFence: false, wantShutDown: false });
  });
});

describe("a broker that may not register", () => {
  test("tries again, after twice as long each time, up to the session timeout", () => {
    const broker = new Starting();
    broker.registration = "DUPLICATE_BROKER_REGISTRATION";

    broker.world.run(35 * SECOND);

    expect(broker.pauses(BROKER_REGISTRATION)).toEqual([
      100, 200, 400, 800, 1600, 3200, 6400, 9000, 9000,
    ]);
  });

  test("gives up after initial.broker.registration.timeout.ms", () => {
    const broker = new Starting();
    broker.registration = "DUPLICATE_BROKER_REGISTRATION";

    broker.world.run(MINUTE - 1);
    expect(broker.stops).toEqual([]);
    broker.world.run(1);

    expect(broker.stops).toEqual(["unable to register"]);
    broker.world.run(MINUTE);
    expect(broker.stops).toHaveLength(1);
  });

  test("has all the time once it has registered", () => {
    const broker = new Starting().run();

    broker.world.run(2 * MINUTE);

    expect(broker.stops).toEqual([]);
  });

  test("tries again when its connection breaks", () => {
    const broker = new Starting();
    broker.silent = true;
    broker.world.run(10 * MILLISECOND);
    broker.world.disconnect(CONTROLLER);
    broker.silent = false;

    broker.world.run(200 * MILLISECOND);

    expect(broker.registrations).toBe(2);
    expect(broker.brokerEpoch).toBe(900);
  });
});

test("a heartbeat that fails is sent again soon, and success makes the patience short again", () => {
  const broker = new Starting().run();
  const refused = { errorCode: ERRORS.NOT_CONTROLLER.code };
  const accepted = broker.heartbeat;

  broker.heartbeat = refused;
  broker.world.run(2_500 * MILLISECOND);
  broker.heartbeat = accepted;
  broker.world.run(2_000 * MILLISECOND);
  broker.heartbeat = refused;
  broker.world.run(600 * MILLISECOND);

  expect(broker.pauses(BROKER_HEARTBEAT).slice(-7)).toEqual([2000, 100, 200, 400, 2000, 100, 200]);
});

describe("a broker that is told to stop", () => {
  test("asks the controller's leave first, soon again after the first no, then each interval", () => {
    const broker = new Starting().run();
    const before = broker.heartbeats.length;

    broker.lifecycle.beginShutdown();
    broker.world.run(3 * SECOND);

    expect(broker.stops).toEqual([]);
    expect(broker.heartbeats.slice(before).every(({ wantShutDown }) => wantShutDown)).toBe(true);
    expect(broker.pauses(BROKER_HEARTBEAT).slice(before)).toEqual([50, 2000]);
  });

  test("stops when the controller lets it go, and says no more", () => {
    const broker = new Starting().run();
    broker.lifecycle.beginShutdown();
    broker.world.run(SECOND);
    broker.heartbeat = { shouldShutDown: true };

    broker.world.run(3 * SECOND);
    const said = broker.heartbeats.length;
    broker.world.run(MINUTE);

    expect(broker.stops).toEqual(["shutdown"]);
    expect(broker.heartbeats).toHaveLength(said);
  });

  test("stops without leave after five minutes", () => {
    const broker = new Starting().run();
    broker.silent = true;
    broker.lifecycle.beginShutdown();

    broker.world.run(5 * MINUTE - 1);
    expect(broker.stops).toEqual([]);
    broker.world.run(1);

    expect(broker.stops).toEqual(["shutdown"]);
  });

  test("stops at once if it does not run yet, or controlled shutdown is off", () => {
    const early = new Starting();
    early.lifecycle.beginShutdown();
    const abrupt = new Starting({ "controlled.shutdown.enable": false }).run();
    abrupt.lifecycle.beginShutdown();

    expect(early.stops).toEqual(["shutdown"]);
    expect(abrupt.stops).toEqual(["shutdown"]);
  });

  test("is not stopped twice by being told twice", () => {
    const broker = new Starting().run();
    broker.heartbeat = { shouldShutDown: true };

    broker.lifecycle.beginShutdown();
    broker.lifecycle.beginShutdown();
    broker.world.run(3 * SECOND);
    broker.lifecycle.beginShutdown();

    expect(broker.stops).toEqual(["shutdown"]);
  });
});

describe("a broker whose log directory fails", () => {
  const DIRECTORY = "directory-000000000001";

  test("tells the controller at once, and again with every heartbeat", () => {
    const broker = new Starting().run();
    broker.world.run(500 * MILLISECOND);
    const before = broker.heartbeats.length;

    broker.lifecycle.directoryFailed(DIRECTORY);
    broker.world.run(10 * MILLISECOND);
    const soon = broker.heartbeats.slice(before);
    broker.world.run(5 * SECOND);

    expect(soon.map(({ offlineLogDirs }) => offlineLogDirs)).toEqual([[DIRECTORY]]);
    const later = broker.heartbeats.slice(before);
    expect(later.length).toBeGreaterThan(2);
    expect(later.every(({ offlineLogDirs }) => offlineLogDirs.includes(DIRECTORY))).toBe(true);
    expect(broker.heartbeats.slice(0, before).flatMap((one) => one.offlineLogDirs)).toEqual([]);
  });

  test("while a heartbeat is under way tells with the next, which follows its answer", () => {
    const broker = new Starting().run();
    broker.world.run(2 * SECOND);
    const before = broker.heartbeats.length;
    broker.lifecycle.directoryFailed("directory-000000000002");
    broker.world.run(MILLISECOND / 2);

    broker.lifecycle.directoryFailed(DIRECTORY);
    broker.world.run(10 * MILLISECOND);

    expect(
      broker.heartbeats.slice(before).map(({ offlineLogDirs }) => offlineLogDirs.length),
    ).toEqual([1, 2]);
  });

  test("before it is registered tells with its first heartbeat", () => {
    const broker = new Starting();

    broker.lifecycle.directoryFailed(DIRECTORY);
    broker.run();

    expect(broker.heartbeats[0]?.offlineLogDirs).toEqual([DIRECTORY]);
  });

  test("stops if it cannot tell in log.dir.failure.timeout.ms: it might be made a leader there", () => {
    const broker = new Starting({ "log.dir.failure.timeout.ms": 3_000 }).run();
    broker.silent = true;

    broker.lifecycle.directoryFailed(DIRECTORY);
    broker.world.run(2_900 * MILLISECOND);
    const soon = broker.lifecycle.isRunning;
    broker.world.run(200 * MILLISECOND);

    expect([soon, broker.lifecycle.isRunning]).toEqual([true, false]);
  });

  test("goes on once it has told", () => {
    const broker = new Starting({ "log.dir.failure.timeout.ms": 3_000 }).run();

    broker.lifecycle.directoryFailed(DIRECTORY);
    broker.world.run(10 * SECOND);

    expect(broker.lifecycle.isRunning).toBe(true);
  });
});
