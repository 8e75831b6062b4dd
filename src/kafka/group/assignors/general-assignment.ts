import { fail } from "../../../base/invariant.ts";
import type { StickyResult } from "./constrained-assignment.ts";
import type { MemberSubscription } from "./member-subscription.ts";
import { PartitionMovements } from "./partition-movements.ts";
import type { PartitionTable } from "./partition-table.ts";
import type { StickyClaims } from "./sticky-claims.ts";
import type { OwnershipClaim } from "./sticky-user-data.ts";

const NOBODY = -1;

/**
 * The assignment if members subscribe to different topics: what is owned is kept, the rest goes to whoever has
 * least, and then partitions move as long as that makes the assignment more balanced
 * (`GeneralAssignmentBuilder`). Members are numbers, in the order of their ids.
 */
export function assignGenerally(
  members: readonly MemberSubscription[],
  claims: readonly OwnershipClaim[],
  settled: StickyClaims,
  table: PartitionTable,
): StickyResult {
  return new GeneralAssignment(members, claims, settled, table).build();
}

class GeneralAssignment {
  readonly #table: PartitionTable;
  readonly #memberCount: number;
  /** By member and topic. */
  readonly #subscribes: Uint8Array;
  /** By topic. */
  readonly #subscribers: number[][];
  /** By member: how many partitions it could have. */
  readonly #most: number[];
  /** By partition. */
  #owner: Int32Array;
  /** By member. */
  #sizes: Int32Array;
  /** By partition: who had it in an earlier generation than the last. */
  readonly #former: Int32Array;
  /** Members by how much they have, then by number; those that balancing cannot change leave it. */
  readonly #sorted: number[] = [];
  readonly #movements = new PartitionMovements();
  /** Members that have all that they can have, all of which is only theirs: they take no part in balancing. */
  #fixed: ReadonlySet<number> = new Set();
  /** Did somebody lose what he no longer subscribes to? */
  #hasRevoked = false;

  constructor(
    members: readonly MemberSubscription[],
    claims: readonly OwnershipClaim[],
    settled: StickyClaims,
    table: PartitionTable,
  ) {
    const topics = table.topics.length;
    this.#table = table;
    this.#memberCount = members.length;
    this.#subscribes = new Uint8Array(members.length * topics);
    this.#subscribers = table.topics.map(() => []);
    this.#most = members.map(() => 0);
    this.#owner = new Int32Array(table.total).fill(NOBODY);
    this.#sizes = new Int32Array(members.length);
    this.#former = formerOwners(claims, settled.maxGeneration, table);
    for (const [member, subscription] of members.entries()) {
      for (const name of subscription.topics) {
        const topic = table.topicNumber(name);
        if (topic < 0) continue;
        this.#subscribes[member * topics + topic] = 1;
        this.#subscribers[topic]?.push(member);
        this.#most[member] = (this.#most[member] as number) + (table.sizes[topic] as number);
      }
      for (const number of settled.owned[member] as number[]) this.#keep(number, member);
    }
  }

  build(): StickyResult {
    const order = this.#inOrder();
    const unassigned = order.filter((number) => this.#owner[number] === NOBODY);
    for (let member = 0; member < this.#memberCount; member++) this.#insert(member);
    this.#balance(order, unassigned);
    const assigned: number[][] = Array.from({ length: this.#memberCount }, () => []);
    for (const [number, owner] of this.#owner.entries()) assigned[owner]?.push(number);
    return { assigned, transferring: undefined };
  }

  #keep(number: number, member: number): void {
    if (this.#wants(member, this.#table.topicOf[number] as number)) {
      this.#owner[number] = member;
      this.#sizes[member] = this.#sizeOf(member) + 1;
    } else {
      this.#hasRevoked = true;
    }
  }

  /** All partitions, those of topics with the fewest subscribers first. */
  #inOrder(): number[] {
    const { topics, starts, sizes } = this.#table;
    const inOrder = topics.map((_, topic) => topic);
    inOrder.sort((one, other) => this.#audience(one) - this.#audience(other) || one - other);
    const numbers: number[] = [];
    for (const topic of inOrder) {
      const start = starts[topic] as number;
      const end = start + (sizes[topic] as number);
      for (let number = start; number < end; number++) numbers.push(number);
    }
    return numbers;
  }

  #balance(order: readonly number[], unassigned: readonly number[]): void {
    const last = this.#sorted[this.#sorted.length - 1] as number;
    const isInitial = this.#sizeOf(last) === 0;
    for (const number of unassigned) this.#give(number);
    // What has one subscriber only cannot move, nor can a member that has nothing else.
    const isMovable = (number: number) => this.#audience(this.#table.topicOf[number] as number) > 1;
    this.#fixed = this.#fixedMembers();
    for (const member of this.#fixed) this.#remove(member);
    const [ownerBefore, sizesBefore] = [this.#owner.slice(), this.#sizes.slice()];
    if (!this.#hasRevoked) this.#reassign(unassigned.filter(isMovable));
    const hasMoved = this.#reassign(order.filter(isMovable));
    if (isInitial || !hasMoved) return;
    if (this.#imbalance(this.#sizes) < this.#imbalance(sizesBefore)) return;
    this.#owner = ownerBefore;
    this.#sizes = sizesBefore;
  }

  #fixedMembers(): ReadonlySet<number> {
    const fixed = new Set<number>();
    for (let member = 0; member < this.#memberCount; member++) {
      if (this.#sizeOf(member) < (this.#most[member] as number)) continue;
      const isAlone = this.#subscribers.every(
        (subscribers) => subscribers.length < 2 || !subscribers.includes(member),
      );
      if (isAlone) fixed.add(member);
    }
    return fixed;
  }

  /** To the subscriber that has least. */
  #give(number: number): void {
    const member = this.#leastLoaded(this.#table.topicOf[number] as number);
    this.#remove(member);
    this.#owner[number] = member;
    this.#sizes[member] = this.#sizeOf(member) + 1;
    this.#insert(member);
  }

  #leastLoaded(topic: number): number {
    for (const member of this.#sorted) if (this.#wants(member, topic)) return member;
    return fail(`nobody subscribes to ${this.#table.topics[topic]}`);
  }

  /**
   * Moves partitions for as long as one moves. Has any?
   *
   * Kafka's assignor can go round for ever when members that subscribe to one topic, to some and to all push
   * partitions around among them (seen in 4.3.1). Here it ends once owners are as they were before, which is
   * all that the next moves depend on.
   */
  #reassign(numbers: readonly number[]): boolean {
    const seen = new Set<string>();
    let hasMoved = false;
    while (this.#reassignOnce(numbers)) {
      hasMoved = true;
      const owners = this.#owner.join();
      if (seen.has(owners)) break;
      seen.add(owners);
    }
    return hasMoved;
  }

  #reassignOnce(numbers: readonly number[]): boolean {
    let hasMoved = false;
    for (const number of numbers) {
      if (this.#isBalanced()) break;
      const target = this.#betterOwner(number);
      if (target === NOBODY) continue;
      this.#move(number, target);
      hasMoved = true;
    }
    return hasMoved;
  }

  /**
   * The former owner if he has less by two, or else whoever has least, if anybody has less by two. As in Kafka
   * the former owner need not subscribe any more; if he takes no part at all, Kafka's assignor fails.
   */
  #betterOwner(number: number): number {
    const topic = this.#table.topicOf[number] as number;
    const size = this.#sizeOf(this.#owner[number] as number);
    const former = this.#former[number] as number;
    const isAsked = former !== NOBODY && !this.#fixed.has(former);
    if (isAsked && size > this.#sizeOf(former) + 1) return former;
    for (const member of this.#subscribers[topic] as number[]) {
      if (size > this.#sizeOf(member) + 1) return this.#leastLoaded(topic);
    }
    return NOBODY;
  }

  #move(wanted: number, to: number): void {
    const topic = this.#table.topicOf[wanted] as number;
    const number = this.#movements.inPlaceOf(wanted, topic, this.#owner[wanted] as number, to);
    const from = this.#owner[number] as number;
    this.#remove(from);
    this.#remove(to);
    this.#movements.record(number, topic, from, to);
    this.#owner[number] = to;
    this.#sizes[from] = this.#sizeOf(from) - 1;
    this.#sizes[to] = this.#sizeOf(to) + 1;
    this.#insert(to);
    this.#insert(from);
  }

  /** Can nobody have one more from somebody who has more by two? */
  #isBalanced(): boolean {
    const sorted = this.#sorted;
    const min = this.#sizeOf(sorted[0] as number);
    const max = this.#sizeOf(sorted[sorted.length - 1] as number);
    if (min >= max - 1) return true;
    const { topicOf, topics } = this.#table;
    // By topic: how much the one has who has most and any of its partitions.
    const largest = new Int32Array(topics.length);
    for (let number = 0; number < topicOf.length; number++) {
      const size = this.#sizeOf(this.#owner[number] as number);
      const topic = topicOf[number] as number;
      if (size > (largest[topic] as number)) largest[topic] = size;
    }
    for (const member of sorted) {
      const size = this.#sizeOf(member);
      if (size === this.#most[member]) continue;
      for (let topic = 0; topic < topics.length; topic++) {
        if (size + 1 < (largest[topic] as number) && this.#wants(member, topic)) return false;
      }
    }
    return true;
  }

  /** The differences between all pairs of members that take part, summed up. */
  #imbalance(sizes: Int32Array): number {
    let score = 0;
    for (let one = 0; one < sizes.length; one++) {
      if (this.#fixed.has(one)) continue;
      for (let other = one + 1; other < sizes.length; other++) {
        if (this.#fixed.has(other)) continue;
        score += Math.abs((sizes[one] as number) - (sizes[other] as number));
      }
    }
    return score;
  }

  #wants(member: number, topic: number): boolean {
    return this.#subscribes[member * this.#table.topics.length + topic] === 1;
  }

  #audience(topic: number): number {
    return (this.#subscribers[topic] as number[]).length;
  }

  #sizeOf(member: number): number {
    return this.#sizes[member] as number;
  }

  #insert(member: number): void {
    const sorted = this.#sorted;
    const size = this.#sizeOf(member);
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = sorted[middle] as number;
      const isBefore = (this.#sizeOf(other) - size || other - member) < 0;
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    sorted.splice(low, 0, member);
  }

  /** Nothing if it is not in the order, as a fixed member is not. */
  #remove(member: number): void {
    const at = this.#sorted.indexOf(member);
    if (at >= 0) this.#sorted.splice(at, 1);
  }
}

/** By partition: who claims it from before the last generation, the latest of them. */
function formerOwners(
  claims: readonly OwnershipClaim[],
  maxGeneration: number,
  table: PartitionTable,
): Int32Array {
  const former = new Int32Array(table.total).fill(NOBODY);
  const since = new Int32Array(table.total);
  for (const [member, claim] of claims.entries()) {
    const generation = claim.generation ?? -1;
    if (generation >= maxGeneration) continue;
    for (const number of table.numbersOf(claim.partitions)) {
      if (former[number] !== NOBODY && generation <= (since[number] as number)) continue;
      former[number] = member;
      since[number] = generation;
    }
  }
  return former;
}
