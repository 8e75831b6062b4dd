import { fail } from "../../base/invariant.ts";
import { Slab } from "../log/slab.ts";

/**
 * What the simulated applications write, so that each record is unique and known wherever it turns
 * up: the address of the producing client (int32), the number of the send at that client (int64),
 * then filler up to the record size of the scenario. Big-endian, as all of Kafka.
 */
export const PAYLOAD_MIN_BYTES = 12;

/** A value of `size` bytes (at least PAYLOAD_MIN_BYTES) for send number `value` of client `client`. */
export function encodePayload(client: number, value: number, size: number): Uint8Array {
  if (size < PAYLOAD_MIN_BYTES) fail(`a payload of ${size} bytes is too small`);
  const start = payloads.reserve(size);
  const bytes = payloads.buffer;
  writeInt32(bytes, start, client);
  writeInt32(bytes, start + 4, Math.floor(value / 0x1_0000_0000));
  writeInt32(bytes, start + 8, value | 0);
  return bytes.subarray(start, start + size);
}

/** An array for each payload would be memory of its own, outside the heap, for each record. */
const payloads: Slab = new Slab();

/** The client address in the payload that begins at `start`. */
export function payloadClient(bytes: Uint8Array, start: number): number {
  return readInt32(bytes, start);
}

/** The send number in the payload that begins at `start`. */
export function payloadValue(bytes: Uint8Array, start: number): number {
  return readInt32(bytes, start + 4) * 0x1_0000_0000 + (readInt32(bytes, start + 8) >>> 0);
}

function writeInt32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

function readInt32(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  );
}
