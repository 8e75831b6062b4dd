/**
 * Which record it is, wherever it turns up: the address of the client that wrote it, and the number
 * of the send at that client (kafka/client/payload), in one number. Simplified: see `BatchTree`.
 */
export type RecordId = number;

/** No record that is known. */
export const NO_RECORD: RecordId = 0;

const SENDS = 0x1_0000_0000;

export function recordId(address: number, value: number): RecordId {
  return address * SENDS + value + 1;
}

export function addressOfRecord(id: RecordId): number {
  return Math.floor((id - 1) / SENDS);
}

export function valueOfRecord(id: RecordId): number {
  return id - 1 - addressOfRecord(id) * SENDS;
}
