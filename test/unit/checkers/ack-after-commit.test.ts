import { expect, test } from "vitest";
import { ACK_AFTER_COMMIT } from "../../../src/checkers/ack-after-commit.ts";
import { History } from "../../support/fact-builders.ts";

const watch = (): History => new History({ guarantees: [ACK_AFTER_COMMIT] });

test("an acknowledgement of what is below the high watermark holds it", () => {
  const history = watch();
  history.commit([0, 1]);
  history.ack([0, 1], 0);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]?.state).toBe("held");
});

test("one of what is only in the leader's log is caught, one finding an epoch", () => {
  const history = watch();
  history.write([0]);
  history.write([1]);
  history.ack([0], 0).ack([1], 1);

  expect(history.violations().map(({ text }) => text)).toEqual([
    [
      "p1 was told that offsets 0..1 are written, before they were below a high watermark: 2 records.",
    ],
  ]);
});

test("with acks=1 it promises no more", () => {
  const history = watch();
  history.write([0]);
  history.ack([0], 0, { acks: 1 });

  expect(history.violations()).toEqual([]);
});
