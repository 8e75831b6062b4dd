/**
 * Requests in purgatory that wait for one partition, oldest first. As a `Set`, also while it is
 * walked: what is deleted is not met any more, what is added is. There are few at a time, so that
 * an array is cheaper to search than a `Set` is to hash.
 */
export class WaitList<Waiter extends { tryComplete(): boolean }> {
  /** `undefined`: deleted during a walk, to be closed up after it. */
  readonly #waiters: (Waiter | undefined)[] = [];
  #size = 0;
  #walks = 0;

  get size(): number {
    return this.#size;
  }

  /** Those in the list now, oldest first. */
  all(): readonly Waiter[] {
    return this.#waiters.filter((waiter) => waiter !== undefined);
  }

  /** It must not be in the list yet. */
  add(waiter: Waiter): void {
    this.#waiters.push(waiter);
    this.#size++;
  }

  delete(waiter: Waiter): void {
    const waiters = this.#waiters;
    const at = waiters.indexOf(waiter);
    if (at < 0) return;
    this.#size--;
    if (this.#walks > 0) waiters[at] = undefined;
    else if (at === 0) waiters.shift();
    else waiters.splice(at, 1);
  }

  /** Has each look whether it can be answered now. */
  completeAll(): void {
    const waiters = this.#waiters;
    if (waiters.length === 0) return;
    this.#walks++;
    // An answer may let the next request of its connection in, which is then met as well.
    for (const waiter of waiters) waiter?.tryComplete();
    this.#walks--;
    if (this.#walks === 0 && this.#size < waiters.length) this.#closeUp();
  }

  #closeUp(): void {
    const waiters = this.#waiters;
    let kept = 0;
    for (const waiter of waiters) if (waiter !== undefined) waiters[kept++] = waiter;
    // Setting the length is a call into the engine, popping is not.
    while (waiters.length > kept) waiters.pop();
  }
}
