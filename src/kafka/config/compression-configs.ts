import { number } from "./config-table.ts";

/**
 * How hard each codec tries, as producers, topics and brokers have it (`CompressionType`). Only gzip's
 * changes anything here: see `compress`.
 */
export const COMPRESSION_LEVELS = {
  // -1 is zlib's own default; 0, not to compress, is none of Kafka's.
  "compression.gzip.level": { ...number(-1, -1, 9), except: 0 },
  "compression.lz4.level": number(9, 1, 17),
  "compression.zstd.level": number(3, -131_072, 22),
} as const;
