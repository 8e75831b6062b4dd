import { expect, test } from "vitest";
import { CANDIDATES_COMPLETE } from "../../../src/checkers/candidates-complete.ts";
import { History } from "../../support/fact-builders.ts";

const watch = (): History => new History({ guarantees: [CANDIDATES_COMPLETE] });
const told = (history: History): string[] => history.violations().map(({ text }) => text.join(" "));

test("members of the ISR and of the ELR that have what is committed hold it", () => {
  const history = watch();
  history.commit([0]);
  history.elect(2, { isr: [2], elr: [3] });

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]?.state).toBe("held");
});

test("a member of the ISR that lacks something is caught, once", () => {
  const history = watch();
  history.shrink([1, 2]);
  history.commit([0, 1]);
  history.shrink([1, 2, 3]).shrink([1, 3]);

  expect(told(history)).toEqual([
    "broker-3, in the ISR {1,2,3}, lacks offsets 0..1, which were below the high watermark: 2 offsets.",
  ]);
});

test("so is one of the ELR", () => {
  const history = watch();
  history.shrink([1, 2]);
  history.commit([0]);

  history.elect(2, { isr: [2], elr: [3] });

  expect(told(history)).toEqual([
    "broker-3, in the ELR {3}, lacks offsets 0..0, which were below the high watermark: 1 offset.",
  ]);
});

test("not one that is down, or came back from a power loss and is about to be thrown out", () => {
  const history = watch();
  history.commit([0]);
  history.stop(3, "power-off").shrink([1, 3]).restart(3, 0).shrink([1, 2, 3]);

  expect(history.violations()).toEqual([]);
});

test("nor one that was asked for before it lost what it had, but one that is asked for since", () => {
  const rejoins = (isAskedBefore: boolean) => {
    const history = watch();
    history.commit([0]);
    history.shrink([1, 2]);
    const asked = { broker: 1, partition: "orders-0", isr: [1, 2, 3], leaderEpoch: 0 } as const;
    if (isAskedBefore) history.note({ kind: "isr-proposed", ...asked, partitionEpoch: 2 });
    history.stop(3, "power-off").restart(3, 0);
    if (!isAskedBefore) history.note({ kind: "isr-proposed", ...asked, partitionEpoch: 2 });
    history.isr = [1, 2, 3];
    return told(history.registered("none"));
  };

  expect(rejoins(true)).toEqual([]);
  expect(rejoins(false)).toEqual([
    "broker-3, in the ISR {1,2,3}, lacks offsets 0..0, which were below the high watermark: 1 offset.",
  ]);
});

test("what an unclean election gave up nobody has to have", () => {
  const history = watch();
  history.shrink([1, 2]);
  history.commit([0]);
  history.elect(3, { isr: [3], election: "unclean" }).registered("none", { elr: [1] });

  expect(history.violations()).toEqual([]);
});
