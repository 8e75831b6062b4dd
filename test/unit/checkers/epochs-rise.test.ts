import { expect, test } from "vitest";
import { EPOCHS_RISE } from "../../../src/checkers/epochs-rise.ts";
import { buildBatch } from "../../../src/kafka/log/record-batch.ts";
import { encodeMetadataRecord } from "../../../src/kafka/metadata/record-codec.ts";
import { History } from "../../support/fact-builders.ts";

const watch = (): History => new History({ guarantees: [EPOCHS_RISE] });
/** A controller writes a batch of metadata, and takes it for committed. */
function writeMetadata(history: History, baseOffset: number, quorumEpoch: number): void {
  const value = encodeMetadataRecord({ type: "NoOpRecord" });
  const options = { baseOffset, partitionLeaderEpoch: quorumEpoch };
  const batch = buildBatch([{ timestamp: 0, value }], options);
  history.note({ kind: "metadata-appended", node: 3001, batch, asLeader: true });
  history.note({ kind: "metadata-applied", node: 3001, batch });
}

const told = (history: History): string[] => history.violations().map(({ text }) => text.join(" "));

test("ISRs that change and leaders that follow each other hold it", () => {
  const history = watch();
  history.shrink([1, 2]).elect(2, { isr: [2] });

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]?.state).toBe("held");
});

test("a change with the partition epoch of the one before is caught", () => {
  const history = watch();
  history.registered("none", { partitionEpoch: 1 });

  expect(told(history)).toEqual(["The controller changed it with partition epoch 1, after 1."]);
});

test("a leader epoch that falls, or that two leaders have, is caught", () => {
  const falls = watch();
  falls.elect(2, { isr: [2, 3], epoch: 5 }).elect(3, { isr: [3], epoch: 4 });
  const shared = watch();
  shared.elect(2, { isr: [2, 3], epoch: 0 });

  expect(told(falls)).toEqual(["The controller set leader epoch 4, after 5."]);
  expect(told(shared)).toEqual([
    "The controller made broker-2 leader in leader epoch 0, where broker-1 was.",
  ]);
});

test("a broker that registers with no higher epoch is caught", () => {
  const history = watch();
  const registered = { kind: "broker-registered", broker: 3, cleanShutdown: true } as const;
  history.note({ ...registered, brokerEpoch: 7 }).note({ ...registered, brokerEpoch: 7 });

  expect(told(history)).toEqual(["broker-3 registered with broker epoch 7, after 7."]);
});

test("what a leader of the quorum lacks is committed no more, and can come again in the same epochs", () => {
  const lost = watch();
  writeMetadata(lost, 0, 1);
  lost.registered("none", { partitionEpoch: 2 });
  writeMetadata(lost, 1, 1);
  lost.registered("none", { partitionEpoch: 3 });
  lost.note({ kind: "metadata-loaded", node: 3001, isVoter: true, logEndOffset: 1, lastEpoch: 1 });
  writeMetadata(lost, 1, 2);
  lost.registered("none", { partitionEpoch: 3 });
  expect(told(lost)).toEqual([]);

  lost.registered("none", { partitionEpoch: 3 });
  expect(told(lost)).toEqual(["The controller changed it with partition epoch 3, after 3."]);
});
