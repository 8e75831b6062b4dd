import type { Duration, Instant } from "../base/time.ts";
import type { PartitionName } from "../kafka/ids.ts";

/** For how long nobody in a group owned a partition, since the first of its members did. */
export interface Unowned {
  readonly partition: PartitionName;
  readonly total: Duration;
  /** The longest time at a stretch. */
  readonly longest: Duration;
}

export function meanOf(unowned: readonly Unowned[]): Duration {
  const sum = unowned.reduce((all, { total }) => all + total, 0);
  return unowned.length === 0 ? 0 : Math.round(sum / unowned.length);
}

/** One partition, and those who take it for their own: two, while one has not heard that it is none. */
class OwnedPartition {
  readonly owners: string[] = [];
  /** While it has no owner: since when. */
  since: Instant = 0;
  total: Duration = 0;
  longest: Duration = 0;
  /** While it has several owners: since when. */
  sharedSince: Instant = 0;
  longestShared: Duration = 0;
}

/**
 * Who in a group owns which partition, as its members see it, and for how long nobody did. A member that is
 * paused owns what it owns; one that has stopped does not, even if its coordinator has yet to find out.
 */
export class OwnershipView {
  readonly #partitions = new Map<PartitionName, OwnedPartition>();

  noteOwned(name: PartitionName, client: string, at: Instant): void {
    let partition = this.#partitions.get(name);
    if (partition === undefined) {
      partition = new OwnedPartition();
      partition.since = at;
      this.#partitions.set(name, partition);
    }
    if (partition.owners.includes(client)) return;
    if (partition.owners.length === 0) {
      const pause = at - partition.since;
      partition.total += pause;
      partition.longest = Math.max(partition.longest, pause);
    }
    if (partition.owners.length === 1) partition.sharedSince = at;
    partition.owners.push(client);
  }

  noteGone(name: PartitionName, client: string, at: Instant): void {
    const partition = this.#partitions.get(name);
    const index = partition?.owners.indexOf(client) ?? -1;
    if (partition === undefined || index < 0) return;
    partition.owners.splice(index, 1);
    if (partition.owners.length === 0) partition.since = at;
    if (partition.owners.length === 1) {
      const shared = at - partition.sharedSince;
      partition.longestShared = Math.max(partition.longestShared, shared);
    }
  }

  noteStopped(client: string, at: Instant): void {
    for (const name of this.#partitions.keys()) this.noteGone(name, client, at);
  }

  /** Of each partition, up to now, in the order in which they were first owned. */
  unowned(now: Instant): Unowned[] {
    return [...this.#partitions].map(([partition, { owners, since, total, longest }]) => {
      const pause = owners.length === 0 ? now - since : 0;
      return { partition, total: total + pause, longest: Math.max(longest, pause) };
    });
  }

  /** The longest time up to now that a partition had more than one owner. */
  longestShared(now: Instant): Duration {
    let longest = 0;
    for (const { owners, sharedSince, longestShared } of this.#partitions.values()) {
      const present = owners.length > 1 ? now - sharedSince : 0;
      longest = Math.max(longest, longestShared, present);
    }
    return longest;
  }

  /** On average over the partitions. */
  meanUnowned(now: Instant): Duration {
    return meanOf(this.unowned(now));
  }
}
