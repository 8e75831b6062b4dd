import { toMillis } from "../base/time.ts";
import type { Offset } from "../kafka/ids.ts";
import { LeaderEpochCache } from "../kafka/log/leader-epoch-cache.ts";
import { ProducerState } from "../kafka/log/producer-state.ts";
import type { Deletions } from "./delayed-deletion.ts";
import { EpochCheckpoint } from "./epoch-checkpoint.ts";
import { finishInterruptedSwap } from "./interrupted-swap.ts";
import type { PartitionLogOptions } from "./partition-log.ts";
import { rebuildProducers } from "./producer-rebuild.ts";
import { ProducerSnapshots } from "./producer-snapshots.ts";
import { RefusedStart } from "./refused-start.ts";
import { drawRollJitter } from "./roll-jitter.ts";
import { Segment } from "./segment.ts";
import { segmentPath } from "./segment-files.ts";
import { setSegmentsAside, setSnapshotsAside } from "./segment-removal.ts";

/** A log's parts as they stand after opening. */
export interface LoadedParts {
  /** Ascending; at least one. */
  readonly segments: Segment[];
  readonly epochs: LeaderEpochCache;
  readonly epochCheckpoint: EpochCheckpoint;
  readonly producers: ProducerState;
  readonly snapshots: ProducerSnapshots;
  readonly logStartOffset: Offset;
  readonly logEndOffset: Offset;
  readonly recoveryPoint: Offset;
  /** Bytes cut off: the first torn or corrupt batch and all behind it. */
  readonly truncatedBytes: number;
}

/** Finds a log's files and, after an unclean stop, recovers what they hold (Kafka's `LogLoader`). */
export function loadLog(
  options: PartitionLogOptions,
  deletions: Deletions,
  producerExpirationMs: number,
): LoadedParts {
  return new Loader(options, deletions, producerExpirationMs).load();
}

class Loader {
  readonly #options: PartitionLogOptions;
  readonly #deletions: Deletions;
  readonly #expirationMs: number;
  readonly #nowMs: number;
  /** What was in the directory. */
  readonly #names: readonly string[];
  readonly #snapshots: ProducerSnapshots;
  readonly #epochCheckpoint: EpochCheckpoint;
  readonly #epochs: LeaderEpochCache;
  readonly #segments: Segment[] = [];
  #truncatedBytes = 0;

  constructor(options: PartitionLogOptions, deletions: Deletions, expirationMs: number) {
    const { disk, directory, tickets, clock } = options;
    this.#options = options;
    this.#deletions = deletions;
    this.#expirationMs = expirationMs;
    this.#nowMs = toMillis(clock.now());
    disk.makeDirectory(directory);
    // First of all: it takes snapshots away as well.
    this.#names = finishInterruptedSwap(disk, directory, clock);
    this.#snapshots = new ProducerSnapshots(disk, directory);
    this.#epochCheckpoint = new EpochCheckpoint(disk, directory, tickets);
    this.#epochs = new LeaderEpochCache(this.#epochCheckpoint.read());
  }

  load(): LoadedParts {
    const { cleanShutdown, logStartOffset: checkpointedStart, recoveryPoint } = this.#options;
    this.#openSegments();
    if (!cleanShutdown) this.#recoverUnflushed();
    const logEndOffset = this.#findEnd(checkpointedStart);

    // The checkpoint file may be stale in both directions: truncations reach it late.
    const cutEnd = this.#epochs.truncateFromEnd(logEndOffset);
    const cutStart = this.#epochs.truncateFromStart(checkpointedStart);
    if (cutEnd || cutStart) this.#epochCheckpoint.writeLater(this.#epochs.entries);

    const bases = this.#segments.map(({ baseOffset }) => baseOffset);
    const logStartOffset = Math.max(checkpointedStart, bases[0] ?? 0);
    this.#snapshots.removeStray(bases);
    const producers = new ProducerState();
    this.#rebuild(producers, this.#segments, logStartOffset, logEndOffset, cleanShutdown);
    return {
      segments: this.#segments,
      epochs: this.#epochs,
      epochCheckpoint: this.#epochCheckpoint,
      producers,
      snapshots: this.#snapshots,
      logStartOffset,
      logEndOffset,
      // What recovery read may be in the page cache only, so the recovery point stays where it was.
      recoveryPoint: cleanShutdown
        ? logEndOffset
        : Math.max(Math.min(recoveryPoint, logEndOffset), logStartOffset),
      truncatedBytes: this.#truncatedBytes,
    };
  }

  #openSegments(): void {
    const { disk, directory } = this.#options;
    for (const name of this.#names) {
      const [, digits, suffix] = /^(\d{20})\.(log|index|timeindex|txnindex)$/.exec(name) ?? [];
      if (digits === undefined) continue;
      const baseOffset = Number(digits);
      if (suffix !== "log") {
        const hasLog = disk.exists(segmentPath(directory, baseOffset, "log"));
        if (!hasLog) disk.remove(`${directory}/${name}`);
        continue;
      }
      const hasIndex = disk.exists(segmentPath(directory, baseOffset, "index"));
      const segment = this.#openSegment(baseOffset);
      this.#segments.push(segment);
      const aborted = segment.aborted.entries();
      if (aborted === undefined) {
        throw new RefusedStart(`${directory} has a transaction index of another version`);
      }
      const isSound = aborted.every(({ lastOffset }) => lastOffset >= baseOffset);
      if (!hasIndex || !isSound) this.#recover(this.#segments.length - 1);
    }
  }

  /** Recovers the segment that holds the recovery point and those behind it, up to the first damage. */
  #recoverUnflushed(): void {
    const { recoveryPoint } = this.#options;
    const segments = this.#segments;
    let first = 0;
    while ((segments[first + 1]?.baseOffset ?? Number.POSITIVE_INFINITY) <= recoveryPoint) first++;
    for (let i = first; i < segments.length; i++) {
      if (this.#recover(i) === 0) continue;
      for (const { sizeInBytes } of segments.slice(i + 1)) this.#truncatedBytes += sizeInBytes;
      this.#removeSegments(i + 1);
      return;
    }
  }

  /** Recovers one segment, and takes a snapshot of the producers at its end. Returns the bytes cut. */
  #recover(index: number): number {
    const segment = this.#segments[index] as Segment;
    const { logStartOffset, config } = this.#options;
    const epochs = this.#epochs;
    const producers = new ProducerState();
    const before = this.#segments.slice(0, index + 1);
    this.#rebuild(producers, before, logStartOffset, segment.baseOffset, false);
    let gainedEpochs = false;
    const cut = segment.recover(config, (batch) => {
      const { latestEpoch } = epochs;
      if (latestEpoch === undefined || batch.partitionLeaderEpoch > latestEpoch) {
        if (batch.partitionLeaderEpoch >= 0) {
          epochs.assign(batch.partitionLeaderEpoch, batch.baseOffset);
          gainedEpochs = true;
        }
      }
      const aborted = producers.add(batch);
      if (aborted !== undefined) segment.aborted.append(aborted);
    });
    // Simplified: written once a segment; Kafka writes at each epoch that it finds.
    if (gainedEpochs) this.#epochCheckpoint.write(epochs.entries);
    this.#snapshots.take(producers)?.sync();
    this.#truncatedBytes += cut;
    return cut;
  }

  /** The log's end. A log that ends before its start, or has no segment, begins anew there. */
  #findEnd(logStartOffset: Offset): Offset {
    const { directory } = this.#options;
    const last = this.#segments.at(-1);
    if (last !== undefined) {
      const end = last.findNextOffset();
      // Not an I/O error to Kafka, and so none that costs the log directory alone.
      if (end === undefined) throw new RefusedStart(`${directory} ends with what is no batch`);
      if (end >= logStartOffset) return end;
      this.#removeSegments(0);
      if (this.#epochs.clear()) this.#epochCheckpoint.write([]);
      this.#snapshots.removeAll();
    }
    this.#segments.push(this.#openSegment(logStartOffset));
    return logStartOffset;
  }

  #openSegment(baseOffset: Offset): Segment {
    const { disk, directory, config, random } = this.#options;
    const jitterMs = drawRollJitter(config, random);
    return new Segment(disk, directory, baseOffset, this.#nowMs, "", jitterMs);
  }

  #removeSegments(from: number): void {
    const delayMs = this.#options.config["file.delete.delay.ms"];
    const removed = this.#segments.splice(from);
    const bases = removed.map(({ baseOffset }) => baseOffset);
    setSegmentsAside(removed, this.#deletions, delayMs);
    setSnapshotsAside(bases, this.#snapshots, this.#deletions, delayMs);
  }

  #rebuild(
    producers: ProducerState,
    segments: readonly Segment[],
    logStartOffset: Offset,
    endOffset: Offset,
    afterCleanShutdown: boolean,
  ): void {
    const source = {
      snapshots: this.#snapshots,
      segments,
      logStartOffset,
      nowMs: this.#nowMs,
      expirationMs: this.#expirationMs,
    };
    rebuildProducers(producers, source, endOffset, afterCleanShutdown);
  }
}
