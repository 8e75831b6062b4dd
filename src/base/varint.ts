/** Zigzag variable-length integers (protocol buffers' sint32 and sint64), as records use them. */

/** Bytes that `writeVarint` will take for the safe integer `value`. */
export function varintSize(value: number): number {
  if (value >= -64 && value < 64) return 1;
  let rest = zigzag(value);
  let size = 1;
  for (; rest >= 128; rest = Math.floor(rest / 128)) size++;
  return size;
}

/** Writes the safe integer `value` at `at`; returns the position after it. */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  if (value >= -64 && value < 64) {
    bytes[at] = (value << 1) ^ (value >> 31);
    return at + 1;
  }
  let rest = zigzag(value);
  let position = at;
  for (; rest >= 0x8000_0000; rest = Math.floor(rest / 128)) bytes[position++] = (rest % 128) | 128;
  let low = rest | 0;
  for (; low >= 128; low >>>= 7) bytes[position++] = (low & 127) | 128;
  bytes[position] = low;
  return position + 1;
}

function zigzag(value: number): number {
  return value >= 0 ? value * 2 : value * -2 - 1;
}
