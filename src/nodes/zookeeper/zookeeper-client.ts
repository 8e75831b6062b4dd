import type { Duration } from "../../base/time.ts";
import { fromMillis, SECOND } from "../../base/time.ts";
import type { ZookeeperError } from "../../kafka/zookeeper/zookeeper-error.ts";
import { ZOOKEEPER_ERROR } from "../../kafka/zookeeper/zookeeper-error.ts";
import type {
  ConnectResponse,
  SessionId,
  WatchEvent,
  ZookeeperRequest,
  ZookeeperResponse,
  Zxid,
} from "../../kafka/zookeeper/zookeeper-protocol.ts";
import {
  CONNECT_KEY,
  CONNECT_REQUEST_SIZE,
  keyOf,
  requestSize,
  WATCH_KEY,
} from "../../kafka/zookeeper/zookeeper-protocol.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../ports/network.ts";
import type { World } from "../../ports/node.ts";
import { NEVER, WakeUp } from "../wake-up.ts";

/** Who has a session, and is told what becomes of it. */
export interface SessionListener {
  /** It has one, with nothing of it in the registries yet. */
  sessionBegan(): void;
  /** It is heard only now: its ephemeral znodes have long been gone, and what it asked came to nothing. */
  sessionExpired(): void;
  watchFired(event: WatchEvent): void;
}

/**
 * What comes of a request when the session ends before it is answered: it fails with SESSIONEXPIRED, or it is
 * asked again in the next one.
 */
export type AcrossSessions = "fails" | "again";

/** Told once. */
export type Answered = (error: ZookeeperError, response: ZookeeperResponse) => void;

class Operation {
  readonly request: ZookeeperRequest;
  readonly across: AcrossSessions;
  readonly answered: Answered;
  /** Under which it was sent on the present connection; -1 if it was not. */
  xid = -1;

  constructor(request: ZookeeperRequest, across: AcrossSessions, answered: Answered) {
    this.request = request;
    this.across = across;
    this.answered = answered;
  }
}

type State = "disconnected" | "connecting" | "connected" | "closed";

/** The longest pause before it connects again. */
const RECONNECT_PAUSE = SECOND;
/** Pings have an xid of their own. */
const PING_XID = -2;
const PING: ZookeeperRequest = { op: "ping" };
const { OK, SESSIONEXPIRED } = ZOOKEEPER_ERROR;

/**
 * A client's session with ZooKeeper (`ClientCnxn`, and the `ZkClient` around it): keeps it alive by pings, connects
 * again when its connection breaks, with the same session and its watches, and asks again what was not answered, for
 * as long as it takes. Whether a session is over only the server says: who cannot reach it cannot know.
 */
export class ZookeeperClient {
  readonly #world: World;
  readonly #server: NodeAddress;
  readonly #listener: SessionListener;
  readonly #wakeUp: WakeUp;
  /** As wished for, and then as the server has it. */
  #timeout: Duration;
  #connection: ConnectionId | undefined = undefined;
  #state: State = "disconnected";
  #session: SessionId = 0;
  #lastZxid: Zxid = 0;
  #nextXid = 1;
  #lastHeard: Duration = 0;
  #lastSent: Duration = 0;
  #connectAt: Duration = 0;
  /** In the order in which they were asked. */
  #operations: Operation[] = [];
  readonly #dataWatches = new Set<string>();
  readonly #childWatches = new Set<string>();

  /** `sessionTimeout` is zookeeper.session.timeout.ms; under `timerKind` its owner's timers are passed on. */
  constructor(
    world: World,
    server: NodeAddress,
    sessionTimeout: Duration,
    timerKind: number,
    listener: SessionListener,
  ) {
    this.#world = world;
    this.#server = server;
    this.#timeout = sessionTimeout;
    this.#wakeUp = new WakeUp(world.timers, timerKind);
    this.#listener = listener;
  }

  start(): void {
    this.#connect();
  }

  /** Is there a session, as far as it knows? */
  get hasSession(): boolean {
    return this.#session !== 0;
  }

  ask(request: ZookeeperRequest, across: AcrossSessions, answered: Answered): void {
    const operation = new Operation(request, across, answered);
    this.#operations.push(operation);
    if (this.#state === "connected") this.#send(operation);
  }

  /** Ends the session, so that nobody need wait for its end. `done` once that is said, if it can be. */
  close(done: () => void): void {
    if (this.#state !== "connected") {
      this.#state = "closed";
      done();
      return;
    }
    this.ask({ op: "closeSession" }, "fails", done);
    this.#state = "closed";
  }

  owns(connection: ConnectionId): boolean {
    return connection === this.#connection;
  }

  onConnected(): void {
    const sessionId = this.#session;
    const timeOut = Math.floor(this.#timeout / fromMillis(1));
    const body = { lastZxidSeen: this.#lastZxid, timeOut, sessionId };
    this.#put(CONNECT_KEY, 0, body, CONNECT_REQUEST_SIZE);
  }

  onFrame(frame: Frame): void {
    this.#lastHeard = this.#now;
    if (frame.apiKey === CONNECT_KEY) {
      this.#connected(frame.body as ConnectResponse);
    } else if (frame.apiKey === WATCH_KEY) {
      this.#fired(frame.body as WatchEvent);
    } else if (frame.correlationId !== PING_XID) {
      this.#answered(frame.correlationId, frame.body as ZookeeperResponse);
    }
    this.#watchTime();
  }

  /** The connection is gone. */
  onClosed(): void {
    this.#connection = undefined;
    this.#forgetXids();
    if (this.#state === "closed") {
      this.#give(this.#operations.splice(0));
      return;
    }
    this.#state = "disconnected";
    this.#connectAt = this.#now + this.#world.random.below(RECONNECT_PAUSE);
    this.#watchTime();
  }

  onTimer(): void {
    const reached = this.#wakeUp.fired();
    switch (this.#state) {
      case "disconnected":
        if (this.#connectAt <= reached) this.#connect();
        break;
      case "connecting":
      case "connected":
        if (this.#silentAt <= reached) this.#drop();
        else if (this.#state === "connected" && this.#pingAt <= reached) this.#ping();
        break;
      case "closed":
        return;
    }
    this.#watchTime();
  }

  get #now(): Duration {
    return this.#world.clock.elapsed();
  }

  /** Who has heard nothing for two thirds of the timeout looks for another server. */
  get #silentAt(): Duration {
    return this.#lastHeard + Math.floor((this.#timeout * 2) / 3);
  }

  get #pingAt(): Duration {
    return this.#lastSent + Math.floor(this.#timeout / 3);
  }

  #watchTime(): void {
    const next: Readonly<Record<State, Duration>> = {
      disconnected: this.#connectAt,
      connecting: this.#silentAt,
      connected: Math.min(this.#silentAt, this.#pingAt),
      closed: NEVER,
    };
    this.#wakeUp.noLaterThan(next[this.#state], this.#now);
  }

  // The connection.

  #connect(): void {
    this.#state = "connecting";
    this.#lastHeard = this.#now;
    this.#connection = this.#world.network.connect(this.#server);
    this.#watchTime();
  }

  #drop(): void {
    if (this.#connection !== undefined) this.#world.network.close(this.#connection);
    this.onClosed();
  }

  #ping(): void {
    this.#put(keyOf(PING), PING_XID, PING, requestSize(PING));
  }

  #connected({ timeOut, sessionId }: ConnectResponse): void {
    if (timeOut === 0) {
      this.#expired();
      return;
    }
    const isNew = this.#session === 0;
    this.#state = "connected";
    this.#session = sessionId;
    this.#timeout = fromMillis(timeOut);
    if (isNew) this.#listener.sessionBegan();
    else this.#setWatches();
    for (const operation of this.#operations) if (operation.xid < 0) this.#send(operation);
  }

  #setWatches(): void {
    const dataWatches = [...this.#dataWatches];
    const childWatches = [...this.#childWatches];
    if (dataWatches.length + childWatches.length === 0) return;
    const relativeZxid = this.#lastZxid;
    const request = { op: "setWatches", relativeZxid, dataWatches, childWatches } as const;
    this.#send(new Operation(request, "fails", () => undefined));
  }

  #expired(): void {
    this.#session = 0;
    this.#dataWatches.clear();
    this.#childWatches.clear();
    const ended = this.#operations.filter(({ across }) => across === "fails");
    this.#operations = this.#operations.filter(({ across }) => across === "again");
    if (this.#connection !== undefined) this.#world.network.close(this.#connection);
    this.#forgetXids();
    this.#listener.sessionExpired();
    this.#give(ended);
    this.#connect();
  }

  #give(ended: readonly Operation[]): void {
    const response = { zxid: this.#lastZxid, error: SESSIONEXPIRED };
    for (const { answered } of ended) answered(SESSIONEXPIRED, response);
  }

  // Requests.

  #send(operation: Operation): void {
    const { request } = operation;
    operation.xid = this.#nextXid++;
    this.#put(keyOf(request), operation.xid, request, requestSize(request));
  }

  #put(apiKey: number, correlationId: number, body: unknown, size: number): void {
    if (this.#connection === undefined) return;
    this.#lastSent = this.#now;
    const frame = { apiKey, apiVersion: 0, correlationId, isResponse: false, body, size };
    this.#world.network.send(this.#connection, frame);
  }

  #answered(xid: number, response: ZookeeperResponse): void {
    this.#lastZxid = Math.max(this.#lastZxid, response.zxid);
    const at = this.#operations.findIndex((operation) => operation.xid === xid);
    const [operation] = at < 0 ? [] : this.#operations.splice(at, 1);
    if (operation === undefined) return;
    this.#remember(operation.request, response.error);
    operation.answered(response.error, response);
  }

  #remember(request: ZookeeperRequest, error: ZookeeperError): void {
    if (!("watch" in request) || !request.watch) return;
    if (request.op === "getChildren") {
      if (error === OK) this.#childWatches.add(request.path);
    } else if (error === OK || request.op === "exists") this.#dataWatches.add(request.path);
  }

  #fired(event: WatchEvent): void {
    const { path, type } = event;
    this.#lastZxid = Math.max(this.#lastZxid, event.zxid);
    if (type !== "NodeChildrenChanged") this.#dataWatches.delete(path);
    if (type === "NodeChildrenChanged" || type === "NodeDeleted") this.#childWatches.delete(path);
    this.#listener.watchFired(event);
  }

  #forgetXids(): void {
    for (const operation of this.#operations) operation.xid = -1;
  }
}
