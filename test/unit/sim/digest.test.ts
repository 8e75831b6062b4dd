import { describe, expect, test } from "vitest";
import { Digest } from "../../../src/sim/digest.ts";

function digestOf(mix: (digest: Digest) => void): string {
  const digest = new Digest();
  mix(digest);
  return digest.value();
}

describe("digest", () => {
  test("it is the same for the same words, on every machine and with every version", () => {
    const value = digestOf((digest) => {
      digest.mixEvent(2 ** 45 + 3, 7, -1);
      digest.word(-5);
      digest.number(2 ** 52 + 1);
      digest.text("leader of orders-0");
      digest.name("broker-1");
    });

    expect(value).toBe("1567e51f6183be68");
    expect(digestOf(() => undefined)).toMatch(/^[0-9a-f]{16}$/);
  });

  test("each part of an event and each bit of a number counts, and so does the order", () => {
    const values = [
      digestOf((digest) => digest.mixEvent(1, 2, 3)),
      digestOf((digest) => digest.mixEvent(2, 2, 3)),
      digestOf((digest) => digest.mixEvent(1 + 2 ** 32, 2, 3)),
      digestOf((digest) => digest.mixEvent(1, 3, 3)),
      digestOf((digest) => digest.mixEvent(1, 2, 4)),
      digestOf((digest) => digest.mixEvent(1, 2, -3)),
      digestOf((digest) => digest.number(5)),
      digestOf((digest) => digest.number(-5)),
      digestOf((digest) => digest.number(5 + 2 ** 32)),
      digestOf((digest) => digest.number(5 + 2 ** 52)),
      digestOf((digest) => digest.word(7)),
      digestOf((digest) => digest.text("ab")),
      digestOf((digest) => digest.text("ba")),
      digestOf((digest) => digest.text("")),
      digestOf((digest) => {
        digest.word(1);
        digest.word(2);
      }),
      digestOf((digest) => {
        digest.word(2);
        digest.word(1);
      }),
    ];

    expect(new Set(values).size).toBe(values.length);
  });

  test("a name counts as its text does, remembered or not", () => {
    const digest = new Digest();
    const twin = new Digest();

    for (const name of ["broker-1", "broker-2", "broker-1"]) {
      digest.name(name);
      twin.text(name);
    }

    expect(digest.value()).toBe(twin.value());
  });

  test("its two halves do not collide together: of 100,000 near words each tells nearly all apart", () => {
    const lefts = new Set<string>();
    const rights = new Set<string>();

    for (let i = 0; i < 100_000; i++) {
      const value = digestOf((digest) => {
        digest.word(i & 1023);
        digest.word(i >> 10);
      });
      lefts.add(value.slice(0, 8));
      rights.add(value.slice(8));
    }

    expect(lefts.size).toBeGreaterThan(99_990);
    expect(rights.size).toBeGreaterThan(99_990);
  });

  test("checkpoints keep the digest as it stood", () => {
    const digest = new Digest();
    digest.word(1);
    digest.checkpoint(1, 10);
    const then = digest.value();
    digest.word(2);

    expect(digest.checkpoints).toEqual([{ event: 1, at: 10, digest: then }]);
    expect(digest.value()).not.toBe(then);
  });
});
