import { invariant } from "../../base/invariant.ts";
import type { BrokerId } from "../ids.ts";

/** The answers of the voters in one election or pre-vote (Kafka's `EpochElection`). */
export class VoteTally {
  readonly #voters: readonly BrokerId[];
  readonly #answers = new Map<BrokerId, boolean>();

  constructor(voters: readonly BrokerId[]) {
    this.#voters = voters;
  }

  /** Takes an answer. A vote once given is not taken back. */
  record(voter: BrokerId, granted: boolean): void {
    invariant(this.#voters.includes(voter), () => `${voter} is no voter`);
    if (this.#answers.get(voter) !== true) this.#answers.set(voter, granted);
  }

  /** Has a majority agreed? */
  get isGranted(): boolean {
    return this.#count(true) >= majorityOf(this.#voters.length);
  }

  /** Can a majority no longer agree? */
  get isRejected(): boolean {
    return this.#voters.length - this.#count(false) < majorityOf(this.#voters.length);
  }

  /** Voters that have not answered, in voter order. */
  get unanswered(): readonly BrokerId[] {
    return this.#voters.filter((voter) => !this.#answers.has(voter));
  }

  /** Voters that agreed, in voter order. */
  get granting(): readonly BrokerId[] {
    return this.#voters.filter((voter) => this.#answers.get(voter) === true);
  }

  #count(granted: boolean): number {
    let count = 0;
    for (const answer of this.#answers.values()) if (answer === granted) count++;
    return count;
  }
}

/** The smallest number of voters that two disjoint groups cannot both have. */
export function majorityOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}
