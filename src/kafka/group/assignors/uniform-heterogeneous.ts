import { LoadBalancer } from "./load-balancer.ts";
import type { PartitionTable } from "./partition-table.ts";
import type { TargetMember } from "./target-member.ts";

/** So often Kafka goes through all topics, and then takes what it has (`MAX_ITERATION_COUNT`). */
const MAX_ROUNDS = 16;
const NOBODY = -1;

/**
 * The target if members subscribe to different topics: each keeps what it has and still wants, the rest goes
 * to whoever has least, and then partitions move, topic by topic, from those who have most to those who have
 * least (`UniformHeterogeneousAssignmentBuilder`). Partitions by member.
 */
export function assignHeterogeneous(
  members: readonly TargetMember[],
  table: PartitionTable,
): number[][] {
  return new HeterogeneousAssignment(members, table).build();
}

class HeterogeneousAssignment {
  readonly #table: PartitionTable;
  /** By topic. */
  readonly #subscribers: number[][];
  /** By partition. */
  readonly #owner: Int32Array;
  /** By member. */
  readonly #sizes: number[];
  readonly #balancer: LoadBalancer;

  constructor(members: readonly TargetMember[], table: PartitionTable) {
    this.#table = table;
    this.#subscribers = table.topics.map(() => []);
    this.#owner = new Int32Array(table.total).fill(NOBODY);
    this.#sizes = members.map(() => 0);
    this.#balancer = new LoadBalancer(this.#sizes);
    for (const [member, { topicIds, target }] of members.entries()) {
      for (const topic of topicIds) {
        const number = table.topicNumber(topic);
        if (number >= 0) this.#subscribers[number]?.push(member);
      }
      for (const number of table.numbersOf(target)) {
        const topic = table.topicOf[number] as number;
        if (this.#subscribers[topic]?.at(-1) === member) this.#give(number, member);
      }
    }
  }

  build(): number[][] {
    const topics = this.#topicsInOrder();
    for (const topic of topics) this.#fill(topic);
    this.#balance(topics.filter((topic) => this.#audience(topic) > 1));
    const assigned: number[][] = this.#sizes.map(() => []);
    for (const [number, owner] of this.#owner.entries()) assigned[owner]?.push(number);
    return assigned;
  }

  /** Those with the most partitions for each subscriber first, then those with the fewest subscribers. */
  #topicsInOrder(): number[] {
    const load = this.#table.sizes.map((size, topic) => size / this.#audience(topic));
    const topics = this.#table.topics.map((_, topic) => topic);
    return topics.sort(
      (one, other) =>
        (load[other] as number) - (load[one] as number) ||
        this.#audience(one) - this.#audience(other) ||
        one - other,
    );
  }

  /** Deals out what nobody has of the topic. */
  #fill(topic: number): void {
    this.#balancer.begin(this.#subscribers[topic] as number[]);
    for (const number of this.#numbers(topic)) {
      if (this.#owner[number] === NOBODY) this.#give(number, this.#balancer.nextLeastLoaded());
    }
  }

  /** Round after round, until a whole round moves nothing. */
  #balance(topics: readonly number[]): void {
    let lastMoved = -1;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      for (const topic of topics) {
        if (topic === lastMoved) return;
        if (this.#balanceTopic(topic) > 0 || lastMoved < 0) lastMoved = topic;
      }
    }
  }

  /** How many of its partitions moved. */
  #balanceTopic(topic: number): number {
    const balancer = this.#balancer;
    if (balancer.begin(this.#subscribers[topic] as number[]) <= 1) return 0;
    const owned: (number[] | undefined)[] = [];
    for (const number of this.#numbers(topic)) {
      const owner = this.#owner[number] as number;
      const own = owned[owner];
      if (own === undefined) owned[owner] = [number];
      else own.push(number);
    }
    let moved = 0;
    while (!balancer.isBalanced()) {
      const number = this.#takeFromMostLoaded(owned);
      if (number === undefined) break;
      const to = balancer.nextLeastLoaded();
      if (balancer.isBalanced()) break;
      this.#sizes[this.#owner[number] as number] = this.#sizeOf(this.#owner[number] as number) - 1;
      this.#give(number, to);
      moved++;
    }
    return moved;
  }

  /** The last partition of the topic that whoever has most has of it; undefined if nobody can give one up. */
  #takeFromMostLoaded(owned: readonly (number[] | undefined)[]): number | undefined {
    for (;;) {
      const from = this.#balancer.nextMostLoaded();
      if (from === undefined) return undefined;
      const number = owned[from]?.pop();
      if (number !== undefined) return number;
      this.#balancer.excludeMostLoaded();
    }
  }

  #give(number: number, member: number): void {
    this.#owner[number] = member;
    this.#sizes[member] = this.#sizeOf(member) + 1;
  }

  #numbers(topic: number): number[] {
    const start = this.#table.starts[topic] as number;
    return Array.from({ length: this.#table.sizes[topic] as number }, (_, i) => start + i);
  }

  #audience(topic: number): number {
    return (this.#subscribers[topic] as number[]).length;
  }

  #sizeOf(member: number): number {
    return this.#sizes[member] as number;
  }
}
