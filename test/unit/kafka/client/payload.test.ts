import fc from "fast-check";
import { expect, test } from "vitest";
import { InvariantViolation } from "../../../../src/base/invariant.ts";
import {
  encodePayload,
  PAYLOAD_MIN_BYTES,
  payloadClient,
  payloadValue,
} from "../../../../src/kafka/client/payload.ts";

test("a payload tells who sent it and which send it was, wherever it lies", () => {
  const numbers = fc.oneof(fc.maxSafeNat(), fc.constantFrom(2 ** 31 - 1, 2 ** 31, 2 ** 32));
  fc.assert(
    fc.property(fc.nat(), numbers, fc.nat({ max: 9 }), (client, value, start) => {
      const bytes = new Uint8Array(start + 20);
      bytes.set(encodePayload(client, value, 20), start);

      expect(payloadClient(bytes, start)).toBe(client);
      expect(payloadValue(bytes, start)).toBe(value);
    }),
    { seed: 42, numRuns: 300 },
  );
});

test("a payload is big-endian: client, then number, then filler up to its size", () => {
  const bytes = encodePayload(0x0102, 0x3_0000_0004, 14);

  expect([...bytes]).toEqual([0, 0, 1, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0]);
});

test("a payload is never too small for what it must tell", () => {
  expect(encodePayload(1, 1, PAYLOAD_MIN_BYTES)).toHaveLength(PAYLOAD_MIN_BYTES);
  expect(() => encodePayload(1, 1, PAYLOAD_MIN_BYTES - 1)).toThrow(InvariantViolation);
});
