import { expect, test } from "vitest";
import { END_NOT_BEHIND } from "../../../src/checkers/end-not-behind.ts";
import { History } from "../../support/fact-builders.ts";

const ASKED = {
  kind: "offset-asked",
  client: "c1",
  partition: "orders-0",
  broker: 1,
  which: "latest",
  purpose: "position",
} as const;

function told(history: History, to: number): History {
  const reset = { kind: "position-reset", client: "c1", partition: "orders-0", from: -1 } as const;
  return history.note({ ...reset, to, reason: "initial" });
}

function acked(): History {
  const history = new History({ guarantees: [END_NOT_BEHIND] });
  history.commit([0]);
  history.commit([1]);
  return history.ack([0], 0).ack([1], 1);
}

test("an end at or beyond what was acknowledged holds it", () => {
  const history = acked().note(ASKED);
  history.commit([2]);
  history.ack([2], 2);

  expect(told(history, 2).violations()).toEqual([]);
  expect(history.checkers.summaries()[0]?.state).toBe("held");
});

test("an end below it is caught", () => {
  const history = told(acked().note(ASKED), 1);

  expect(history.violations().map(({ text }) => text)).toEqual([
    [
      "c1 was told that the log ends at 1, but offset 1 had been acknowledged or read before it asked: 1 offset.",
    ],
  ]);
});

test("so is one below what another has read", () => {
  const history = new History({ guarantees: [END_NOT_BEHIND] });
  const batch = history.commit([0]);
  history.poll([batch], "c2").note(ASKED);

  expect(told(history, 0).violations()).toHaveLength(1);
});

test("so is one that an application is told, whatever happens to the position meanwhile", () => {
  const history = acked().note({ ...ASKED, purpose: "answer" });
  const answer = { kind: "offset-told", client: "c1", partition: "orders-0" } as const;

  told(history, 2).note({ ...answer, call: "endOffsets", offset: 1 });

  expect(history.violations()).toHaveLength(1);
});

test("who asks for the beginning, or a leader that is none any more, is told what they ask for", () => {
  const beginning = told(acked().note({ ...ASKED, which: "earliest" }), 0);
  const old = told(
    acked()
      .elect(2, { isr: [2, 3] })
      .note(ASKED),
    0,
  );

  expect(beginning.violations()).toEqual([]);
  expect(old.violations()).toEqual([]);
});

test("acks=1 promises nothing here", () => {
  const history = new History({ guarantees: [END_NOT_BEHIND] });
  history.write([0]);
  history.ack([0], 0, { acks: 1 }).note(ASKED);

  expect(told(history, 0).violations()).toEqual([]);
});
