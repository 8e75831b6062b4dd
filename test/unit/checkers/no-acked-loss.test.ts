import { expect, test } from "vitest";
import { ACKED_GETS_READ } from "../../../src/checkers/acked-gets-read.ts";
import { NO_ACKED_LOSS } from "../../../src/checkers/no-acked-loss.ts";
import type { DiskDisturbed } from "../../../src/trace/fact.ts";
import type { HistoryOptions } from "../../support/fact-builders.ts";
import { History } from "../../support/fact-builders.ts";

const watch = (options: HistoryOptions = {}): History =>
  new History({ guarantees: [NO_ACKED_LOSS], ...options });

test("a leader that lacks acknowledged records is one finding, with offsets and count", () => {
  const history = watch();
  history.commit([0, 1]);
  history.ack([0, 1], 0);
  history.write([2, 3]);
  history.ack([2, 3], 2);
  history.write([4]);
  history.ack([4], 4);

  history.elect(3, { isr: [2, 3] });

  expect(history.violations()).toEqual([
    expect.objectContaining({
      guarantee: "no-acked-loss",
      kind: "acked-record-lost",
      partition: "orders-0",
      client: "p1",
      offsets: [2, 4],
      count: 3,
      permitted: undefined,
      event: history.event,
      text: [
        "p1 (acks=all) was told that offsets 2..4 are written: 3 records.",
        "The elected leader broker-3 does not have them.",
      ],
    }),
  ]);
});

test("a leader that has all acknowledged records, and lacks others, loses nothing", () => {
  const history = watch();
  history.commit([0, 1]);
  history.ack([0, 1], 0);
  history.write([2]);

  history.elect(2, { isr: [2, 3] });
  history.commit([3]);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held" });
});

test("with acks=1 the loss is permitted if the leader was replaced before its followers had the records", () => {
  const history = watch({ clients: { p1: { acks: 1, idempotent: false } } });
  history.commit([0]);
  history.write([1, 2]);
  history.ack([1, 2], 1, { acks: 1 });

  history.stop(1).elect(2, { isr: [2, 3] });

  expect(history.violations()).toMatchObject([
    {
      count: 2,
      permitted: "acks=1: broker-1 was replaced before its followers had them",
    },
  ]);
});

test("with acks=1 the loss is permitted too if the acknowledgement comes after the replaced leader's cut", () => {
  const history = watch({ clients: { p1: { acks: 1 } } });
  history.commit([0, 1]);
  history.write([2, 3]);
  history.elect(2, { isr: [2, 3] });
  history.truncate(1, 2);

  history.ack([2, 3], 2, { acks: 1 });

  expect(history.violations()).toMatchObject([
    { offsets: [2, 3], permitted: "acks=1: broker-1 was replaced before its followers had them" },
  ]);
});

test("acks=1 does not excuse the loss of what was below the high watermark", () => {
  const history = watch({ clients: { p1: { acks: 1, idempotent: false } } });
  history.write([0, 1]);
  history.copy([2]).highWatermark(1, 2);
  history.ack([0, 1], 0, { acks: 1 });

  history.elect(3, { isr: [2, 3] });

  expect(history.violations()).toMatchObject([{ count: 2, permitted: undefined }]);
});

test("acks=1 does not excuse a broker that leads again and has lost what it wrote", () => {
  const history = watch({ clients: { p1: { acks: 1, idempotent: false } } });
  history.write([0, 1]);
  history.ack([0, 1], 0, { acks: 1 });

  history
    .stop(1, "crash")
    .restart(1, 0)
    .elect(1, { isr: [1] });

  expect(history.violations()).toMatchObject([{ count: 2, permitted: undefined }]);
});

test("acks=1 excuses it if another led meanwhile, whom the broker has followed", () => {
  const history = watch({ clients: { p1: { acks: 1, idempotent: false } } });
  history.write([0, 1]);
  history.elect(2, { isr: [2, 3] });
  history.truncate(1, 0);
  history.elect(1, { isr: [1, 2, 3] });

  history.ack([0, 1], 0, { acks: 1 });

  expect(history.violations()).toMatchObject([
    { count: 2, permitted: "acks=1: broker-1 was replaced before its followers had them" },
  ]);
});

test("one election that breaks a promise and ends another that was none makes two findings", () => {
  const history = watch({ clients: { p2: { acks: 1, idempotent: false } } });
  history.write([0]);
  history.ack([0], 0);
  history.write([0], { client: 2 });
  history.ack([0], 1, { client: "p2", acks: 1 });

  history.elect(2, { isr: [2, 3] });

  expect(history.violations()).toMatchObject([
    { client: "p1", permitted: undefined, follows: undefined },
    { client: "p2", permitted: expect.stringContaining("acks=1"), follows: 0 },
  ]);
});

test("the answer of a leader already replaced joins the finding of the election", () => {
  const history = watch();
  history.write([0]);
  history.write([1]);
  history.ack([0], 0);
  history.elect(2, { isr: [2, 3] });

  history.ack([1], 1);

  expect(history.violations()).toMatchObject([{ offsets: [0, 1], count: 2 }]);
});

test("an unclean election excuses what it loses, if it is enabled", () => {
  const lose = (uncleanLeaderElection: boolean): History => {
    const history = watch({ topic: { uncleanLeaderElection }, minInsyncReplicas: 1 });
    history.commit([0]);
    history.shrink([1]).write([1, 2, 3]);
    history.highWatermark(1, 4).ack([1, 2, 3], 1);
    return history.stop(1).elect(3, { isr: [3], election: "unclean" });
  };

  const enabled = lose(true);
  const disabled = lose(false);

  expect(enabled.violations()).toMatchObject([
    { count: 3, permitted: `unclean election of broker-3 at ${enabled.event - 1}.000s` },
  ]);
  expect(disabled.violations()).toMatchObject([{ count: 3, permitted: undefined }]);
});

test("an unclean election of long ago does not excuse a later loss", () => {
  const history = watch({ topic: { uncleanLeaderElection: true } });
  history.commit([0]);
  history.ack([0], 0);
  history.elect(3, { isr: [3], election: "unclean" });
  history.copy([2]).shrink([2, 3]);
  history.write([1]);
  history.ack([1], 1);

  history.elect(2, { isr: [2] });

  expect(history.violations()).toMatchObject([{ offsets: [1, 1], permitted: undefined }]);
});

test("an unclean leader that stops before it takes office still explains what the next one lacks", () => {
  const history = watch({ topic: { uncleanLeaderElection: true } });
  history.write([0]);
  history.ack([0], 0);
  history.registered("unclean", { leader: 3, isr: [3], leaderEpoch: 1 });
  history.stop(3).restart(3);

  history.elect(3, { isr: [3], epoch: 3 });

  expect(history.violations()).toMatchObject([
    { permitted: expect.stringContaining("unclean election of broker-3") },
  ]);
});

test("a power loss of all replicas is permitted, unless every record is flushed", () => {
  const blackout = (flushMessages: number): History => {
    const history = watch({ topic: { flushMessages } });
    history.commit([0]);
    history.ack([0], 0);
    history.commit([1, 2]);
    history.ack([1, 2], 1);
    for (const broker of [1, 2, 3]) history.stop(broker, "power-off");
    for (const broker of [1, 2, 3]) history.restart(broker, 1);
    return history.elect(1, { isr: [1], election: "last-known" });
  };

  const unflushed = blackout(Number.MAX_SAFE_INTEGER);
  const flushed = blackout(1);

  expect(unflushed.violations()).toMatchObject([
    {
      offsets: [1, 2],
      permitted: "power loss of broker-1, broker-2 and broker-3: their logs came back without them",
    },
  ]);
  expect(flushed.violations()).toMatchObject([{ offsets: [1, 2], permitted: undefined }]);
});

test("a disk that has damaged what was flushed excuses as a power loss does; one that failed a call does not", () => {
  const damaged = (how: DiskDisturbed["how"], partition: string): History => {
    const history = watch({ topic: { flushMessages: 1 }, minInsyncReplicas: 1 });
    history.commit([0]);
    history.ack([0], 0);
    history.note({
      kind: "disk-disturbed",
      node: "broker-1",
      path: `kafka-logs/${partition}/0.log`,
      partition,
      how,
      position: 0,
      bytes: 1,
    });
    for (const broker of [1, 2, 3]) history.stop(broker, "exit").restart(broker, 0);
    return history.elect(1, { isr: [1], election: "last-known" });
  };

  const permitted = [
    { permitted: "damaged disk of broker-1: its log came back at 18.000s without them" },
  ];
  const bug = [{ permitted: undefined }];
  for (const how of ["bit-rot", "fsync-lie", "disk-lost", "misdirected-write"] as const) {
    expect(damaged(how, "orders-0").violations(), how).toMatchObject(permitted);
  }
  expect(damaged("disk-lost", "").violations()).toMatchObject(permitted);
  expect(damaged("bit-rot", "orders-1").violations()).toMatchObject(bug);
  expect(damaged("read-error", "orders-0").violations()).toMatchObject(bug);
  expect(damaged("no-space", "orders-0").violations()).toMatchObject(bug);
});

test("a power loss of fewer replicas than min.insync.replicas is no excuse", () => {
  const history = watch({ minInsyncReplicas: 2 });
  history.commit([0, 1]);
  history.ack([0, 1], 0);

  history
    .stop(1, "power-off")
    .restart(1, 0)
    .elect(1, { isr: [1, 2, 3] });

  expect(history.violations()).toMatchObject([{ count: 2, permitted: undefined }]);
});

test("the last replica standing may lose what it alone had, but only without ELR", () => {
  const lastStanding = (elr: number): History => {
    const history = watch({ elr });
    history.commit([0, 1]);
    history.ack([0, 1], 0);
    history.shrink([1]).stop(1, "power-off").restart(1, 0);
    return history.elect(1, { isr: [1] });
  };

  expect(lastStanding(0).violations()).toMatchObject([
    { permitted: expect.stringContaining("power loss of broker-1") },
  ]);
  expect(lastStanding(1).violations()).toMatchObject([{ permitted: undefined }]);
});

test("a plain crash that loses what was written is a bug", () => {
  const history = watch({ elr: 0 });
  history.commit([0, 1]);
  history.ack([0, 1], 0);

  history
    .shrink([1])
    .stop(1, "crash")
    .restart(1, 0)
    .elect(1, { isr: [1] });

  expect(history.violations()).toMatchObject([{ permitted: undefined }]);
});

test("an acknowledgement without an offset is looked for in the last leader's log", () => {
  const history = watch();
  history.commit([0, 1]);
  history.ack([0], -1).ack([1], -1);
  expect(history.violations()).toEqual([]);

  history.ack([2], -1);

  expect(history.violations()).toMatchObject([{ client: "p1", count: 1, offsets: undefined }]);
});

test("an offset that holds another record than the client was told is a loss", () => {
  const history = watch();
  history.commit([0, 1]);

  history.ack([5], 1);

  expect(history.violations()).toMatchObject([{ offsets: [1, 1], count: 1, permitted: undefined }]);
});

// Redpanda #3003 (checkers.md 5, 1): success is claimed for what a new leader then writes over.
test("acknowledged in an old term, written over in the new one", () => {
  const history = watch();
  history.write([0]);
  history.elect(2, { isr: [2, 3] });
  history.ack([0], 0);
  history.truncate(1, 0);

  history.commit([7], { client: 2 });

  expect(history.violations()).toMatchObject([{ offsets: [0, 0], permitted: undefined }]);
});

// KIP-101's case (checkers.md 5, 29): truncation to the high watermark loses what was acknowledged.
test("truncation to the high watermark explains a loss only where it is switched on", () => {
  const lose = (truncation: "high-watermark" | "on-fetch"): History => {
    const history = watch({ switches: { truncation } });
    history.write([0, 1]);
    history.copy([2, 3]).highWatermark(1, 2);
    history.ack([0, 1], 0);
    history.stop(2).restart(2).follow(2).truncate(2, 0, "high-watermark");
    return history.stop(1).elect(2, { isr: [2, 3] });
  };

  expect(lose("high-watermark").violations()).toMatchObject([
    { count: 2, permitted: "the protocol switch truncation: high-watermark" },
  ]);
  expect(lose("on-fetch").violations()).toMatchObject([{ count: 2, permitted: undefined }]);
});

test("an acknowledged tombstone is found where it was told to be, alone or among others", () => {
  const history = new History({ guarantees: [NO_ACKED_LOSS] });
  history.commit([0], { keys: ["a"], tombstones: [0] });
  history.commit([1, 2], { keys: ["a", "b"], tombstones: [1] });

  history.ack([0], 0).ack([1, 2], 1);

  expect(history.violations()).toEqual([]);
});

test("an acknowledged tombstone is the batch that was just it, and not one of others where it was told to be", () => {
  const history = watch({ clients: { p1: { acks: 1, idempotent: false } } });
  history.commit([0], { keys: ["a"] });
  history.write([1], { keys: ["a"], tombstones: [0] });
  history.stop(1).elect(2, { isr: [2, 3] });
  history.commit([2, 3], { keys: ["a", "b"], tombstones: [0, 1] });

  history.ack([1], 1, { acks: 1 });

  expect(history.violations()).toMatchObject([
    { count: 1, permitted: expect.stringContaining("acks=1") },
  ]);
});

test("an acknowledged tombstone that the elected leader does not have is lost", () => {
  const history = new History({ guarantees: [NO_ACKED_LOSS] });
  history.write([0], { keys: ["a"], tombstones: [0] });
  history.ack([0], 0);

  history.elect(2, { isr: [2, 3] });

  expect(history.violations()).toHaveLength(1);
});

test("what was lost, and comes back with a log of long ago, has been passed by readers for the same reason", () => {
  const history = watch({ guarantees: [NO_ACKED_LOSS, ACKED_GETS_READ] });
  history.poll([history.commit([0])]);
  history.write([1]);
  history.ack([1], 1, { acks: 1 });
  history.elect(2, { isr: [2, 3] });
  history.poll([history.commit([2])]);

  history.elect(1, { isr: [1], election: "unclean" });

  expect(history.violations()).toMatchObject([
    { kind: "acked-record-lost", permitted: expect.stringContaining("acks=1") },
    { kind: "acked-record-passed", permitted: expect.stringContaining("acks=1") },
  ]);
});
