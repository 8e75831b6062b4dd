import { byNumber, byText } from "../../base/order.ts";
import type { BrokerId } from "../ids.ts";
import type { WordSource } from "../uuid.ts";

export interface UsableBroker {
  readonly id: BrokerId;
  readonly rack: string | undefined;
  readonly fenced: boolean;
}

/**
 * Places replicas in stripes over racks and over the brokers of each rack, from random starts, so
 * that leaders and load spread evenly. Unfenced brokers come first, and the first replica is always
 * one (Kafka's `StripedReplicaPlacer`). There must be an unfenced broker, and as many brokers as
 * replicas.
 */
export function placeReplicas(
  brokers: readonly UsableBroker[],
  partitions: number,
  replicationFactor: number,
  random: WordSource,
): readonly (readonly BrokerId[])[] {
  const racks = new Racks(brokers, random);
  return Array.from({ length: partitions }, () => racks.place(replicationFactor));
}

/** Brokers of one rack, handed out in a circle; each round begins one further on. */
class Ring {
  readonly #brokers: BrokerId[];
  #given = 0;
  #offset: number;
  #round = 0;

  constructor(brokers: readonly BrokerId[], random: WordSource) {
    this.#brokers = [...brokers].sort(byNumber);
    this.#offset = brokers.length === 0 ? 0 : random.below(brokers.length);
  }

  shuffle(random: WordSource): void {
    shuffle(this.#brokers, random);
  }

  /** Undefined once all were given in this round. */
  next(round: number): BrokerId | undefined {
    const count = this.#brokers.length;
    if (count === 0) return undefined;
    if (this.#round !== round) {
      this.#round = round;
      this.#given = 0;
      this.#offset = (this.#offset + 1) % count;
    }
    if (this.#given >= count) return undefined;
    return this.#brokers[(this.#given++ + this.#offset) % count];
  }
}

interface Rack {
  readonly unfenced: Ring;
  readonly fenced: Ring;
}

class Racks {
  readonly #random: WordSource;
  readonly #racks: Rack[];
  readonly #unfencedBrokers: number;
  #round = 0;
  #offset: number;

  constructor(brokers: readonly UsableBroker[], random: WordSource) {
    this.#random = random;
    this.#unfencedBrokers = brokers.filter((broker) => !broker.fenced).length;
    const names = [...new Set(brokers.map((broker) => broker.rack ?? ""))].sort(byText);
    this.#racks = names.map((name) => {
      const members = brokers.filter((broker) => (broker.rack ?? "") === name);
      const idsOf = (fenced: boolean): BrokerId[] =>
        members.filter((broker) => broker.fenced === fenced).map((broker) => broker.id);
      return {
        fenced: new Ring(idsOf(true), random),
        unfenced: new Ring(idsOf(false), random),
      };
    });
    this.#offset = random.below(this.#racks.length);
  }

  place(replicationFactor: number): readonly BrokerId[] {
    const racks = this.#racks;
    if (this.#round === this.#unfencedBrokers && this.#unfencedBrokers > 1) this.#shuffle();
    if (this.#offset === racks.length) this.#offset = 0;

    let leaderRack = this.#offset;
    let leader = this.#rack(leaderRack).unfenced.next(this.#round);
    while (leader === undefined) {
      leaderRack = (leaderRack + 1) % racks.length;
      leader = this.#rack(leaderRack).unfenced.next(this.#round);
    }
    const replicas = [leader];
    // The leader's rack is passed over once: it has given its replica.
    let passOver = leaderRack;
    for (let at = this.#offset; replicas.length < replicationFactor; at = (at + 1) % racks.length) {
      if (at === passOver) {
        passOver = -1;
        continue;
      }
      const rack = this.#rack(at);
      const replica = rack.unfenced.next(this.#round) ?? rack.fenced.next(this.#round);
      if (replica !== undefined) replicas.push(replica);
    }
    this.#round++;
    this.#offset++;
    return replicas;
  }

  /** All assignments that the present order gives are used up. */
  #shuffle(): void {
    shuffle(this.#racks, this.#random);
    for (const rack of this.#racks) {
      rack.fenced.shuffle(this.#random);
      rack.unfenced.shuffle(this.#random);
    }
    this.#round = 0;
  }

  #rack(index: number): Rack {
    return this.#racks[index] as Rack;
  }
}

function shuffle<T>(items: T[], random: WordSource): void {
  for (let size = items.length; size > 1; size--) {
    const other = random.below(size);
    const last = items[size - 1] as T;
    items[size - 1] = items[other] as T;
    items[other] = last;
  }
}
