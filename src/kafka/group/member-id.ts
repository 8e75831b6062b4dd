import type { WordSource } from "../uuid.ts";

/** A new member's id: its instance id, else its client id, and a random uuid (`generateMemberId`). */
export function newMemberId(
  clientId: string,
  groupInstanceId: string | undefined,
  random: WordSource,
): string {
  return `${groupInstanceId ?? clientId}-${javaUuid(random)}`;
}

/** `UUID.randomUUID().toString()` of Java. */
function javaUuid(random: WordSource): string {
  let digits = "";
  for (let word = 0; word < 4; word++) {
    digits += random.below(0x1_0000_0000).toString(16).padStart(8, "0");
  }
  const variant = "89ab".charAt(random.below(4));
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20),
  ].join("-");
}
