/** Big-endian integers in byte arrays, as all of Kafka writes them. int64 travels as a safe integer. */

export function writeInt16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8;
  bytes[at + 1] = value;
}

export function writeInt32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** `value` is any safe integer; negative ones become two's complement. */
export function writeInt64(bytes: Uint8Array, at: number, value: number): void {
  const low = value | 0;
  writeInt32(bytes, at, low === value ? low >> 31 : Math.floor(value / 0x1_0000_0000));
  writeInt32(bytes, at + 4, low);
}

/** Signed. */
export function readInt16(bytes: Uint8Array, at: number): number {
  return (((bytes[at] as number) << 24) >> 16) | (bytes[at + 1] as number);
}

/** Signed. */
export function readInt32(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  );
}

export function readUint32(bytes: Uint8Array, at: number): number {
  return readInt32(bytes, at) >>> 0;
}

/** Signed; not exact beyond 2^53, where only damaged bytes lead. */
export function readInt64(bytes: Uint8Array, at: number): number {
  const high = readInt32(bytes, at);
  const low = readInt32(bytes, at + 4);
  // The sign extension of an int32: the common case, and one that stays a small integer.
  if (high === low >> 31) return low;
  return high * 0x1_0000_0000 + (low >>> 0);
}
