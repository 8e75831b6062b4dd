import { expect, test } from "vitest";
import { ACKED_GETS_READ } from "../../../src/checkers/acked-gets-read.ts";
import { COMMITS_WHAT_WAS_READ } from "../../../src/checkers/commits-what-was-read.ts";
import { GROUPS_CATCH_UP } from "../../../src/checkers/groups-catch-up.ts";
import type { Guarantee } from "../../../src/checkers/guarantee.ts";
import { WORKED_ON_ONCE } from "../../../src/checkers/worked-on-once.ts";
import { resolveConfigs } from "../../../src/kafka/config/config-table.ts";
import { CONSUMER_CONFIGS } from "../../../src/kafka/config/consumer-configs.ts";
import { PRODUCER_CONFIGS } from "../../../src/kafka/config/producer-configs.ts";
import type { RecordBatch } from "../../../src/kafka/log/record-batch.ts";
import { History, ORDERS } from "../../support/fact-builders.ts";

const GROUP = "workers";
const SECOND = 1_000_000;
/** Longer than any group may stand still, with Kafka's defaults. */
const LONG = 200;

/** w1 is a member of `workers` that owns orders-0, to which p1 writes in transactions. */
class Reading {
  readonly history: History;

  constructor(guarantee: Guarantee, isolation: "read_committed" | "read_uncommitted") {
    const configs = resolveConfigs(CONSUMER_CONFIGS, { "isolation.level": isolation });
    this.history = new History({
      guarantees: [guarantee],
      clients: {
        p1: { configs: resolveConfigs(PRODUCER_CONFIGS, { "transactional.id": "t" }) },
      },
      members: [["w1", { group: GROUP, topics: ["orders"], configs }]],
    });
    for (const node of ["broker-1", "broker-2", "broker-3", "controller-1", "w1"]) {
      this.history.note({ kind: "node-started", node, incarnation: 0 });
    }
    const owner = { client: "w1", group: GROUP, member: "m1", generation: 1 };
    this.history.note({ kind: "partitions-assigned", ...owner, partitions: [ORDERS] });
    const position = { client: "w1", partition: ORDERS, from: -1, to: 0, reason: "initial" };
    this.history.note({ kind: "position-reset", ...position });
  }

  /** Two records of p1's, in a transaction. */
  writes(values: readonly [number, number]): RecordBatch {
    return this.history.commit(values, { isTransactional: true });
  }

  /** The marker takes an offset. */
  ends(type: "ABORT" | "COMMIT"): this {
    const { history } = this;
    const { nextOffset } = history.endTransaction(type);
    history.copy([2, 3]).highWatermark(1, nextOffset);
    return this;
  }

  commits(offset: number): this {
    const offsets = [{ partition: ORDERS, offset }];
    const who = { broker: 1, group: GROUP, member: "m1", generation: 1, producerId: -1 };
    this.history.note({ kind: "offsets-committed", ...who, offsets });
    return this;
  }

  settles(): this {
    const begun = { kind: "fault-begun", fault: 0, text: "", name: "" } as const;
    this.history.note({ ...begun, verb: "isolate" }).note({ ...begun, fault: -1, verb: "settle" });
    this.history.now += LONG * SECOND;
    return this;
  }

  found(): string[] {
    return this.history.violations().map(({ kind, text }) => `${kind}: ${text.join(" ")}`);
  }
}

test("who reads committed records only commits past what was aborted, and past markers", () => {
  const reading = new Reading(COMMITS_WHAT_WAS_READ, "read_committed");
  reading.writes([0, 1]);
  reading.ends("ABORT").commits(3);
  const batch = reading.writes([2, 3]);

  reading.history.poll([batch], "w1");
  reading.ends("COMMIT").commits(6);

  expect(reading.found()).toEqual([]);
});

test("who reads all is to be given what was aborted before it commits past it", () => {
  const reading = new Reading(COMMITS_WHAT_WAS_READ, "read_uncommitted");
  reading.writes([0, 1]);

  reading.ends("ABORT").commits(3);

  expect(reading.found()).toEqual([
    "unread-committed: w1 has committed offset 3 of orders-0 for workers; what it was given ends at 0.",
  ]);
});

test("nobody commits past records of a transaction that is committed, or open, without them", () => {
  const committed = new Reading(COMMITS_WHAT_WAS_READ, "read_committed");
  committed.writes([0, 1]);
  const open = new Reading(COMMITS_WHAT_WAS_READ, "read_committed");
  open.writes([0, 1]);

  committed.ends("COMMIT").commits(3);
  open.commits(1);

  expect(committed.found()).toHaveLength(1);
  expect(open.found()).toHaveLength(1);
});

test("a member that is given nothing of a transaction that is committed is found", () => {
  const reading = new Reading(GROUPS_CATCH_UP, "read_committed");
  reading.writes([0, 1]);

  reading.ends("COMMIT").settles();

  expect(reading.found()).toEqual([
    expect.stringMatching(
      /^member-stalls: w1 owns orders-0 and reads on from 0; the high watermark is 3,/,
    ),
  ]);
});

test("a member waits for an open transaction, and for nothing that was aborted", () => {
  const waits = new Reading(GROUPS_CATCH_UP, "read_committed");
  waits.writes([0, 1]);
  const passes = new Reading(GROUPS_CATCH_UP, "read_committed");
  passes.writes([0, 1]);

  waits.commits(0).settles();
  passes.ends("ABORT").commits(3).settles();

  expect(waits.found()).toEqual([]);
  expect(passes.found()).toEqual([]);
});

test("a commit that stays behind is found in transactions, too", () => {
  const reading = new Reading(GROUPS_CATCH_UP, "read_committed");
  reading.history.poll([reading.writes([0, 1])], "w1");

  reading.ends("COMMIT").commits(1).settles();

  expect(reading.found()).toEqual([
    "commit-behind: w1 has come to 2 in orders-0; workers has committed 1 of it.",
  ]);
});

test("what was committed is to be worked on before a group commits past it, what was aborted is not", () => {
  const committed = new Reading(WORKED_ON_ONCE, "read_committed");
  committed.writes([0, 1]);
  const aborted = new Reading(WORKED_ON_ONCE, "read_committed");
  aborted.writes([0, 1]);

  committed.ends("COMMIT").commits(3);
  aborted.ends("ABORT").commits(3);

  expect(committed.found()).toEqual([
    "record-left-out: Nobody of workers has worked on offsets 0..1, 2 records, though it began at 0 and has committed 3.",
  ]);
  expect(aborted.found()).toEqual([]);
});

test("what a transaction brought need not be read by members who read committed records only", () => {
  const reading = new Reading(ACKED_GETS_READ, "read_committed");
  for (const value of [0, 1]) {
    reading.history.note({ kind: "record-sent", client: "p1", partition: ORDERS, value });
  }
  reading.writes([0, 1]);
  reading.history.ack([0, 1], 0);
  reading.ends("ABORT");
  const later = reading.history.commit([2], { producerId: -1, producerEpoch: -1 });

  reading.history.poll([later], "w1");

  expect(reading.found()).toEqual([]);
});
