import { byNumber } from "../base/order.ts";
import type { BrokerId, Offset, PartitionName } from "../kafka/ids.ts";
import type { OffsetRange } from "../ports/disk-failure.ts";

/** A stretch of one replica's log that a fault may damage. */
export interface CopyHarm {
  readonly partition: PartitionName;
  /** All replicas of the partition. */
  readonly replicas: readonly BrokerId[];
  /** The one whose copy it is. */
  readonly broker: BrokerId;
  /** Undefined: all of the log, also what is yet to come. */
  readonly offsets: OffsetRange | undefined;
  /** How many good copies it takes to go on at all; at least as many are kept. */
  readonly quorum: number;
}

interface Scar extends OffsetRange {
  readonly broker: BrokerId;
}

/**
 * Keeps account, for each partition and stretch of its log, of the replicas whose copy faults have
 * damaged, and so of those that may still be: all but `goodCopies` of them. A copy once damaged counts
 * as that for the rest of the run, though the replica may have fetched the records anew.
 *
 * After the fault atlas of TigerBeetle's VOPR, which draws before the run which replicas may be faulty
 * where. Here the first that are hit are those.
 */
export class FaultAtlas {
  readonly #goodCopies: number;
  readonly #scars = new Map<PartitionName, readonly Scar[]>();

  constructor(goodCopies: number) {
    this.#goodCopies = goodCopies;
  }

  /**
   * If enough good copies are left after all this, it is taken down; otherwise nothing is, and what
   * would be the matter is returned: `orders-0 would have 1 good copy, and 2 are promised`.
   */
  admit(harms: readonly CopyHarm[]): string | undefined {
    const scars = new Map<PartitionName, readonly Scar[]>();
    for (const harm of harms) {
      const { partition, replicas, quorum } = harm;
      const known = scars.get(partition) ?? this.#scars.get(partition) ?? [];
      scars.set(partition, [...known, scarOf(harm)]);
      const left = goodCopies(scars.get(partition) ?? [], replicas);
      const promised = this.#promisedOf(replicas, quorum);
      if (left < promised) {
        const copies = left === 1 ? "1 good copy" : `${left} good copies`;
        return `${partition} would have ${copies}, and ${promised} are promised`;
      }
    }
    for (const [partition, all] of scars) this.#scars.set(partition, all);
    return undefined;
  }

  /** The replicas that may be harmed there, one of them at least, in the order given. */
  harmable(harm: Omit<CopyHarm, "broker">): BrokerId[] {
    const { partition, replicas, quorum } = harm;
    const known = this.#scars.get(partition) ?? [];
    return replicas.filter((broker) => {
      const scars = [...known, scarOf({ ...harm, broker })];
      return goodCopies(scars, replicas) >= this.#promisedOf(replicas, quorum);
    });
  }

  /** Of fewer replicas no more can be promised than that all stay as they are. */
  #promisedOf(replicas: readonly BrokerId[], quorum: number): number {
    return Math.min(Math.max(this.#goodCopies, quorum), replicas.length);
  }
}

function scarOf({ broker, offsets }: CopyHarm): Scar {
  const { from, to } = offsets ?? { from: 0, to: Number.POSITIVE_INFINITY };
  return { broker, from, to };
}

/** How many replicas are unharmed where the fewest are. */
function goodCopies(scars: readonly Scar[], replicas: readonly BrokerId[]): number {
  // The number of those that are harmed grows only where a scar begins.
  const begins: Offset[] = scars.map(({ from }) => from).sort(byNumber);
  let least = replicas.length;
  for (const at of begins) {
    const good = replicas.filter(
      (replica) =>
        !scars.some(({ broker, from, to }) => broker === replica && from <= at && at < to),
    );
    least = Math.min(least, good.length);
  }
  return least;
}
