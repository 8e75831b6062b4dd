import { expect, test } from "vitest";
import { SECOND } from "../../../src/base/time.ts";
import { Cluster } from "../../../src/cluster/cluster.ts";
import { sampleSpec } from "../../support/sample-spec.ts";

test("the end of one skew leaves the others of the same clock", () => {
  const cluster = new Cluster(sampleSpec());
  const clock = () => cluster.hosts[0]?.clock.now() ?? 0;
  const right = clock();

  cluster.hands.skewClock(0, 5 * SECOND, 0);
  const undo = cluster.hands.skewClock(0, 2 * SECOND, 0);

  expect(clock() - right).toBe(7 * SECOND);
  undo();
  expect(clock() - right).toBe(5 * SECOND);
});
