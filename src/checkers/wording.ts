import type { Offset } from "../kafka/ids.ts";

/** `a`, `a and b`, `a, b and c`. */
export function listed(names: readonly string[]): string {
  if (names.length < 2) return names[0] ?? "";
  return `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}

/** `7 records`, `1 record`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** `offset 412`, `offsets 412..418`. */
export function offsetsText(first: Offset, last: Offset): string {
  return first === last ? `offset ${first}` : `offsets ${first}..${last}`;
}

/** `acks=all`, as Kafka's producers call it. */
export function acksText(acks: -1 | 0 | 1): string {
  return acks === -1 ? "acks=all" : `acks=${acks}`;
}
