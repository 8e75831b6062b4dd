import { describe, expect, test } from "vitest";
import type { BatchOptions } from "../../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../../src/kafka/log/record-batch.ts";
import type { Disk } from "../../../src/ports/disk.ts";
import { DiskError } from "../../../src/ports/disk.ts";
import { DEFAULT_LOG_CONFIG } from "../../../src/storage/log-config.ts";
import type { LogManagerOptions } from "../../../src/storage/log-manager.ts";
import { LogManager } from "../../../src/storage/log-manager.ts";
import type { PartitionLog } from "../../../src/storage/partition-log.ts";
import { RefusedStart } from "../../../src/storage/refused-start.ts";
import { TicketBook } from "../../../src/storage/ticket-book.ts";
import { FailingDisk } from "../../support/failing-disk.ts";
import { HandClock } from "../../support/log-fixture.ts";
import { ScriptedDisk } from "../../support/scripted-disk.ts";
import { SmallRandom } from "../../support/small-random.ts";

const ORDERS = "3Db5QLSqSZieL3rJBUUegA";
const PAYMENTS = "bXl0b3BpY2lkbXl0b3BpYw";

function start(disk: ScriptedDisk, tickets: TicketBook = new TicketBook()): LogManager {
  return startWith(disk, { tickets });
}

/** A broker's logs; a disk error takes the directory out, as a broker would, and is kept. */
function startWith(disk: Disk, options: Partial<LogManagerOptions> = {}): LogManager {
  const logs: LogManager = new LogManager({
    disk,
    clock: new HandClock(),
    tickets: new TicketBook(),
    random: new SmallRandom(1),
    directories: ["data"],
    nodeId: 2,
    clusterId: "kafka-sim",
    incarnation: 0,
    configOf: () => DEFAULT_LOG_CONFIG,
    onDiskError: ({ path }) => {
      const failed = logs.directoryOf(path);
      if (failed !== undefined) logs.fail(failed);
    },
    ...options,
  });
  return logs;
}

function fill(log: PartitionLog, count: number, options: BatchOptions = {}): void {
  for (let i = 0; i < count; i++) log.appendAsLeader([buildBatch([{ timestamp: 0 }], options)], 1);
}

function setText(disk: ScriptedDisk, name: string, text: string): void {
  disk.replace(`data/${name}`, bytesOf(text));
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

test("logs are found again in name order, each with its topic id", () => {
  const disk = new ScriptedDisk();
  const first = start(disk);
  first.loadAll();
  for (const partition of [10, 2, 0]) first.getOrCreate("orders", partition, ORDERS);
  first.getOrCreate("a-b-1", 3, PAYMENTS);

  const found = start(disk).loadAll();

  expect(found.map(({ log }) => [log.name, log.topic, log.partition, log.topicId])).toEqual([
    ["a-b-1-3", "a-b-1", 3, PAYMENTS],
    ["orders-0", "orders", 0, ORDERS],
    ["orders-10", "orders", 10, ORDERS],
    ["orders-2", "orders", 2, ORDERS],
  ]);
});

test("the metadata log beside the partitions is left alone", () => {
  const disk = new ScriptedDisk();
  disk.open("data/__cluster_metadata-0/00000000000000000000.log");
  disk.open("data/notes-2024/readme");
  disk.open("data/lost+found/x");

  expect(
    start(disk)
      .loadAll()
      .map(({ log }) => log.name),
  ).toEqual(["notes-2024"]);
});

test("checkpoints are Kafka's text: version, count, then topic, partition and offset", () => {
  const disk = new ScriptedDisk();
  const logs = start(disk);
  logs.loadAll();
  fill(logs.getOrCreate("orders", 1, ORDERS), 5);
  const payments = logs.getOrCreate("payments", 0, PAYMENTS);
  fill(payments, 3);
  payments.flush();
  payments.advanceLogStart(2);

  logs.checkpointHighWatermarks((log) => log.logEndOffset - 1);
  logs.checkpointRecoveryPoints();
  logs.checkpointLogStarts();

  expect(disk.text("data/replication-offset-checkpoint")).toBe("0\n2\norders 1 4\npayments 0 2\n");
  expect(disk.text("data/recovery-point-offset-checkpoint")).toBe(
    "0\n2\norders 1 0\npayments 0 3\n",
  );
  expect(disk.text("data/log-start-offset-checkpoint")).toBe("0\n1\npayments 0 2\n");
});

test("a checkpoint survives a power loss in its old form or its new", () => {
  const disk = new ScriptedDisk();
  const logs = start(disk);
  logs.loadAll();
  const log = logs.getOrCreate("orders", 0, ORDERS);
  fill(log, 3);
  log.flush();

  logs.checkpointRecoveryPoints();
  disk.powerOff();

  expect(disk.text("data/recovery-point-offset-checkpoint")).toBe("0\n1\norders 0 3\n");
});

test("the high watermark is the checkpointed one, within what the log has", () => {
  const disk = new ScriptedDisk();
  const logs = start(disk);
  logs.loadAll();
  for (const partition of [0, 1, 2]) fill(logs.getOrCreate("orders", partition, ORDERS), 4);
  logs.get("orders-2")?.advanceLogStart(3);
  logs.checkpointLogStarts();
  logs.checkpointHighWatermarks((log) => [2, 9, 1][log.partition] ?? 0);
  const uncheckpointed = disk.clone();
  uncheckpointed.remove("data/replication-offset-checkpoint");

  expect(
    start(disk)
      .loadAll()
      .map(({ highWatermark }) => highWatermark),
  ).toEqual([2, 4, 3]);
  expect(
    start(uncheckpointed)
      .loadAll()
      .map(({ highWatermark }) => highWatermark),
  ).toEqual([0, 0, 3]);
});

test("an orderly stop leaves everything durable, and says so with the broker epoch", () => {
  const disk = new ScriptedDisk();
  const logs = start(disk);
  logs.loadAll();
  fill(logs.getOrCreate("orders", 0, ORDERS), 4);

  logs.shutdown(77, () => 3);

  expect(disk.text("data/.kafka_cleanshutdown")).toBe('{"version":0,"brokerEpoch":77}');
  const again = start(disk);
  expect([again.directories[0]?.cleanShutdown, again.previousBrokerEpoch]).toEqual([true, 77]);
  const [loaded] = again.loadAll();
  expect(loaded?.cleanShutdown).toBe(true);
  expect(loaded?.highWatermark).toBe(3);
  expect([loaded?.log.logEndOffset, loaded?.log.recoveryPoint]).toEqual([4, 4]);
});

test("a crash after a start is unclean: the clean-shutdown file is gone at once", () => {
  const disk = new ScriptedDisk();
  const first = start(disk);
  first.loadAll();
  first.getOrCreate("orders", 0, ORDERS);
  first.shutdown(77, () => 0);
  start(disk);

  const third = start(disk);

  expect([third.directories[0]?.cleanShutdown, third.previousBrokerEpoch]).toEqual([false, -1]);
  expect(third.loadAll()[0]?.cleanShutdown).toBe(false);
});

test("a stop before all logs were loaded does not count as orderly", () => {
  const disk = new ScriptedDisk();
  start(disk).getOrCreate("orders", 0, ORDERS);

  start(disk).shutdown(5, () => 0);

  expect(disk.exists("data/.kafka_cleanshutdown")).toBe(false);
});

test("what recovery cut off is reported for each log", () => {
  const disk = new ScriptedDisk();
  const logs = start(disk);
  logs.loadAll();
  for (const partition of [0, 1]) fill(logs.getOrCreate("orders", partition, ORDERS), 2);
  const path = "data/orders-1/00000000000000000000.log";
  disk.replace(path, disk.content(path).slice(0, -10));

  const found = start(disk).loadAll();

  const batchSize = buildBatch([{ timestamp: 0 }]).sizeInBytes;
  expect(found.map(({ truncatedBytes }) => truncatedBytes)).toEqual([0, batchSize - 10]);
  expect(found.map(({ log }) => log.logEndOffset)).toEqual([2, 1]);
});

test("a truncation is followed by a checkpoint of the recovery points", () => {
  const disk = new ScriptedDisk();
  const logs = start(disk);
  logs.loadAll();
  const log = logs.getOrCreate("orders", 0, ORDERS);
  fill(log, 4);
  log.flush();
  logs.checkpointRecoveryPoints();

  log.truncateTo(1);

  expect(disk.text("data/recovery-point-offset-checkpoint")).toBe("0\n1\norders 0 1\n");
});

test("without sound recovery points everything is scanned, without sound high watermarks the directory fails", () => {
  const disk = new ScriptedDisk();
  const logs = start(disk);
  logs.loadAll();
  const log = logs.getOrCreate("orders", 0, ORDERS);
  fill(log, 4);
  log.flush();
  logs.checkpointRecoveryPoints();
  logs.checkpointHighWatermarks(() => 4);

  setText(disk, "recovery-point-offset-checkpoint", "0\n1\norders");
  expect(start(disk).loadAll()[0]?.log.recoveryPoint).toBe(0);
  setText(disk, "replication-offset-checkpoint", "nonsense");
  const broken = start(disk);
  expect(broken.loadAll()).toEqual([]);
  expect(broken.directories).toEqual([]);
});

test("a removed log is gone from the disk, and its late syncs bring nothing back", () => {
  const disk = new ScriptedDisk();
  const tickets = new TicketBook();
  const logs = start(disk, tickets);
  logs.loadAll();
  const log = logs.getOrCreate("orders", 0, ORDERS);
  fill(log, 2);
  // The epochs that are left are written in the background.
  log.truncateTo(0);

  logs.remove("orders-0");
  let ended = 0;
  disk.endSyncs((ticket, ok) => {
    ended++;
    tickets.synced(ticket, ok);
  });

  expect(ended).toBe(1);
  expect(logs.get("orders-0")).toBeUndefined();
  expect(disk.exists("data/orders-0")).toBe(false);
  expect(start(disk).loadAll()).toEqual([]);
});

test("a removed log is set aside until its time has come, and a start in between lets it go as well", () => {
  const disk = new ScriptedDisk();
  const scheduled: { paths: readonly string[]; delayMs: number }[] = [];
  const deletions = {
    schedule: (paths: readonly string[], delayMs: number): void => {
      scheduled.push({ paths, delayMs });
    },
  };
  const logs = startWith(disk, { deletions, fileDeleteDelayMs: 5000 });
  logs.loadAll();
  fill(logs.getOrCreate("orders", 0, ORDERS), 2);

  logs.remove("orders-0");

  const [aside] = disk.list("data").filter((name) => name.startsWith("orders-0"));
  expect(aside).toMatch(/^orders-0\.[0-9a-f]{32}-delete$/);
  expect(disk.list(`data/${aside}`)).toContain("00000000000000000000.log");
  expect(scheduled).toEqual([{ paths: [`data/${aside}`], delayMs: 5000 }]);
  expect(logs.getOrCreate("orders", 0, PAYMENTS).logEndOffset).toBe(0);

  const again = startWith(disk, { deletions, fileDeleteDelayMs: 5000 });
  expect(again.loadAll().map(({ log }) => log.topicId)).toEqual([PAYMENTS]);
  expect(scheduled.at(-1)).toEqual({ paths: [`data/${aside}`], delayMs: 5000 });
});

test("a name that would be too long for a file system is cut where a log is set aside", () => {
  const disk = new ScriptedDisk();
  const deletions = { schedule: (): void => {} };
  const logs = startWith(disk, { deletions });
  logs.loadAll();
  const topic = "t".repeat(249);
  logs.getOrCreate(topic, 12, ORDERS);

  logs.remove(`${topic}-12`);

  const [aside] = disk.list("data").filter((name) => name.endsWith("-delete"));
  expect(aside).toHaveLength(255);
  expect(aside).toMatch(/^t+-12\.[0-9a-f]{32}-delete$/);
});

test("a new directory is formatted once: its id and node are found again", () => {
  const disk = new ScriptedDisk();

  const id = start(disk).directories[0]?.id;

  expect(disk.text("data/meta.properties")).toBe(
    `cluster.id=kafka-sim\ndirectory.id=${id}\nnode.id=2\nversion=1\n`,
  );
  expect(startWith(disk, { incarnation: 1 }).directories[0]?.id).toBe(id);
});

describe("several log directories", () => {
  const DIRECTORIES = ["one", "two", "three"];

  function startMany(disk: Disk, options: Partial<LogManagerOptions> = {}): LogManager {
    return startWith(disk, { directories: DIRECTORIES, ...options });
  }

  function placesOf(logs: LogManager): string[] {
    return logs.all().map(({ directory }) => directory);
  }

  test("have an id each, which they keep", () => {
    const disk = new ScriptedDisk();
    const ids = startMany(disk).directories.map(({ id }) => id);

    const again = startMany(disk, { incarnation: 1 }).directories.map(({ id }) => id);

    expect(new Set(ids).size).toBe(3);
    expect(again).toEqual(ids);
  });

  test("one that was lost and is formatted anew is another one, though it is in the same place", () => {
    const disk = new ScriptedDisk();
    const [one, two] = startMany(disk).directories.map(({ id }) => id);
    disk.remove("two");

    const [oneAgain, twoAgain] = startMany(disk, { incarnation: 1 }).directories.map(
      ({ id }) => id,
    );

    expect(oneAgain).toBe(one);
    expect(twoAgain).not.toBe(two);
  });

  test("a new log comes where the fewest are, of equal ones into the first", () => {
    const logs = startMany(new ScriptedDisk());
    logs.loadAll();

    for (const partition of [0, 1, 2, 3]) logs.getOrCreate("orders", partition, ORDERS);
    logs.remove("orders-1");
    logs.getOrCreate("orders", 4, ORDERS);

    expect(placesOf(logs)).toEqual([
      "one/orders-0",
      "three/orders-2",
      "one/orders-3",
      "two/orders-4",
    ]);
  });

  test("a new log comes where the controller has it, if that directory is online", () => {
    const logs = startMany(new ScriptedDisk());
    logs.loadAll();
    const third = logs.directories[2]?.id;

    logs.getOrCreate("orders", 0, ORDERS, third);
    logs.getOrCreate("orders", 1, ORDERS, "a-directory-of-long-ago");

    expect(placesOf(logs)).toEqual(["three/orders-0", "one/orders-1"]);
  });

  test("each has its own checkpoints and clean-shutdown file, and finds its own logs again", () => {
    const disk = new ScriptedDisk();
    const logs = startMany(disk);
    logs.loadAll();
    for (const partition of [0, 1]) fill(logs.getOrCreate("orders", partition, ORDERS), 3);

    logs.shutdown(7, ({ partition }) => partition + 1);

    expect(disk.text("one/replication-offset-checkpoint")).toBe("0\n1\norders 0 1\n");
    expect(disk.text("two/replication-offset-checkpoint")).toBe("0\n1\norders 1 2\n");
    expect(disk.text("three/replication-offset-checkpoint")).toBe("0\n0\n");
    const again = startMany(disk);
    expect(again.previousBrokerEpoch).toBe(7);
    expect(again.loadAll().map(({ log, highWatermark }) => [log.directory, highWatermark])).toEqual(
      [
        ["one/orders-0", 1],
        ["two/orders-1", 2],
      ],
    );
  });

  test("the last stop counts as clean to the controller only if it does in each of them", () => {
    const disk = new ScriptedDisk();
    const logs = startMany(disk);
    logs.loadAll();
    logs.shutdown(7, () => 0);
    const one = disk.clone();
    disk.remove("two/.kafka_cleanshutdown");
    one.replace("two/.kafka_cleanshutdown", bytesOf('{"version":0,"brokerEpoch":6}'));

    expect(startMany(disk).previousBrokerEpoch).toBe(-1);
    expect(startMany(one).previousBrokerEpoch).toBe(-1);
  });

  test("one that cannot be opened stays out, alone; what it has is not known", () => {
    const disk = new ScriptedDisk();
    const before = startMany(disk);
    before.loadAll();
    for (const partition of [0, 1, 2]) before.getOrCreate("orders", partition, ORDERS);
    before.shutdown(7, () => 0);

    const logs = startMany(new FailingDisk(disk, "two"));

    expect(logs.failedAtStart.map(({ path }) => path)).toEqual(["two"]);
    expect([logs.hasOffline, logs.previousBrokerEpoch]).toEqual([true, -1]);
    expect(logs.loadAll().map(({ log }) => log.name)).toEqual(["orders-0", "orders-2"]);
  });

  test("one that fails while its logs are loaded goes offline alone", () => {
    const disk = new ScriptedDisk();
    const before = startMany(disk);
    before.loadAll();
    for (const partition of [0, 1, 2]) before.getOrCreate("orders", partition, ORDERS);

    const logs = startMany(new FailingDisk(disk, "two/orders-1"));

    expect(logs.loadAll().map(({ log }) => log.name)).toEqual(["orders-0", "orders-2"]);
    expect(logs.directories.map(({ path }) => path)).toEqual(["one", "three"]);
  });

  test("one that takes no new log is left for the next", () => {
    const disk = new FailingDisk(new ScriptedDisk(), "nowhere");
    const logs = startMany(disk);
    logs.loadAll();
    disk.area = "one";

    const log = logs.getOrCreate("orders", 0, ORDERS);

    expect(log.directory).toBe("two/orders-0");
    expect(logs.directories.map(({ path }) => path)).toEqual(["two", "three"]);
  });

  test("without any that takes a log, none is created", () => {
    const disk = new FailingDisk(new ScriptedDisk(), "nowhere");
    const logs = startMany(disk);
    logs.loadAll();
    disk.area = "";

    expect(() => logs.getOrCreate("orders", 0, ORDERS)).toThrow(DiskError);
  });

  test("a checkpoint that fails in one is written in the others", () => {
    const scripted = new ScriptedDisk();
    const disk = new FailingDisk(scripted, "nowhere");
    const logs = startMany(disk);
    logs.loadAll();
    for (const partition of [0, 1, 2]) fill(logs.getOrCreate("orders", partition, ORDERS), 3);
    disk.area = "one";

    logs.checkpointHighWatermarks(() => 2);

    expect(scripted.text("three/replication-offset-checkpoint")).toBe("0\n1\norders 2 2\n");
    expect(logs.all().map(({ name }) => name)).toEqual(["orders-1", "orders-2"]);
  });

  test("a cut is a cut, though the checkpoint after it fails", () => {
    const disk = new FailingDisk(new ScriptedDisk(), "nowhere");
    const logs = startMany(disk);
    logs.loadAll();
    const log = logs.getOrCreate("orders", 0, ORDERS);
    fill(log, 4);
    disk.area = "one/recovery-point-offset-checkpoint.tmp";

    expect(log.truncateTo(1)).toBe(true);

    expect(log.logEndOffset).toBe(1);
    expect(logs.directories.map(({ path }) => path)).toEqual(["two", "three"]);
  });

  test("late syncs of a directory that has failed bring nothing back", () => {
    const disk = new ScriptedDisk();
    const tickets = new TicketBook();
    const logs = startMany(disk, { tickets });
    logs.loadAll();
    const log = logs.getOrCreate("orders", 0, ORDERS);
    fill(log, 4);
    log.truncateTo(1);
    const [first] = logs.directories;
    if (first !== undefined) logs.fail(first);

    disk.endSyncs((ticket) => tickets.synced(ticket, false));

    expect(logs.get("orders-0")).toBeUndefined();
  });

  test("a partition in two of them keeps the broker from starting", () => {
    const disk = new ScriptedDisk();
    for (const directory of ["one", "two"]) {
      const logs = startWith(disk, { directories: [directory] });
      logs.loadAll();
      logs.getOrCreate("orders", 0, ORDERS);
    }

    expect(() => startMany(disk).loadAll()).toThrow("orders-0 is in both one and two");
  });

  test("a directory of another node keeps the broker from starting", () => {
    const disk = new ScriptedDisk();
    startMany(disk);

    expect(() => startMany(disk, { nodeId: 3 })).toThrow(RefusedStart);
  });
});
