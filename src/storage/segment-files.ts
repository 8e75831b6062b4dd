import type { Offset } from "../kafka/ids.ts";
import type { Disk } from "../ports/disk.ts";

/** What a segment's file holds. */
export type SegmentSuffix = "log" | "index" | "timeindex" | "txnindex" | "snapshot";

/**
 * What else a name ends with (Kafka's `LogFileUtils`): set aside to be removed later; written by the
 * cleaner and not in use yet; about to take the place of the segments that it was made from.
 */
export type FileState = "" | ".deleted" | ".cleaned" | ".swap";

/** The path of a segment's file: twenty digits and what follows the dot. */
export function segmentPath(
  directory: string,
  baseOffset: Offset,
  suffix: SegmentSuffix,
  state: FileState = "",
): string {
  return `${directory}/${String(baseOffset).padStart(20, "0")}.${suffix}${state}`;
}

/** Gives a segment's files another ending; returns their new paths. */
export function renameSegmentFiles(
  disk: Disk,
  directory: string,
  baseOffset: Offset,
  before: FileState,
  after: FileState,
): readonly string[] {
  const paths: string[] = [];
  for (const file of SEGMENT_FILES) {
    const from = segmentPath(directory, baseOffset, file, before);
    if (file === "txnindex" && !disk.exists(from)) continue;
    const to = segmentPath(directory, baseOffset, file, after);
    disk.rename(from, to);
    paths.push(to);
  }
  return paths;
}

/** Of files that are absent nothing is said. */
export function removeSegmentFiles(
  disk: Disk,
  directory: string,
  baseOffset: Offset,
  state: FileState = "",
): void {
  for (const file of SEGMENT_FILES) {
    const path = segmentPath(directory, baseOffset, file, state);
    if (file === "txnindex" && !disk.exists(path)) continue;
    disk.remove(path);
  }
}

/** In the order in which Kafka renames them. Few segments have an index of aborted transactions. */
const SEGMENT_FILES = ["log", "index", "timeindex", "txnindex"] as const;
