import { fail } from "../base/invariant.ts";
import type { BrokerEpoch, BrokerId, Offset, PartitionName, TopicId } from "../kafka/ids.ts";
import type { Disk } from "../ports/disk.ts";
import type { Clock } from "../ports/node.ts";
import type { LogConfig } from "./log-config.ts";
import type { PartitionLog } from "./partition-log.ts";
import type { TicketBook } from "./ticket-book.ts";

export interface LogManagerOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly tickets: TicketBook;
  /** The log directory, `log.dirs`. */
  readonly directory: string;
  readonly nodeId: BrokerId;
  readonly clusterId: string;
  /** The config of a topic's logs; called at loading and at creation. */
  readonly configOf: (topic: string) => LogConfig;
}

/** One log found on the disk at start. */
export interface LoadedLog {
  readonly log: PartitionLog;
  /** As checkpointed (0 if it was not), clamped to [logStartOffset, logEndOffset]. */
  readonly highWatermark: Offset;
  readonly cleanShutdown: boolean;
  readonly truncatedBytes: number;
}

/**
 * All logs in one broker's log directory, and the files beside them (Kafka's `LogManager`).
 * `DiskError` reaches the caller from every method.
 */
export class LogManager {
  /** Was the last stop orderly? */
  readonly cleanShutdown: boolean = false;
  /** From the clean-shutdown file; -1 without (KIP-966: tells the controller that nothing was lost). */
  readonly previousBrokerEpoch: BrokerEpoch = -1;

  constructor(_options: LogManagerOptions) {
    fail("not yet");
  }

  /** Opens every partition in the directory, in name order. To be called once, first. */
  loadAll(): readonly LoadedLog[] {
    return fail("not yet");
  }

  get(_partition: PartitionName): PartitionLog | undefined {
    return fail("not yet");
  }

  /** In name order. */
  all(): readonly PartitionLog[] {
    return fail("not yet");
  }

  getOrCreate(_topic: string, _partition: number, _topicId: TopicId): PartitionLog {
    return fail("not yet");
  }

  /** Removes the partition's directory with all in it. */
  remove(_partition: PartitionName): void {
    fail("not yet");
  }

  /** Writes `replication-offset-checkpoint`; every 5 s. */
  checkpointHighWatermarks(_highWatermarkOf: (log: PartitionLog) => Offset): void {
    fail("not yet");
  }

  /** Writes `recovery-point-offset-checkpoint`; every 60 s, and after a truncation. */
  checkpointRecoveryPoints(): void {
    fail("not yet");
  }

  /** Writes `log-start-offset-checkpoint`; every 60 s. */
  checkpointLogStarts(): void {
    fail("not yet");
  }

  /** An orderly stop: closes all logs, writes all checkpoints, then the clean-shutdown file. */
  shutdown(_brokerEpoch: BrokerEpoch, _highWatermarkOf: (log: PartitionLog) => Offset): void {
    fail("not yet");
  }
}
