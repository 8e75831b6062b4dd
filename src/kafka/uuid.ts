import { invariant } from "../base/invariant.ts";

/**
 * Kafka's `Uuid` as text: 16 bytes as 22 characters of URL-safe base64 without padding. The form in
 * which topic ids, directory ids and incarnation ids are held everywhere but in bytes.
 */
export type Uuid = string;

/** `Uuid.ZERO_UUID`: none. */
export const ZERO_UUID: Uuid = "AAAAAAAAAAAAAAAAAAAAAA";

/** A source of random words, as the `Random` port is one. */
export interface WordSource {
  /** A uniform integer in [0, bound). */
  below(bound: number): number;
}

/**
 * A random uuid of version 4 that is not reserved and does not begin with a dash, which command
 * lines would take for an option (`Uuid.randomUuid`).
 */
export function randomUuid(source: WordSource): Uuid {
  for (;;) {
    const bytes = new Uint8Array(16);
    for (let word = 0; word < 4; word++) {
      const bits = source.below(0x1_0000_0000);
      bytes[word * 4] = bits >>> 24;
      bytes[word * 4 + 1] = bits >>> 16;
      bytes[word * 4 + 2] = bits >>> 8;
      bytes[word * 4 + 3] = bits;
    }
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    const text = uuidAt(bytes, 0);
    if (!text.startsWith("-")) return text;
  }
}

/** A uuid that names the number `low` below the number `high`, both up to 2^32: `Uuid(high, low)`. */
export function numberedUuid(high: number, low: number): Uuid {
  const bytes = new Uint8Array(16);
  for (let i = 0; i < 4; i++) {
    bytes[4 + i] = high >>> (24 - 8 * i);
    bytes[12 + i] = low >>> (24 - 8 * i);
  }
  return uuidAt(bytes, 0);
}

/** Their order in Kafka, which takes their two halves for signed numbers (`Uuid.compareTo`). */
export function byUuid(left: Uuid, right: Uuid): number {
  const [one, other] = [new Uint8Array(16), new Uint8Array(16)];
  writeUuid(one, 0, left);
  writeUuid(other, 0, right);
  for (let i = 0; i < 16; i++) {
    const flip = i % 8 === 0 ? 0x80 : 0;
    const difference = ((one[i] as number) ^ flip) - ((other[i] as number) ^ flip);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The uuid whose 16 bytes begin at `start`. */
export function uuidAt(bytes: Uint8Array, start: number): Uuid {
  invariant(start + 16 <= bytes.length, () => `no 16 bytes at ${start} of ${bytes.length}`);
  let text = "";
  for (let i = 0; i < 15; i += 3) {
    const bits =
      ((bytes[start + i] as number) << 16) |
      ((bytes[start + i + 1] as number) << 8) |
      (bytes[start + i + 2] as number);
    text += letter(bits >>> 18) + letter(bits >>> 12) + letter(bits >>> 6) + letter(bits);
  }
  const last = bytes[start + 15] as number;
  return text + letter(last >>> 2) + letter(last << 4);
}

/** Writes the 16 bytes of `uuid` at `start`. */
export function writeUuid(bytes: Uint8Array, start: number, uuid: Uuid): void {
  invariant(uuid.length === 22, () => `${uuid} is no uuid`);
  let at = start;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < 22; i++) {
    const six = ALPHABET.indexOf(uuid.charAt(i));
    invariant(six >= 0, () => `${uuid} is no uuid`);
    bits = ((bits << 6) | six) & 0xffff;
    held += 6;
    if (held >= 8 && at < start + 16) {
      held -= 8;
      bytes[at++] = bits >>> held;
    }
  }
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

function letter(bits: number): string {
  return ALPHABET.charAt(bits & 63);
}
