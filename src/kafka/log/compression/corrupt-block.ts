/**
 * Compressed bytes that say nothing. Decoders throw it, from however deep; `decompress` catches it and
 * gives it back as a value.
 */
export class CorruptBlock extends Error {
  override readonly name = "CorruptBlock";
}

/** Throws a `CorruptBlock` with a sentence for people. */
export function corrupt(reason: string): never {
  throw new CorruptBlock(reason);
}
