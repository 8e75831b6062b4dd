import { describe, expect, test } from "vitest";
import { MetadataImage } from "../../src/kafka/metadata/image.ts";
import {
  decodeMetadataRecord,
  encodeMetadataRecord,
} from "../../src/kafka/metadata/record-codec.ts";
import type { MetadataRecord } from "../../src/kafka/metadata/records.ts";
import type { ToldBatch, ToldRecord } from "./real-kafka.ts";
import { batchesIn, RELEASES, RealKafka } from "./real-kafka.ts";

const LOG = "__cluster_metadata-0";

describe.each(RELEASES)("the metadata log of %s", (release) => {
  const kafka = new RealKafka(release);
  const { segments, checkpoints } = kafka.told.partitions[LOG] ?? { segments: [], checkpoints: {} };
  const files: readonly (readonly [string, readonly ToldBatch[]])[] = [
    ...segments.map(({ batches }) => ["00000000000000000000.log", batches] as const),
    ...Object.entries(checkpoints),
  ];

  test.each(files)(
    "in %s has records that are read as Kafka reads them, and written again byte for byte",
    (file, told) => {
      for (const [record, value, expected] of recordsOf(kafka, file, told)) {
        expect(record.type).toBe(expected.type);
        const { isMigratingZkBroker: _, zkMigrationReady: __, ...fields } = expected.fields ?? {};
        const named = Object.fromEntries(
          Object.keys(fields).map((name) => [name, fieldOf(record, name)]),
        );
        expect(named).toEqual(fields);
        expect(Buffer.from(encodeMetadataRecord(record)).toString("hex")).toBe(
          Buffer.from(value).toString("hex"),
        );
      }
    },
  );

  test("replays into an image of the topics and features that the broker had", () => {
    const image = new MetadataImage();
    for (const [record, , { offset }] of recordsOf(
      kafka,
      "00000000000000000000.log",
      segments[0]?.batches ?? [],
    )) {
      image.replay(record, offset);
    }
    const topics = kafka.partitions
      .map(([name]) => name.slice(0, -2))
      .filter((name) => name !== "__cluster_metadata");
    expect(image.topics.map(({ name }) => name)).toEqual(topics);
    for (const { name, topicId } of image.topics) {
      expect(kafka.text(`${name}-0/partition.metadata`)).toContain(topicId);
      expect(image.topicConfigs(name)).toMatchObject(kafka.told.topicConfigs[name] ?? {});
    }
    expect(image.featureLevel("metadata.version")).toBe(release === "kafka-4.3" ? 30 : 33);
    expect(image.featureLevel("transaction.version")).toBe(2);
  });
});

/** Each data record, decoded, with its bytes and what Kafka tells of it. */
function* recordsOf(
  kafka: RealKafka,
  file: string,
  told: readonly ToldBatch[],
): Generator<readonly [MetadataRecord, Uint8Array, ToldRecord]> {
  for (const [i, batch] of batchesIn(kafka.bytes(`${LOG}/${file}`)).entries()) {
    if (batch.isControl) continue;
    for (const [j, { value }] of batch.records().entries()) {
      const expected = told[i]?.records[j];
      if (value === undefined || expected === undefined) throw new Error(`no record ${j} in ${i}`);
      yield [decodeMetadataRecord(value), value, expected];
    }
  }
}

/** Kafka prints null where we have undefined. */
function fieldOf(record: MetadataRecord, name: string): unknown {
  const value: unknown = Object.entries(record).find(([key]) => key === name)?.[1];
  return value ?? null;
}
