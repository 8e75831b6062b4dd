import { describe, expect, test } from "vitest";
import { InvariantViolation } from "../../../../src/base/invariant.ts";
import { NO_EPOCH, NO_PRODUCER_ID } from "../../../../src/kafka/ids.ts";
import type { TransactionState } from "../../../../src/kafka/transaction/transaction-state.ts";
import {
  isLegalTransition,
  TRANSACTION_STATES,
  transactionStateId,
  transactionStateOf,
} from "../../../../src/kafka/transaction/transaction-state.ts";
import { PRODUCER_ID, partitionsOf, TransactionStory } from "../../../support/transaction-story.ts";

describe("a state follows only those that Kafka lets it follow", () => {
  const LEGAL: readonly [TransactionState, readonly TransactionState[]][] = [
    ["Empty", ["Empty", "Ongoing", "PrepareAbort", "Dead"]],
    ["Ongoing", ["Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"]],
    ["PrepareCommit", ["CompleteCommit"]],
    ["PrepareAbort", ["CompleteAbort"]],
    ["CompleteCommit", ["Empty", "Ongoing", "PrepareAbort", "Dead"]],
    ["CompleteAbort", ["Empty", "Ongoing", "PrepareAbort", "Dead"]],
    ["PrepareEpochFence", ["PrepareAbort"]],
    ["Dead", []],
  ];

  test.each(LEGAL)("%s", (from, next) => {
    const legal = TRANSACTION_STATES.filter((to) => isLegalTransition(from, to));
    expect(new Set(legal)).toEqual(new Set(next));
  });

  test("and each has its id in the log", () => {
    expect(TRANSACTION_STATES.map(transactionStateId)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(TRANSACTION_STATES.map((_, id) => transactionStateOf(id))).toEqual(TRANSACTION_STATES);
    expect(() => transactionStateOf(8)).toThrow(InvariantViolation);
  });
});

describe("a transaction under transaction.version 2", () => {
  test("raises the epoch with its decision, keeps its start, and ends without partitions", () => {
    const story = new TransactionStory();
    story.add(0, 1);
    const { startTimestamp } = story.metadata;
    story.add(2);
    story.end(true);

    expect(story.metadata).toMatchObject({
      state: "PrepareCommit",
      producerId: PRODUCER_ID,
      producerEpoch: 1,
      lastProducerEpoch: 0,
      startTimestamp,
    });
    expect([...story.metadata.partitions.keys()]).toEqual(["orders-0", "orders-1", "orders-2"]);

    story.complete();
    expect(story.metadata).toMatchObject({
      state: "CompleteCommit",
      producerEpoch: 1,
      lastProducerEpoch: 0,
      startTimestamp,
      clientTransactionVersion: 2,
    });
    expect(story.metadata.partitions.size).toBe(0);
  });

  test("whose epoch is the last goes on with another producer id once its markers are written", () => {
    const story = new TransactionStory(2, 32_766);
    story.add(0);
    expect(story.end(true)).toBe("needs-producer-id");
    story.end(true, {}, 7_000);
    expect(story.metadata).toMatchObject({
      state: "PrepareCommit",
      producerId: PRODUCER_ID,
      nextProducerId: 7_000,
      producerEpoch: 32_767,
      lastProducerEpoch: 32_766,
    });

    story.complete();
    expect(story.metadata).toMatchObject({
      producerId: 7_000,
      previousProducerId: PRODUCER_ID,
      nextProducerId: NO_PRODUCER_ID,
      producerEpoch: 0,
      lastProducerEpoch: 32_766,
    });
  });
});

test("under transaction.version 1 a transaction keeps its epoch", () => {
  const story = new TransactionStory(1);
  story.add(0);
  story.end(false);
  story.complete();
  expect(story.metadata).toMatchObject({ state: "CompleteAbort", producerEpoch: 0 });
  expect(story.metadata.clientTransactionVersion).toBe(0);
});

describe("a producer that comes back", () => {
  test("without saying who it was gets the next epoch, and nothing to repeat", () => {
    const story = new TransactionStory();
    story.init();
    expect(story.metadata).toMatchObject({ producerEpoch: 1, lastProducerEpoch: NO_EPOCH });
    expect(story.init(0)).toBe("PRODUCER_FENCED");
  });

  test("with its epoch gets the next, and the same again if it asks twice", () => {
    const story = new TransactionStory();
    story.init(0);
    expect(story.metadata).toMatchObject({ producerEpoch: 1, lastProducerEpoch: 0 });
    story.init(0);
    expect(story.metadata).toMatchObject({ producerEpoch: 1, lastProducerEpoch: 0 });
  });

  test("when epochs are used up gets another id", () => {
    const story = new TransactionStory(1, 32_766);
    expect(story.init()).toBe("needs-producer-id");
    story.init(undefined, 7_000);
    expect(story.metadata).toMatchObject({
      producerId: 7_000,
      previousProducerId: PRODUCER_ID,
      producerEpoch: 0,
      lastProducerEpoch: NO_EPOCH,
    });
  });
});

describe("a fence", () => {
  test("takes the next epoch, and is replaced by the abort that follows it", () => {
    const story = new TransactionStory(1);
    story.add(0);
    story.commit(story.metadata.prepareFenceProducerEpoch());
    expect(story.metadata).toMatchObject({ isFencing: true, producerEpoch: 0, state: "Ongoing" });

    story.end(false, { isFromClient: false, producerEpoch: 1 });
    expect(story.metadata).toMatchObject({ state: "PrepareAbort", producerEpoch: 1 });
  });

  test("that may not have been written does not take yet another", () => {
    const story = new TransactionStory(1);
    story.add(0);
    const fence = story.metadata.prepareFenceProducerEpoch();
    story.metadata.beginFencedAbort(fence.producerEpoch);
    story.metadata.hasFailedEpochFence = true;

    expect(story.metadata.prepareFenceProducerEpoch().producerEpoch).toBe(fence.producerEpoch);
    story.metadata.pendingState = undefined;
    story.end(false);
    story.complete();
    expect(story.metadata.hasFailedEpochFence).toBe(false);
  });

  test("stops at the largest epoch", () => {
    const story = new TransactionStory();
    story.add(0);
    story.metadata.producerEpoch = 32_767;
    expect(story.metadata.prepareFenceProducerEpoch().producerEpoch).toBe(32_767);
  });
});

describe("one change is pending at a time", () => {
  test("a second cannot be prepared", () => {
    const story = new TransactionStory();
    story.metadata.prepareAddPartitions(partitionsOf(0), 5, 2);
    expect(() => story.metadata.prepareDead()).toThrow(InvariantViolation);
  });

  test("and no other can be completed", () => {
    const story = new TransactionStory();
    const added = story.metadata.prepareAddPartitions(partitionsOf(0), 5, 2);
    const other = [
      { ...added, state: "Empty" } as const,
      { ...added, producerEpoch: 9 },
      { ...added, producerId: 9 },
      { ...added, timeoutMs: 9 },
    ];
    for (const to of other) {
      expect(() => story.metadata.completeTransition(to)).toThrow(InvariantViolation);
    }
    story.metadata.completeTransition(added);
    expect(story.metadata.state).toBe("Ongoing");
    expect(() => story.metadata.completeTransition(added)).toThrow(InvariantViolation);
  });

  test("a decision keeps partitions and start", () => {
    const story = new TransactionStory();
    story.add(0);
    const to = story.metadata.prepareAbortOrCommit("PrepareCommit", 2, NO_PRODUCER_ID, 9, false);
    for (const other of [
      { ...to, partitions: partitionsOf() },
      { ...to, startTimestamp: 1 },
    ]) {
      expect(() => story.metadata.completeTransition(other)).toThrow(InvariantViolation);
    }
    story.metadata.completeTransition(to);
  });
});

test("markers are written only of a decided transaction", () => {
  const story = new TransactionStory();
  story.add(0);
  expect(() => story.metadata.removePartition("orders-0")).toThrow(InvariantViolation);
});

test("an id that expires can only go", () => {
  const story = new TransactionStory();
  const dead = story.metadata.prepareDead();
  expect(dead.state).toBe("Dead");
  expect(() => story.metadata.completeTransition(dead)).toThrow(InvariantViolation);
});
