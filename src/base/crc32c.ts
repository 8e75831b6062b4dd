/**
 * CRC-32C (Castagnoli), as Kafka's record batches and snapshots carry it, of bytes[start, end);
 * unsigned. Slicing-by-16: sixteen bytes a round, one flat table.
 */
export function crc32c(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  const t = TABLE;
  const words = viewOf(bytes);
  let crc = -1;
  let at = start;
  for (const last = end - 16; at <= last; at += 16) {
    const a = words.getInt32(at, true) ^ crc;
    const b = words.getInt32(at + 4, true);
    const c = words.getInt32(at + 8, true);
    const d = words.getInt32(at + 12, true);
    crc =
      (t[0xf00 + (a & 255)] as number) ^
      (t[0xe00 + ((a >>> 8) & 255)] as number) ^
      (t[0xd00 + ((a >>> 16) & 255)] as number) ^
      (t[0xc00 + (a >>> 24)] as number) ^
      (t[0xb00 + (b & 255)] as number) ^
      (t[0xa00 + ((b >>> 8) & 255)] as number) ^
      (t[0x900 + ((b >>> 16) & 255)] as number) ^
      (t[0x800 + (b >>> 24)] as number) ^
      (t[0x700 + (c & 255)] as number) ^
      (t[0x600 + ((c >>> 8) & 255)] as number) ^
      (t[0x500 + ((c >>> 16) & 255)] as number) ^
      (t[0x400 + (c >>> 24)] as number) ^
      (t[0x300 + (d & 255)] as number) ^
      (t[0x200 + ((d >>> 8) & 255)] as number) ^
      (t[0x100 + ((d >>> 16) & 255)] as number) ^
      (t[d >>> 24] as number);
  }
  for (const last = end - 4; at <= last; at += 4) {
    const a = words.getInt32(at, true) ^ crc;
    crc =
      (t[0x300 + (a & 255)] as number) ^
      (t[0x200 + ((a >>> 8) & 255)] as number) ^
      (t[0x100 + ((a >>> 16) & 255)] as number) ^
      (t[a >>> 24] as number);
  }
  for (; at < end; at++) {
    crc = (t[(crc ^ (bytes[at] as number)) & 255] as number) ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}

/** Reads four bytes at a time. Batches lie many to an array, so that the last view mostly serves. */
function viewOf(bytes: Uint8Array): DataView {
  if (bytes !== viewed) {
    viewed = bytes;
    view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  return view;
}

let viewed: Uint8Array = new Uint8Array(0);
let view: DataView = new DataView(viewed.buffer);

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
