import { expect, test } from "vitest";
import {
  byUuid,
  numberedUuid,
  randomUuid,
  uuidAt,
  writeUuid,
  ZERO_UUID,
} from "../../../src/kafka/uuid.ts";
import { SmallRandom } from "../../support/small-random.ts";

test("a uuid is the URL-safe base64 of its 16 bytes, without padding", () => {
  const bytes = Uint8Array.from({ length: 16 }, (_, i) => i * 17);
  expect(uuidAt(bytes, 0)).toBe(Buffer.from(bytes).toString("base64url"));
  expect(numberedUuid(0, 0)).toBe(ZERO_UUID);
  expect(numberedUuid(0, 1)).toBe("AAAAAAAAAAAAAAAAAAAAAQ");
});

test("a random uuid is of version 4, does not begin with a dash, and survives its bytes", () => {
  const random = new SmallRandom(1);
  const seen = new Set<string>();
  for (let i = 0; i < 2_000; i++) {
    const uuid = randomUuid(random);
    seen.add(uuid);
    expect(uuid).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/);
    const bytes = new Uint8Array(18);
    writeUuid(bytes, 1, uuid);
    expect((bytes[7] as number) >> 4).toBe(4);
    expect([bytes[0], bytes[17]]).toEqual([0, 0]);
    expect(uuidAt(bytes, 1)).toBe(uuid);
  }
  expect(seen.size).toBe(2_000);
});

test("uuids are in the order of their numbers, the upper half first, each half signed", () => {
  const bytes = (...some: readonly number[]): Uint8Array =>
    Uint8Array.from({ length: 16 }, (_, i) => some[i] ?? 0);
  const ascending = [
    uuidAt(bytes(0x80), 0),
    uuidAt(bytes(0xff), 0),
    uuidAt(bytes(0, 0, 0, 0, 0, 0, 0, 0, 0x80), 0),
    numberedUuid(0, 1),
    numberedUuid(0, 2),
    numberedUuid(1, 0),
    numberedUuid(256, 0),
    uuidAt(bytes(0x7f), 0),
  ];

  expect([...ascending].reverse().sort(byUuid)).toEqual(ascending);
  expect(byUuid(numberedUuid(3, 4), numberedUuid(3, 4))).toBe(0);
});
