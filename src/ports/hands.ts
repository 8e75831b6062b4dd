import type { Duration } from "../base/time.ts";
import type { Offset, PartitionName } from "../kafka/ids.ts";
import type { BitRot, DiskArea, DiskFailure } from "./disk-failure.ts";
import type { NodeAddress } from "./network.ts";
import type { DurationSource, Ratio } from "./random.ts";

/** Takes back a lasting misfortune. To be called once. */
export type Undo = () => void;

/** What a power cut makes of what was written but not flushed. */
export const UNFLUSHED: readonly UnflushedMode[] = [
  "lost",
  "kept",
  "torn",
  "random-prefix",
  "zeros",
  "garbage",
  "any",
];
export type UnflushedMode =
  | "lost"
  | "kept"
  | "torn"
  | "random-prefix"
  | "zeros"
  | "garbage"
  | "any";

/** What happens to single messages of a link that TCP would never do to them. */
export interface MessageDisturbance {
  readonly drop?: Ratio;
  readonly duplicate?: Ratio;
  readonly reorder?: Ratio;
}

/**
 * A place in a log that is not an offset: where it begins, where it ends, or the first record that is stamped with
 * this time of the scenario or a later one. A negative time is so long before now.
 */
export type LogPlace = "beginning" | "end" | { readonly time: Duration };

/**
 * All that faults can do to the world. Each call takes effect at once. What is asked of a node that
 * is already so (a crash of what is down, a restart of what is up) is ignored. Lasting misfortunes
 * add up: a link that was cut twice needs two heals, and each `Undo` takes back its own call.
 */
export interface Hands {
  /** Kills the process; the page cache survives. */
  crash(node: NodeAddress, reason: string): void;
  /** Starts a process that is down, as a new incarnation; powers its machine on first, if need be. */
  restart(node: NodeAddress): void;
  /** SIGTERM: an orderly stop. */
  shutdown(node: NodeAddress): void;
  /** Stops the process in its tracks (SIGSTOP), and lets it go on. */
  pause(node: NodeAddress): void;
  resume(node: NodeAddress): void;
  /** Cuts the machine's power: the process dies, and what was not flushed is lost as `mode` says. */
  powerOff(node: NodeAddress, mode: UnflushedMode): void;
  /** Gives power back and starts the process. */
  powerOn(node: NodeAddress): void;
  /** Nothing gets from one node to the other any more; what is sent is held. */
  cut(from: NodeAddress, to: NodeAddress): void;
  /** Takes back one `cut`. */
  heal(from: NodeAddress, to: NodeAddress): void;
  /** Adds a latency to every message. */
  delay(from: NodeAddress, to: NodeAddress, extra: DurationSource): Undo;
  slowLink(from: NodeAddress, to: NodeAddress, bytesPerSecond: number): Undo;
  /** Resets every connection between the two, whoever opened it. */
  reset(one: NodeAddress, other: NodeAddress): void;
  disturb(from: NodeAddress, to: NodeAddress, disturbance: MessageDisturbance): Undo;
  /** Makes every operation of a node's disk take `factor` times as long; an integer from 2. */
  slowDisk(node: NodeAddress, factor: number): Undo;
  /** Some operations of a disk take longer: each, with a chance, by a latency that is drawn. */
  spikeDisk(node: NodeAddress, chance: Ratio, latency: DurationSource): Undo;
  /** For so long a disk answers nothing: what is asked of it waits; or, of all that, only fsyncs. */
  stallDisk(node: NodeAddress, time: Duration, what: "all" | "fsync"): void;
  /** Makes calls of a node's disk fail. */
  failDisk(node: NodeAddress, failure: DiskFailure): Undo;
  /** Leaves so many bytes free on a disk: what needs more gets ENOSPC. What is removed is free again. */
  fillDisk(node: NodeAddress, area: DiskArea, free: number): Undo;
  /** Every change of a disk gets EROFS. */
  lockDisk(node: NodeAddress, area: DiskArea): Undo;
  /**
   * Fsyncs answer that all is well, and nothing becomes durable, neither by them nor by write-back. Once
   * taken back, the next of either makes it so.
   */
  lieAboutSyncs(node: NodeAddress, area: DiskArea): Undo;
  /** Takes a disk away, with all that is on it: EIO. Once taken back, an empty one is in its place. */
  loseDisk(node: NodeAddress, area: DiskArea): Undo;
  /** Flips bits at rest; taken back, they are as they were. */
  rotDisk(node: NodeAddress, rot: BitRot): Undo;
  /**
   * Has the admin client ask for the records of a partition below an offset to be deleted; with -1, below
   * its high watermark. What comes of it is told by facts.
   */
  deleteRecords(partition: PartitionName, before: Offset): void;
  /** Has the admin client ask for more partitions of a topic. What comes of it is told by facts. */
  addPartitions(topic: string, count: number): void;
  /**
   * Has the admin client find the transactions of a partition that have been open for longer than `maxTimeout`
   * and that no coordinator will end, and abort them. What comes of it is told by facts.
   */
  abortHanging(partition: PartitionName, maxTimeout: Duration): void;
  /** Has a consumer's application pause a partition, or all that it has, and poll on; taken back, it resumes. */
  pauseReading(node: NodeAddress, partition: PartitionName | undefined): Undo;
  /** Has it read on elsewhere. What comes of it is told by facts, as it is of the next. */
  seek(node: NodeAddress, partition: PartitionName | undefined, to: Offset | LogPlace): void;
  /** Has it ask for offsets. */
  askOffsets(node: NodeAddress, partition: PartitionName | undefined, which: LogPlace): void;
  /** Sets a node's clock off by `offset`, and lets it gain `driftPpm` microseconds a second. */
  skewClock(node: NodeAddress, offset: Duration, driftPpm: number): Undo;
}
