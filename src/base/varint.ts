/** Zigzag variable-length integers (protocol buffers' sint32 and sint64), as records use them. */

/** Bytes that `writeVarint` will take for the safe integer `value`. */
export function varintSize(value: number): number {
  let rest = value < 0 ? -1 - value : value;
  let size = 1;
  if (rest < 64) return size;
  for (rest = Math.floor(rest / 64); rest > 0; rest = Math.floor(rest / 128)) size++;
  return size;
}

/** Writes the safe integer `value` at `at`; returns the position after it. */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  // The lowest bit is the sign; six bits of the magnitude share its byte, then seven a byte.
  const sign = value < 0 ? 1 : 0;
  const magnitude = value < 0 ? -1 - value : value;
  if (magnitude < 64) {
    bytes[at] = (magnitude << 1) | sign;
    return at + 1;
  }
  bytes[at] = ((magnitude % 64) << 1) | sign | 128;
  let position = at + 1;
  let rest = Math.floor(magnitude / 64);
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[position++] = (rest % 128) | 128;
  bytes[position] = rest;
  return position + 1;
}
