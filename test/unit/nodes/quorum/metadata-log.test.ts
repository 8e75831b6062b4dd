import { expect, test } from "vitest";
import { buildBatch } from "../../../../src/kafka/log/record-batch.ts";
import { MetadataLog } from "../../../../src/nodes/quorum/metadata-log.ts";
import { DiskError } from "../../../../src/ports/disk.ts";
import type { Fact } from "../../../../src/trace/fact.ts";
import { LogFixture } from "../../../support/log-fixture.ts";
import { ScriptedDisk } from "../../../support/scripted-disk.ts";

/** A disk of which so many more writes to logs succeed. */
class FillingDisk extends ScriptedDisk {
  left = Number.POSITIVE_INFINITY;

  override note(call: string, path: string): void {
    if (call === "write" && path.endsWith(".log") && this.left-- <= 0) {
      throw new DiskError("ENOSPC", path);
    }
    super.note(call, path);
  }
}

test("what entered the log before the disk failed is told of, for it will be found there", () => {
  const disk = new FillingDisk();
  const fixture = new LogFixture({}, disk);
  const facts: Fact[] = [];
  const listener = { onCommitted() {} };
  const log = new MetadataLog(
    fixture.log,
    listener,
    { note: (fact) => facts.push(fact) },
    1,
    false,
  );
  const batches = [0, 1, 2].map((baseOffset) =>
    buildBatch([{ timestamp: 0 }], { baseOffset, partitionLeaderEpoch: 3 }),
  );
  disk.left = 2;

  expect(() => log.appendAsFollower(batches, 3)).toThrow("ENOSPC");

  expect(log.endOffset).toBe(2);
  expect(facts.filter(({ kind }) => kind === "metadata-appended")).toMatchObject([
    { batch: { baseOffset: 0 } },
    { batch: { baseOffset: 1 } },
  ]);
});
