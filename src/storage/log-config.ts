import type { Duration } from "../base/time.ts";
import { DAY, fromMillis, HOUR } from "../base/time.ts";

/** What one partition's log heeds of its topic's configs; named after them, milliseconds made durations. */
export interface LogConfig {
  /** `segment.bytes` */
  readonly segmentBytes: number;
  /** `segment.ms` */
  readonly segmentAge: Duration;
  /** `segment.index.bytes`: the size of each index file at which a segment is full. */
  readonly segmentIndexBytes: number;
  /** `index.interval.bytes`: at most one index entry for so many bytes of log. */
  readonly indexIntervalBytes: number;
  /** `max.message.bytes`: the largest batch that a client may send. */
  readonly maxMessageBytes: number;
  /** `flush.messages`: sync when so many records are unflushed. */
  readonly flushMessages: number;
  /** `flush.ms`: sync when the oldest unflushed record is so old; undefined for never. */
  readonly flushAge: Duration | undefined;
  /** `message.timestamp.type` */
  readonly timestampType: "CreateTime" | "LogAppendTime";
  /** `message.timestamp.before.max.ms`, in milliseconds. */
  readonly timestampBeforeMaxMs: number;
  /** `message.timestamp.after.max.ms`, in milliseconds. */
  readonly timestampAfterMaxMs: number;
}

/** Kafka 4.3's defaults. */
export const DEFAULT_LOG_CONFIG: LogConfig = {
  segmentBytes: 1024 * 1024 * 1024,
  segmentAge: 7 * DAY,
  segmentIndexBytes: 10 * 1024 * 1024,
  indexIntervalBytes: 4096,
  maxMessageBytes: 1024 * 1024 + 12,
  flushMessages: Number.MAX_SAFE_INTEGER,
  flushAge: undefined,
  timestampType: "CreateTime",
  timestampBeforeMaxMs: Number.MAX_SAFE_INTEGER,
  timestampAfterMaxMs: HOUR / fromMillis(1),
};
