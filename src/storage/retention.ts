import { deletesOldSegments } from "../kafka/config/topic-configs.ts";
import type { Offset } from "../kafka/ids.ts";
import type { LogConfig } from "./log-config.ts";
import type { Segment } from "./segment.ts";

/** Why old segments go; the log's start moves with them unless it had moved before. */
export type RetentionReason = "log-start" | "retention-size" | "retention-time";

/** What there is to know of a log when its oldest segments are judged. */
export interface RetentionView {
  /** Ascending; the last is the active one. */
  readonly segments: readonly Segment[];
  readonly logStartOffset: Offset;
  readonly logEndOffset: Offset;
  readonly highWatermark: Offset;
  readonly nowMs: number;
  readonly config: LogConfig;
}

/** In Kafka's order (`UnifiedLog.deleteOldSegments`); after each the log is looked at anew. */
export function retentionReasons(config: LogConfig): readonly RetentionReason[] {
  return deletesOldSegments(config) ? ALL_REASONS : STARTS_ONLY;
}

const STARTS_ONLY: readonly RetentionReason[] = ["log-start"];
const ALL_REASONS: readonly RetentionReason[] = ["log-start", "retention-size", "retention-time"];

/**
 * How many of the oldest segments are to go for one reason: whole ones, all below the high watermark.
 * It may be all of them, but for an empty active one.
 */
export function countDeletable(view: RetentionView, reason: RetentionReason): number {
  const { segments, highWatermark, logEndOffset } = view;
  const isDue = judgeOf(view, reason);
  let count = 0;
  while (count < segments.length) {
    const segment = segments[count] as Segment;
    const next = segments[count + 1];
    if (next === undefined && segment.sizeInBytes === 0) break;
    const end = next?.baseOffset ?? logEndOffset;
    if (highWatermark < end || !isDue(segment, next)) break;
    count++;
  }
  return count;
}

type Judge = (segment: Segment, next: Segment | undefined) => boolean;

function judgeOf(view: RetentionView, reason: RetentionReason): Judge {
  const { segments, logStartOffset, nowMs, config } = view;
  if (reason === "log-start") {
    return (_, next) => next !== undefined && next.baseOffset <= logStartOffset;
  }
  if (reason === "retention-time") {
    const retentionMs = config["retention.ms"];
    if (retentionMs < 0) return never;
    return ({ largestTimestamp }) => nowMs - largestTimestamp > retentionMs;
  }
  const retentionBytes = config["retention.bytes"];
  if (retentionBytes < 0) return never;
  let excess = -retentionBytes;
  for (const { sizeInBytes } of segments) excess += sizeInBytes;
  // A segment goes only if the log is large enough without it.
  return ({ sizeInBytes }) => {
    excess -= sizeInBytes;
    return excess >= 0;
  };
}

function never(): boolean {
  return false;
}
