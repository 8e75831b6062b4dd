import type { Instant } from "../../src/base/time.ts";
import type { Api } from "../../src/kafka/protocol/api.ts";
import type { Disk } from "../../src/ports/disk.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../src/ports/network.ts";
import { FakeWorld } from "./fake-world.ts";
import { ScriptedDisk } from "./scripted-disk.ts";

/** A frame that the node under test sent on a connection which another opened. */
export interface Answer {
  readonly at: Instant;
  readonly connection: ConnectionId;
  readonly frame: Frame;
}

/**
 * A fake world that also has others connect to the node, and a disk that keeps what it is given.
 * What the node sends back stands in `answers` at once.
 */
export class AskedWorld extends FakeWorld {
  readonly answers: Answer[] = [];
  /** Connections of others, which the node has closed. */
  readonly hungUp: ConnectionId[] = [];
  readonly #disk = new ScriptedDisk();
  readonly #others = new Set<ConnectionId>();
  #nextConnection: ConnectionId = -1;
  #correlationId = 0;

  override get disk(): Disk {
    return this.#disk;
  }

  /** Another node's connection to this one. */
  accept(): ConnectionId {
    const connection = this.#nextConnection--;
    this.#others.add(connection);
    return connection;
  }

  /** A request as it arrives, with a correlation id of its own. */
  request<Request, Response>(api: Api<Request, Response>, body: Request): Frame {
    return {
      apiKey: api.key,
      apiVersion: api.version,
      correlationId: this.#correlationId++,
      isResponse: false,
      body,
      size: api.requestSize(body),
    };
  }

  /** What was answered on a connection, in order. */
  answersTo(connection: ConnectionId): Frame[] {
    return this.answers.filter((one) => one.connection === connection).map(({ frame }) => frame);
  }

  /** The last answer of an API on a connection; undefined if there is none yet. */
  answerTo<Request, Response>(
    api: Api<Request, Response>,
    connection: ConnectionId,
  ): Response | undefined {
    const frame = this.answersTo(connection).findLast(({ apiKey }) => apiKey === api.key);
    return frame?.body as Response | undefined;
  }

  /** All answers of one API, in order. */
  answersOf<Request, Response>(api: Api<Request, Response>): Response[] {
    return this.answers
      .filter(({ frame }) => frame.apiKey === api.key)
      .map(({ frame }) => frame.body as Response);
  }

  override send(connection: ConnectionId, frame: Frame): void {
    if (connection >= 0) super.send(connection, frame);
    else if (this.#others.has(connection)) {
      this.answers.push({ at: this.now, connection, frame });
    }
  }

  override close(connection: ConnectionId): void {
    if (connection >= 0) super.close(connection);
    else if (this.#others.delete(connection)) this.hungUp.push(connection);
  }
}

/** The address of whoever asks. */
export const ASKER: NodeAddress = 7;
