import { expect, test } from "vitest";
import { baseOffsetOf, besides, kindOf } from "../../../../src/report/dump/file-kind.ts";

test.each([
  ["00000000000000000000.log", "log"],
  ["00000000000000000042.log.deleted", "log"],
  ["00000000000000000042.log.swap", "log"],
  ["00000000000000000000.index.cleaned", "offset-index"],
  ["00000000000000000000.timeindex", "time-index"],
  ["00000000000000000000.txnindex", "transaction-index"],
  ["00000000000000000005.snapshot", "producer-snapshot"],
  ["00000000000000000007-0000000003.checkpoint", "kraft-snapshot"],
  ["bootstrap.checkpoint", "kraft-snapshot"],
  ["leader-epoch-checkpoint", "leader-epochs"],
  ["recovery-point-offset-checkpoint.tmp", "offsets"],
  ["partition.metadata", "partition-metadata"],
  ["meta.properties", "meta-properties"],
  [".kafka_cleanshutdown", "clean-shutdown"],
  ["quorum-state", "quorum-state"],
  ["server.properties", undefined],
  ["log", undefined],
  [".lock", undefined],
  ["constructor", undefined],
  ["x.constructor", undefined],
  ["", undefined],
])("%s is told by its name", (name, kind) => {
  expect(kindOf(name)).toBe(kind);
});

test("a segment's files have its base offset, and each other, by name", () => {
  expect(baseOffsetOf("00000000000000000042.index")).toBe(42);
  expect(baseOffsetOf("leader-epoch-checkpoint")).toBeUndefined();
  expect(besides("00000000000000000042.index", ".log")).toBe("00000000000000000042.log");
  expect(besides("00000000000000000042.index.deleted", ".log")).toBe(
    "00000000000000000042.log.deleted",
  );
});
