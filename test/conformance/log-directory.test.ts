import { describe, expect, test } from "vitest";
import {
  formatEpochCheckpoint,
  formatOffsetCheckpoint,
  parseEpochCheckpoint,
  parseOffsetCheckpoint,
} from "../../src/kafka/log/checkpoint-format.ts";
import {
  decodeSnapshot,
  encodeSnapshot,
  loadProducer,
} from "../../src/kafka/log/producer-snapshot.ts";
import { ProducerState } from "../../src/kafka/log/producer-state.ts";
import { formatElection, parseElection } from "../../src/kafka/quorum/election-state.ts";
import { ZERO_UUID } from "../../src/kafka/uuid.ts";
import { readCleanShutdown, writeCleanShutdown } from "../../src/storage/clean-shutdown-file.ts";
import { ensureMetaProperties } from "../../src/storage/meta-properties.ts";
import { readTopicId, writeTopicId } from "../../src/storage/partition-metadata.ts";
import { readText } from "../../src/storage/text-file.ts";
import { MemoryDisk } from "../support/memory-disk.ts";
import type { ToldProducer } from "./real-kafka.ts";
import { RELEASES, RealKafka } from "./real-kafka.ts";

describe.each(RELEASES)("in the log directory of %s", (release) => {
  const kafka = new RealKafka(release);
  const partitions = kafka.partitions.map(([name]) => name);

  test.each([
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
    "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint",
  ])("%s is read, and written again byte for byte", (file) => {
    const text = kafka.text(file);
    const offsets = parseOffsetCheckpoint(text);
    const entries = [...(offsets ?? [])].map(([name, offset]) => {
      const [, topic = "", partition] = /^(.*)-(\d+)$/.exec(name) ?? [];
      return { topic, partition: Number(partition), offset };
    });
    expect(entries.length).toBeGreaterThan(0);
    expect(formatOffsetCheckpoint(entries)).toBe(text);
  });

  test.each(partitions)("%s has an epoch checkpoint that is read and written again", (name) => {
    const text = kafka.text(`${name}/leader-epoch-checkpoint`);
    expect(formatEpochCheckpoint(parseEpochCheckpoint(text) ?? [])).toBe(text);
  });

  test.each(partitions)("%s has a partition.metadata that is read and written again", (name) => {
    const disk = kafka.diskWith(name, (file) => file === "partition.metadata");
    const topicId = readTopicId(disk, name);
    expect(topicId).toMatch(/^[\w-]{22}$/);
    writeTopicId(disk, "copy", topicId ?? "");
    expect(readText(disk, "copy/partition.metadata")).toBe(
      kafka.text(`${name}/partition.metadata`),
    );
  });

  test.each(kafka.partitions)(
    "%s has producer snapshots that are read and written again",
    (name, { snapshots }) => {
      expect(Object.keys(snapshots)).toEqual(
        kafka.list(name).filter((file) => file.endsWith(".snapshot")),
      );
      for (const [file, told] of Object.entries(snapshots)) {
        const bytes = kafka.bytes(`${name}/${file}`);
        const entries = decodeSnapshot(bytes);
        expect(entries).toEqual(told.map(entryOf));
        const state = new ProducerState();
        for (const entry of entries ?? []) loadProducer(state, entry);
        expect(encodeSnapshot(state)).toEqual(bytes);
      }
    },
  );

  test("meta.properties names the directory, the node and the cluster", () => {
    const disk = new MemoryDisk();
    disk.open("data/meta.properties").write(0, kafka.bytes("meta.properties"));
    const { clusterId } = kafka.told;
    const owner = { nodeId: 1, clusterId, place: 0, incarnation: 0 };
    const id = ensureMetaProperties(disk, "data", owner);
    expect(kafka.text("meta.properties")).toContain(`directory.id=${id}\n`);
  });

  test(".kafka_cleanshutdown tells the broker epoch, and is written again byte for byte", () => {
    const text = kafka.text(".kafka_cleanshutdown");
    const disk = new MemoryDisk();
    disk.open("data/.kafka_cleanshutdown").write(0, kafka.bytes(".kafka_cleanshutdown"));
    const epoch = readCleanShutdown(disk, "data") ?? -1;
    expect(epoch).toBeGreaterThan(0);
    writeCleanShutdown(disk, "data", epoch);
    expect(readText(disk, "data/.kafka_cleanshutdown")).toBe(text);
  });

  test("quorum-state tells the election, and is written again byte for byte", () => {
    const text = kafka.text("__cluster_metadata-0/quorum-state");
    const election = parseElection(text);
    expect(election).toEqual({ leaderId: 1, leaderEpoch: 3, votedId: -1 });
    if (election !== undefined) expect(formatElection(election, ZERO_UUID)).toBe(text);
  });
});

function entryOf(told: ToldProducer): unknown {
  const { producerId, producerEpoch, lastTimestamp, coordinatorEpoch, batches } = told;
  const last = batches.at(-1);
  return {
    producerId,
    epoch: producerEpoch,
    lastTimestamp,
    coordinatorEpoch,
    currentTxnFirstOffset: told.currentTxnFirstOffset,
    lastBatch:
      last === undefined
        ? undefined
        : {
            baseSequence: last.firstSequence,
            lastSequence: last.lastSequence,
            baseOffset: last.firstOffset,
            lastOffset: last.lastOffset,
            maxTimestamp: lastTimestamp,
          },
  };
}
