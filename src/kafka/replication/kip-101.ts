import type { LeaderEpoch, Offset } from "../ids.ts";
import type { EpochEnd, EpochEntry } from "../log/leader-epoch-cache.ts";

/**
 * A leader's answer to "where does this epoch end?" as first designed (KIP-101, before KIP-279):
 * where the next higher epoch that it knows begins, without saying which epoch that closes. The
 * follower then keeps what lies below, also if it is of an epoch that the leader never saw.
 */
export function kip101EpochEnd(
  entries: readonly EpochEntry[],
  epoch: LeaderEpoch,
  logEndOffset: Offset,
): EpochEnd {
  const first = entries[0];
  const latest = entries.at(-1);
  if (first === undefined || latest === undefined || epoch < first.epoch || epoch > latest.epoch) {
    return { epoch: -1, endOffset: -1 };
  }
  if (epoch === latest.epoch) return { epoch: -1, endOffset: logEndOffset };
  const next = entries.find((entry) => entry.epoch > epoch);
  return { epoch: -1, endOffset: next?.startOffset ?? -1 };
}
