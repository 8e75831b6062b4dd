import { fail } from "../../base/invariant.ts";
import type { Duration } from "../../base/time.ts";
import { NO_LEADER, NO_PRODUCER_ID } from "../../kafka/ids.ts";
import { offsetAt } from "../../kafka/zookeeper/registries.ts";
import { SessionTracker, untilTick } from "../../kafka/zookeeper/session-tracker.ts";
import { WatchTable } from "../../kafka/zookeeper/watch-table.ts";
import type { Change } from "../../kafka/zookeeper/znode-tree.ts";
import { ZnodeTree } from "../../kafka/zookeeper/znode-tree.ts";
import type { ZookeeperError } from "../../kafka/zookeeper/zookeeper-error.ts";
import { ZOOKEEPER_ERROR } from "../../kafka/zookeeper/zookeeper-error.ts";
import type {
  ConnectRequest,
  ConnectResponse,
  SessionId,
  WatchEvent,
  ZookeeperRequest,
  ZookeeperResponse,
} from "../../kafka/zookeeper/zookeeper-protocol.ts";
import {
  CONNECT_KEY,
  CONNECT_RESPONSE_SIZE,
  keyOf,
  responseSize,
  WATCH_KEY,
  WATCH_XID,
  watchEventSize,
} from "../../kafka/zookeeper/zookeeper-protocol.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../ports/network.ts";
import type { Node, World } from "../../ports/node.ts";

/** What a server has on its disk: all that it has answered. */
export class ZookeeperState {
  readonly tree: ZnodeTree = new ZnodeTree();
  readonly sessions: SessionTracker = new SessionTracker();
}

const TICK_TIMER = 0;

const { OK, NONODE } = ZOOKEEPER_ERROR;

/**
 * A ZooKeeper ensemble, as those who keep registries in it see one: sessions, znodes, watches.
 *
 * Simplified: one server instead of an ensemble; its log is not on the simulated disk and takes no time, so that
 * whatever stops it, it knows afterwards what it has answered.
 */
export class ZookeeperServer implements Node {
  readonly #world: World;
  readonly #state: ZookeeperState;
  readonly #watches: WatchTable<ConnectionId> = new WatchTable();
  readonly #sessions = new Map<ConnectionId, SessionId>();
  #isTicking = false;

  constructor(world: World, state: ZookeeperState) {
    this.#world = world;
    this.#state = state;
  }

  onStart(): void {
    const { sessions, tree } = this.#state;
    tree.changed = (change) => this.#changed(change);
    sessions.touchAll(this.#now);
    this.#tick();
  }

  onTimer(_kind: number, due: unknown): void {
    this.#isTicking = false;
    // A server that was paused hears first of those whose time was up before.
    const at = typeof due === "number" ? due : this.#now;
    for (const session of this.#state.sessions.expire(at)) this.#ended(session, "expired");
    this.#tick();
  }

  onConnected(): void {
    fail("a ZooKeeper server opens no connections");
  }

  onFrame(connection: ConnectionId, _from: NodeAddress, frame: Frame): void {
    if (frame.apiKey === CONNECT_KEY) {
      this.#connect(connection, frame, frame.body as ConnectRequest);
      return;
    }
    const session = this.#sessions.get(connection);
    if (session === undefined || this.#state.sessions.timeoutMs(session) === undefined) {
      this.#hangUp(connection);
      return;
    }
    this.#state.sessions.touch(session, this.#now);
    const request = frame.body as ZookeeperRequest;
    const response = this.#answer(request, connection, session);
    this.#send(connection, keyOf(request), frame.correlationId, response, responseSize(response));
    if (request.op === "closeSession") this.#hangUp(connection);
  }

  onClosed(connection: ConnectionId): void {
    this.#sessions.delete(connection);
    this.#watches.remove(connection);
  }

  onSynced(): void {
    fail("a ZooKeeper server has no files here");
  }

  onShutdown(): void {
    this.#world.process.exit("closed");
  }

  get #now(): Duration {
    return this.#world.clock.elapsed();
  }

  #tick(): void {
    if (this.#isTicking || this.#state.sessions.size === 0) return;
    this.#isTicking = true;
    const pause = untilTick(this.#now);
    this.#world.timers.start(pause, TICK_TIMER, this.#now + pause);
  }

  #connect(connection: ConnectionId, frame: Frame, request: ConnectRequest): void {
    const { sessions } = this.#state;
    const isNew = request.sessionId === 0;
    const sessionId = isNew ? sessions.open(request.timeOut, this.#now) : request.sessionId;
    const timeOut = sessions.timeoutMs(sessionId);
    const response: ConnectResponse =
      timeOut === undefined ? { timeOut: 0, sessionId: 0 } : { timeOut, sessionId };
    this.#send(connection, CONNECT_KEY, frame.correlationId, response, CONNECT_RESPONSE_SIZE);
    if (timeOut === undefined) {
      this.#hangUp(connection);
      return;
    }
    // A session is where its client has come last.
    for (const [other, session] of this.#sessions) if (session === sessionId) this.#hangUp(other);
    this.#sessions.set(connection, sessionId);
    sessions.touch(sessionId, this.#now);
    this.#tick();
  }

  #answer(
    request: ZookeeperRequest,
    connection: ConnectionId,
    session: SessionId,
  ): ZookeeperResponse {
    const { tree } = this.#state;
    switch (request.op) {
      case "create": {
        const { path, data, isEphemeral } = request;
        const error = tree.create(path, data, isEphemeral ? session : 0);
        this.#noteOffset(error, path, data);
        return this.#result(error);
      }
      case "setData": {
        const { path, data, version } = request;
        const error = tree.setData(path, data, version);
        this.#noteOffset(error, path, data);
        const stat = tree.stat(path);
        return { ...this.#result(error), ...(error === OK && stat !== undefined && { stat }) };
      }
      case "delete":
        return this.#result(tree.delete(request.path, request.version));
      case "exists": {
        if (request.watch) this.#watches.add("data", request.path, connection);
        const stat = tree.stat(request.path);
        return stat === undefined ? this.#result(NONODE) : { ...this.#result(OK), stat };
      }
      case "getData": {
        const data = tree.data(request.path);
        const stat = tree.stat(request.path);
        if (data === undefined || stat === undefined) return this.#result(NONODE);
        if (request.watch) this.#watches.add("data", request.path, connection);
        return { ...this.#result(OK), data, stat };
      }
      case "getChildren": {
        const children = tree.children(request.path);
        if (children === undefined) return this.#result(NONODE);
        if (request.watch) this.#watches.add("child", request.path, connection);
        return { ...this.#result(OK), children };
      }
      case "setWatches":
        this.#setWatches(request, connection);
        return this.#result(OK);
      case "ping":
        return this.#result(OK);
      case "closeSession":
        this.#state.sessions.close(session);
        this.#ended(session, "closed");
        return this.#result(OK);
    }
  }

  #result(error: ZookeeperError): ZookeeperResponse {
    return { zxid: this.#state.tree.zxid, error };
  }

  /** What has changed since fires at once; the others are set again. */
  #setWatches(
    request: Extract<ZookeeperRequest, { readonly op: "setWatches" }>,
    connection: ConnectionId,
  ): void {
    const { tree } = this.#state;
    const { relativeZxid, dataWatches, childWatches } = request;
    for (const path of dataWatches) {
      const stat = tree.stat(path);
      if (stat === undefined) this.#tell(connection, { type: "NodeDeleted", path });
      else if (stat.mzxid > relativeZxid) this.#tell(connection, { type: "NodeDataChanged", path });
      else this.#watches.add("data", path, connection);
    }
    for (const path of childWatches) {
      const stat = tree.stat(path);
      if (stat === undefined) this.#tell(connection, { type: "NodeDeleted", path });
      else if (stat.pzxid > relativeZxid) {
        this.#tell(connection, { type: "NodeChildrenChanged", path });
      } else this.#watches.add("child", path, connection);
    }
  }

  #changed(change: Change): void {
    for (const connection of this.#watches.take(change)) this.#tell(connection, change);
  }

  #tell(connection: ConnectionId, { type, path }: Change): void {
    const event: WatchEvent = { zxid: this.#state.tree.zxid, type, path };
    this.#send(connection, WATCH_KEY, WATCH_XID, event, watchEventSize(event));
  }

  /** A session is over: what it had made to last no longer goes with it, and its connection, too. */
  #ended(session: SessionId, how: "expired" | "closed"): void {
    const znodes = this.#state.tree.deleteEphemerals(session);
    this.#world.facts.note({ kind: "zookeeper-session-ended", session, how, znodes });
    if (how === "closed") return;
    for (const [connection, owner] of this.#sessions) {
      if (owner === session) this.#hangUp(connection);
    }
  }

  #noteOffset(error: ZookeeperError, path: string, data: string): void {
    const committed = error === OK ? offsetAt(path, data) : undefined;
    if (committed === undefined) return;
    const { group, partition, offset } = committed;
    this.#world.facts.note({
      kind: "offsets-committed",
      broker: NO_LEADER,
      group,
      member: "",
      generation: -1,
      offsets: [{ partition, offset }],
      producerId: NO_PRODUCER_ID,
    });
  }

  #hangUp(connection: ConnectionId): void {
    this.#world.network.close(connection);
    this.onClosed(connection);
  }

  #send(
    connection: ConnectionId,
    apiKey: number,
    correlationId: number,
    body: ConnectResponse | ZookeeperResponse | WatchEvent,
    size: number,
  ): void {
    const frame = { apiKey, apiVersion: 0, correlationId, isResponse: true, body, size };
    this.#world.network.send(connection, frame);
  }
}
