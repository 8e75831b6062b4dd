/** What a textbook keeps for one pending event. */
export interface TextbookEvent {
  readonly time: number;
  readonly sequence: number;
  readonly kind: number;
  readonly subject: number;
  readonly payload: unknown;
}

/** The order of a simulation: by instant, and by the order of scheduling within one. */
export function byTimeAndSequence(left: TextbookEvent, right: TextbookEvent): number {
  return left.time - right.time || left.sequence - right.sequence;
}

/**
 * The priority queue of every textbook: a binary heap of objects and a comparator. It is the simple
 * twin by which the simulator's own queue is judged, for its order and for its speed.
 */
export class TextbookHeap<T> {
  readonly #items: T[] = [];
  readonly #compare: (left: T, right: T) => number;

  constructor(compare: (left: T, right: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    items.push(item);
    let at = items.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#compare(items[at] as T, items[parent] as T) >= 0) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  pop(): T | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return top;
    items[0] = last;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let first = at;
      if (left < items.length && this.#compare(items[left] as T, items[first] as T) < 0)
        first = left;
      if (right < items.length && this.#compare(items[right] as T, items[first] as T) < 0)
        first = right;
      if (first === at) return top;
      this.#swap(at, first);
      at = first;
    }
  }

  #swap(left: number, right: number): void {
    const items = this.#items;
    const item = items[left] as T;
    items[left] = items[right] as T;
    items[right] = item;
  }
}
