const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Bytes as letters that survive addresses, shells and chats (RFC 4648, section 5), without padding. */
export function encodeBase64url(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const word = ((bytes[at] as number) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    text += letter(word >> 18) + letter(word >> 12);
    if (left > 1) text += letter(word >> 6);
    if (left > 2) text += letter(word);
  }
  return text;
}

/** Undefined for a text that `encodeBase64url` never makes. */
export function decodeBase64url(text: string): Uint8Array | undefined {
  const rest = text.length % 4;
  if (rest === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let word = 0;
  let bits = 0;
  let end = 0;
  for (let i = 0; i < text.length; i++) {
    const value = LETTERS.indexOf(text.charAt(i));
    if (value < 0) return undefined;
    word = (word << 6) | value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[end++] = word >> bits;
    word &= (1 << bits) - 1;
  }
  return word === 0 ? bytes : undefined;
}

function letter(value: number): string {
  return LETTERS.charAt(value & 63);
}
