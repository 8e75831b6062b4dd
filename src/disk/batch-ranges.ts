import { readInt32, readInt64 } from "../base/big-endian.ts";
import { LOG_OVERHEAD } from "../kafka/log/batch-header.ts";
import type { OffsetRange } from "../ports/disk-failure.ts";
import type { CachedFile } from "./cached-file.ts";
import { isInside } from "./disk-area.ts";

/** Where in a segment's file the batches lie that hold one of some offsets; nowhere in other files. */
export function batchRanges(
  file: CachedFile,
  { from, to }: OffsetRange,
): { readonly from: number; readonly to: number }[] {
  if (!isInside(file.path, { log: undefined, file: "log", directory: undefined })) return [];
  const ranges: { from: number; to: number }[] = [];
  let position = 0;
  while (position + LOG_OVERHEAD <= file.dataEnd) {
    const head = file.written(position, LOG_OVERHEAD);
    const size = LOG_OVERHEAD + readInt32(head, 8);
    if (size <= LOG_OVERHEAD) break;
    const next = position + size;
    const isLast = next + LOG_OVERHEAD > file.dataEnd;
    const nextOffset = isLast
      ? Number.POSITIVE_INFINITY
      : readInt64(file.written(next, LOG_OVERHEAD), 0);
    if (readInt64(head, 0) < to && nextOffset > from) ranges.push({ from: position, to: next });
    position = next;
  }
  return ranges;
}
