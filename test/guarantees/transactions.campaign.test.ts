import { setImmediate } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { runsOf } from "../support/campaign-runs.ts";
import {
  playTransactions,
  TRANSACTION_PROBES,
  TRANSACTION_STORY,
} from "../support/transaction-stories.ts";

const SEEDS = runsOf(25, 3000);
/** Of its seeds a campaign must reach each probe in so many, or it says nothing of it. */
const LEAST_SHARE = 0.01;

/** What Kafka itself does not keep, within all that it promises otherwise; each by the cause that its waiver names. */
const KNOWN_GAPS: readonly { readonly why: string; readonly reason: RegExp }[] = [
  {
    why: "A broker that starts knows of each producer the last batch only, as producer snapshots hold no more: a retry of the one before it is out of order, and the producer goes on with a new epoch.",
    reason: /had gone on with a new producer epoch/,
  },
  {
    why: "A coordinator takes up its office with the first metadata after a start, though its broker's registration may have to wait until the session of the process before is over; what it writes then has the epoch of what was there (BrokerServer.startup).",
    reason: /as a coordinator at .*, before the controller had let it in after its start/,
  },
  {
    why: "A coordinator reads its log to the end, and not to the high watermark, and carries out what it finds decided there (TransactionStateManager.loadTransactionMetadata).",
    reason: /from a record that was lost before it was committed/,
  },
  {
    why: "A follower that copies several batches in one fetch writes a last stable offset into its index of aborted transactions with which searches stop too early (UnifiedLog.append).",
    reason: /its index of them passes over the second/,
  },
  {
    why: "A broker that stops in order writes the last entry of each time index after its last flush (LogSegment.close).",
    reason: /which tore a time index/,
  },
  {
    why: "A quorum's leader counts its own records before it has flushed them (KafkaRaftClient.flushLeaderLog).",
    reason: /while it flushed what it had written as the leader/,
  },
];

describe("transactions under random faults, with transaction.version 2", () => {
  const bugs: string[] = [];
  const unknownGaps: string[] = [];
  const reached = new Map<string, number>();

  beforeAll(async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const run = playTransactions(TRANSACTION_STORY, `campaign ${seed}`);
      bugs.push(...run.bugs.map((text) => `seed ${seed}: ${text}`));
      const unknown = run.permitted.filter(
        (one) => !KNOWN_GAPS.some(({ reason }) => reason.test(one)),
      );
      unknownGaps.push(...unknown.map((text) => `seed ${seed}: ${text}`));
      for (const name of run.reached) reached.set(name, (reached.get(name) ?? 0) + 1);
      // The test runner must hear of us now and then.
      if (seed % 20 === 0) await setImmediate();
    }
  }, 7_200_000);

  test("every guarantee is kept", () => {
    expect(bugs).toEqual([]);
  });

  test("what is permitted is what Kafka is known not to keep", () => {
    expect(unknownGaps).toEqual([]);
  });

  test.each(Object.keys(TRANSACTION_PROBES))("often enough there was: %s", (name) => {
    expect(reached.get(name) ?? 0).toBeGreaterThan(SEEDS * LEAST_SHARE);
  });
});

describe("with transaction.version 1, where many transactions have one epoch", () => {
  const seeds = runsOf(6, 500);
  const version1 = TRANSACTION_STORY.replace(
    "  brokers: 3\n",
    "  features: { transaction.version: 1 }\n  brokers: 3\n",
  );

  test("late requests end the next transaction now and then, and nothing goes wrong that is not permitted", () => {
    let late = 0;
    for (let seed = 1; seed <= seeds; seed++) {
      const { bugs, permitted } = playTransactions(version1, `${seed}`);

      expect(bugs, `seed ${seed}`).toEqual([]);
      if (permitted.some((text) => text.includes("(KIP-890)"))) late++;
    }
    if (seeds >= 500) expect(late).toBeGreaterThan(0);
  }, 3_600_000);
});
