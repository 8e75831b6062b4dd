import { describe, expect, test } from "vitest";
import { fromMillis } from "../../src/base/time.ts";
import { parseOffsetCheckpoint } from "../../src/kafka/log/checkpoint-format.ts";
import { LogManager } from "../../src/storage/log-manager.ts";
import { readTopicId } from "../../src/storage/partition-metadata.ts";
import { TicketBook } from "../../src/storage/ticket-book.ts";
import { HandClock } from "../support/log-fixture.ts";
import { ScriptedDisk } from "../support/scripted-disk.ts";
import { SmallRandom } from "../support/small-random.ts";
import { comparable, fileSums, RELEASES, RealKafka } from "./real-kafka.ts";

const DATA = "data";

describe.each(RELEASES)("our log manager, started on the whole log directory of %s,", (release) => {
  const kafka = new RealKafka(release);
  const topics = kafka.partitions
    .map(([name]) => name)
    .filter((name) => name !== "__cluster_metadata-0");

  test("finds a clean stop, and every log as the broker left it", () => {
    const { manager, disk } = start(kafka);
    expect(manager.directories[0]?.cleanShutdown).toBe(true);
    const brokerEpoch = /"brokerEpoch":(\d+)/.exec(kafka.text(".kafka_cleanshutdown"))?.[1];
    expect(manager.previousBrokerEpoch).toBe(Number(brokerEpoch));
    const highWatermarks = parseOffsetCheckpoint(kafka.text("replication-offset-checkpoint"));

    const loaded = manager.loadAll();
    expect(loaded.map(({ log }) => log.name)).toEqual(topics);
    for (const { log, highWatermark, truncatedBytes } of loaded) {
      expect(log.logEndOffset).toBe(kafka.told.endOffsetsAtStops.at(-1)?.[log.topic]);
      expect(log.logStartOffset).toBe(log.topic === "trimmed" ? 25 : 0);
      expect(highWatermark).toBe(highWatermarks?.get(log.name));
      expect(truncatedBytes).toBe(0);
      expect(log.topicId).toBe(readTopicId(disk, `${DATA}/${log.name}`));
    }
  });

  test("leaves the files that Kafka's loader leaves when it stops again", () => {
    const { manager, disk, tickets } = start(kafka);
    const marks = new Map(manager.loadAll().map(({ log, highWatermark }) => [log, highWatermark]));
    disk.endSyncs((ticket, ok) => {
      tickets.synced(ticket, ok);
    });
    manager.shutdown(manager.previousBrokerEpoch, (log) => marks.get(log) ?? -1);

    for (const name of topics) {
      const expected = kafka.told.partitions[name]?.reopened.files ?? {};
      const files = fileSums(disk, `${DATA}/${name}`);
      expect(comparable(files), name).toEqual(comparable(expected));
    }
    for (const file of [
      "recovery-point-offset-checkpoint",
      "replication-offset-checkpoint",
      "log-start-offset-checkpoint",
    ]) {
      // Kafka writes the lines in no particular order.
      const sorted = (lines: string): readonly string[] => lines.split("\n").sort();
      expect(sorted(disk.text(`${DATA}/${file}`)), file).toEqual(sorted(kafka.text(file)));
    }
    const file = ".kafka_cleanshutdown";
    expect(disk.text(`${DATA}/${file}`)).toBe(kafka.text(file));
  });
});

interface Started {
  readonly manager: LogManager;
  readonly disk: ScriptedDisk;
  readonly tickets: TicketBook;
}

function start(kafka: RealKafka): Started {
  const disk = new ScriptedDisk();
  for (const name of kafka.list()) {
    const files = name.endsWith("-0") ? kafka.list(name).map((file) => `${name}/${file}`) : [name];
    for (const file of files) disk.open(`${DATA}/${file}`).write(0, kafka.bytes(file));
  }
  const clock = new HandClock();
  clock.time = fromMillis(kafka.told.readAt);
  const tickets = new TicketBook();
  const manager = new LogManager({
    disk,
    clock,
    tickets,
    random: new SmallRandom(1),
    directories: [DATA],
    nodeId: 1,
    clusterId: kafka.told.clusterId,
    incarnation: 0,
    configOf: (topic) => kafka.configOf(topic),
    onDiskError: (problem) => {
      throw problem;
    },
  });
  return { manager, disk, tickets };
}
