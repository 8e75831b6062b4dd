import type { Duration, Instant } from "../base/time.ts";
import type { Offset } from "../kafka/ids.ts";

/**
 * Since when clients have known that a partition has come to an offset: somebody was told that a record
 * is written there or behind it, or has read it. 16 bytes for each time that the highest one rose.
 */
export class KnownOffsets {
  /** Ascending: the highest known offset was `#highest[i]` from `#since[i]` on. */
  readonly #highest: Offset[] = [];
  readonly #since: Instant[] = [];

  note(offset: Offset, at: Instant): void {
    const count = this.#highest.length;
    if (count > 0 && offset <= (this.#highest[count - 1] as Offset)) return;
    this.#highest.push(offset);
    this.#since.push(at);
  }

  /**
   * How long a consumer that has yet to read `next` has been behind at this instant, at the least: since
   * it was first known that there is something to read; 0 if that was later, or never (Jepsen's
   * realtime-lag). O(log n).
   */
  lag(next: Offset, at: Instant): Duration {
    let low = 0;
    let high = this.#highest.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#highest[middle] as Offset) < next) low = middle + 1;
      else high = middle;
    }
    const since = this.#since[low];
    return since === undefined ? 0 : Math.max(0, at - since);
  }
}
