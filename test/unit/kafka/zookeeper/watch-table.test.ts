import { expect, test } from "vitest";
import { WatchTable } from "../../../../src/kafka/zookeeper/watch-table.ts";

test("a watch fires once: who wants to hear more asks again", () => {
  const watches = new WatchTable<string>();
  watches.add("child", "/ids", "c1");

  expect(watches.take({ type: "NodeChildrenChanged", path: "/ids" })).toEqual(["c1"]);
  expect(watches.take({ type: "NodeChildrenChanged", path: "/ids" })).toEqual([]);
});

test("who watches children hears nothing of data, and the other way round", () => {
  const watches = new WatchTable<string>();
  watches.add("child", "/ids", "of children");
  watches.add("data", "/ids", "of data");

  expect(watches.take({ type: "NodeDataChanged", path: "/ids" })).toEqual(["of data"]);
  expect(watches.take({ type: "NodeDataChanged", path: "/ids" })).toEqual([]);
  expect(watches.take({ type: "NodeChildrenChanged", path: "/ids" })).toEqual(["of children"]);
});

test("both hear of its end, each once, and of nothing they lost with a connection", () => {
  const watches = new WatchTable<string>();
  for (const kind of ["child", "data"] as const) {
    for (const watcher of ["c1", "c2", "c3"]) watches.add(kind, "/ids", watcher);
  }

  watches.remove("c2");

  expect(watches.take({ type: "NodeDeleted", path: "/ids" })).toEqual(["c1", "c3"]);
});
