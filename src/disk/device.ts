import type { Duration, Instant } from "../base/time.ts";
import type { DurationSource, Random, Ratio } from "../ports/random.ts";
import type { DiskOptions } from "./disk-options.ts";

const MICROSECONDS_PER_SECOND = 1_000_000;

/** What a device needs of the host whose steps it makes longer. */
export interface Charged {
  charge(work: Duration): void;
  departure(): Instant;
}

/**
 * How long a disk takes. Calls that the page cache answers cost their latency; a flush waits for
 * the flushes before it, transfers its bytes at the device's bandwidth, and costs its latency.
 *
 * Simplified: write-back in the background takes no bandwidth, and a read that misses the page cache
 * takes no longer than one that hits it.
 */
export class Device {
  readonly #host: Charged;
  readonly #random: Random;
  readonly #options: DiskOptions;
  readonly #slowdowns: Slowdown[] = [];
  readonly #spikes: Spikes[] = [];
  /** The product of the slowdowns in force. */
  #factor = 1;
  /** Is it as fast as ever, for all that is known here? */
  #isSteady = true;
  /** Until then it answers nothing; and until then, no flush. */
  #stalledUntil: Instant = 0;
  #flushesStalledUntil: Instant = 0;
  /** When the last transfer ends, and how much of a microsecond it owes: `owed / bandwidth`. */
  #freeAt: Instant = 0;
  #owed = 0;

  constructor(host: Charged, random: Random, options: DiskOptions) {
    this.#host = host;
    this.#random = random;
    this.#options = options;
  }

  chargeRead(): void {
    if (!this.#isSteady) this.#awaitStall();
    this.#host.charge(this.#latency(this.#options.read));
  }

  chargeWrite(): void {
    if (!this.#isSteady) this.#awaitStall();
    this.#host.charge(this.#latency(this.#options.write));
  }

  /** Begins to flush so many bytes at this point of the step; returns when that ends. */
  flush(bytes: number): Instant {
    const { bandwidth, fsync } = this.#options;
    const free = Math.max(this.#freeAt, this.#stalledUntil, this.#flushesStalledUntil);
    const begins = Math.max(this.#host.departure(), free);
    const work = bytes * MICROSECONDS_PER_SECOND + this.#owed;
    const transfer = Math.floor(work / bandwidth);
    // Owing the rest keeps many small flushes exact on average.
    this.#owed = work - transfer * bandwidth;
    this.#freeAt = begins + this.#slowed(transfer);
    return this.#freeAt + this.#latency(fsync);
  }

  /** Waits within the step. */
  waitUntil(end: Instant): void {
    this.#host.charge(end - this.#host.departure());
  }

  /** Everything takes `factor` times as long until the returned function is called. */
  slow(factor: number): () => void {
    const slowdown = { factor };
    this.#slowdowns.push(slowdown);
    this.#multiply();
    return () => {
      removeFrom(this.#slowdowns, slowdown);
      this.#multiply();
    };
  }

  /** Until the returned function is called, what an operation takes is longer now and then. */
  spike(random: Random, chance: Ratio, latency: DurationSource): () => void {
    const spikes = { random, chance, latency };
    this.#spikes.push(spikes);
    this.#multiply();
    return () => {
      removeFrom(this.#spikes, spikes);
      this.#multiply();
    };
  }

  /** What is asked of it before that instant waits for it; or, of all that, only flushes. */
  stall(until: Instant, what: "all" | "fsync"): void {
    if (what === "all") {
      this.#stalledUntil = Math.max(this.#stalledUntil, until);
      this.#isSteady = false;
    } else {
      this.#flushesStalledUntil = Math.max(this.#flushesStalledUntil, until);
    }
  }

  /** Forgets the flushes under way. */
  reset(): void {
    this.#freeAt = 0;
  }

  #latency(source: DurationSource): Duration {
    const drawn = source.draw(this.#random);
    return this.#isSteady ? drawn : this.#disturbed(drawn);
  }

  #disturbed(latency: Duration): Duration {
    let longer = this.#slowed(latency);
    for (const { random, chance, latency: more } of this.#spikes) {
      if (random.chance(chance.times, chance.outOf)) longer += more.draw(random);
    }
    return longer;
  }

  #awaitStall(): void {
    const departure = this.#host.departure();
    if (departure < this.#stalledUntil) this.#host.charge(this.#stalledUntil - departure);
  }

  #slowed(duration: Duration): Duration {
    return this.#factor === 1 ? duration : Math.round(duration * this.#factor);
  }

  #multiply(): void {
    let factor = 1;
    for (const slowdown of this.#slowdowns) factor *= slowdown.factor;
    this.#factor = factor;
    // A stall is over without anybody's doing, and so it keeps the device from being called steady.
    this.#isSteady = factor === 1 && this.#spikes.length === 0 && this.#stalledUntil === 0;
  }
}

interface Slowdown {
  readonly factor: number;
}

interface Spikes {
  readonly random: Random;
  readonly chance: Ratio;
  readonly latency: DurationSource;
}

function removeFrom<Item>(items: Item[], item: Item): void {
  const at = items.indexOf(item);
  if (at >= 0) items.splice(at, 1);
}
