import type { Offset } from "../../ids.ts";

/** Bytes that Kafka's map takes for a key: an MD5 of it, and its offset. */
const BYTES_PER_ENTRY = 24;
/** A thread's share of the buffer is one array. */
const MAX_BUFFER = 0x7fff_ffff;

/** How many keys `log.cleaner.dedupe.buffer.size` holds for each of `log.cleaner.threads`. */
export function slotsOf(bufferBytes: number, threads: number): number {
  return Math.floor(Math.min(Math.floor(bufferBytes / threads), MAX_BUFFER) / BYTES_PER_ENTRY);
}

/**
 * Where each key stands last in the dirty part of a log (Kafka's `SkimpyOffsetMap`).
 *
 * Simplified: keys themselves are compared. Kafka keeps their MD5 only, and would take two keys of
 * one MD5 for the same.
 */
export class OffsetMap {
  /** Keys that may be added before it counts as full: `log.cleaner.io.buffer.load.factor` of its slots. */
  readonly capacity: number;
  /** All that is mapped lies at or below; -1 if nothing is. */
  latestOffset: Offset = -1;
  readonly #offsets = new Map<string, Offset>();

  constructor(slots: number, loadFactor: number) {
    this.capacity = Math.floor(slots * loadFactor);
  }

  get isFull(): boolean {
    return this.#offsets.size >= this.capacity;
  }

  put(key: Uint8Array, offset: Offset): void {
    this.#offsets.set(textOf(key), offset);
    this.latestOffset = offset;
  }

  /** The last offset of a key; -1 if it is not mapped. */
  get(key: Uint8Array): Offset {
    return this.#offsets.get(textOf(key)) ?? -1;
  }
}

/** One character a byte. */
function textOf(key: Uint8Array): string {
  let text = "";
  for (const byte of key) text += String.fromCharCode(byte);
  return text;
}
