import type { Offset } from "../kafka/ids.ts";
import type { Deletions } from "./delayed-deletion.ts";
import type { ProducerSnapshots } from "./producer-snapshots.ts";
import type { Segment } from "./segment.ts";

/**
 * Takes segments out of use: their files are renamed to `.deleted`, and removed after
 * `file.delete.delay.ms` (Kafka's `LocalLog.deleteSegmentFiles`).
 */
export function setSegmentsAside(
  segments: readonly Segment[],
  deletions: Deletions,
  delayMs: number,
): void {
  if (segments.length === 0) return;
  const paths: string[] = [];
  for (const segment of segments) paths.push(...segment.rename(".deleted"));
  deletions.schedule(paths, delayMs);
}

/** The same with the producer snapshots at these bases (`UnifiedLog.deleteProducerSnapshots`). */
export function setSnapshotsAside(
  bases: readonly Offset[],
  snapshots: ProducerSnapshots,
  deletions: Deletions,
  delayMs: number,
): void {
  const paths: string[] = [];
  for (const base of bases) {
    const path = snapshots.setAside(base);
    if (path !== undefined) paths.push(path);
  }
  if (paths.length > 0) deletions.schedule(paths, delayMs);
}
