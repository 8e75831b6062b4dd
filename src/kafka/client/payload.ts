import { readInt32, readInt64, writeInt32, writeInt64 } from "../../base/big-endian.ts";
import { fail } from "../../base/invariant.ts";
import type { UnwrittenValue } from "../log/record-batch.ts";

/**
 * What the simulated applications write, so that each record is unique and known wherever it turns
 * up: the address of the producing client (int32), the number of the send at that client (int64),
 * then filler up to the record size of the scenario. Big-endian, as all of Kafka.
 */
export const PAYLOAD_MIN_BYTES = 12;

/** A value of `size` bytes (at least PAYLOAD_MIN_BYTES) for send number `value` of client `client`. */
export function encodePayload(client: number, value: number, size: number): Uint8Array {
  const payload = new Payload(client, value, size);
  const bytes = new Uint8Array(size);
  payload.writeTo(bytes, 0);
  return bytes;
}

/** A payload that is not written yet: the producer writes it where it stands in the batch. */
export class Payload implements UnwrittenValue {
  readonly length: number;
  readonly #client: number;
  readonly #value: number;

  constructor(client: number, value: number, size: number) {
    if (size < PAYLOAD_MIN_BYTES) fail(`a payload of ${size} bytes is too small`);
    this.length = size;
    this.#client = client;
    this.#value = value;
  }

  writeTo(bytes: Uint8Array, at: number): void {
    writeInt32(bytes, at, this.#client);
    writeInt64(bytes, at + 4, this.#value);
  }
}

/** The client address in the payload that begins at `start`. */
export function payloadClient(bytes: Uint8Array, start: number): number {
  return readInt32(bytes, start);
}

/** The send number in the payload that begins at `start`. */
export function payloadValue(bytes: Uint8Array, start: number): number {
  return readInt64(bytes, start + 4);
}
