/**
 * Bytes as one line of text that a terminal cannot take amiss: UTF-8 where it is, U+FFFD for what is
 * not, control characters as in JSON.
 */
export function printable(bytes: Uint8Array): string {
  let text = "";
  let at = 0;
  while (at < bytes.length) {
    const length = wellFormedAt(bytes, at);
    if (length === 0) {
      text += "\ufffd";
      at++;
      continue;
    }
    text += character(bytes, at, length);
    at += length;
  }
  return text;
}

/** The same for a text that is there already: a header's name, a line of a file. */
export function printableText(text: string): string {
  let shown = "";
  for (const one of text) shown += harmless(one);
  return shown;
}

/** Lower-case hex. */
export function hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += DIGITS.charAt(byte >> 4) + DIGITS.charAt(byte & 15);
  return text;
}

const DIGITS = "0123456789abcdef";

function character(bytes: Uint8Array, at: number, length: number): string {
  const lead = bytes[at] as number;
  let point = length === 1 ? lead : lead & (0x7f >> length);
  for (let i = 1; i < length; i++) point = (point << 6) | ((bytes[at + i] as number) & 63);
  return harmless(String.fromCodePoint(point));
}

/** Bytes of the UTF-8 character that begins at `at`; 0 if none does. */
function wellFormedAt(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] as number;
  if (lead < 0x80) return 1;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + length > bytes.length) return 0;
  for (let i = 1; i < length; i++) if (((bytes[at + i] as number) & 0xc0) !== 0x80) return 0;
  const second = bytes[at + 1] as number;
  // Too long a form, a surrogate, beyond the last character.
  if (lead === 0xe0 && second < 0xa0) return 0;
  if (lead === 0xed && second >= 0xa0) return 0;
  if (lead === 0xf0 && second < 0x90) return 0;
  if (lead === 0xf4 && second >= 0x90) return 0;
  return length;
}

function harmless(one: string): string {
  const point = one.codePointAt(0) ?? 0;
  const isControl = point < 0x20 || (point >= 0x7f && point < 0xa0);
  // What breaks lines or turns their direction.
  const isFormatting = (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
  if (!isControl && !isFormatting) return one;
  if (one === "\n") return "\\n";
  if (one === "\r") return "\\r";
  if (one === "\t") return "\\t";
  return `\\u${point.toString(16).padStart(4, "0")}`;
}
