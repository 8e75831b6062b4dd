import type { Change } from "./znode-tree.ts";

/** What a watch is on: a znode itself, with its coming and going, or its list of children. */
type WatchKind = "data" | "child";

/**
 * Who is to be told of the next change of which znode (`WatchManager`): once, after which it must ask again. A
 * watcher is a connection, and its watches end with it.
 */
export class WatchTable<Watcher> {
  readonly #data = new Map<string, Set<Watcher>>();
  readonly #child = new Map<string, Set<Watcher>>();

  add(kind: WatchKind, path: string, watcher: Watcher): void {
    const table = kind === "data" ? this.#data : this.#child;
    const watchers = table.get(path);
    if (watchers === undefined) table.set(path, new Set([watcher]));
    else watchers.add(watcher);
  }

  /** Those who are to hear of the change, and will hear of no other unless they ask: each once. */
  take({ type, path }: Change): Watcher[] {
    const taken = new Set<Watcher>();
    if (type !== "NodeChildrenChanged") this.#take(this.#data, path, taken);
    if (type === "NodeChildrenChanged" || type === "NodeDeleted") {
      this.#take(this.#child, path, taken);
    }
    return [...taken];
  }

  remove(watcher: Watcher): void {
    for (const table of [this.#data, this.#child]) {
      for (const [path, watchers] of table) {
        if (watchers.delete(watcher) && watchers.size === 0) table.delete(path);
      }
    }
  }

  #take(table: Map<string, Set<Watcher>>, path: string, taken: Set<Watcher>): void {
    for (const watcher of table.get(path) ?? []) taken.add(watcher);
    table.delete(path);
  }
}
