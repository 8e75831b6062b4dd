import { expect, test } from "vitest";
import { COPY_LEFT } from "../../../src/checkers/copy-left.ts";
import { History } from "../../support/fact-builders.ts";

function acked(): History {
  const history = new History({ guarantees: [COPY_LEFT] });
  history.commit([0]);
  history.commit([1, 2]);
  return history.ack([0], 0).ack([1, 2], 1);
}

test("while one replica has it, the others may lose it", () => {
  const history = acked();
  history.stop(2, "power-off").restart(2, 0).stop(3, "power-off").restart(3, 1);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 2 });
});

test("the last copy that is cut off is caught", () => {
  const history = acked();
  history.stop(1, "power-off").restart(1, 1).truncate(2, 1).truncate(3, 1);

  expect(history.violations().map(({ text, permitted }) => [text, permitted])).toEqual([
    [
      [
        "broker-3 cut off its log offsets 1..2, which were acknowledged and are in no other log: 2 records.",
      ],
      undefined,
    ],
  ]);
});

test("power losses of as many as min.insync.replicas permit it, and each batch is told once", () => {
  const history = acked();
  for (const broker of [1, 2, 3]) history.stop(broker, "power-off").restart(broker, 1);
  for (const broker of [1, 2, 3]) history.stop(broker, "power-off").restart(broker, 0);

  const violations = history.violations();
  expect(violations.map(({ offsets }) => offsets)).toEqual([
    [1, 2],
    [0, 0],
  ]);
  for (const { permitted } of violations) expect(permitted).toMatch(/^power loss of /);
});

test("what an elected leader turned out to lack is lost already", () => {
  const history = new History({ guarantees: [COPY_LEFT] });
  history.write([0]);
  history.ack([0], 0, { acks: 1 });

  history.elect(2, { isr: [2, 3] }).truncate(1, 0);

  expect(history.violations()).toEqual([]);
});
