/** A page of which the platter holds something else than was last flushed to it. */
export interface Deviation {
  /** What it holds, from the page's beginning. */
  readonly content: Uint8Array;
  /** Only this once was it read wrongly: the platter itself is right. */
  readonly isPassing: boolean;
  /** Told each time a read meets it. */
  readonly met: (page: number) => void;
  /** Is it what reads see, because the page cache got it from the platter, or does not have the page? */
  isShown: boolean;
}

/**
 * What of a file the page cache does not hold, and where the platter deviates from what was flushed.
 * The true bytes are kept apart from it, so that a fault can be lifted.
 *
 * Simplified: a page is cached from when it is written or read until the power is off, or until a fault
 * has it dropped; nothing presses it out.
 */
export class Platter {
  /** A byte for each page: 1 if it is not in the page cache. Pages beyond are. */
  #cold = new Uint8Array(0);
  #coldCount = 0;
  readonly #deviations = new Map<number, Deviation>();

  /** Is there nothing to tell of it? */
  get isClear(): boolean {
    return this.#coldCount === 0 && this.#deviations.size === 0;
  }

  /** Is what the platter holds of these pages what was flushed to it, as far as reads can see? */
  isTrueIn(first: number, last: number): boolean {
    if (this.#deviations.size === 0) return true;
    for (let page = first; page <= last; page++) {
      if (this.#deviations.get(page)?.isShown === true) return false;
    }
    return true;
  }

  isCold(page: number): boolean {
    return this.#cold[page] === 1;
  }

  deviationAt(page: number): Deviation | undefined {
    return this.#deviations.get(page);
  }

  /** The page cache forgets a page. */
  chill(page: number): void {
    if (page >= this.#cold.length) {
      const grown = new Uint8Array(Math.max(page + 1, 2 * this.#cold.length));
      grown.set(this.#cold);
      this.#cold = grown;
    }
    if (this.#cold[page] === 1) return;
    this.#cold[page] = 1;
    this.#coldCount++;
    const deviation = this.#deviations.get(page);
    if (deviation === undefined) return;
    if (deviation.isPassing) this.#deviations.delete(page);
    else deviation.isShown = true;
  }

  /** The page cache has the page. */
  warm(page: number): void {
    if (this.#cold[page] !== 1) return;
    this.#cold[page] = 0;
    this.#coldCount--;
  }

  /** Replaces a deviation that is there. Reads see it unless the page cache holds something better. */
  deviate(page: number, deviation: Deviation): void {
    deviation.isShown ||= this.isCold(page) || this.#deviations.get(page)?.isShown === true;
    this.#deviations.set(page, deviation);
  }

  /** The page is to be written: what deviates there is handed out, and gone from here. */
  take(page: number): Deviation | undefined {
    this.warm(page);
    const deviation = this.#deviations.get(page);
    if (deviation !== undefined) this.#deviations.delete(page);
    return deviation;
  }

  /** Takes a deviation back, if it is still there. */
  lift(page: number, deviation: Deviation): void {
    if (this.#deviations.get(page) === deviation) this.#deviations.delete(page);
  }

  /** Forgets all pages from this one on. */
  cutFrom(page: number): void {
    for (const deviating of [...this.#deviations.keys()]) {
      if (deviating >= page) this.#deviations.delete(deviating);
    }
    for (let at = page; at < this.#cold.length; at++) this.warm(at);
  }
}
