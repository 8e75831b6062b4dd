import { expect, test } from "vitest";
import { EXPIRED_ONLY_BY_POLICY } from "../../../src/checkers/expired-only-by-policy.ts";
import { NO_ACKED_LOSS } from "../../../src/checkers/no-acked-loss.ts";
import type { HistoryOptions } from "../../support/fact-builders.ts";
import { History } from "../../support/fact-builders.ts";

const SECOND_MS = 1000;

/** Five batches of one record, 79 bytes each, one a second from the first, below the high watermark. */
function historyOf(topic: HistoryOptions["topic"] = {}): History {
  const history = new History({ guarantees: [EXPIRED_ONLY_BY_POLICY, NO_ACKED_LOSS], topic });
  for (let value = 0; value < 5; value++) {
    history.commit([value], { timestamp: value * SECOND_MS });
  }
  return history;
}

function told(history: History): (string | undefined)[] {
  return history.violations().map(({ guarantee, text }) => `${guarantee}: ${text.join(" ")}`);
}

test("old records may go, and with the leader's also the followers'", () => {
  const history = historyOf({ retentionMs: 10 * SECOND_MS });
  history.now = 60_000_000;

  history.moveStart(1, 3, "retention-time");
  history.moveStart(2, 3, "leader").moveStart(3, 2, "leader");

  expect(history.violations()).toEqual([]);
  const [summary] = history.checkers.summaries();
  expect(summary).toMatchObject({ state: "held", interesting: 3 });
});

test("a record younger than retention.ms may not", () => {
  const history = historyOf({ retentionMs: 10 * SECOND_MS });
  history.now = 11_500_000;

  // Noted one second later, when record 3 is 9.5 s old.
  history.moveStart(1, 4, "retention-time");

  expect(told(history)[0]).toBe(
    "expired-only-by-policy: broker-1's log begins at 4 instead of 0 (retention-time), though the records from 3 on are younger than retention.ms (10000): 1 offset.",
  );
});

test("a broker whose clock is ahead may think records old", () => {
  const history = historyOf({ retentionMs: 10 * SECOND_MS });
  history.note({
    kind: "fault-begun",
    fault: 0,
    verb: "clock-skew",
    text: "broker-1, leader of orders-0, offset 1h",
    name: "",
  });

  history.now = 5_000_000;
  history.ack([4], 4).moveStart(1, 5, "retention-time");

  const violations = history.violations();
  expect(violations.map(({ guarantee }) => guarantee)).toEqual(["expired-only-by-policy"]);
  expect(violations[0]?.permitted).toMatch(/^the clock of broker-1, which was set wrong at /);
});

test("retention.bytes are left, to the byte", () => {
  const size = historyOf().logs.get(1)?.[0]?.sizeInBytes ?? 0;
  const enough = historyOf({ retentionBytes: 2 * size });
  const tooLittle = historyOf({ retentionBytes: 2 * size + 1 });

  enough.moveStart(1, 3, "retention-size");
  tooLittle.moveStart(1, 3, "retention-size");

  expect(enough.violations()).toEqual([]);
  expect(told(tooLittle)[0]).toMatch(/though \d+ bytes are less than retention.bytes/);
});

test("nothing expires where cleanup.policy or the bound does not say so", () => {
  const compacted = historyOf({ deletesOldSegments: false, retentionMs: 0 });
  const unbounded = historyOf({ retentionMs: -1 });

  compacted.moveStart(1, 1, "retention-time");
  unbounded.moveStart(1, 1, "retention-time");

  expect(told(compacted)[0]).toMatch(/though cleanup.policy is not delete/);
  expect(told(unbounded)[0]).toMatch(/though retention.ms is -1/);
});

test("retention that passes the high watermark is caught, and what was acknowledged is lost", () => {
  const history = historyOf({ retentionMs: 0 });
  history.write([5], { timestamp: 0 });
  history.ack([5], 5, { acks: 1 });

  history.moveStart(1, 6, "retention-time");

  expect(told(history)).toEqual([
    "expired-only-by-policy: broker-1's log begins at 6 instead of 0 (retention-time), beyond its high watermark 5: 1 offset.",
    "no-acked-loss: p1 (acks=1) was told that offset 5 is written: 1 record. The log of the leader broker-1 no longer begins below it.",
  ]);
});

test("DeleteRecords may take what is committed, and no more", () => {
  const within = historyOf();
  const beyond = historyOf();
  beyond.write([5]);

  within.moveStart(1, 5, "delete-records");
  beyond.moveStart(1, 6, "delete-records");

  expect(within.violations()).toEqual([]);
  expect(told(beyond)).toHaveLength(1);
});

test("a follower whose log begins later than any other is caught, and its election is a loss", () => {
  const history = historyOf();
  history.ack([2], 2);

  history.moveStart(3, 3, "leader");
  history.elect(3, { isr: [3, 2] });

  expect(told(history)).toEqual([
    "expired-only-by-policy: broker-3's log begins at 3 instead of 0 (leader), further than any other replica: 3 offsets.",
    "no-acked-loss: p1 (acks=all) was told that offset 2 is written: 1 record. The elected leader broker-3 does not have it.",
  ]);
});

test("a follower that is emptied begins where its leader's log does, not later", () => {
  const asLeader = historyOf({ retentionMs: 0 });
  asLeader.moveStart(1, 3, "retention-time").load(3, 0).emptyTo(3, 3);
  const later = historyOf({ retentionMs: 0 });
  later.moveStart(1, 3, "retention-time").load(3, 0).emptyTo(3, 4);

  expect(asLeader.violations()).toEqual([]);
  expect(told(later)[0]).toMatch(/begins at 4 instead of 0 \(fully-truncated\), where no other/);
});

test("an acknowledged record that expired is not lost, whoever leads then", () => {
  const history = historyOf({ retentionMs: 0 });
  history.ack([2], 2);

  history.moveStart(1, 4, "retention-time").moveStart(2, 4, "leader");
  history.load(3, 0);
  history
    .emptyTo(3, 4)
    .copy([3])
    .elect(3, { isr: [3, 2] });

  expect(history.violations()).toEqual([]);
});

test("a time index that a power cut tore lets records seem older than they are, on that replica", () => {
  const permittedOn = (broker: number): string | undefined => {
    const history = historyOf({ retentionMs: 10 * SECOND_MS });
    history.now = 11_500_000;
    const path = "kafka-logs/orders-0/00000000000000000000.timeindex";
    history.note({ kind: "unflushed-lost", node: "broker-1", path, bytes: 7 });
    return history.moveStart(broker, 5, "retention-time").violations()[0]?.permitted;
  };

  expect(permittedOn(1)).toBe("power cut of broker-1 at 12.500s, which tore a time index");
  expect(permittedOn(2)).toBeUndefined();
});
