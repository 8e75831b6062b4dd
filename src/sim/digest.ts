import { mix, mixText } from "../base/mix.ts";
import type { Instant } from "../base/time.ts";

/** The digest as it stood when an event had been mixed. Runs begin to differ between two of them. */
export interface Checkpoint {
  /** The number of the event, from 1. */
  readonly event: number;
  readonly at: Instant;
  /** 16 hexadecimal digits. */
  readonly digest: string;
}

/** A checkpoint is kept every so many events. */
export const CHECKPOINT_INTERVAL = 4096;

/** A power of two. */
const RECENT_NAMES = 64;

const TWO_32 = 0x1_0000_0000;

/** What the right lane sees is also another word, so that the lanes do not collide together. */
const RIGHT_WORD = 0x5bd1e995;

/**
 * A rolling 64-bit hash of every event and fact of a run: two lanes of `mix`. Two runs with the
 * same digest did the same.
 */
export class Digest {
  readonly checkpoints: Checkpoint[] = [];
  private left = 0x6b61666b;
  private right = 0x2d73696d;
  /** Names are few and come again and again: each is hashed once. */
  private readonly names: Map<string, number> = new Map();
  /** The names mixed last, each at its place. */
  private readonly recentNames: string[] = new Array<string>(RECENT_NAMES).fill("");
  private readonly recentHashes: Int32Array = new Int32Array(RECENT_NAMES).fill(mixText(0, ""));

  /** Mixes an event: the head of everything that its handler then does. */
  mixEvent(time: Instant, kind: number, subject: number): void {
    // Two words an event, since this runs for each: kinds, subjects and hours are few, so that they
    // share the second one and hardly ever look alike.
    const low = time | 0;
    const rest = (kind << 21) ^ subject ^ Math.imul(Math.floor(time / TWO_32), 0x9e3779b1);
    this.left = mix(mix(this.left, low), rest);
    this.right = mix(mix(this.right, low ^ RIGHT_WORD), rest ^ RIGHT_WORD);
  }

  /** Mixes one 32-bit word. */
  word(word: number): void {
    this.left = mix(this.left, word);
    this.right = mix(this.right, word ^ RIGHT_WORD);
  }

  /** Mixes an integer of up to 53 bits, of either sign: in one word if it fits, as nearly all do. */
  number(value: number): void {
    const low = value | 0;
    this.word(low);
    if (low !== value) this.word(Math.floor(value / TWO_32));
  }

  /** Mixes a text that may never come again. */
  text(text: string): void {
    this.word(mixText(text.length, text));
  }

  /** Mixes a name: a text of which a run has few. */
  name(name: string): void {
    const place = placeOf(name);
    if (name === this.recentNames[place]) {
      this.word(this.recentHashes[place] as number);
      return;
    }
    let hash = this.names.get(name);
    if (hash === undefined) {
      hash = mixText(name.length, name);
      this.names.set(name, hash);
    }
    this.recentNames[place] = name;
    this.recentHashes[place] = hash;
    this.word(hash);
  }

  /** Keeps the digest as it stands now. */
  checkpoint(event: number, at: Instant): void {
    this.checkpoints.push({ event, at, digest: this.value() });
  }

  /** 16 hexadecimal digits. */
  value(): string {
    return hex(this.left) + hex(this.right);
  }
}

/** Names of one run mostly differ in their length, their first or their last letter. */
function placeOf(name: string): number {
  const { length } = name;
  if (length === 0) return 0;
  const letters = name.charCodeAt(0) * 11 + name.charCodeAt(length - 1);
  return (length * 5 + letters) & (RECENT_NAMES - 1);
}

function hex(lane: number): string {
  return (lane >>> 0).toString(16).padStart(8, "0");
}
