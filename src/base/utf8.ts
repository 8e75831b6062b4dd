import { fail } from "./invariant.ts";

/** UTF-8 bytes of a text. Written out, since the core has no `TextEncoder`. Lone surrogates become U+FFFD. */
export function encodeUtf8(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of text) {
    let point = character.codePointAt(0) ?? 0;
    if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63));
    else if (point < 0x10000)
      bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    else
      bytes.push(
        0xf0 | (point >> 18),
        0x80 | ((point >> 12) & 63),
        0x80 | ((point >> 6) & 63),
        0x80 | (point & 63),
      );
  }
  return Uint8Array.from(bytes);
}

/** How many bytes `encodeUtf8` makes of a text. */
export function utf8Size(text: string): number {
  let size = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // Half of a surrogate pair is two of its four bytes; a lone one is three, as U+FFFD is.
    if (unit >= 0x800) size += isPaired(text, i, unit) ? 1 : 2;
    else size++;
  }
  return size;
}

function isPaired(text: string, at: number, unit: number): boolean {
  if (unit >= 0xd800 && unit < 0xdc00) return (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
  if (unit >= 0xdc00 && unit < 0xe000) return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
  return false;
}

/** The text of well-formed UTF-8 bytes. Throws on bytes that are not: callers hold bytes they wrote. */
export function decodeUtf8(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  let text = "";
  let at = start;
  while (at < end) {
    const lead = bytes[at++] ?? 0;
    const more = lead < 0x80 ? 0 : lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : -1;
    if (more < 0 || at + more > end) fail(`byte ${at - 1} does not begin a UTF-8 character`);
    let point = more === 0 ? lead : lead & (63 >> more);
    for (let i = 0; i < more; i++) point = (point << 6) | ((bytes[at++] ?? 0) & 63);
    text += String.fromCodePoint(point);
  }
  return text;
}
