import { expect, test } from "vitest";
import { SECOND } from "../../../src/base/time.ts";
import { Cluster } from "../../../src/cluster/cluster.ts";
import { sampleSpec } from "../../support/sample-spec.ts";

/** Runs a cluster without clients for a while; how often a connection was found idle. */
function idleConnections(configs: Readonly<Record<string, unknown>>): number {
  const cluster = new Cluster(sampleSpec({ clients: [], configs }));
  let count = 0;
  cluster.scheduler.recordEvents(0, Number.MAX_SAFE_INTEGER, ({ detail }) => {
    if (detail.endsWith(": idle")) count++;
  });
  cluster.start();
  while (cluster.scheduler.now < 20 * SECOND && cluster.scheduler.step());
  return count;
}

test("brokers close connections that were silent for connections.max.idle.ms, unless it is -1", () => {
  expect(idleConnections({ "connections.max.idle.ms": 5_000 })).toBeGreaterThan(0);
  expect(idleConnections({})).toBe(0);
  expect(idleConnections({ "connections.max.idle.ms": -1 })).toBe(0);
});
