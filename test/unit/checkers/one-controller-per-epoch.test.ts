import { expect, test } from "vitest";
import { ONE_CONTROLLER_PER_EPOCH } from "../../../src/checkers/one-controller-per-epoch.ts";
import { MetadataHistory } from "../../support/metadata-history.ts";

const watch = (): MetadataHistory => new MetadataHistory([ONE_CONTROLLER_PER_EPOCH]);

test("one after the other, each in an epoch of its own, hold it", () => {
  const history = watch();
  history.write(3001, 1);
  history.note({ kind: "controller-elected", controller: 3001, quorumEpoch: 1 });
  history.write(3002, 2);
  history.note({ kind: "controller-elected", controller: 3002, quorumEpoch: 2 });

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 1 });
});

test("two that write in one epoch, or say that they lead, are caught", () => {
  const written = watch();
  written.write(3001, 1);
  written.write(3002, 1);
  const said = watch();
  said.note({ kind: "controller-elected", controller: 3001, quorumEpoch: 1 });
  said.note({ kind: "controller-elected", controller: 3003, quorumEpoch: 1 });

  expect(written.told()).toEqual([
    "controller-2 wrote to the metadata log in quorum epoch 1, in which controller-1 led.",
  ]);
  expect(said.told()).toEqual([
    "controller-3 became active in quorum epoch 1, in which controller-1 led.",
  ]);
});

test("one that is elected in an epoch that is over is caught", () => {
  const history = watch();
  history.note({ kind: "controller-elected", controller: 3001, quorumEpoch: 4 });
  history.note({ kind: "controller-elected", controller: 3002, quorumEpoch: 3 });

  expect(history.told()).toEqual([
    "controller-2 became active in quorum epoch 3, after epoch 4 had begun.",
  ]);
});

test("the only voter may forget an epoch that it was still writing down when its power was cut", () => {
  const told = (path: string): readonly string[] => {
    const history = new MetadataHistory([ONE_CONTROLLER_PER_EPOCH], [3001]);
    history.note({ kind: "controller-elected", controller: 3001, quorumEpoch: 2 });
    history.note({ kind: "unflushed-lost", node: "controller-1", path, bytes: 9 }).load(3001, 0);
    history.note({ kind: "controller-elected", controller: 3001, quorumEpoch: 1 });
    return history.told();
  };

  expect(told("quorum-state")).toEqual([]);
  expect(told("00000000000000000000.log")).toHaveLength(1);
});
