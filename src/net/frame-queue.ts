import { fail } from "../base/invariant.ts";
import type { Instant } from "../base/time.ts";
import type { Frame } from "../ports/network.ts";

/** Due at no time yet: the frame waits for the connection to be established or the link to heal. */
export const HELD: Instant = Number.POSITIVE_INFINITY;

const FIRST_CAPACITY = 4;

/**
 * The frames of one direction of a connection that have not arrived yet, oldest first, each with
 * the instant at which it is due. A ring, since every frame passes through one.
 */
export class FrameQueue {
  #frames: (Frame | undefined)[] = new Array<Frame | undefined>(FIRST_CAPACITY).fill(undefined);
  // Filled with a number that is no small integer, so that the engine stores bare doubles throughout.
  #due: Instant[] = new Array<Instant>(FIRST_CAPACITY).fill(HELD);
  #mask = FIRST_CAPACITY - 1;
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(frame: Frame, due: Instant): void {
    if (this.#length > this.#mask) this.#grow();
    const at = (this.#head + this.#length) & this.#mask;
    this.#frames[at] = frame;
    this.#due[at] = due;
    this.#length++;
  }

  shift(): Frame {
    const frame = this.#frames[this.#head] ?? fail("no frame is under way");
    this.#frames[this.#head] = undefined;
    this.#head = (this.#head + 1) & this.#mask;
    this.#length--;
    return frame;
  }

  /** The frame that `place` others stand before. */
  at(place: number): Frame {
    return this.#frames[(this.#head + place) & this.#mask] ?? fail(`no frame at ${place}`);
  }

  dueAt(place: number): Instant {
    return this.#due[(this.#head + place) & this.#mask] as number;
  }

  setDue(place: number, due: Instant): void {
    this.#due[(this.#head + place) & this.#mask] = due;
  }

  clear(): void {
    this.#frames.fill(undefined);
    this.#head = 0;
    this.#length = 0;
  }

  #grow(): void {
    const capacity = this.#frames.length * 2;
    const frames = new Array<Frame | undefined>(capacity).fill(undefined);
    const due = new Array<Instant>(capacity).fill(HELD);
    for (let i = 0; i < this.#length; i++) {
      frames[i] = this.#frames[(this.#head + i) & this.#mask];
      due[i] = this.dueAt(i);
    }
    this.#frames = frames;
    this.#due = due;
    this.#mask = capacity - 1;
    this.#head = 0;
  }
}
