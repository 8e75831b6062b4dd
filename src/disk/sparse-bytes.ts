import type { ByteRange } from "../ports/disk.ts";
import { LARGEST_POSITION, Stretches } from "./stretches.ts";

/** Large enough that a log's appends seldom meet an end, small enough that little is kept for nothing. */
const CHUNK_SIZE = 65_536;
const SMALLEST_CHUNK = 256;
/** Below this many bytes a loop copies faster than `TypedArray.prototype.set`. */
const LOOP_COPY = 16;

const NOTHING = new Uint8Array(0);

/**
 * Bytes from position 0 without an end, zeros where nothing was written. They lie in chunks, so that
 * growth copies nothing and a hole takes no memory; or, where they are shared, in the arrays from which
 * they were written.
 */
export class SparseBytes {
  /** By position divided by the chunk's size. A chunk may be short: zeros follow. */
  readonly #chunks = new Map<number, Uint8Array>();
  /** The chunk written last, which takes the next append. */
  #hot: Uint8Array = NOTHING;
  #hotStart = 0;
  /** What is shared; it hides what the chunks have there. */
  #shared: Stretches | undefined;
  #sharedEnd = 0;

  /** Copies bytes[start, end), of which there is at least one, to `position`. */
  write(position: number, bytes: Uint8Array, start: number, end: number): void {
    if (position < this.#sharedEnd) this.#own(position, position + end - start);
    const offset = position - this.#hotStart;
    if (offset >= 0 && offset + end - start <= this.#hot.length) {
      copyInto(this.#hot, offset, bytes, start, end);
    } else {
      this.#writeAcross(position, bytes, start, end);
    }
  }

  /** As `write`, of bytes that will never change. Behind what was shared before they are not copied. */
  share(position: number, bytes: Uint8Array, start: number, end: number): void {
    const stop = position + end - start;
    if (position < this.#sharedEnd || stop > LARGEST_POSITION) {
      this.write(position, bytes, start, end);
      return;
    }
    this.#shared ??= new Stretches();
    this.#shared.add(position, bytes, start, end);
    this.#sharedEnd = stop;
  }

  /** A copy of [position, end). */
  read(position: number, end: number): Uint8Array {
    return position < this.#sharedEnd
      ? this.#readShared(position, end)
      : this.#readChunks(position, end);
  }

  /**
   * [position, end), piece by piece: what was shared is again, the rest is copied. Shared pieces begin
   * and end where bytes were written, if not at `position` or `end`.
   */
  pieces(position: number, end: number): ByteRange[] {
    const pieces: ByteRange[] = [];
    const shared = this.#shared;
    let at = position;
    if (shared !== undefined && at < this.#sharedEnd) {
      for (let index = shared.indexAt(at); at < end && index < shared.count; index++) {
        const source = shared.sourceOf(index);
        if (source === undefined) continue;
        const start = shared.startOf(index);
        if (start > at) pieces.push(this.#ownPiece(at, Math.min(start, end)));
        if (start >= end) return pieces;
        const from = Math.max(at, start);
        const stop = Math.min(end, shared.endOf(index));
        const moved = shared.sourceStartOf(index) - start;
        pieces.push({ bytes: source, start: from + moved, end: stop + moved });
        at = stop;
      }
    }
    if (at < end) pieces.push(this.#ownPiece(at, end));
    return pieces;
  }

  #ownPiece(position: number, end: number): ByteRange {
    return { bytes: this.#readChunks(position, end), start: 0, end: end - position };
  }

  #readShared(position: number, end: number): Uint8Array {
    const shared = this.#shared as Stretches;
    let index = shared.indexAt(position);
    const first = shared.sourceOf(index);
    const stop = shared.endOf(index);
    if (first !== undefined && end <= stop) {
      const from = position - shared.startOf(index) + shared.sourceStartOf(index);
      return first.slice(from, from + end - position);
    }
    const copy = this.#readChunks(position, end);
    for (; index < shared.count; index++) {
      const start = shared.startOf(index);
      if (start >= end) break;
      const source = shared.sourceOf(index);
      if (source === undefined) continue;
      const from = Math.max(position, start);
      const moved = shared.sourceStartOf(index) - start;
      const to = Math.min(end, shared.endOf(index));
      copyInto(copy, from - position, source, from + moved, to + moved);
    }
    return copy;
  }

  /** Copies what is shared of [position, end) into chunks, in whole stretches. */
  #own(position: number, end: number): void {
    const shared = this.#shared as Stretches;
    for (let index = shared.indexAt(position); index < shared.count; index++) {
      const start = shared.startOf(index);
      if (start >= end) break;
      const source = shared.sourceOf(index);
      if (source === undefined) continue;
      const from = shared.sourceStartOf(index);
      this.#writeAcross(start, source, from, from + shared.endOf(index) - start);
      shared.forget(index);
    }
  }

  #readChunks(position: number, end: number): Uint8Array {
    const index = Math.floor(position / CHUNK_SIZE);
    const offset = position - index * CHUNK_SIZE;
    const chunk = this.#chunks.get(index);
    if (chunk !== undefined && offset + end - position <= chunk.length) {
      return chunk.slice(offset, offset + end - position);
    }
    const copy = new Uint8Array(end - position);
    for (let at = position; at < end; ) {
      const index = Math.floor(at / CHUNK_SIZE);
      const chunkStart = index * CHUNK_SIZE;
      const stop = Math.min(end, chunkStart + CHUNK_SIZE);
      const chunk = this.#chunks.get(index);
      if (chunk !== undefined) {
        copy.set(chunk.subarray(at - chunkStart, stop - chunkStart), at - position);
      }
      at = stop;
    }
    return copy;
  }

  /** Makes everything from `position` on zeros again. */
  clearFrom(position: number): void {
    const partial = Math.floor(position / CHUNK_SIZE);
    for (const [index, chunk] of this.#chunks) {
      if (index === partial) chunk.fill(0, position - index * CHUNK_SIZE);
      if (index > partial) this.#chunks.delete(index);
    }
    this.#hot = NOTHING;
    if (position < this.#sharedEnd) {
      this.#shared?.cut(position);
      this.#sharedEnd = position;
    }
  }

  #writeAcross(position: number, bytes: Uint8Array, start: number, end: number): void {
    for (let from = start; from < end; ) {
      const at = position + from - start;
      const index = Math.floor(at / CHUNK_SIZE);
      const offset = at - index * CHUNK_SIZE;
      const stop = Math.min(end, from + CHUNK_SIZE - offset);
      this.#hot = this.#chunkFor(index, offset + stop - from);
      this.#hotStart = index * CHUNK_SIZE;
      copyInto(this.#hot, offset, bytes, from, stop);
      from = stop;
    }
  }

  /** The chunk, with room for `needed` bytes. Only the first begins small: most files are. */
  #chunkFor(index: number, needed: number): Uint8Array {
    const chunk = this.#chunks.get(index) ?? NOTHING;
    if (chunk.length >= needed) return chunk;
    const room = index > 0 ? CHUNK_SIZE : Math.max(needed, 2 * chunk.length, SMALLEST_CHUNK);
    const grown = new Uint8Array(Math.min(room, CHUNK_SIZE));
    grown.set(chunk);
    this.#chunks.set(index, grown);
    return grown;
  }
}

function copyInto(
  target: Uint8Array,
  position: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): void {
  if (end - start < LOOP_COPY) {
    for (let from = start, to = position; from < end; from++, to++) {
      target[to] = bytes[from] as number;
    }
  } else if (start === 0 && end === bytes.length) {
    target.set(bytes, position);
  } else {
    target.set(bytes.subarray(start, end), position);
  }
}
