import { describe, expect, test } from "vitest";
import { encodeUtf8 } from "../../src/base/utf8.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../src/kafka/log/record-batch.ts";
import type { PartitionLog } from "../../src/storage/partition-log.ts";
import { ScriptedDisk } from "../support/scripted-disk.ts";
import type { ToldLoad } from "./real-kafka.ts";
import { batchesIn, comparable, fileSums, RELEASES, RealKafka } from "./real-kafka.ts";

describe.each(RELEASES)("the log loader agrees with that of %s", (release) => {
  const kafka = new RealKafka(release);
  const topics = kafka.partitions.filter(([name]) => name !== "__cluster_metadata-0");

  test.each(topics)(
    "on what an unclean start makes of the bare .log files of %s",
    (name, { rebuilt }) => {
      const disk = kafka.diskWith(name, (file) => file.endsWith(".log"));
      const log = kafka.open(disk, name, {});
      expect(stateOf(log)).toEqual(stateTold(rebuilt));
      kafka.close(disk, log);
      expect(comparable(fileSums(disk, name))).toEqual(comparable(rebuilt.files));
    },
  );

  const tears = kafka.told.torn
    .filter(({ error }) => error === undefined)
    .map((tear) => {
      const { file, damage, at, recoveryPoint } = tear;
      return [`${file}: ${damage} ${at}, recovery point ${recoveryPoint}`, tear] as const;
    });

  test.each(tears)("on a damaged copy: %s", (_, tear) => {
    const { partition, file, recoveryPoint } = tear;
    const disk = kafka.diskWith(partition, () => true);
    damage(disk, `${partition}/${file}`, tear.damage, tear.at);
    const log = kafka.open(disk, partition, { recoveryPoint });
    expect(stateOf(log)).toEqual(stateTold(tear));
    kafka.close(disk, log);
    expect(fileSums(disk, partition)).toEqual(comparable(tear.files));
  });

  const fatal = kafka.told.torn.filter(({ error }) => error !== undefined);

  test("save for a base offset below the segment's: there Kafka's start fails, and ours cuts", () => {
    expect(fatal.map(({ damage, at }) => [damage, at])).toEqual([["flip", 7]]);
    for (const { partition, file, at, recoveryPoint } of fatal) {
      const disk = kafka.diskWith(partition, () => true);
      damage(disk, `${partition}/${file}`, "flip", at);
      expect(kafka.open(disk, partition, { recoveryPoint }).logEndOffset).toBe(103);
    }
  });

  // Not those that were cleaned or trimmed: what was written to them is not all there any more.
  const replayed = topics.filter(([name]) => !/^(compacted|trimmed)/.test(name));

  test.each(replayed)("and leaves the same files when %s is written again", (name) => {
    const disk = new ScriptedDisk();
    const topic = name.slice(0, -2);
    let log = kafka.open(disk, name, { cleanShutdown: true });
    const stops = kafka.told.endOffsetsAtStops.map((ends) => ends[topic] ?? 0);
    for (const file of kafka.list(name).filter((other) => other.endsWith(".log"))) {
      for (const batch of batchesIn(kafka.bytes(`${name}/${file}`))) {
        while (log.logEndOffset === stops[0]) {
          stops.shift();
          log = restart(kafka, disk, log);
        }
        expect(log.appendAsFollower([batch], batch.partitionLeaderEpoch).appended).toEqual([batch]);
      }
    }
    // One restart less than stops: the last is the end.
    for (const _ of stops.slice(1)) log = restart(kafka, disk, log);
    kafka.close(disk, log);
    const real = kafka.diskWith(name, (file) => file !== "partition.metadata");
    expect(comparable(fileSums(disk, name))).toEqual(comparable(fileSums(real, name)));
  });

  test("and leaves the same files when records are deleted, and with them a segment", () => {
    const disk = new ScriptedDisk();
    const name = "trimmed-0";
    let log = kafka.open(disk, name, { cleanShutdown: true });
    for (const batch of [...trimmedAway(kafka), ...batchesOf(kafka, name)]) {
      expect(log.appendAsFollower([batch], 0).appended).toHaveLength(1);
    }
    log = restart(kafka, disk, log);
    log.advanceLogStart(25);
    expect(log.deleteOldSegments(60)).toEqual([]);
    log = restart(kafka, disk, log, 25);
    kafka.close(disk, log);

    const real = kafka.diskWith(name, (file) => file !== "partition.metadata");
    expect(comparable(fileSums(disk, name))).toEqual(comparable(fileSums(real, name)));
  });
});

function batchesOf(kafka: RealKafka, name: string): RecordBatch[] {
  const files = kafka.list(name).filter((file) => file.endsWith(".log"));
  return files.flatMap((file) => [...batchesIn(kafka.bytes(`${name}/${file}`))]);
}

/** What stood in `trimmed` below its first segment: six batches, two seconds apart as all of them are. */
function trimmedAway(kafka: RealKafka): RecordBatch[] {
  const first = batchesOf(kafka, "trimmed-0")[0]?.maxTimestamp ?? 0;
  return [0, 1, 2, 3, 4, 5].map((n) => {
    const record = { timestamp: first - (6 - n) * 2000, value: encodeUtf8(`trimmed ${n}`) };
    const options = { baseOffset: 3 * n, partitionLeaderEpoch: 0 };
    return buildBatch([record, record, record], options);
  });
}

/** Closes the log, opens it as the next process does, and makes it lead again: an epoch in between had no leader. */
function restart(
  kafka: RealKafka,
  disk: ScriptedDisk,
  log: PartitionLog,
  logStartOffset = 0,
): PartitionLog {
  const recoveryPoint = log.logEndOffset;
  const nextEpoch = (log.latestEpoch ?? 0) + 2;
  kafka.close(disk, log);
  const cleanShutdown = true;
  const next = kafka.open(disk, log.directory, { cleanShutdown, recoveryPoint, logStartOffset });
  next.assignEpochStart(nextEpoch, recoveryPoint);
  return next;
}

function damage(disk: ScriptedDisk, path: string, kind: string, at: number): void {
  if (kind === "snapshots") {
    const directory = path.slice(0, path.indexOf("/"));
    const snapshots = disk.list(directory).filter((name) => name.endsWith(".snapshot"));
    for (const name of snapshots.slice(-at)) disk.remove(`${directory}/${name}`);
    return;
  }
  const file = disk.open(path);
  if (kind === "cut") file.truncate(at);
  else if (kind === "zeros") file.truncate(file.size + at);
  else
    file.write(
      at,
      file.read(at, 1).map((byte) => byte ^ 4),
    );
}

function stateOf(log: PartitionLog): unknown {
  return {
    logStartOffset: log.logStartOffset,
    logEndOffset: log.logEndOffset,
    recoveryPoint: log.recoveryPoint,
    segments: log.segmentBaseOffsets,
    epochs: log.epochs.entries.map(({ epoch, startOffset }) => [epoch, startOffset]),
  };
}

function stateTold(told: ToldLoad): unknown {
  return {
    logStartOffset: told.logStartOffset,
    logEndOffset: told.logEndOffset,
    recoveryPoint: told.recoveryPointAfter,
    segments: told.segmentBaseOffsets,
    epochs: told.epochs,
  };
}
