import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeUtf8 } from "../../../../src/base/utf8.ts";
import { hex, printable, printableText } from "../../../../src/report/dump/printable.ts";

test("text is shown as it is", () => {
  for (const text of ["", "key-1", "Grüße", "日本語", "🦉 und mehr"]) {
    expect(printable(encodeUtf8(text))).toBe(text);
  }
});

test("what a terminal would take amiss is shown as in JSON", () => {
  expect(printable(encodeUtf8("a\nb\tc\r\u001b[2J\0\u007f\u009b"))).toBe(
    "a\\nb\\tc\\r\\u001b[2J\\u0000\\u007f\\u009b",
  );
  expect(printableText("\u202eevil\u2028")).toBe("\\u202eevil\\u2028");
});

test("bytes that are no UTF-8 are shown as replaced", () => {
  const bytes = (...values: number[]): string => printable(Uint8Array.from(values));

  expect(bytes(0xff, 0x41)).toBe("\ufffdA");
  // Cut short, too long a form, a surrogate, beyond the last character.
  expect(bytes(0xe2, 0x82)).toBe("\ufffd\ufffd");
  expect(bytes(0xc0, 0x80)).toBe("\ufffd\ufffd");
  expect(bytes(0xed, 0xa0, 0x80)).toBe("\ufffd\ufffd\ufffd");
  expect(bytes(0xf4, 0x90, 0x80, 0x80)).toBe("\ufffd\ufffd\ufffd\ufffd");
});

test("whatever the bytes are, what is shown is one line, and text comes out as it went in", () => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const shown = printable(bytes);
      expect(shown).toBe(printableText(shown));
      let text: string | undefined;
      try {
        text = decoder.decode(bytes);
      } catch {
        expect(shown).toContain("\ufffd");
      }
      if (text !== undefined) expect(shown).toBe(printableText(text));
    }),
    { seed: 42, numRuns: 2000 },
  );
});

test("hex has two digits a byte", () => {
  expect(hex(Uint8Array.of(0, 10, 255))).toBe("000aff");
});
