/**
 * Tells who of some members is to have the next partition and who is to give one up
 * (`UniformHeterogeneousAssignmentBuilder.MemberAssignmentBalancer`). Members stand in the order of their
 * load; two ranges of it, from either end, hold those who have least and most. When each member of a range
 * has had its turn, the level of the range moves by one, and the range takes in the members at the new level.
 */
export class LoadBalancer {
  /** By member, kept by the owner of this. */
  readonly #sizes: readonly number[];
  #sorted: number[] = [];
  #leastEnd = 0;
  #leastLevel = 0;
  #nextLeast = 0;
  #mostStart = 0;
  #mostEnd = 0;
  #mostLevel = 0;
  #nextMost = 0;

  constructor(sizes: readonly number[]) {
    this.#sizes = sizes;
  }

  /** Begins with these members, of whom there is at least one. Returns how far their loads are apart. */
  begin(members: readonly number[]): number {
    this.#sorted = [...members].sort(
      (one, other) => this.#sizeOf(one) - this.#sizeOf(other) || one - other,
    );
    const count = this.#sorted.length;
    const least = this.#levelAt(0);
    const most = this.#levelAt(count - 1);
    this.#leastEnd = 0;
    this.#leastLevel = least - 1;
    this.#nextLeast = 0;
    this.#mostStart = count;
    this.#mostEnd = count;
    this.#mostLevel = most + 1;
    this.#nextMost = count - 1;
    return most - least;
  }

  /** Who has least, taken to have one more from now on. */
  nextLeastLoaded(): number {
    if (this.#nextLeast >= this.#leastEnd) {
      this.#leastLevel++;
      while (this.#leastEnd < this.#sorted.length && this.#isAt(this.#leastEnd, this.#leastLevel)) {
        this.#leastEnd++;
      }
      this.#nextLeast = 0;
    }
    return this.#sorted[this.#nextLeast++] as number;
  }

  /** Who has most, taken to have one less from now on; undefined if all are excluded. */
  nextMostLoaded(): number | undefined {
    if (this.#nextMost < this.#mostStart) {
      const isEmpty = this.#mostEnd <= this.#mostStart && this.#mostStart > 0;
      if (isEmpty) this.#mostLevel = this.#levelAt(this.#mostStart - 1);
      else this.#mostLevel--;
      while (this.#mostStart > 0 && this.#isAt(this.#mostStart - 1, this.#mostLevel)) {
        this.#mostStart--;
      }
      this.#nextMost = this.#mostEnd - 1;
    }
    if (this.#nextMost < 0) return undefined;
    return this.#sorted[this.#nextMost--] as number;
  }

  /** Whoever `nextMostLoaded` named last has nothing to give up: he is out. */
  excludeMostLoaded(): void {
    const at = this.#nextMost + 1;
    const member = this.#sorted[at] as number;
    this.#mostEnd--;
    this.#sorted[at] = this.#sorted[this.#mostEnd] as number;
    this.#sorted[this.#mostEnd] = member;
  }

  isBalanced(): boolean {
    return this.#mostLevel - this.#leastLevel <= 1;
  }

  #isAt(position: number, level: number): boolean {
    return this.#levelAt(position) === level;
  }

  #levelAt(position: number): number {
    return this.#sizeOf(this.#sorted[position] as number);
  }

  #sizeOf(member: number): number {
    return this.#sizes[member] as number;
  }
}
