import type { Duration, Instant } from "../base/time.ts";
import type { DiskArea } from "../ports/disk-failure.ts";
import type { CachedFile } from "./cached-file.ts";
import { isInside } from "./disk-area.ts";

/** An instant that does not come. */
export const NEVER: Instant = Number.POSITIVE_INFINITY;

/**
 * When the system writes back what is dirty; and that it is for nothing while a device lies.
 *
 * Simplified: a cache of a device that lies is never written out of itself; and while the device of one
 * log directory lies, the journal of names, which all share, makes nothing durable by age.
 */
export class WriteBack {
  readonly age: Duration;
  /** Told when a file is about to be written back. */
  watch: ((file: CachedFile) => void) | undefined = undefined;
  /** Names age from then on, if they are older; `NEVER` while a device lies. */
  honestSince: Instant = 0;
  #lies: readonly DiskArea[] = [];

  constructor(age: Duration) {
    this.age = age;
  }

  /** When what becomes dirty now is written back. */
  dueAt(now: Instant, path: string): Instant {
    return this.isHonest(path) ? now + this.age : NEVER;
  }

  isHonest(path: string): boolean {
    return this.#lies.length === 0 || !this.#lies.some((area) => isInside(path, area));
  }

  beginLie(area: DiskArea): void {
    this.#lies = [...this.#lies, area];
    this.honestSince = NEVER;
  }

  endLie(now: Instant, area: DiskArea): void {
    this.#lies = this.#lies.filter((one) => one !== area);
    if (this.#lies.length === 0) this.honestSince = now;
  }
}
