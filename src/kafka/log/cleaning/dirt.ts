import type { Offset } from "../../ids.ts";

/** What the cleaner asks of a segment before it reads it. */
export interface DirtySegment {
  readonly baseOffset: Offset;
  readonly sizeInBytes: number;
  /** Milliseconds. */
  readonly largestTimestamp: number;
  /** The largest timestamp of its first batch, milliseconds; negative if it has none. */
  firstTimestamp(): number;
}

/** A log as the cleaner judges it. */
export interface DirtyLog<S extends DirtySegment> {
  /** Ascending; the last is the active one. */
  readonly segments: readonly S[];
  readonly logStartOffset: Offset;
  readonly logEndOffset: Offset;
  /** Nothing from here on is cleaned: it may still be undone. */
  readonly lastStableOffset: Offset;
}

/** The topic configs that decide when a log is cleaned. */
export interface CleaningConfigs {
  readonly "min.cleanable.dirty.ratio": number;
  readonly "min.compaction.lag.ms": number;
  readonly "max.compaction.lag.ms": number;
}

/** How much there is to clean in a log. */
export interface Dirt {
  readonly firstDirtyOffset: Offset;
  /** The base of the first segment that must not be cleaned. */
  readonly firstUncleanableOffset: Offset;
  /** Does the checkpoint tell an offset that the log does not have? It is to be set to `firstDirtyOffset`. */
  readonly isCheckpointInvalid: boolean;
  readonly cleanBytes: number;
  readonly cleanableBytes: number;
  /** Has something been dirty for longer than `max.compaction.lag.ms`? */
  readonly isOverdue: boolean;
}

/**
 * What the cleaner would do with a log, `checkpoint` being where it stopped the last time (Kafka's
 * `LogCleanerManager.cleanableOffsets`, `maxCompactionDelay` and `LogToClean`).
 */
export function dirtOf<S extends DirtySegment>(
  log: DirtyLog<S>,
  configs: CleaningConfigs,
  checkpoint: Offset | undefined,
  nowMs: number,
): Dirt {
  const { segments, logStartOffset } = log;
  const checkpointed = checkpoint ?? logStartOffset;
  // Beyond the end: the log has lost its tail, and may have got another since. All is dirty.
  const isCheckpointInvalid = checkpointed < logStartOffset || checkpointed > log.logEndOffset;
  const firstDirtyOffset = isCheckpointInvalid ? logStartOffset : checkpointed;

  const activeBase = (segments.at(-1) as S).baseOffset;
  const dirty = inactiveFrom(segments, firstDirtyOffset);
  let bound = Math.min(log.lastStableOffset, activeBase);
  const minLagMs = configs["min.compaction.lag.ms"];
  const tooYoung = dirty.find(({ largestTimestamp }) => largestTimestamp > nowMs - minLagMs);
  if (minLagMs > 0 && tooYoung !== undefined) bound = Math.min(bound, tooYoung.baseOffset);
  bound = Math.max(bound, firstDirtyOffset);

  const firstUncleanableOffset = inactiveFrom(segments, bound)[0]?.baseOffset ?? activeBase;
  const from = Math.min(firstDirtyOffset, firstUncleanableOffset);
  return {
    firstDirtyOffset,
    firstUncleanableOffset,
    isCheckpointInvalid,
    cleanBytes: bytesOf(segmentsWithin(segments, -1, firstDirtyOffset)),
    cleanableBytes: bytesOf(segmentsWithin(segments, from, firstUncleanableOffset)),
    isOverdue: isOverdue(dirty, nowMs - configs["max.compaction.lag.ms"]),
  };
}

/** The dirty share of what would be read. Not to be asked of a log that has no bytes to clean or clean. */
export function dirtyRatio({ cleanBytes, cleanableBytes }: Dirt): number {
  return cleanableBytes / (cleanBytes + cleanableBytes);
}

/** Is there enough dirt, or old enough (`LogCleanerManager.grabFilthiestCompactedLog`)? */
export function isWorthCleaning(dirt: Dirt, configs: CleaningConfigs): boolean {
  const { cleanBytes, cleanableBytes } = dirt;
  if (cleanBytes + cleanableBytes === 0) return false;
  if (dirt.isOverdue && cleanableBytes > 0) return true;
  return dirtyRatio(dirt) > configs["min.cleanable.dirty.ratio"];
}

/** The segments that hold something of [from, to): from the one that `from` lies in. */
export function segmentsWithin<S extends { readonly baseOffset: Offset }>(
  segments: readonly S[],
  from: Offset,
  to: Offset,
): S[] {
  if (from >= to) return [];
  let first = 0;
  while (first + 1 < segments.length && (segments[first + 1] as S).baseOffset <= from) first++;
  let end = first;
  while (end < segments.length && (segments[end] as S).baseOffset < to) end++;
  return segments.slice(first, end);
}

/** As `segmentsWithin`, up to the active one. */
function inactiveFrom<S extends DirtySegment>(segments: readonly S[], from: Offset): S[] {
  return segmentsWithin(segments, from, (segments.at(-1) as S).baseOffset);
}

function bytesOf(segments: readonly DirtySegment[]): number {
  let bytes = 0;
  for (const { sizeInBytes } of segments) bytes += sizeInBytes;
  return bytes;
}

/** Does a segment begin before that time? Without a timestamp it does not. */
function isOverdue(segments: readonly DirtySegment[], cleanUntilMs: number): boolean {
  if (cleanUntilMs <= 0) return false;
  for (const segment of segments) {
    const timestamp = segment.firstTimestamp();
    if (timestamp > 0 && timestamp < cleanUntilMs) return true;
  }
  return false;
}
