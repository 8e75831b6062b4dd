import type { Offset } from "../../ids.ts";

/** What grouping asks of a segment. */
export interface SegmentExtent {
  readonly baseOffset: Offset;
  readonly sizeInBytes: number;
  /** Bytes of its two indexes. */
  readonly offsetIndexBytes: number;
  readonly timeIndexBytes: number;
}

/** The offsets of a segment are int32, relative to its base. */
const MAX_RELATIVE_OFFSET = 0x7fff_ffff;

/**
 * Which neighbours become one segment: as many as stay within `segment.bytes`, `segment.index.bytes`
 * and the offsets that a segment can express (Kafka's `Cleaner.groupSegmentsBySize`). The end of the
 * last is not looked up but taken to be `firstUncleanableOffset`.
 */
export function groupSegments<S extends SegmentExtent>(
  segments: readonly S[],
  maxBytes: number,
  maxIndexBytes: number,
  firstUncleanableOffset: Offset,
): S[][] {
  const groups: S[][] = [];
  let group: S[] = [];
  let bytes = 0;
  let offsetIndexBytes = 0;
  let timeIndexBytes = 0;
  for (let i = 0; i < segments.length; i++) {
    const segment = segments[i] as S;
    const end = segments[i + 1]?.baseOffset ?? firstUncleanableOffset;
    const first = group[0];
    const fits =
      first !== undefined &&
      bytes + segment.sizeInBytes <= maxBytes &&
      offsetIndexBytes + segment.offsetIndexBytes <= maxIndexBytes &&
      timeIndexBytes + segment.timeIndexBytes <= maxIndexBytes &&
      (segment.sizeInBytes === 0 || end - 1 - first.baseOffset <= MAX_RELATIVE_OFFSET);
    if (!fits) {
      group = [];
      groups.push(group);
      bytes = 0;
      offsetIndexBytes = 0;
      timeIndexBytes = 0;
    }
    group.push(segment);
    bytes += segment.sizeInBytes;
    offsetIndexBytes += segment.offsetIndexBytes;
    timeIndexBytes += segment.timeIndexBytes;
  }
  return groups;
}
