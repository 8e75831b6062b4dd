import { byText } from "../../base/order.ts";
import type { ZookeeperError } from "./zookeeper-error.ts";
import { ZOOKEEPER_ERROR } from "./zookeeper-error.ts";
import type { SessionId, Stat, WatchEvent, Zxid } from "./zookeeper-protocol.ts";

interface Znode {
  data: string;
  version: number;
  mzxid: Zxid;
  /** The last change of its children. */
  pzxid: Zxid;
  readonly ephemeralOwner: SessionId;
  readonly children: Set<string>;
}

const { OK, NONODE, BADVERSION, NODEEXISTS, NOTEMPTY, NOCHILDRENFOREPHEMERALS } = ZOOKEEPER_ERROR;

/** What a change has done, for those who watch. */
export type Change = Pick<WatchEvent, "type" | "path">;

/**
 * ZooKeeper's tree of znodes (`DataTree`): each has data and children, ephemeral ones end with the session
 * that made them. Each change has the next zxid, and is told to `changed`.
 */
export class ZnodeTree {
  readonly #nodes = new Map<string, Znode>([["/", newNode("", 0, 0)]]);
  readonly #ephemerals = new Map<SessionId, Set<string>>();
  #zxid: Zxid = 0;
  /** Told of each change once it is made, in its order. */
  changed: (change: Change) => void = () => undefined;

  /** Of the last change. */
  get zxid(): Zxid {
    return this.#zxid;
  }

  data(path: string): string | undefined {
    return this.#nodes.get(path)?.data;
  }

  stat(path: string): Stat | undefined {
    const node = this.#nodes.get(path);
    if (node === undefined) return undefined;
    const { version, mzxid, pzxid, ephemeralOwner } = node;
    return { version, mzxid, pzxid, ephemeralOwner };
  }

  /** Names, sorted; undefined if there is no such znode. */
  children(path: string): string[] | undefined {
    const node = this.#nodes.get(path);
    return node && [...node.children].sort(byText);
  }

  /** An `owner` of 0 makes a persistent one. The parent must be there. */
  create(path: string, data: string, owner: SessionId): ZookeeperError {
    const parent = this.#nodes.get(parentOf(path));
    if (parent === undefined) return NONODE;
    if (this.#nodes.has(path)) return NODEEXISTS;
    if (parent.ephemeralOwner !== 0) return NOCHILDRENFOREPHEMERALS;
    const zxid = ++this.#zxid;
    this.#nodes.set(path, newNode(data, owner, zxid));
    if (owner !== 0) this.#ephemeralsOf(owner).add(path);
    parent.children.add(nameOf(path));
    parent.pzxid = zxid;
    this.changed({ type: "NodeCreated", path });
    this.changed({ type: "NodeChildrenChanged", path: parentOf(path) });
    return OK;
  }

  setData(path: string, data: string, version: number): ZookeeperError {
    const node = this.#nodes.get(path);
    if (node === undefined) return NONODE;
    if (version >= 0 && version !== node.version) return BADVERSION;
    node.mzxid = ++this.#zxid;
    node.data = data;
    node.version++;
    this.changed({ type: "NodeDataChanged", path });
    return OK;
  }

  delete(path: string, version: number): ZookeeperError {
    const node = this.#nodes.get(path);
    if (node === undefined) return NONODE;
    if (version >= 0 && version !== node.version) return BADVERSION;
    if (node.children.size > 0) return NOTEMPTY;
    const zxid = ++this.#zxid;
    this.#nodes.delete(path);
    this.#ephemerals.get(node.ephemeralOwner)?.delete(path);
    const parent = this.#nodes.get(parentOf(path));
    if (parent !== undefined) {
      parent.children.delete(nameOf(path));
      parent.pzxid = zxid;
    }
    this.changed({ type: "NodeDeleted", path });
    this.changed({ type: "NodeChildrenChanged", path: parentOf(path) });
    return OK;
  }

  /** The session has ended, and with it all that it had made to last no longer: these. */
  deleteEphemerals(owner: SessionId): readonly string[] {
    const paths = [...(this.#ephemerals.get(owner) ?? [])].sort(byText);
    for (const path of paths) this.delete(path, -1);
    this.#ephemerals.delete(owner);
    return paths;
  }

  #ephemeralsOf(owner: SessionId): Set<string> {
    let paths = this.#ephemerals.get(owner);
    if (paths === undefined) {
      paths = new Set();
      this.#ephemerals.set(owner, paths);
    }
    return paths;
  }
}

/** `/` of `/brokers`. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 1));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function newNode(data: string, ephemeralOwner: SessionId, zxid: Zxid): Znode {
  return { data, version: 0, mzxid: zxid, pzxid: zxid, ephemeralOwner, children: new Set() };
}
