/** Bytes that are read piece by piece: a file of any size, here or on a simulated disk. */
export interface ByteSource {
  /** As it was when the source was made. */
  readonly size: number;
  /** Up to `length` bytes from `position` on: fewer at the end, or if the file has shrunk since. */
  read(position: number, length: number): Uint8Array;
}

/** Bytes in memory. */
export function sourceOf(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    read: (position, length) => bytes.subarray(position, Math.min(position + length, bytes.length)),
  };
}
