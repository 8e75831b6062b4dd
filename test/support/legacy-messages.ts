import { writeInt32, writeInt64 } from "../../src/base/big-endian.ts";
import { crc32 } from "../../src/base/crc32.ts";
import { compress } from "../../src/kafka/log/compression/codec.ts";

/** A message of magic 0 or 1. */
export interface LegacyMessage {
  readonly magic: number;
  readonly offset: number;
  /** Milliseconds; magic 0 has none. */
  readonly timestamp?: number;
  readonly key?: Uint8Array | undefined;
  readonly value?: Uint8Array | undefined;
  /** Codec, and 8 for LogAppendTime. */
  readonly attributes?: number;
}

/** As producers of old wrote it: nothing that ships does. */
export function legacyMessage(message: LegacyMessage): Uint8Array {
  const { magic, offset, timestamp = -1, key, value, attributes = 0 } = message;
  const keyAt = magic === 0 ? 18 : 26;
  const size = keyAt + 8 + (key?.length ?? 0) + (value?.length ?? 0);
  const bytes = new Uint8Array(size);
  writeInt64(bytes, 0, offset);
  writeInt32(bytes, 8, size - 12);
  bytes[16] = magic;
  bytes[17] = attributes;
  if (magic > 0) writeInt64(bytes, 18, timestamp);
  const valueAt = keyAt + 4 + (key?.length ?? 0);
  writeInt32(bytes, keyAt, key?.length ?? -1);
  bytes.set(key ?? [], keyAt + 4);
  writeInt32(bytes, valueAt, value?.length ?? -1);
  bytes.set(value ?? [], valueAt + 4);
  writeInt32(bytes, 12, crc32(bytes, 16));
  return bytes;
}

/** Messages compressed in one. */
export function legacyWrapper(
  wrapper: LegacyMessage,
  codec: number,
  inner: readonly Uint8Array[],
): Uint8Array {
  const value = compress(codec, new Uint8Array(Buffer.concat(inner)), -1, wrapper.magic);
  return legacyMessage({ ...wrapper, value, attributes: (wrapper.attributes ?? 0) | codec });
}
