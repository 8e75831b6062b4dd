import { describe, expect, test } from "vitest";
import { byText } from "../../src/base/order.ts";
import { ACKED_GETS_READ } from "../../src/checkers/acked-gets-read.ts";
import { ACKS_IN_ORDER } from "../../src/checkers/acks-in-order.ts";
import { APPENDS_IN_REAL_TIME } from "../../src/checkers/appends-in-real-time.ts";
import { FAILED_NEVER_READ } from "../../src/checkers/failed-never-read.ts";
import { OFFSETS_AGREE } from "../../src/checkers/offsets-agree.ts";
import { POLLS_IN_ORDER } from "../../src/checkers/polls-in-order.ts";
import { READERS_AGREE } from "../../src/checkers/readers-agree.ts";
import { SEEN_ONCE } from "../../src/checkers/seen-once.ts";
import { TRANSACTIONS_WHOLE } from "../../src/checkers/transactions-whole.ts";
import { playHistory } from "../support/play-history.ts";
import type { Anomaly, RetoldHistory } from "./histories/client-op.ts";
import { ANOMALIES } from "./histories/client-op.ts";
import { JEPSEN_HISTORIES } from "./histories/jepsen.ts";
import { REDPANDA_HISTORIES } from "./histories/redpanda-chaos.ts";

const BLACK_BOX = [
  OFFSETS_AGREE,
  SEEN_ONCE,
  ACKED_GETS_READ,
  FAILED_NEVER_READ,
  POLLS_IN_ORDER,
  READERS_AGREE,
  ACKS_IN_ORDER,
  APPENDS_IN_REAL_TIME,
  TRANSACTIONS_WHOLE,
];

/** What must be found: all that they find but what is said not to be ours, and what only we find. */
function expected({ theirs, notOurs, onlyOurs }: RetoldHistory): string[] {
  const kinds = theirs.filter((one) => notOurs?.[one] === undefined).map((one) => ANOMALIES[one]);
  return [...new Set([...kinds, ...Object.keys(onlyOurs ?? {})])].sort(byText);
}

const TABLES = {
  "Jepsen's checker for Kafka": JEPSEN_HISTORIES,
  "redpanda/chaos": REDPANDA_HISTORIES,
};

describe.each(Object.entries(TABLES))(
  "in the histories of %s the same is found",
  (_, histories) => {
    test.each(histories.map((history) => [history.name, history] as const))(
      "%s",
      (_name, history) => {
        const checkers = playHistory(history, BLACK_BOX);

        const bugs = checkers.violations().filter(({ permitted }) => permitted === undefined);
        expect([...new Set(bugs.map(({ kind }) => kind))].sort(byText)).toEqual(expected(history));
      },
    );
  },
);

test("what is said to be otherwise is otherwise: each exception names what is in the history", () => {
  for (const { name, theirs, notOurs, onlyOurs } of [...JEPSEN_HISTORIES, ...REDPANDA_HISTORIES]) {
    const kinds = theirs.map((one) => ANOMALIES[one] as string);
    for (const anomaly of Object.keys(notOurs ?? {})) {
      expect(theirs, name).toContain(anomaly);
    }
    for (const kind of Object.keys(onlyOurs ?? {})) expect(kinds, name).not.toContain(kind);
  }
});

test("each anomaly that Jepsen knows occurs in a history, and is found, or is said not to be ours", () => {
  const found = new Set<Anomaly>();
  const excused = new Set<Anomaly>();
  for (const { theirs, notOurs } of [...JEPSEN_HISTORIES, ...REDPANDA_HISTORIES]) {
    for (const one of theirs) (notOurs?.[one] === undefined ? found : excused).add(one);
  }

  const known = Object.keys(ANOMALIES) as Anomaly[];
  expect(known.filter((one) => !found.has(one) && !excused.has(one))).toEqual([]);
  expect(known.filter((one) => ANOMALIES[one] !== "" && !found.has(one))).toEqual([]);
});

test("a history in which nobody sends or reads anything says nothing: all is untested", () => {
  const states = playHistory({ ops: ["0 0-1 ok assign x"] }, BLACK_BOX).summaries();

  expect(states.filter(({ state }) => state !== "untested")).toEqual([]);
});
