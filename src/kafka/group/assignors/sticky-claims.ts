import type { MemberSubscription } from "./member-subscription.ts";
import type { PartitionTable } from "./partition-table.ts";
import type { OwnershipClaim } from "./sticky-user-data.ts";

/** What members claim to have had, with the conflicts between them resolved. */
export interface StickyClaims {
  /** By member: what it may keep, if the balance lets it. */
  readonly owned: readonly number[][];
  /** Claimed by two members of the same generation: neither is believed (KAFKA-14639). */
  readonly claimedTwice: ReadonlySet<number>;
  /** The highest generation that anybody claims. */
  readonly maxGeneration: number;
  /** Does everybody subscribe to the same topics? */
  readonly isUniform: boolean;
}

const NO_GENERATION = -1;

/** Takes members in order; of two claims, the one of the higher generation counts (`allSubscriptionsEqual`). */
export function settleClaims(
  members: readonly MemberSubscription[],
  claims: readonly OwnershipClaim[],
  table: PartitionTable,
): StickyClaims {
  const owned: number[][] = members.map(() => []);
  const claimedTwice = new Set<number>();
  const owner = new Int32Array(table.total).fill(-1);
  let maxGeneration = NO_GENERATION;
  for (const [member, claim] of claims.entries()) {
    const generation = claim.generation ?? NO_GENERATION;
    maxGeneration = Math.max(maxGeneration, generation);
    // What is no longer there is no longer owned. Kafka would keep a partition beyond the end of a topic
    // that was made anew with fewer, and get the rest of the assignment wrong.
    for (const number of table.numbersOf(claim.partitions)) {
      const other = owner[number] as number;
      // Kafka asks the subscription here, not the assignor's own data.
      const rival = other < 0 ? NO_GENERATION : (members[other]?.generation ?? NO_GENERATION);
      if (other >= 0 && generation < rival) continue;
      owner[number] = member;
      if (other >= 0) remove(owned[other], number);
      if (other >= 0 && generation === rival) claimedTwice.add(number);
      else owned[member]?.push(number);
    }
  }
  return { owned, claimedTwice, maxGeneration, isUniform: haveSameTopics(members) };
}

/** As Kafka compares them: members at the front that subscribe to nothing are passed over. */
function haveSameTopics(members: readonly MemberSubscription[]): boolean {
  let first: ReadonlySet<string> = new Set();
  for (const { topics } of members) {
    if (first.size === 0) first = new Set(topics);
    else if (topics.length !== first.size || !topics.every((topic) => first.has(topic)))
      return false;
  }
  return true;
}

function remove(numbers: number[] | undefined, number: number): void {
  const at = numbers?.indexOf(number) ?? -1;
  if (at >= 0) numbers?.splice(at, 1);
}
