/**
 * CRC-32C (Castagnoli), as Kafka's record batches and snapshots carry it, of bytes[start, end);
 * unsigned. Slicing-by-16: sixteen bytes a round, one flat table.
 */
export function crc32c(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  const t = TABLE;
  let crc = -1;
  let at = start;
  for (const last = end - 16; at <= last; at += 16) {
    crc =
      (t[0xf00 + ((crc & 255) ^ (bytes[at] as number))] as number) ^
      (t[0xe00 + (((crc >>> 8) & 255) ^ (bytes[at + 1] as number))] as number) ^
      (t[0xd00 + (((crc >>> 16) & 255) ^ (bytes[at + 2] as number))] as number) ^
      (t[0xc00 + ((crc >>> 24) ^ (bytes[at + 3] as number))] as number) ^
      (t[0xb00 + (bytes[at + 4] as number)] as number) ^
      (t[0xa00 + (bytes[at + 5] as number)] as number) ^
      (t[0x900 + (bytes[at + 6] as number)] as number) ^
      (t[0x800 + (bytes[at + 7] as number)] as number) ^
      (t[0x700 + (bytes[at + 8] as number)] as number) ^
      (t[0x600 + (bytes[at + 9] as number)] as number) ^
      (t[0x500 + (bytes[at + 10] as number)] as number) ^
      (t[0x400 + (bytes[at + 11] as number)] as number) ^
      (t[0x300 + (bytes[at + 12] as number)] as number) ^
      (t[0x200 + (bytes[at + 13] as number)] as number) ^
      (t[0x100 + (bytes[at + 14] as number)] as number) ^
      (t[bytes[at + 15] as number] as number);
  }
  for (; at < end; at++) {
    crc = (t[(crc ^ (bytes[at] as number)) & 255] as number) ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}

const TABLE: Int32Array = makeTable();

/** Row k (256 words) holds the effect of a byte that k further bytes follow. */
function makeTable(): Int32Array {
  const table = new Int32Array(16 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
    table[byte] = crc;
  }
  for (let i = 256; i < table.length; i++) {
    const previous = table[i - 256] as number;
    table[i] = (previous >>> 8) ^ (table[previous & 255] as number);
  }
  return table;
}
