import { fromMillis } from "../base/time.ts";
import type { Disk } from "../ports/disk.ts";
import { DiskError } from "../ports/disk.ts";
import type { Timers } from "../ports/node.ts";

/** Where files go that have been set aside under another name. */
export interface Deletions {
  /** Removes the paths, directories with all in them, after `delayMs` (`file.delete.delay.ms`). */
  schedule(paths: readonly string[], delayMs: number): void;
}

/**
 * Removes files some time after they were set aside, so that who still reads them can finish: one
 * timer for each call, as Kafka's scheduler has one task (`delete-file`, `delete-producer-snapshot`).
 */
export class DelayedDeletions implements Deletions {
  readonly #disk: Disk;
  readonly #timers: Timers;
  readonly #timerKind: number;
  readonly #onDiskError: (problem: DiskError) => void;

  /**
   * The node's timers of `timerKind` are to be passed on to `onTimer`; `onDiskError` hears of removals
   * that fail.
   */
  constructor(
    disk: Disk,
    timers: Timers,
    timerKind: number,
    onDiskError: (problem: DiskError) => void,
  ) {
    this.#disk = disk;
    this.#timers = timers;
    this.#timerKind = timerKind;
    this.#onDiskError = onDiskError;
  }

  schedule(paths: readonly string[], delayMs: number): void {
    this.#timers.start(fromMillis(delayMs), this.#timerKind, new Due(paths));
  }

  onTimer(payload: unknown): void {
    if (!(payload instanceof Due)) return;
    try {
      for (const path of payload.paths) this.#disk.remove(path);
    } catch (problem) {
      if (!(problem instanceof DiskError)) throw problem;
      this.#onDiskError(problem);
    }
  }
}

class Due {
  readonly paths: readonly string[];

  constructor(paths: readonly string[]) {
    this.paths = paths;
  }
}

/** For logs whose node keeps no time for it. */
export class ImmediateDeletions implements Deletions {
  readonly #disk: Disk;

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  schedule(paths: readonly string[]): void {
    for (const path of paths) this.#disk.remove(path);
  }
}
