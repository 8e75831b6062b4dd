/**
 * One lane of a rolling hash: murmur3's 32-bit block mix and a rotation. Two lanes with different
 * seeds make the 64-bit digests of the simulator. Exact in every JavaScript engine.
 */
export function mix(lane: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = Math.imul((k << 15) | (k >>> 17), 0x1b873593);
  const h = lane ^ k;
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
}

/** Hash of a short text: used for names, never for payloads. */
export function mixText(lane: number, text: string): number {
  let h = mix(lane, text.length);
  for (let i = 0; i < text.length; i++) h = mix(h, text.charCodeAt(i));
  return h;
}
