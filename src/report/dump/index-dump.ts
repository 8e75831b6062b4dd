import { readInt32, readInt64 } from "../../base/big-endian.ts";
import { NO_TIMESTAMP } from "../../kafka/log/record-batch.ts";
import type { BatchFrame } from "./batch-frames.ts";
import { batchFrames, frameAt } from "./batch-frames.ts";
import type { ByteSource } from "./byte-source.ts";
import { Damages } from "./damage.ts";
import type { DumpOptions, DumpTarget } from "./dump-options.ts";
import type { DumpEntry } from "./entry.ts";
import { baseOffsetOf, besides } from "./file-kind.ts";

const OFFSET_ENTRY = 8;
const TIME_ENTRY = 12;

/** An `.index`, each entry compared with the log beside it, if there is one. */
export function* dumpOffsetIndex(
  target: DumpTarget,
  options: DumpOptions,
  damages: Damages,
): Generator<DumpEntry> {
  const base = baseOffsetOf(target.name) ?? 0;
  const log = options.indexSanityCheck ? undefined : logBeside(target);
  let lastOffset = base - 1;
  let lastPosition = -1;
  let count = 0;
  for (const { bytes, at, byte } of entriesOf(target.source, OFFSET_ENTRY, damages)) {
    const offset = base + readInt32(bytes, at);
    const position = readInt32(bytes, at + 4);
    count++;
    if (offset <= lastOffset) damages.add(byte, `offset ${offset} after ${lastOffset}`);
    if (position <= lastPosition)
      damages.add(byte + 4, `position ${position} after ${lastPosition}`);
    const wrong = log === undefined ? undefined : mismatch(log, offset, position);
    if (wrong !== undefined) damages.add(byte, wrong);
    if (isShown(options)) yield { kind: "index", offset, position };
    lastOffset = offset;
    lastPosition = position;
  }
  if (count === 0 && damages.first === undefined) {
    yield { kind: "note", text: `${target.path} is empty.` };
  } else {
    yield* verdict(target, options, damages);
  }
}

/** A `.timeindex`, each entry compared with the log beside it, if there is one. */
export function* dumpTimeIndex(
  target: DumpTarget,
  options: DumpOptions,
  damages: Damages,
): Generator<DumpEntry> {
  const base = baseOffsetOf(target.name) ?? 0;
  const log = options.indexSanityCheck ? undefined : logBeside(target);
  const walk = log === undefined ? undefined : new LogWalk(log);
  let lastTimestamp = NO_TIMESTAMP;
  let lastOffset = base - 1;
  for (const { bytes, at, byte } of entriesOf(target.source, TIME_ENTRY, damages)) {
    const timestamp = readInt64(bytes, at);
    const offset = base + readInt32(bytes, at + 8);
    if (timestamp <= lastTimestamp)
      damages.add(byte, `timestamp ${timestamp} after ${lastTimestamp}`);
    if (offset <= lastOffset) damages.add(byte + 8, `offset ${offset} after ${lastOffset}`);
    const wrong = walk?.mismatch(offset, timestamp);
    if (wrong !== undefined) damages.add(byte, wrong);
    if (isShown(options)) yield { kind: "timeindex", timestamp, offset };
    lastTimestamp = timestamp;
    lastOffset = offset;
  }
  yield* verdict(target, options, damages);
}

function isShown({ indexSanityCheck, verifyIndexOnly }: DumpOptions): boolean {
  return !indexSanityCheck && !verifyIndexOnly;
}

function* verdict(
  { path }: DumpTarget,
  { indexSanityCheck }: DumpOptions,
  damages: Damages,
): Generator<DumpEntry> {
  if (!indexSanityCheck || damages.first !== undefined) return;
  yield { kind: "note", text: `${path} passed sanity check.` };
}

function logBeside(target: DumpTarget): ByteSource | undefined {
  return target.beside(besides(target.name, ".log"));
}

/** What is wrong with an entry that says that the batch at `position` ends with `offset`. */
function mismatch(log: ByteSource, offset: number, position: number): string | undefined {
  const found =
    position < 0 || position >= log.size
      ? undefined
      : frameAt(log, position, log.size, new Damages());
  if (found === undefined) return `position ${position}, and in the log no batch begins there`;
  if (found.lastOffset === offset) return undefined;
  return `offset ${offset}, and the batch at position ${position} ends with ${found.lastOffset}`;
}

/** Goes through a log once, for entries that ascend. */
class LogWalk {
  readonly #frames: Generator<BatchFrame>;
  #frame: BatchFrame | undefined;

  constructor(log: ByteSource) {
    this.#frames = batchFrames(log, log.size, new Damages());
    this.#frame = this.#next();
  }

  /** What is wrong with an entry that says that a batch ends with `offset` and has this as its largest timestamp. */
  mismatch(offset: number, timestamp: number): string | undefined {
    while (this.#frame !== undefined && this.#frame.lastOffset < offset) this.#frame = this.#next();
    const frame = this.#frame;
    if (frame?.lastOffset !== offset)
      return `offset ${offset}, and in the log no batch ends with it`;
    if (frame.maxTimestamp === timestamp) return undefined;
    return `timestamp ${timestamp}, and the batch that ends with ${offset} has ${frame.maxTimestamp}`;
  }

  #next(): BatchFrame | undefined {
    const { done, value } = this.#frames.next();
    return done === true ? undefined : value;
  }
}

interface FoundEntry {
  readonly bytes: Uint8Array;
  /** In these bytes. */
  readonly at: number;
  /** In the file. */
  readonly byte: number;
}

/** Entries read at a time. */
const ENTRIES_READ = 4096;

/** The entries of an index up to the zeros that a broker sets aside for more. */
function* entriesOf(source: ByteSource, size: number, damages: Damages): Generator<FoundEntry> {
  let isOver = false;
  for (let start = 0; start < source.size; ) {
    const bytes = source.read(start, ENTRIES_READ * size);
    const whole = bytes.length - (bytes.length % size);
    for (let at = 0; at < whole; at += size) {
      const isZero = isAllZero(bytes, at, at + size);
      if (isOver && !isZero) {
        damages.add(start + at, "an entry behind zeros, where entries end");
        return;
      }
      if (isZero) isOver = true;
      else yield { bytes, at, byte: start + at };
    }
    if (whole < bytes.length || bytes.length === 0) {
      damages.add(
        start + whole,
        `${bytes.length - whole} of the ${size} bytes of an entry, and the file ends`,
      );
      return;
    }
    start += whole;
  }
}

function isAllZero(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] !== 0) return false;
  return true;
}
