import type { PartitionName } from "../ids.ts";
import { partitionName } from "../ids.ts";
import type { GroupEffects } from "./group-effects.ts";
import type { OffsetAndMetadata } from "./group-record.ts";
import type { OffsetBook } from "./offset-book.ts";

/** What of a group decides how long its offsets are kept. */
interface OffsetOwner {
  readonly groupId: string;
  /** Milliseconds; undefined if the offset is in use. */
  unusedSince(offset: OffsetAndMetadata): number | undefined;
  isSubscribedTo(topic: string): boolean;
}

/**
 * Lets offsets of a group go that have not been used for so many milliseconds, but those that an open transaction
 * is to replace (`OffsetMetadataManager.cleanupExpiredOffsets`). True if none are left.
 */
export function expireOffsets(
  group: OffsetOwner,
  offsets: OffsetBook,
  retentionMs: number,
  effects: GroupEffects,
): boolean {
  const { groupId } = group;
  const partitions: PartitionName[] = [];
  let isAllGone = true;
  for (const { topic, partition, stored } of offsets.all(groupId)) {
    const since = group.unusedSince(stored);
    const isExpired =
      since !== undefined &&
      !group.isSubscribedTo(topic) &&
      effects.nowMs - since >= retentionMs &&
      !offsets.isPending(groupId, topic, partition);
    if (isExpired) {
      const value = undefined;
      partitions.push(partitionName(topic, partition));
      effects.records.push({ type: "OffsetCommit", group: groupId, topic, partition, value });
    } else {
      isAllGone = false;
    }
  }
  if (partitions.length > 0) {
    effects.notes.push({ kind: "offsets-removed", group: groupId, partitions });
  }
  return isAllGone;
}
