import { expect, test } from "vitest";
import { METADATA_AGREES } from "../../../src/checkers/metadata-agrees.ts";
import { MetadataHistory, OBSERVER, VOTERS } from "../../support/metadata-history.ts";

const watch = (): MetadataHistory => new MetadataHistory([METADATA_AGREES]);
const ALL = [...VOTERS, OBSERVER];

test("nodes that take the same, also again after a restart, hold it", () => {
  const history = watch();
  const first = history.commit(ALL, 1);
  const second = history.commit(ALL, 1);
  history.load(OBSERVER, 2).apply(first, [OBSERVER]).apply(second, [OBSERVER]);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 8 });
});

test("a node that takes something else at an offset is caught", () => {
  const history = watch();
  history.commit([3001, 3002], 1, 7);
  history.commit([3003], 1, 8);

  expect(history.told()).toEqual([
    "controller-3 took other metadata at offset 0 than the nodes before it.",
  ]);
});

test("a node that skips something, or takes what its log does not hold, is caught", () => {
  const skips = watch();
  skips.commit([3001, 3002], 1);
  const second = skips.write(3001, 1);
  skips.apply(second, [3001]).append(OBSERVER, second).apply(second, [OBSERVER]);
  const dreams = watch();
  const batch = dreams.commit([3001, 3002], 1);
  dreams.apply(batch, [OBSERVER]);

  expect(skips.told()).toEqual(["broker-1 took metadata from offset 1 on, having come to 0."]);
  expect(dreams.told()).toEqual(["broker-1 took metadata at offset 0 that its log does not hold."]);
});

test("a voter that a power cut took back leads in its epoch anew, and what it writes then is what counts", () => {
  const history = watch();
  const lost = history.write(3001, 1, 7);
  history.apply(lost, [3001]);
  history
    .note({ kind: "unflushed-lost", node: "controller-1", path: "quorum-state", bytes: 9 })
    .load(3001, 0);
  const again = history.write(3001, 1, 8);
  history.apply(again, [3001]).append(OBSERVER, again).apply(again, [OBSERVER]);

  expect(history.violations()).toEqual([]);
});

test("the only voter, if a power cut took its epoch, leads in an older one anew; of several none does", () => {
  const told = (voters: readonly number[], path: string): readonly string[] => {
    const history = new MetadataHistory([METADATA_AGREES], voters);
    history.apply(history.write(3001, 2, 7), [3001]);
    history.note({ kind: "unflushed-lost", node: "controller-1", path, bytes: 9 }).load(3001, 0);
    return history.apply(history.write(3001, 1, 8), [3001]).told();
  };
  const other = "controller-1 took other metadata at offset 0 than the nodes before it.";

  expect(told([3001], "quorum-state")).toEqual([]);
  expect(told([3001], "leader-epoch-checkpoint")).toEqual([other]);
  expect(told([3001, 3002], "quorum-state")).toEqual([other]);
});

test("what another voter writes in the same epoch does not count instead", () => {
  const history = watch();
  history.apply(history.write(3001, 1, 7), [3001]);
  history.apply(history.write(3002, 1, 8), [3002]);

  expect(history.told()).toEqual([
    "controller-2 took other metadata at offset 0 than the nodes before it.",
  ]);
});
