/**
 * CRC-32 (ISO-HDLC: that of zip and Ethernet), as gzip and Kafka's message sets of magic 0 and 1 carry
 * it, of bytes[start, end); unsigned. What is written today carries CRC-32C.
 */
export function crc32(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  let crc = -1;
  for (let at = start; at < end; at++) {
    crc = (TABLE[(crc ^ (bytes[at] as number)) & 255] as number) ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}

const TABLE: Int32Array = makeTable();

function makeTable(): Int32Array {
  const table = new Int32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    table[byte] = crc;
  }
  return table;
}
