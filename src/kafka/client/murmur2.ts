/** Kafka's 32-bit murmur2 of a record's key, signed (`Utils.murmur2`): it places keys in partitions. */
export function murmur2(bytes: Uint8Array): number {
  const { length } = bytes;
  const whole = length & ~3;
  let hash = SEED ^ length;
  for (let at = 0; at < whole; at += 4) {
    const word =
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24);
    let mixed = Math.imul(word, MULTIPLIER);
    mixed = Math.imul(mixed ^ (mixed >>> 24), MULTIPLIER);
    hash = Math.imul(hash, MULTIPLIER) ^ mixed;
  }
  if (whole < length) {
    for (let at = length - 1; at >= whole; at--) hash ^= (bytes[at] as number) << ((at & 3) << 3);
    hash = Math.imul(hash, MULTIPLIER);
  }
  hash = Math.imul(hash ^ (hash >>> 13), MULTIPLIER);
  return hash ^ (hash >>> 15);
}

/** A hash without its sign, by mask and not by absolute value (`Utils.toPositive`). */
export function toPositive(hash: number): number {
  return hash & 0x7fff_ffff;
}

const SEED = 0x9747b28c;
const MULTIPLIER = 0x5bd1e995;
