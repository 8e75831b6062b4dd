import { invariant } from "../../../base/invariant.ts";
import { byNumber } from "../../../base/order.ts";
import type { PartitionTable } from "./partition-table.ts";
import type { StickyClaims } from "./sticky-claims.ts";

/** What a sticky assignor came to: partitions by member. */
export interface StickyResult {
  readonly assigned: number[][];
  /** Partitions that somebody has to give up before their new owner may have them; undefined: find out. */
  readonly transferring: ReadonlyMap<number, number> | undefined;
}

/**
 * The assignment if all subscribe to the same topics: everybody has the quota or one more, and keeps as
 * much as that allows (`ConstrainedAssignmentBuilder`). Members are numbers, in the order of their ids.
 *
 * Kafka takes them in the order of a hash map, so that in Kafka chance decides which of several members that
 * own too much keep one more than the others.
 */
export function assignConstrained(table: PartitionTable, claims: StickyClaims): StickyResult {
  return new ConstrainedAssignment(table, claims).build();
}

class ConstrainedAssignment {
  readonly #table: PartitionTable;
  readonly #claims: StickyClaims;
  readonly #assigned: number[][];
  readonly #minQuota: number;
  readonly #maxQuota: number;
  /** How many members are to have more than the minimum, and how many have. */
  readonly #expectedOverMin: number;
  #overMin = 0;
  /** Members that want more: below the minimum, and exactly at it while somebody may have more. */
  readonly #belowMin: number[] = [];
  #atMin: number[] = [];
  /** By partition: who owned it beyond his quota. */
  readonly #revokedFrom = new Map<number, number>();
  readonly #transferring = new Map<number, number>();

  constructor(table: PartitionTable, claims: StickyClaims) {
    const members = claims.owned.length;
    this.#table = table;
    this.#claims = claims;
    this.#assigned = claims.owned.map(() => []);
    this.#minQuota = Math.floor(table.total / members);
    this.#maxQuota = Math.ceil(table.total / members);
    this.#expectedOverMin = table.total % members;
  }

  build(): StickyResult {
    const isTaken = new Uint8Array(this.#table.total);
    for (const [member, owned] of this.#claims.owned.entries()) {
      this.#keep(member, owned);
      for (const number of this.#assigned[member] as number[]) isTaken[number] = 1;
    }
    this.#belowMin.sort(byNumber);
    this.#atMin.sort(byNumber);
    this.#dealOut(isTaken);
    return { assigned: this.#assigned, transferring: this.#transferring };
  }

  /** What the member may keep of what it owned. */
  #keep(member: number, owned: readonly number[]): void {
    const table = this.#table;
    const own = owned.filter((number) => !this.#claims.claimedTwice.has(number));
    own.sort((one, other) => table.partitionOf(one) - table.partitionOf(other) || one - other);
    if (own.length < this.#minQuota) {
      this.#assigned[member] = own;
      this.#belowMin.push(member);
      return;
    }
    let quota = this.#minQuota;
    if (own.length >= this.#maxQuota && this.#overMin < this.#expectedOverMin) {
      quota = this.#maxQuota;
      this.#overMin++;
      if (this.#overMin === this.#expectedOverMin) this.#atMin = [];
    } else if (this.#overMin < this.#expectedOverMin) {
      this.#atMin.push(member);
    }
    this.#assigned[member] = own.slice(0, quota);
    for (const number of own.slice(quota)) this.#revokedFrom.set(number, member);
  }

  /** The others in turn: first to those below the minimum, round and round, then to those at it. */
  #dealOut(isTaken: Uint8Array): void {
    let turn = 0;
    for (let number = 0; number < isTaken.length; number++) {
      if (isTaken[number] === 1) continue;
      if (turn >= this.#belowMin.length) turn = 0;
      const isBelow = this.#belowMin.length > 0;
      const member = isBelow ? this.#belowMin[turn] : this.#atMin.shift();
      invariant(member !== undefined, () => `nobody may have partition ${number}`);
      const count = this.#give(number, member);
      if (!isBelow) continue;
      turn++;
      if (count !== this.#minQuota) continue;
      turn--;
      this.#belowMin.splice(turn, 1);
      this.#atMin.push(member);
    }
  }

  #give(number: number, member: number): number {
    const own = this.#assigned[member] as number[];
    const former = this.#revokedFrom.get(number);
    const isOthers = former !== undefined && former !== member;
    if (isOthers || this.#claims.claimedTwice.has(number)) this.#transferring.set(number, member);
    return own.push(number);
  }
}
