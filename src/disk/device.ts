import type { Duration, Instant } from "../base/time.ts";
import type { DurationSource, Random } from "../ports/random.ts";

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
 * Simplified: write-back in the background takes no bandwidth, and all reads find their pages in
 * the cache, also after a power-off.
 */
export class Device {
  readonly #host: Charged;
  readonly #random: Random;
  readonly #options: DiskOptions;
  readonly #slowdowns: Slowdown[] = [];
  /** The product of the slowdowns in force. */
  #factor = 1;
  /** When the last transfer ends, and how much of a microsecond it owes: `owed / bandwidth`. */
  #freeAt: Instant = 0;
  #owed = 0;

  constructor(host: Charged, random: Random, options: DiskOptions) {
    this.#host = host;
    this.#random = random;
    this.#options = options;
  }

  chargeRead(): void {
    this.#host.charge(this.#latency(this.#options.read));
  }

  chargeWrite(): void {
    this.#host.charge(this.#latency(this.#options.write));
  }

  /** Begins to flush so many bytes at this point of the step; returns when that ends. */
  flush(bytes: number): Instant {
    const { bandwidth, fsync } = this.#options;
    const begins = Math.max(this.#host.departure(), this.#freeAt);
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
      const at = this.#slowdowns.indexOf(slowdown);
      if (at >= 0) this.#slowdowns.splice(at, 1);
      this.#multiply();
    };
  }

  /** Forgets the flushes under way. */
  reset(): void {
    this.#freeAt = 0;
  }

  #latency(source: DurationSource): Duration {
    return this.#slowed(source.draw(this.#random));
  }

  #slowed(duration: Duration): Duration {
    return this.#factor === 1 ? duration : Math.round(duration * this.#factor);
  }

  #multiply(): void {
    let factor = 1;
    for (const slowdown of this.#slowdowns) factor *= slowdown.factor;
    this.#factor = factor;
  }
}

interface Slowdown {
  readonly factor: number;
}
