import { expect, test } from "vitest";
import { ACKED_EVERYWHERE } from "../../../src/checkers/acked-everywhere.ts";
import { CLUSTER_RECOVERS } from "../../../src/checkers/cluster-recovers.ts";
import type { Guarantee } from "../../../src/checkers/guarantee.ts";
import { ISR_REFILLS } from "../../../src/checkers/isr-refills.ts";
import { ISR_REQUESTS_END } from "../../../src/checkers/isr-requests-end.ts";
import { boundsOf, deliveryBound, stallBound } from "../../../src/checkers/liveness-bounds.ts";
import { REPLICAS_CONVERGE } from "../../../src/checkers/replicas-converge.ts";
import { SENDS_END } from "../../../src/checkers/sends-end.ts";
import { WORK_GOES_ON } from "../../../src/checkers/work-goes-on.ts";
import { BROKER_CONFIGS } from "../../../src/kafka/config/broker-configs.ts";
import { resolveConfigs } from "../../../src/kafka/config/config-table.ts";
import { CONSUMER_CONFIGS } from "../../../src/kafka/config/consumer-configs.ts";
import { PRODUCER_CONFIGS } from "../../../src/kafka/config/producer-configs.ts";
import { buildBatch } from "../../../src/kafka/log/record-batch.ts";
import { encodeMetadataRecord } from "../../../src/kafka/metadata/record-codec.ts";
import { History, ORDERS } from "../../support/fact-builders.ts";

const SECOND = 1_000_000;
/** With Kafka's defaults, in seconds: no step for so long, and all steps. */
const QUIET = 44;
const TOTAL = 176;
/** The first, where faults stay with somebody. */
const QUIET_CORE = 59;

/** All three brokers and a controller run, and a fault has struck. */
function watch(guarantee: Guarantee): History {
  const history = new History({ guarantees: [guarantee] });
  for (const node of ["broker-1", "broker-2", "broker-3", "controller-1", "p1", "c1"]) {
    history.note({ kind: "node-started", node, incarnation: 0 });
  }
  history.note({ kind: "controller-elected", controller: 3001, quorumEpoch: 1 });
  return history.note({ kind: "fault-begun", fault: 0, verb: "isolate", text: "", name: "" });
}

function settle(history: History): History {
  return history.note({ kind: "fault-begun", fault: -1, verb: "settle", text: "", name: "" });
}

/** A core is healed; with the named nodes faults stay. */
function settleCore(history: History, frozen: readonly string[]): History {
  const servers = ["broker-1", "broker-2", "broker-3", "controller-1"];
  const core = servers.filter((name) => !frozen.includes(name));
  return settle(history).note({ kind: "core-drawn", core, frozen });
}

/** What is told when so many seconds more have passed. */
function toldAfter(seconds: number, history: History): string[] {
  history.now += seconds * SECOND;
  return history.violations().map(({ kind, text, permitted }) => {
    return `${kind}: ${text.join(" ")}${permitted === undefined ? "" : ` | ${permitted}`}`;
  });
}

function stateOf(history: History): string | undefined {
  return history.checkers.summaries()[0]?.state;
}

test("the bounds follow from the configs", () => {
  const configs = (own: Record<string, unknown>) => resolveConfigs(BROKER_CONFIGS, own);
  const bounds = boundsOf([configs({})], false);
  expect(bounds).toEqual({ quiet: QUIET * SECOND, total: TOTAL * SECOND });
  const slow = configs({ "replica.lag.time.max.ms": 100_000 });
  expect(boundsOf([configs({})], true).quiet).toBe(QUIET_CORE * SECOND);
  expect(boundsOf([configs({}), slow], true).quiet).toBe(164 * SECOND);

  const producer = resolveConfigs(PRODUCER_CONFIGS, { "delivery.timeout.ms": 40_000 });
  expect(deliveryBound(producer)).toBe(45 * SECOND);
  expect(stallBound(producer, false)).toBe(69 * SECOND);
  const consumer = resolveConfigs(CONSUMER_CONFIGS, { "request.timeout.ms": 5_000 });
  expect(stallBound(consumer, false)).toBe(19 * SECOND);
  expect(stallBound(consumer, true)).toBe(319 * SECOND);
});

test("a replica that stays out of the ISR is told of, and why", () => {
  const history = watch(ISR_REFILLS);
  history.shrink([1, 2]).commit([0, 1]);
  settle(history);

  expect(toldAfter(QUIET, history)).toEqual([
    "isr-stays-small: broker-3 has not come back into the ISR {1,2} for 44.000s: it has fetched nothing for 44.000s: its log ends at 0, its high watermark is 0; broker-1's are 2 and 2.",
  ]);
});

test("nothing is said before the time is over, nor of an ISR that is full again", () => {
  const early = watch(ISR_REFILLS).shrink([1, 2]);
  expect(toldAfter(QUIET - 1, settle(early))).toEqual([]);
  expect(stateOf(early)).toBe("untested");

  const full = watch(ISR_REFILLS).shrink([1, 2]);
  settle(full).shrink([1, 2, 3]);
  expect(toldAfter(QUIET, full)).toEqual([]);
  expect(stateOf(full)).toBe("held");
});

test("each step begins the time anew, but not for ever", () => {
  const copying = (seconds: number): string[] => {
    const history = watch(ISR_REFILLS).shrink([1, 2]);
    for (let i = 0; i < 20; i++) history.write([i]);
    settle(history);
    for (const batch of history.logs.get(1) ?? []) {
      history.now += seconds * SECOND;
      history.append(3, batch);
    }
    return toldAfter(1, history);
  };

  expect(copying(5)).toEqual([]);
  expect(copying(20)).toHaveLength(1);
});

test("of a broker that is down, fenced or frozen the ISR is not asked, nor without a leader", () => {
  const down = watch(ISR_REFILLS).shrink([1, 2]).stop(3);
  expect(toldAfter(QUIET, settle(down))).toEqual([]);

  const fenced = watch(ISR_REFILLS).shrink([1, 2]);
  fenced.note({ kind: "broker-fenced", broker: 3, brokerEpoch: 3 });
  expect(toldAfter(QUIET, settle(fenced))).toEqual([]);

  const frozen = watch(ISR_REFILLS).shrink([1, 2]);
  expect(toldAfter(QUIET_CORE, settleCore(frozen, ["broker-3"]))).toEqual([]);

  const leaderless = watch(ISR_REFILLS).shrink([1, 2]).stop(1);
  expect(toldAfter(QUIET, settle(leaderless))).toEqual([]);
});

test("what is stuck behind a broken leader is permitted if Kafka chose it so, and not if it stays", () => {
  const chosen = settleCore(watch(ISR_REFILLS).shrink([2]), ["broker-2"]).elect(2, { isr: [2] });
  expect(toldAfter(QUIET_CORE, chosen)).toEqual([
    expect.stringMatching(/^isr-stays-small: broker-1 .* \| broker-2 leads it, and faults stay/),
    expect.stringMatching(/^isr-stays-small: broker-3 .* \| broker-2 leads it, and faults stay/),
  ]);

  const left = settleCore(watch(ISR_REFILLS).shrink([1]), ["broker-1"]);
  expect(toldAfter(QUIET_CORE, left).join()).not.toContain("leads it, and faults stay");
});

test("a log directory that was given up excuses its replicas until the broker starts again", () => {
  const give = (history: History): History => {
    return history.note({
      kind: "log-directory-failed",
      broker: 3,
      directory: "data",
      reason: "EIO",
    });
  };

  expect(toldAfter(QUIET, settle(give(watch(ISR_REFILLS).shrink([1, 2]))))).toEqual([
    expect.stringMatching(
      /it gave up its log directory data at .* \| log directory data of broker-3, given up at/,
    ),
  ]);
  const restarted = give(watch(ISR_REFILLS).shrink([1, 2]))
    .stop(3)
    .restart(3);
  expect(toldAfter(QUIET, settle(restarted))).toEqual([
    "isr-stays-small: broker-3 has not come back into the ISR {1,2} for 44.000s: it does not follow broker-1, which leads in epoch 0.",
  ]);
});

test("replicas that end differently, or whose high watermarks lag, are told of", () => {
  const behind = watch(REPLICAS_CONVERGE);
  behind.write([0, 1]);
  behind.copy([2]).highWatermark(1, 2).highWatermark(2, 2);
  expect(toldAfter(QUIET, settle(behind))).toEqual([
    "replicas-differ: The end is 2 at broker-1, the leader; but broker-3 has fetched nothing for 44.000s: its log ends at 0, its high watermark is 0; broker-1's are 2 and 2.",
  ]);

  const uncommitted = watch(REPLICAS_CONVERGE);
  uncommitted.write([0]);
  uncommitted.copy([2, 3]);
  expect(toldAfter(QUIET, settle(uncommitted))[0]).toBe(
    "replicas-differ: The end is 1 at broker-1, the leader; but its high watermark there, 0, does not follow; the ISR is {1,2,3}.",
  );

  const alike = watch(REPLICAS_CONVERGE);
  alike.commit([0, 1]);
  expect(toldAfter(QUIET, settle(alike))).toEqual([]);
  expect(stateOf(alike)).toBe("held");
});

test("a follower need not know how far all is committed, if it follows anew and nothing has moved since", () => {
  const missed = settle(watch(REPLICAS_CONVERGE));
  missed.write([0]);
  missed.copy([2, 3]).highWatermark(1, 1).highWatermark(3, 1);
  missed.now += SECOND;
  missed.follow(2);
  expect(toldAfter(QUIET, missed)).toEqual([]);

  missed.write([1]);
  missed.copy([2, 3]).highWatermark(1, 2).highWatermark(3, 2);
  expect(toldAfter(QUIET, missed)[0]).toMatch(/broker-2 has fetched nothing .* watermark is 0/);
});

test("a follower need not know it either, if it was shown where its log parts from the leader's, and nothing has moved since", () => {
  const wasCut = settle(watch(REPLICAS_CONVERGE));
  const first = wasCut.write([0]);
  wasCut.copy([3]).append(2, first);
  wasCut.append(2, wasCut.batch([9]));
  wasCut.highWatermark(1, 1).highWatermark(3, 1);
  wasCut.now += SECOND;
  wasCut.truncate(2, 1);
  expect(toldAfter(QUIET, wasCut)).toEqual([]);

  const hadLed = settle(watch(REPLICAS_CONVERGE));
  hadLed.write([0]);
  hadLed.copy([2, 3]).elect(2, { isr: [2, 3] });
  hadLed
    .elect(1, { isr: [1, 3] })
    .follow(2)
    .follow(3);
  hadLed.now += SECOND;
  hadLed.highWatermark(1, 1).highWatermark(3, 1);
  expect(toldAfter(QUIET, hadLed)).toEqual([]);

  hadLed.write([1]);
  hadLed.copy([2, 3]).highWatermark(1, 2).highWatermark(3, 2);
  expect(toldAfter(QUIET, hadLed)[0]).toMatch(/broker-2 has fetched nothing .* watermark is 0/);
});

test("while something is still written, replicas may differ, however long that goes on", () => {
  const history = settle(watch(REPLICAS_CONVERGE));
  for (let i = 0; i < 30; i++) {
    history.now += 20 * SECOND;
    history.write([i]);
  }

  expect(toldAfter(1, history)).toEqual([]);
});

test("an acknowledged record that a replica lacks is told of, one that nobody was told of is not", () => {
  const history = watch(ACKED_EVERYWHERE);
  const first = history.commit([0, 1]);
  history.ack([0, 1], first.baseOffset);
  history.write([2, 3]);
  history.copy([2]).highWatermark(1, 4).ack([2, 3], 2);
  history.write([4]);
  settle(history);

  expect(toldAfter(QUIET, history)).toEqual([
    "acked-record-not-everywhere: 2 records, at offsets 2..3, were acknowledged, and are not on broker-3: it has fetched nothing for 44.000s: its log ends at 2, its high watermark is 2; broker-1's are 5 and 4.",
  ]);
});

test("a send is answered by delivery.timeout.ms, or told of with what was heard last", () => {
  const history = watch(SENDS_END);
  history.note({ kind: "record-sent", client: "p1", partition: ORDERS, value: 0 });
  history.note({ kind: "record-sent", client: "p1", partition: ORDERS, value: 1 });
  history.failedAttempt();
  settle(history).ack([0], 0);

  expect(toldAfter(124, history)).toEqual([
    "send-unanswered: p1 has 1 send without an end, the first sent at 17.000s; delivery.timeout.ms is 120000. It last heard NETWORK_EXCEPTION, at Produce to broker-1.",
  ]);
});

test("a send that has its end, or whose producer died, is no matter; nor one that has time", () => {
  const sent = (): History => {
    const history = watch(SENDS_END);
    return history.note({ kind: "record-sent", client: "p1", partition: ORDERS, value: 0 });
  };
  expect(toldAfter(110, settle(sent()))).toEqual([]);

  const answered = settle(sent()).ack([0], 0);
  expect(toldAfter(130, answered)).toEqual([]);
  expect(stateOf(answered)).toBe("held");

  const died = sent().note({ kind: "node-stopped", node: "p1", how: "crash", reason: "" });
  died.note({ kind: "node-started", node: "p1", incarnation: 1 });
  expect(toldAfter(130, settle(died))).toEqual([]);
});

test("a partition without a leader is told of, with what has become of all who might lead", () => {
  const history = watch(CLUSTER_RECOVERS).shrink([1]).stop(1);
  history.registered("none", { leader: -1, leaderEpoch: 1 });
  settle(history);

  expect(toldAfter(QUIET, history)).toEqual([
    "server-down: broker-1 is down since 17.000s (test).",
    "no-leader: orders-0 has had no leader for 44.000s: broker-1, in sync, is down since 17.000s (test); broker-2 and broker-3 are neither in sync nor eligible.",
  ]);
});

test("a partition whose last in-sync replica lost its disk may stay without a leader", () => {
  const history = watch(CLUSTER_RECOVERS).shrink([1]);
  history.note({
    kind: "disk-disturbed",
    node: "broker-1",
    path: "/",
    partition: "",
    how: "disk-lost",
    position: -1,
    bytes: 0,
  });
  history.registered("none", { leader: -1, leaderEpoch: 1, isr: [] });

  expect(toldAfter(QUIET, settle(history))).toEqual([
    expect.stringMatching(/^no-leader: .* \| damaged disk of broker-1/),
  ]);
});

test("a broker that stays fenced, metadata that stop coming, and no controller are told of", () => {
  const fenced = watch(CLUSTER_RECOVERS);
  fenced.note({ kind: "broker-fenced", broker: 2, brokerEpoch: 2 });
  expect(toldAfter(QUIET, settle(fenced))).toEqual([
    expect.stringMatching(/^broker-fenced: broker-2 has been fenced for 44.000s: it runs/),
  ]);

  const behind = watch(CLUSTER_RECOVERS);
  const value = encodeMetadataRecord({ type: "NoOpRecord" });
  const batch = buildBatch([{ timestamp: 0, value }], { baseOffset: 0, partitionLeaderEpoch: 0 });
  for (const node of [1, 3001]) {
    const [logEndOffset, lastEpoch, isVoter] = [0, 0, node === 3001];
    behind.note({ kind: "metadata-loaded", node, isVoter, logEndOffset, lastEpoch });
    behind.note({ kind: "metadata-appended", node, batch, asLeader: node === 3001 });
  }
  settle(behind).note({ kind: "metadata-applied", node: 3001, batch });
  expect(toldAfter(QUIET, behind)).toEqual([
    expect.stringMatching(/^metadata-behind: broker-1 has taken in metadata up to 0 and no more/),
  ]);

  const idle = watch(CLUSTER_RECOVERS);
  idle.note({ kind: "controller-resigned", controller: 3001, quorumEpoch: 1 });
  expect(toldAfter(QUIET, settle(idle))).toEqual([
    expect.stringMatching(/^no-controller: No controller has been active for 44.000s/),
  ]);
});

test("who is frozen is asked for nothing, also who stops outside the core only later", () => {
  const history = watch(CLUSTER_RECOVERS).stop(3);
  settle(history).note({
    kind: "core-drawn",
    core: ["broker-1", "controller-1"],
    frozen: ["broker-3"],
  });
  history.stop(2);

  expect(toldAfter(QUIET_CORE, history)).toEqual([]);
  expect(stateOf(history)).toBe("held");
});

test("an AlterPartition without an answer is told of, and one that is refused for ever", () => {
  const asked = { broker: 1, partition: ORDERS, leaderEpoch: 0, partitionEpoch: 2 };
  const waiting = settle(watch(ISR_REQUESTS_END).shrink([1, 2]));
  waiting.note({ kind: "isr-proposed", ...asked, isr: [1, 2, 3] });
  expect(toldAfter(QUIET, waiting)).toEqual([
    "isr-request-pending: broker-1 has asked for the ISR {1,2,3} since 18.000s, and has had no answer.",
  ]);

  const refused = settle(watch(ISR_REQUESTS_END).shrink([1, 2]));
  for (let i = 0; i < 40; i++) {
    refused.note({ kind: "isr-proposed", ...asked, isr: [1, 2, 3] });
    refused.note({ kind: "isr-adopted", ...asked, isr: [1, 2], by: "refusal" });
  }
  expect(toldAfter(1, refused)).toEqual([
    "isr-request-pending: broker-1 has asked for the ISR {1,2,3} since 18.000s, and was refused 40 times.",
  ]);

  const granted = settle(watch(ISR_REQUESTS_END)).shrink([1, 2]);
  expect(toldAfter(QUIET, granted)).toEqual([]);
  expect(stateOf(granted)).toBe("held");
});

test("sends that wait at a partition that is led are told of, but for those that hope in vain", () => {
  const waiting = (error: string): History => {
    const history = watch(WORK_GOES_ON);
    history.note({ kind: "record-sent", client: "p1", partition: ORDERS, value: 0 });
    const [api, broker, partition] = ["Produce", 1, ORDERS];
    const failed = { client: "p1", api, broker, partition, error, retried: true };
    return settle(history.note({ kind: "request-failed", ...failed }));
  };

  expect(toldAfter(69, waiting("NOT_LEADER_OR_FOLLOWER"))).toEqual([
    "writes-stall: 1 send of p1 waits since 16.000s, though broker-1 leads: its log ends at 0, its high watermark is 0, the ISR is {1,2,3}. It last heard NOT_LEADER_OR_FOLLOWER, at Produce to broker-1.",
  ]);
  expect(toldAfter(68, waiting("NOT_LEADER_OR_FOLLOWER"))).toEqual([]);
  expect(toldAfter(69, waiting("OUT_OF_ORDER_SEQUENCE_NUMBER"))).toEqual([]);
});

test("sends that expire long after all has recovered are told of", () => {
  const history = settle(watch(WORK_GOES_ON));
  history.note({ kind: "record-sent", client: "p1", partition: ORDERS, value: 0 });
  history.now += 120 * SECOND;
  history.ack([0], -1, { outcome: "failed", error: "REQUEST_TIMED_OUT" });

  expect(toldAfter(1, history)).toEqual([
    expect.stringMatching(/^writes-stall: 1 send of p1 expired, though broker-1 leads/),
  ]);
});

test("a consumer that gets nothing of what is committed is told of, one that has read on is not", () => {
  const committed = (): History => {
    const history = watch(WORK_GOES_ON);
    history.commit([0, 1]);
    const reset = { client: "c1", partition: ORDERS, from: -1, to: 0, reason: "initial" };
    return history.note({ kind: "position-reset", ...reset });
  };

  expect(toldAfter(69, settle(committed()))).toEqual([
    "reads-stall: c1 reads on from 0 and gets nothing, though the high watermark at broker-1, the leader, is 2: 2 offsets. It has heard of no error.",
  ]);
  const read = settle(committed());
  read.poll(read.logs.get(1) ?? []);
  expect(toldAfter(69, read)).toEqual([]);
  expect(stateOf(read)).toBe("held");
});
