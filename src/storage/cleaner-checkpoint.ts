import { byText } from "../base/order.ts";
import type { Offset, PartitionName } from "../kafka/ids.ts";
import type { PartitionOffset } from "../kafka/log/checkpoint-format.ts";
import { formatOffsetCheckpoint, parseOffsetCheckpoint } from "../kafka/log/checkpoint-format.ts";
import type { Disk } from "../ports/disk.ts";
import { DiskError } from "../ports/disk.ts";
import type { PartitionLog } from "./partition-log.ts";
import { readText, replaceFile } from "./text-file.ts";

/**
 * The file `cleaner-offset-checkpoint` of one log directory: where the cleaner stopped in each log
 * (the file side of Kafka's `LogCleanerManager`). Every method can throw `DiskError`.
 *
 * Simplified: read once a start; Kafka reads it each time that it looks for a log to clean.
 */
export class CleanerCheckpoint {
  readonly #disk: Disk;
  readonly #path: string;
  #offsets: Map<PartitionName, Offset> | undefined;

  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#path = `${directory}/cleaner-offset-checkpoint`;
  }

  get(partition: PartitionName): Offset | undefined {
    return this.#read().get(partition);
  }

  /** Notes where the cleaner stopped; of logs that are not among those that are there nothing stays. */
  set(log: PartitionLog, offset: Offset, logs: readonly PartitionLog[]): void {
    this.#read().set(log.name, offset);
    this.#write(logs);
  }

  /** The log was cut: what the cleaner has done from `offset` on is undone. */
  lower(log: PartitionLog, offset: Offset, logs: readonly PartitionLog[]): void {
    const offsets = this.#read();
    if ((offsets.get(log.name) ?? 0) <= offset) return;
    offsets.set(log.name, offset);
    this.#write(logs);
  }

  /** The log is no more. */
  remove(log: PartitionLog, logs: readonly PartitionLog[]): void {
    if (this.#read().delete(log.name)) this.#write(logs);
  }

  #read(): Map<PartitionName, Offset> {
    if (this.#offsets === undefined) {
      const text = readText(this.#disk, this.#path);
      const offsets = text === undefined ? new Map() : parseOffsetCheckpoint(text);
      if (offsets === undefined) throw new DiskError("EIO", this.#path);
      this.#offsets = new Map(offsets);
    }
    return this.#offsets;
  }

  #write(logs: readonly PartitionLog[]): void {
    const offsets = this.#read();
    const entries: PartitionOffset[] = [];
    const left = new Map<PartitionName, Offset>();
    for (const { name, topic, partition } of [...logs].sort((a, b) => byText(a.name, b.name))) {
      const offset = offsets.get(name);
      if (offset === undefined) continue;
      left.set(name, offset);
      entries.push({ topic, partition, offset });
    }
    this.#offsets = left;
    replaceFile(this.#disk, this.#path, formatOffsetCheckpoint(entries));
  }
}
