import { utf8Size } from "../../base/utf8.ts";
import type { ZookeeperError } from "./zookeeper-error.ts";

/**
 * ZooKeeper's protocol as far as Kafka's first consumers needed it: Jute's fields, with the bytes that
 * their encoding takes. Frames carry the op code as their key, far from those of Kafka's APIs.
 */
const KEY_BASE = 10_000;

/** A session; 0 asks for a new one. */
export type SessionId = number;
/** The order of all changes. */
export type Zxid = number;

/** What is known of a znode besides its data, as far as anybody here asks. */
export interface Stat {
  readonly version: number;
  readonly mzxid: Zxid;
  readonly pzxid: Zxid;
  /** 0 if it is a persistent one. */
  readonly ephemeralOwner: SessionId;
}

export interface ConnectRequest {
  readonly lastZxidSeen: Zxid;
  readonly timeOut: number;
  readonly sessionId: SessionId;
}

/** A `timeOut` of 0: there is no such session any more. */
export interface ConnectResponse {
  readonly timeOut: number;
  readonly sessionId: SessionId;
}

/** What a session asks, each by its op code's name. */
export type ZookeeperRequest =
  | {
      readonly op: "create";
      readonly path: string;
      readonly data: string;
      readonly isEphemeral: boolean;
    }
  /** A version of -1 is any. */
  | { readonly op: "delete"; readonly path: string; readonly version: number }
  | { readonly op: "exists"; readonly path: string; readonly watch: boolean }
  | { readonly op: "getData"; readonly path: string; readonly watch: boolean }
  | {
      readonly op: "setData";
      readonly path: string;
      readonly data: string;
      readonly version: number;
    }
  | { readonly op: "getChildren"; readonly path: string; readonly watch: boolean }
  /** Watches that a session had before its connection broke; what they have missed is told at once. */
  | {
      readonly op: "setWatches";
      readonly relativeZxid: Zxid;
      readonly dataWatches: readonly string[];
      readonly childWatches: readonly string[];
    }
  | { readonly op: "ping" }
  | { readonly op: "closeSession" };

/** Beside the error, what was asked for; on an error nothing. */
export interface ZookeeperResponse {
  readonly zxid: Zxid;
  readonly error: ZookeeperError;
  readonly data?: string;
  /** Names, not paths, in the order of names. */
  readonly children?: readonly string[];
  readonly stat?: Stat;
}

/** A watch has fired, once and for all. */
export interface WatchEvent {
  readonly zxid: Zxid;
  readonly type: "NodeCreated" | "NodeDeleted" | "NodeDataChanged" | "NodeChildrenChanged";
  readonly path: string;
}

const OP_CODES: Readonly<Record<ZookeeperRequest["op"], number>> = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getChildren: 8,
  ping: 11,
  setWatches: 101,
  closeSession: 111,
};

/** The key of what opens a session: it has no op code, being the first on each connection. */
export const CONNECT_KEY: number = KEY_BASE;
/** The key of what the server tells unasked (op code -1, and so is its xid). */
export const WATCH_KEY: number = KEY_BASE - 1;
export const WATCH_XID = -1;

export function keyOf({ op }: ZookeeperRequest): number {
  return KEY_BASE + OP_CODES[op];
}

// Sizes.

const INT = 4;
const LONG = 8;
const BOOL = 1;
/** The length of a frame, then a request's xid and type, or a response's xid, zxid and error. */
const REQUEST_HEADER: number = INT + 2 * INT;
const RESPONSE_HEADER: number = INT + INT + LONG + INT;
/** Scheme and id of one who may do all: `world:anyone`, as every znode's list has it. */
const OPEN_ACL: number = INT + INT + (INT + 5) + (INT + 6);
/** Six longs and five ints. */
const STAT: number = 6 * LONG + 5 * INT;
/** Password of a session: 16 bytes behind their length. */
const PASSWORD: number = INT + 16;

export const CONNECT_REQUEST_SIZE: number = INT + INT + LONG + INT + LONG + PASSWORD + BOOL;
export const CONNECT_RESPONSE_SIZE: number = INT + INT + INT + LONG + PASSWORD + BOOL;

export function requestSize(request: ZookeeperRequest): number {
  switch (request.op) {
    case "create":
      return REQUEST_HEADER + textSize(request.path) + textSize(request.data) + OPEN_ACL + INT;
    case "delete":
      return REQUEST_HEADER + textSize(request.path) + INT;
    case "exists":
    case "getData":
    case "getChildren":
      return REQUEST_HEADER + textSize(request.path) + BOOL;
    case "setData":
      return REQUEST_HEADER + textSize(request.path) + textSize(request.data) + INT;
    case "setWatches": {
      const { dataWatches, childWatches } = request;
      // The third list is of paths that were watched for their creation.
      return REQUEST_HEADER + LONG + textsSize(dataWatches) + textsSize(childWatches) + INT;
    }
    case "ping":
    case "closeSession":
      return REQUEST_HEADER;
  }
}

export function responseSize({ data, children, stat }: ZookeeperResponse): number {
  return (
    RESPONSE_HEADER +
    (data === undefined ? 0 : textSize(data)) +
    (children === undefined ? 0 : textsSize(children)) +
    (stat === undefined ? 0 : STAT)
  );
}

/** Type and state, and the path. */
export function watchEventSize({ path }: WatchEvent): number {
  return RESPONSE_HEADER + 2 * INT + textSize(path);
}

function textSize(text: string): number {
  return INT + utf8Size(text);
}

function textsSize(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + textSize(text), INT);
}
