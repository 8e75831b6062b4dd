import { fromMillis } from "../../base/time.ts";
import type { Offset } from "../../kafka/ids.ts";
import { slotsOf } from "../../kafka/log/cleaning/offset-map.ts";
import type { DiskError } from "../../ports/disk.ts";
import type { CleanerOwner } from "../../storage/log-cleaner.ts";
import { LogCleaner } from "../../storage/log-cleaner.ts";
import type { CleanedGroup } from "../../storage/log-cleaning.ts";
import type { LogManager } from "../../storage/log-manager.ts";
import type { PartitionLog } from "../../storage/partition-log.ts";
import type { TicketBook } from "../../storage/ticket-book.ts";
import type { BrokerContext } from "./broker-context.ts";
import { BROKER_TIMER } from "./broker-timers.ts";

/** Has a broker's logs cleaned, by leaders and followers alike, and notes what that does to them. */
export class Compaction implements CleanerOwner {
  readonly cleaner: LogCleaner;
  readonly #context: BrokerContext;

  constructor(context: BrokerContext, logs: LogManager, tickets: TicketBook) {
    const { world, configs } = context;
    this.#context = context;
    this.cleaner = new LogCleaner({
      disk: world.disk,
      clock: world.clock,
      tickets,
      logs,
      mapSlots: slotsOf(configs["log.cleaner.dedupe.buffer.size"], 1),
      loadFactor: configs["log.cleaner.io.buffer.load.factor"],
      owner: this,
    });
  }

  /** The logs are open. */
  start(): void {
    if (this.#context.configs["log.cleaner.enable"]) this.cleaner.run();
  }

  // What the cleaner asks and tells.

  lastStableOffsetOf(log: PartitionLog): Offset {
    return this.#context.partition(log.topicId, log.partition)?.lastStableOffset ?? 0;
  }

  onCleaned({ name }: PartitionLog, { from, to, batches }: CleanedGroup): void {
    const { facts, brokerId: broker } = this.#context;
    facts.note({ kind: "log-cleaned", broker, partition: name, from, to, batches });
  }

  deleteOldSegments(log: PartitionLog): void {
    this.#context.partition(log.topicId, log.partition)?.deleteOldSegments();
  }

  onDiskError(problem: DiskError): void {
    this.#context.diskFailed(problem);
  }

  onCleanerIdle(): void {
    const { world, configs } = this.#context;
    // Without a pause no time would ever pass.
    const pauseMs = Math.max(configs["log.cleaner.backoff.ms"], 1);
    world.timers.start(fromMillis(pauseMs), BROKER_TIMER.cleaner);
  }
}
