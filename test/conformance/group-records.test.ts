import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { decodeGroupRecord, encodeGroupRecord } from "../../src/kafka/group/group-record-bytes.ts";
import { parseBatches } from "../../src/kafka/log/record-batch.ts";
import { RELEASES } from "./real-kafka.ts";

test.each(RELEASES)(
  "%s: offsets that a real coordinator wrote are read, and written again",
  (release) => {
    const path = `test/conformance/fixture/${release}/log-dir/__consumer_offsets-0`;
    const bytes = readFileSync(`${path}/00000000000000000000.log`);
    const records = parseBatches(bytes).flatMap((batch) => batch.records());

    const decoded = records.map((record) => decodeGroupRecord(record));

    expect(decoded).toMatchObject([
      {
        type: "OffsetCommit",
        group: "readers",
        topic: "plain",
        partition: 0,
        value: { offset: 3, leaderEpoch: 0, metadata: "as a test" },
      },
      { group: "readers", topic: "plain", value: { offset: 9 } },
    ]);
    for (const [i, record] of decoded.entries()) {
      if (record === undefined) continue;
      const { key, value } = encodeGroupRecord(record);
      expect([key, value]).toEqual([records[i]?.key, records[i]?.value].map(plain));
    }
  },
);

function plain(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes && Uint8Array.from(bytes);
}
