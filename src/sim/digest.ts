import { mix, mixText } from "../base/mix.ts";
import type { Instant } from "../base/time.ts";

/** The digest as it stood when an event had been mixed: where two runs begin to differ lies between two of them. */
export interface Checkpoint {
  /** The number of the event, from 1. */
  readonly event: number;
  readonly at: Instant;
  /** 16 hexadecimal digits. */
  readonly digest: string;
}

/** A checkpoint is kept every so many events. */
export const CHECKPOINT_INTERVAL = 4096;

const TWO_32 = 0x1_0000_0000;

/** A rolling 64-bit hash of every event and fact of a run: two lanes of murmur3 with different seeds. */
export class Digest {
  readonly checkpoints: Checkpoint[] = [];
  #left = 0x6b61666b;
  #right = 0x2d73696d;

  /** Mixes one 32-bit word. */
  word(word: number): void {
    this.#left = mix(this.#left, word);
    this.#right = mix(this.#right, word);
  }

  /** Mixes an integer of up to 53 bits, of either sign. */
  number(value: number): void {
    this.word(value | 0);
    this.word(Math.floor(value / TWO_32) | 0);
  }

  text(text: string): void {
    this.word(mixText(0x7465_7874, text));
  }

  mixEvent(time: Instant, kind: number, subject: number): void {
    this.number(time);
    this.word(kind);
    this.word(subject);
  }

  checkpoint(event: number, at: Instant): void {
    this.checkpoints.push({ event, at, digest: this.value() });
  }

  /** 16 hexadecimal digits. */
  value(): string {
    return hex(this.#left) + hex(this.#right);
  }
}

function hex(lane: number): string {
  return (lane >>> 0).toString(16).padStart(8, "0");
}
