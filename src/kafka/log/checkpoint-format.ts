import type { Offset, PartitionName, TopicPartition } from "../ids.ts";
import { partitionName } from "../ids.ts";
import type { EpochEntry } from "./leader-epoch-cache.ts";

/** One line of an offset checkpoint. */
export interface PartitionOffset extends TopicPartition {
  readonly offset: Offset;
}

/** Kafka's `OffsetCheckpointFile`: recovery points, high watermarks or log starts. */
export function formatOffsetCheckpoint(entries: readonly PartitionOffset[]): string {
  return format(entries.map(({ topic, partition, offset }) => `${topic} ${partition} ${offset}`));
}

/** Offsets by partition; undefined if the text is malformed. */
export function parseOffsetCheckpoint(
  text: string,
): ReadonlyMap<PartitionName, Offset> | undefined {
  const lines = parse(text, OFFSET_LINE);
  if (lines === undefined) return undefined;
  const offsets = new Map<PartitionName, Offset>();
  for (const [topic, partition, offset] of lines) {
    offsets.set(partitionName(topic as string, Number(partition)), Number(offset));
  }
  return offsets;
}

/** Kafka's `LeaderEpochCheckpointFile`. */
export function formatEpochCheckpoint(entries: readonly EpochEntry[]): string {
  return format(entries.map(({ epoch, startOffset }) => `${epoch} ${startOffset}`));
}

/** Undefined if the text is malformed. */
export function parseEpochCheckpoint(text: string): readonly EpochEntry[] | undefined {
  return parse(text, EPOCH_LINE)?.map(([epoch, startOffset]) => ({
    epoch: Number(epoch),
    startOffset: Number(startOffset),
  }));
}

const VERSION = "0";
const OFFSET_LINE = /^(\S+)\s+(\d{1,10})\s+(\d{1,15})$/;
const EPOCH_LINE = /^(\d{1,10})\s+(\d{1,15})$/;

/** Version, number of entries, one entry a line (Kafka's `CheckpointFile`). */
function format(lines: readonly string[]): string {
  return `${[VERSION, String(lines.length), ...lines].join("\n")}\n`;
}

/** The groups of each line. An empty file is one that was created and never written: no entries. */
function parse(text: string, pattern: RegExp): string[][] | undefined {
  const [version, count, ...lines] = text.split("\n");
  if (version === "" && count === undefined) return [];
  if (version !== VERSION) return undefined;
  if (count === undefined || count === "") return [];
  if (lines.at(-1) === "") lines.pop();
  if (String(lines.length) !== count) return undefined;
  const entries: string[][] = [];
  for (const line of lines) {
    const match = pattern.exec(line);
    if (match === null) return undefined;
    entries.push(match.slice(1));
  }
  return entries;
}
