import { toMillis } from "../base/time.ts";
import type { Offset } from "../kafka/ids.ts";
import type { Disk } from "../ports/disk.ts";
import { DiskError } from "../ports/disk.ts";
import type { Clock } from "../ports/node.ts";
import { Segment } from "./segment.ts";

/**
 * Puts a log's directory right after a stop in the middle of a deletion or of a cleaning, and returns
 * the names that are then in it (first half of Kafka's `LogLoader.load`):
 *
 * - `.deleted` files go;
 * - `.cleaned` files go, and the `.swap` files at their offsets or above: they are of a replacement that
 *   had not been decided yet, since files become `.swap` from the highest offset down;
 * - other `.swap` files take their place, and what they were made from goes.
 */
export function finishInterruptedSwap(disk: Disk, directory: string, clock: Clock): string[] {
  const names = disk.list(directory);
  if (!names.some((name) => TEMPORARY.test(name))) return names;
  const cleaned = names.filter((name) => name.endsWith(".cleaned"));
  const minCleaned = Math.min(...cleaned.map(offsetOf));
  const swaps: string[] = [];
  for (const name of names) {
    if (name.endsWith(".deleted")) disk.remove(`${directory}/${name}`);
    else if (name.endsWith(".swap") && offsetOf(name) < minCleaned) swaps.push(name);
    else if (name.endsWith(".swap")) disk.remove(`${directory}/${name}`);
  }
  for (const name of cleaned) disk.remove(`${directory}/${name}`);
  removeReplaced(disk, directory, swaps, clock);
  for (const name of disk.list(directory)) {
    const path = `${directory}/${name}`;
    if (name.endsWith(".swap")) disk.rename(path, path.slice(0, -".swap".length));
  }
  return disk.list(directory);
}

/** Removes the files at offsets that the `.swap` segments hold. */
function removeReplaced(
  disk: Disk,
  directory: string,
  swaps: readonly string[],
  clock: Clock,
): void {
  let from: Offset = Number.POSITIVE_INFINITY;
  let to: Offset = -1;
  for (const name of swaps) {
    if (!name.endsWith(".log.swap")) continue;
    const nowMs = toMillis(clock.now());
    const segment = new Segment(disk, directory, offsetOf(name), nowMs, ".swap");
    const end = segment.findNextOffset();
    if (end === undefined) throw new DiskError("EIO", `${directory}/${name}`);
    from = Math.min(from, segment.baseOffset);
    to = Math.max(to, end);
  }
  for (const name of disk.list(directory)) {
    if (name.endsWith(".swap")) continue;
    const offset = offsetOf(name);
    if (offset >= from && offset < to) disk.remove(`${directory}/${name}`);
  }
}

const TEMPORARY = /\.(deleted|cleaned|swap)$/;

/** The offset that a name begins with; NaN without one, which lies in no range. */
function offsetOf(name: string): Offset {
  return Number(/^(\d+)\./.exec(name)?.[1]);
}
