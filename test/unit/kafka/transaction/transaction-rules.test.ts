import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvariantViolation } from "../../../../src/base/invariant.ts";
import {
  decideAddPartitions,
  decideInitProducerId,
  verifyTransaction,
} from "../../../../src/kafka/transaction/transaction-rules.ts";
import {
  isAtRest,
  isLegalTransition,
} from "../../../../src/kafka/transaction/transaction-state.ts";
import { PRODUCER_ID, partitionsOf, TransactionStory } from "../../../support/transaction-story.ts";

/** A story that has come so far, by the name of its state. */
const UP_TO: Readonly<Record<string, (version: 1 | 2) => TransactionStory>> = {
  Empty: (version) => new TransactionStory(version),
  Ongoing: (version) => after(version, (story) => story.add(0)),
  PrepareCommit: (version) => ended(version, true),
  PrepareAbort: (version) => ended(version, false),
  CompleteCommit: (version) => completed(version, true),
  CompleteAbort: (version) => completed(version, false),
};

function after(version: 1 | 2, then: (story: TransactionStory) => void): TransactionStory {
  const story = new TransactionStory(version);
  then(story);
  return story;
}

function ended(version: 1 | 2, commit: boolean): TransactionStory {
  return after(version, (story) => {
    story.add(0);
    story.end(commit);
  });
}

function completed(version: 1 | 2, commit: boolean): TransactionStory {
  const story = ended(version, commit);
  story.complete();
  return story;
}

function told(answer: unknown): unknown {
  return typeof answer === "object" && answer !== null && "state" in answer ? answer.state : answer;
}

const STATES = Object.keys(UP_TO);

describe("InitProducerId", () => {
  test.each([
    ["Empty", "Empty"],
    ["Ongoing", "PrepareEpochFence"],
    ["PrepareCommit", "CONCURRENT_TRANSACTIONS"],
    ["PrepareAbort", "CONCURRENT_TRANSACTIONS"],
    ["CompleteCommit", "Empty"],
    ["CompleteAbort", "Empty"],
  ])("of an id that is %s leads to %s", (state, answer) => {
    expect(told(UP_TO[state]?.(2).init())).toBe(answer);
  });

  test("waits for what is pending", () => {
    const story = new TransactionStory();
    story.metadata.prepareAddPartitions(partitionsOf(0), 5, 2);
    expect(story.init()).toBe("CONCURRENT_TRANSACTIONS");
  });

  test("is refused to a producer that was another", () => {
    const story = new TransactionStory();
    const other = { producerId: 9, producerEpoch: 0 };
    const decision = decideInitProducerId(story.metadata, 5, other, 5, undefined);
    expect(story.commit(decision)).toBe("PRODUCER_FENCED");
  });

  test("is answered to who lost the answer that replaced its id", () => {
    const story = new TransactionStory(2, 32_766);
    story.init(32_766, 7_000);
    expect(story.metadata).toMatchObject({ producerId: 7_000, lastProducerEpoch: 32_766 });

    const before = { producerId: PRODUCER_ID, producerEpoch: 32_766 };
    story.commit(decideInitProducerId(story.metadata, 5, before, 5, undefined));
    expect(story.metadata).toMatchObject({ producerId: 7_000, producerEpoch: 0 });
  });
});

describe("AddPartitionsToTxn", () => {
  test.each([
    ["Empty", "Ongoing"],
    ["Ongoing", "Ongoing"],
    ["PrepareCommit", "CONCURRENT_TRANSACTIONS"],
    ["PrepareAbort", "CONCURRENT_TRANSACTIONS"],
    ["CompleteCommit", "Ongoing"],
    ["CompleteAbort", "Ongoing"],
  ])("to an id that is %s leads to %s", (state, answer) => {
    expect(told(UP_TO[state]?.(2).add(1))).toBe(answer);
  });

  test("writes nothing if it knows them all", () => {
    expect(ended(1, true).add(0)).toBe("CONCURRENT_TRANSACTIONS");
    expect(UP_TO["Ongoing"]?.(2).add(0)).toBe("NONE");
  });

  test("looks at the id, then at the epoch, and at what is pending before (KAFKA-18660)", () => {
    const story = new TransactionStory();
    const ask = (producerId: number, producerEpoch: number): unknown =>
      story.commit(
        decideAddPartitions(story.metadata, { producerId, producerEpoch }, partitionsOf(1), 6, 2),
      );
    expect(ask(9, 9)).toBe("INVALID_PRODUCER_ID_MAPPING");
    expect(ask(PRODUCER_ID, 1)).toBe("PRODUCER_FENCED");
    story.metadata.prepareAddPartitions(partitionsOf(0), 5, 2);
    expect(ask(9, 9)).toBe("CONCURRENT_TRANSACTIONS");
  });
});

describe("verification", () => {
  test("looks at the id, then at the epoch, then at the state, and not at what is pending", () => {
    const { metadata } = ended(2, true);
    const { producerEpoch } = metadata;
    const ask = (producerId: number, epoch: number): string =>
      verifyTransaction(metadata, { producerId, producerEpoch: epoch }).name;
    expect(ask(9, 9)).toBe("INVALID_PRODUCER_ID_MAPPING");
    expect(ask(PRODUCER_ID, producerEpoch - 1)).toBe("PRODUCER_FENCED");
    expect(ask(PRODUCER_ID, producerEpoch)).toBe("CONCURRENT_TRANSACTIONS");

    const open = UP_TO["Ongoing"]?.(2).metadata;
    open?.prepareAddPartitions(partitionsOf(1), 5, 2);
    expect(open === undefined ? "" : verifyTransaction(open, open).name).toBe("NONE");
  });
});

describe("EndTxn", () => {
  const V1: readonly [state: string, abort: string, commit: string][] = [
    ["Empty", "INVALID_TXN_STATE", "INVALID_TXN_STATE"],
    ["Ongoing", "PrepareAbort", "PrepareCommit"],
    ["PrepareCommit", "INVALID_TXN_STATE", "CONCURRENT_TRANSACTIONS"],
    ["PrepareAbort", "CONCURRENT_TRANSACTIONS", "INVALID_TXN_STATE"],
    ["CompleteCommit", "INVALID_TXN_STATE", "NONE"],
    ["CompleteAbort", "NONE", "INVALID_TXN_STATE"],
  ];

  test.each(V1)(
    "v4 of an id that is %s: an abort gives %s, a commit %s",
    (state, abort, commit) => {
      expect(told(UP_TO[state]?.(1).end(false))).toBe(abort);
      expect(told(UP_TO[state]?.(1).end(true))).toBe(commit);
    },
  );

  /** With the epoch of the coordinator: the next transaction. With the one before: a repetition. */
  const V2: readonly [state: string, ...answers: [string, string, string, string]][] = [
    ["Empty", "PRODUCER_FENCED", "PrepareAbort", "PRODUCER_FENCED", "INVALID_TXN_STATE"],
    ["Ongoing", "PRODUCER_FENCED", "PrepareAbort", "PRODUCER_FENCED", "PrepareCommit"],
    [
      "PrepareCommit",
      "INVALID_TXN_STATE",
      "PRODUCER_FENCED",
      "CONCURRENT_TRANSACTIONS",
      "PRODUCER_FENCED",
    ],
    [
      "PrepareAbort",
      "CONCURRENT_TRANSACTIONS",
      "PRODUCER_FENCED",
      "INVALID_TXN_STATE",
      "PRODUCER_FENCED",
    ],
    ["CompleteCommit", "INVALID_TXN_STATE", "PrepareAbort", "NONE", "INVALID_TXN_STATE"],
    ["CompleteAbort", "NONE", "PrepareAbort", "INVALID_TXN_STATE", "INVALID_TXN_STATE"],
  ];

  test.each(V2)(
    "v5 of an id that is %s: abort again %s, abort %s, commit again %s, commit %s",
    (state, ...answers) => {
      const given = [false, true].flatMap((commit) =>
        [1, 0].map((before) => {
          const story = UP_TO[state]?.(2);
          const producerEpoch = (story?.metadata.producerEpoch ?? 0) - before;
          return told(story?.end(commit, { producerEpoch }));
        }),
      );
      expect(given).toEqual(answers);
    },
  );

  test("v5 that used the last epoch can be repeated once another id took over", () => {
    const story = new TransactionStory(2, 32_766);
    story.add(0);
    story.end(true, {}, 7_000);
    story.complete();
    const before = { producerId: PRODUCER_ID, producerEpoch: 32_766 };
    expect(story.end(true, before)).toBe("NONE");
    expect(story.end(false, before)).toBe("INVALID_TXN_STATE");
  });

  test("v5 of a coordinator that fences with the last epoch brings another id, too (KAFKA-20090)", () => {
    const story = new TransactionStory(2, 32_766);
    story.add(0);
    story.commit(story.metadata.prepareFenceProducerEpoch());
    const fence = { isFromClient: false, producerEpoch: 32_767 };
    expect(story.end(false, fence)).toBe("needs-producer-id");
    expect(story.metadata.pendingState).toBeUndefined();

    story.end(false, fence, 7_000);
    story.complete();
    expect(story.metadata).toMatchObject({ producerId: 7_000, producerEpoch: 0 });
  });

  test.each([1, 2] as const)("of another producer is refused in version %i", (version) => {
    const story = UP_TO["Ongoing"]?.(version);
    expect(story?.end(true, { producerId: 9 })).toBe("INVALID_PRODUCER_ID_MAPPING");
    expect(story?.end(true, { producerEpoch: 7 })).toBe("PRODUCER_FENCED");
  });

  test.each([1, 2] as const)("waits for what is pending in version %i", (version) => {
    const story = UP_TO["Ongoing"]?.(version);
    story?.metadata.prepareAddPartitions(partitionsOf(1), 5, version);
    expect(story?.end(true)).toBe("CONCURRENT_TRANSACTIONS");
  });

  test.each([1, 2] as const)(
    "of the coordinator aborts under the epoch that it has taken, in version %i",
    (version) => {
      const story = UP_TO["Ongoing"]?.(version);
      story?.commit(story.metadata.prepareFenceProducerEpoch());
      expect(told(story?.end(true, { isFromClient: true, producerEpoch: 1 }))).toBe(
        "PRODUCER_FENCED",
      );
      expect(told(story?.end(false, { isFromClient: false, producerEpoch: 1 }))).toBe(
        "PrepareAbort",
      );
      // KIP-890: the decision takes one more.
      expect(story?.metadata.producerEpoch).toBe(version === 2 ? 2 : 1);
    },
  );
});

describe("markers follow", () => {
  test("a decision of the same producer and kind", () => {
    expect(told(ended(1, true).mark(true))).toBe("CompleteCommit");
    const story = ended(2, false);
    expect(told(story.mark(false, { producerEpoch: 0 }))).toBe("CompleteAbort");
  });

  test("no other", () => {
    const name = (
      story: TransactionStory,
      ...asked: Parameters<TransactionStory["mark"]>
    ): unknown => story.commit(story.mark(...asked));
    expect(name(ended(1, true), false)).toBe("INVALID_TXN_STATE");
    expect(name(ended(1, true), true, { producerId: 9 })).toBe("INVALID_PRODUCER_ID_MAPPING");
    expect(name(ended(1, true), true, { producerEpoch: 9 })).toBe("PRODUCER_FENCED");
    const pending = ended(1, true);
    pending.metadata.prepareComplete(5);
    expect(name(pending, true)).toBe("CONCURRENT_TRANSACTIONS");
    expect(name(UP_TO["Ongoing"]?.(1) ?? ended(1, true), true)).toBe("INVALID_TXN_STATE");
  });
});

test("whatever is asked in whatever order, states follow legally and epochs never fall", () => {
  const step = fc.record({
    what: fc.constantFrom("init", "add", "commit", "abort", "complete", "fence"),
    epochsBack: fc.integer({ min: -1, max: 2 }),
  });
  fc.assert(
    fc.property(
      fc.constantFrom<1 | 2>(1, 2),
      fc.array(step, { maxLength: 40 }),
      (version, steps) => {
        const story = new TransactionStory(version);
        const { metadata } = story;
        for (const { what, epochsBack } of steps) {
          const { state, producerEpoch } = metadata;
          const back = { producerEpoch: producerEpoch - epochsBack };
          if (what === "init") story.init(epochsBack === 2 ? undefined : back.producerEpoch);
          else if (what === "add") story.add(1 + epochsBack);
          else if (what === "commit" || what === "abort") story.end(what === "commit", back);
          else if (what === "complete" && state.startsWith("Prepare")) story.complete();
          if (metadata.isFencing) {
            story.end(false, { isFromClient: false, producerEpoch: producerEpoch + 1 });
          }
          expect(metadata.pendingState).toBeUndefined();
          expect(state === metadata.state || isLegalTransition(state, metadata.state)).toBe(true);
          expect(metadata.producerEpoch).toBeGreaterThanOrEqual(producerEpoch);
          if (isAtRest(metadata.state)) expect(metadata.partitions.size).toBe(0);
          if (metadata.state === "Ongoing") expect(metadata.partitions.size).toBeGreaterThan(0);
        }
      },
    ),
    { seed: 42, numRuns: 300 },
  );
});

test("an id that is on its way out is never asked about", () => {
  const story = new TransactionStory();
  story.metadata.state = "Dead";
  expect(() => story.init()).toThrow(InvariantViolation);
  expect(() => story.end(true)).toThrow(InvariantViolation);
});

test("every state is reached by the stories above", () => {
  for (const state of STATES) expect(UP_TO[state]?.(2).metadata.state).toBe(state);
});
