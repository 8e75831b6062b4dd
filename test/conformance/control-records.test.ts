import { describe, expect, test } from "vitest";
import { controlKey, controlTypeId, controlTypeName } from "../../src/kafka/log/control-record.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import type { SnapshotHeader } from "../../src/kafka/quorum/control-messages.ts";
import {
  decodeKRaftVersion,
  decodeKRaftVoters,
  decodeLeaderChange,
  decodeSnapshotFooter,
  decodeSnapshotHeader,
  encodeKRaftVersion,
  encodeKRaftVoters,
  encodeSnapshotFooter,
  encodeSnapshotHeader,
} from "../../src/kafka/quorum/control-messages.ts";
import { batchesIn, RELEASES, RealKafka } from "./real-kafka.ts";

const LOG = "__cluster_metadata-0";

/** What a value says, and its bytes written anew; those of a leader's change are held elsewhere. */
function readAgain(type: string | undefined, value: Uint8Array): readonly [unknown, Uint8Array] {
  switch (type) {
    case "SNAPSHOT_HEADER": {
      const header = decodeSnapshotHeader(value);
      return [header, encodeSnapshotHeader(header)];
    }
    case "SNAPSHOT_FOOTER":
      return [decodeSnapshotFooter(value), encodeSnapshotFooter()];
    case "KRAFT_VERSION": {
      const version = decodeKRaftVersion(value);
      return [version, encodeKRaftVersion(version)];
    }
    case "KRAFT_VOTERS": {
      const voters = decodeKRaftVoters(value);
      return [voters, encodeKRaftVoters(voters)];
    }
    default:
      return [decodeLeaderChange(value), value];
  }
}

describe.each(RELEASES)("the control records that %s wrote", (release) => {
  const kafka = new RealKafka(release);
  const directoryId = /^directory\.id=(.*)$/m.exec(kafka.text("meta.properties"))?.[1];

  /** By type, in the order in which they are met. */
  const met = new Map<string, unknown[]>();

  const files = [
    ...kafka.list().filter((name) => name === "bootstrap.checkpoint"),
    ...kafka.list(LOG).map((name) => `${LOG}/${name}`),
  ].filter((path) => /\.(log|checkpoint)$/.test(path));

  test.each(files)("in %s are read, and written again byte for byte", (path) => {
    const controls = batchesIn(kafka.bytes(path)).filter((batch: RecordBatch) => batch.isControl);
    expect(controls.length).toBeGreaterThan(0);
    for (const { key, value } of controls.flatMap((batch) => batch.records())) {
      const type = controlTypeName(controlTypeId(key) ?? -1);
      const [content, bytes] = readAgain(type, value ?? new Uint8Array(0));
      expect(bytes).toEqual(value);
      if (type !== undefined) expect(controlKey(type)).toEqual(key);
      met.set(type ?? "", [...(met.get(type ?? "") ?? []), content]);
    }
  });

  test("say who leads, which voters there are, and what a snapshot covers", () => {
    const named = [{ voterId: 1 }];
    expect(met.get("LEADER_CHANGE")).toEqual(
      [1, 2, 3].map(() => ({ leaderId: 1, voters: named, grantingVoters: named })),
    );
    expect(met.get("KRAFT_VERSION")).toEqual([1, 2].map(() => ({ kRaftVersion: 1 })));
    expect(met.get("KRAFT_VOTERS")?.[0]).toEqual({
      voters: [
        {
          voterId: 1,
          voterDirectoryId: directoryId,
          endpoints: [{ name: "CONTROLLER", host: "127.0.0.1", port: 19093 }],
          kRaftVersionFeature: { minSupportedVersion: 0, maxSupportedVersion: 1 },
        },
      ],
    });
    const [header] = met.get("SNAPSHOT_HEADER")?.slice(-1) ?? [];
    const { lastContainedLogTimestamp } = header as SnapshotHeader;
    expect(lastContainedLogTimestamp).toBeGreaterThan(kafka.told.baseTimestamp);
    expect(lastContainedLogTimestamp).toBeLessThan(kafka.told.readAt);
    expect(met.get("SNAPSHOT_FOOTER")).toContainEqual({});
  });
});
