import { expect, test } from "vitest";
import { SECOND } from "../../../../../src/base/time.ts";
import { RegisteredGroup } from "../../../../support/registered-group.ts";

test("a member takes its range: of 10 partitions the first of three consumers has 4, the others 3", () => {
  const group = new RegisteredGroup();
  group.joins("g_c1-1");
  group.joins("g_c3-1");

  group.begin(SECOND);

  expect(group.ownership).toEqual(["assigned 4 5 6"]);
  expect(group.owners).toEqual({ 4: "g_c2", 5: "g_c2", 6: "g_c2" });
});

test("whoever joins or leaves makes each member give up all and reckon anew", () => {
  const group = new RegisteredGroup({}, 4).begin(SECOND);

  group.joins("g_c1-1");
  group.world.run(SECOND);
  group.leaves("g_c1-1");
  group.world.run(SECOND);

  expect(group.ownership).toEqual([
    "assigned 0 1 2 3",
    "revoked 0 1 2 3",
    "assigned 2 3",
    "revoked 2 3",
    "assigned 0 1 2 3",
  ]);
});

test("a broker that comes does the same, though it changes nothing", () => {
  const group = new RegisteredGroup({}, 2).begin(SECOND);

  group.put("/brokers/ids/2", "");
  group.world.run(SECOND);

  expect(group.ownership).toEqual(["assigned 0 1", "revoked 0 1", "assigned 0 1"]);
});

test("what another still owns is a conflict: all is released, and tried again after the backoff", () => {
  const group = new RegisteredGroup({ "rebalance.backoff.ms": 2000 }, 3);
  group.claims("g_c1-1", 1);
  group.begin(SECOND);
  expect(group.owners).toEqual({ 1: "g_c1" });

  group.releases(1);
  group.world.run(SECOND - 1);
  expect(group.owners).toEqual({});
  group.world.run(SECOND);

  expect(group.ownership).toEqual(["conflict 1", "assigned 0 1 2"]);
});

test("a member that has never owned anything ends after rebalance.max.retries conflicts", () => {
  const configs = { "rebalance.backoff.ms": 1000, "rebalance.max.retries": 3 };
  const group = new RegisteredGroup(configs, 2);
  group.claims("g_c1-1", 0);

  group.begin(10 * SECOND);

  expect(group.ownership).toEqual(["conflict 1", "conflict 2", "failed 3"]);
  expect(group.world.exited).toContain("can't rebalance after 3 retries");
});

test("one that has begun stays without partitions until something changes", () => {
  const group = new RegisteredGroup({ "rebalance.max.retries": 1 }, 2).begin(SECOND);
  group.joins("g_c1-1");
  group.world.run(SECOND);
  group.claims("g_c1-1", 0);
  group.leaves("g_c1-1");
  group.world.run(10 * SECOND);
  expect(group.ownership.slice(-2)).toEqual(["revoked 1", "failed 1"]);

  group.releases(0);
  group.joins("g_c3-1");
  group.world.run(SECOND);

  expect(group.world.exited).toBeUndefined();
  expect(group.ownership.at(-1)).toBe("assigned 0");
});

test("one who cannot reach ZooKeeper keeps what others may take, until he hears that his session is over", () => {
  const group = new RegisteredGroup({}, 2).begin(SECOND);

  group.isReached = false;
  group.world.run(10 * SECOND);
  expect(group.owners).toEqual({});
  expect(group.ownership).toEqual(["assigned 0 1"]);
  group.isReached = true;
  group.world.run(6 * SECOND);

  expect(group.ownership).toEqual(["assigned 0 1", "lost 0 1", "assigned 0 1"]);
  expect(group.owners).toEqual({ 0: "g_c2", 1: "g_c2" });
});

test("one whose connection breaks for a moment keeps his session, and hears of what he missed", () => {
  const group = new RegisteredGroup({}, 2).begin(SECOND);

  group.world.disconnect(50);
  group.joins("g_c1-1");
  group.world.run(3 * SECOND);

  expect(group.ownership).toEqual(["assigned 0 1", "revoked 0 1", "assigned 1"]);
});

test("one who closes leaves nothing behind", () => {
  const group = new RegisteredGroup({}, 2).begin(SECOND);

  group.consumer.onShutdown();
  group.world.run(SECOND);

  expect(group.world.exited).toBe("closed");
  expect(group.owners).toEqual({});
  expect(group.state.tree.children("/consumers/g/ids")).toEqual([]);
});
