import { expect, test } from "vitest";
import type { Change } from "../../../../src/kafka/zookeeper/znode-tree.ts";
import { ZnodeTree } from "../../../../src/kafka/zookeeper/znode-tree.ts";
import { ZOOKEEPER_ERROR } from "../../../../src/kafka/zookeeper/zookeeper-error.ts";

const { OK, NONODE, NODEEXISTS, NOTEMPTY, BADVERSION, NOCHILDRENFOREPHEMERALS } = ZOOKEEPER_ERROR;

test("a znode is created once, and under a parent", () => {
  const tree = new ZnodeTree();

  expect(tree.create("/a/b", "", 0)).toBe(NONODE);
  expect(tree.create("/a", "", 0)).toBe(OK);
  expect(tree.create("/a/b", "one", 0)).toBe(OK);
  expect(tree.create("/a/b", "other", 0)).toBe(NODEEXISTS);
  expect(tree.data("/a/b")).toBe("one");
  expect(tree.children("/a")).toEqual(["b"]);
});

test("one with children stays, and one of a session has none", () => {
  const tree = new ZnodeTree();
  tree.create("/a", "", 0);
  tree.create("/a/b", "", 7);

  expect(tree.delete("/a", -1)).toBe(NOTEMPTY);
  expect(tree.create("/a/b/c", "", 0)).toBe(NOCHILDRENFOREPHEMERALS);
});

test("who names a version writes over no other", () => {
  const tree = new ZnodeTree();
  tree.create("/a", "", 0);

  expect(tree.setData("/a", "one", 0)).toBe(OK);
  expect(tree.setData("/a", "two", 0)).toBe(BADVERSION);
  expect(tree.setData("/a", "three", -1)).toBe(OK);
  expect(tree.stat("/a")?.version).toBe(2);
});

test("what a session made to last no longer goes with it, and each going is told", () => {
  const tree = new ZnodeTree();
  for (const path of ["/ids", "/owners"]) tree.create(path, "", 0);
  tree.create("/ids/c1", "", 1);
  tree.create("/ids/c2", "", 2);
  tree.create("/owners/0", "", 1);
  const told: Change[] = [];
  tree.changed = (change) => told.push(change);

  const gone = tree.deleteEphemerals(1);

  expect(gone).toEqual(["/ids/c1", "/owners/0"]);
  expect(tree.children("/ids")).toEqual(["c2"]);
  expect(told.map(({ type, path }) => `${type} ${path}`)).toEqual([
    "NodeDeleted /ids/c1",
    "NodeChildrenChanged /ids",
    "NodeDeleted /owners/0",
    "NodeChildrenChanged /owners",
  ]);
});
