import type { Mutation } from "./mutation.ts";

const RETENTION = "src/storage/retention.ts";
const CLEANING = "src/kafka/log/cleaning/batch-retention.ts";

/** Within a log directory: recovery, retention, compaction. */
export const STORAGE_MUTATIONS: readonly Mutation[] = [
  {
    name: "last-value-cleaned",
    breaks: "The last record of a key stays.",
    file: CLEANING,
    find: "if (key === undefined || offset < round.offsets.get(key)) return false;",
    put: "if (key === undefined || offset <= round.offsets.get(key)) return false;",
    caughtBy: "last-value-kept",
    story: "compacting",
    seeds: 1,
  },
  {
    name: "tombstones-cleaned-at-once",
    breaks: "A tombstone stays for delete.retention.ms.",
    file: CLEANING,
    find: "return !isTombstone(record) || !isPastHorizon(batch, round.nowMs);",
    put: "return !isTombstone(record);",
    caughtBy: "last-value-kept",
    story: "compacting",
    seeds: 1,
  },
  {
    name: "cleaned-above-hw",
    breaks: "Only what is committed is cleaned.",
    file: "src/kafka/log/cleaning/dirt.ts",
    find: "let bound = Math.min(log.lastStableOffset, activeBase);",
    put: "let bound = activeBase;",
    caughtBy: "cleaned-below-hw",
    story: "compactingAlone",
    seeds: 5,
  },
  {
    name: "cleaned-into-another-epoch",
    breaks: "What is cleaned keeps its leader epoch.",
    file: CLEANING,
    find: "partitionLeaderEpoch: batch.partitionLeaderEpoch,",
    put: "partitionLeaderEpoch: batch.partitionLeaderEpoch + 1,",
    caughtBy: "offsets-never-change",
    story: "compacting",
    seeds: 1,
  },
  {
    name: "expired-above-hw",
    breaks: "Only what is committed expires.",
    file: RETENTION,
    find: "if (highWatermark < end || !isDue(segment, next)) break;",
    put: "if (!isDue(segment, next)) break;",
    caughtBy: "expired-only-by-policy",
    story: "expiringAlone",
    seeds: 5,
  },
  {
    name: "expired-too-early",
    breaks: "What expires is older than retention.ms.",
    file: RETENTION,
    find: "return ({ largestTimestamp }) => nowMs - largestTimestamp > retentionMs;",
    put: "return ({ largestTimestamp }) => nowMs - largestTimestamp > retentionMs - 2000;",
    caughtBy: "expired-only-by-policy",
    story: "expiring",
    seeds: 1,
  },
  {
    name: "size-by-one-segment-more",
    breaks: "A log that is larger than retention.bytes stays at least as large.",
    file: RETENTION,
    find: "return excess >= 0;",
    put: "return excess + sizeInBytes >= 0;",
    caughtBy: "expired-only-by-policy",
    story: "expiringBySize",
    seeds: 1,
  },
];
