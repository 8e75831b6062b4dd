import { BackwardBits } from "./backward-bits.ts";
import { corrupt } from "./corrupt-block.ts";
import { firstState, nextState, readFseTable } from "./zstd-fse.ts";

/** A Huffman code of literals (RFC 8878, 4.2): what the next `maxBits` bits of a stream begin with. */
export interface HuffmanTable {
  readonly maxBits: number;
  readonly symbol: Uint8Array;
  readonly bits: Uint8Array;
}

/** A table, and where its description ended. */
export interface DescribedCode {
  readonly table: HuffmanTable;
  readonly end: number;
}

/** Reads the description of a code that stands in bytes[start, end). Throws a `CorruptBlock`. */
export function readHuffmanTable(bytes: Uint8Array, start: number, end: number): DescribedCode {
  if (start >= end) corrupt(BAD_CODE);
  const header = bytes[start] as number;
  const at = start + 1;
  if (header < 128) {
    if (at + header > end) corrupt(BAD_CODE);
    const weights = readCompressedWeights(bytes, at, at + header);
    return { table: makeTable(weights), end: at + header };
  }
  const count = header - 127;
  const size = (count + 1) >> 1;
  if (at + size > end) corrupt(BAD_CODE);
  const weights: number[] = [];
  for (let i = 0; i < count; i++) {
    const pair = bytes[at + (i >> 1)] as number;
    weights.push((i & 1) === 0 ? pair >>> 4 : pair & 15);
  }
  return { table: makeTable(weights), end: at + size };
}

/** Decodes the stream in bytes[start, end) into exactly `count` literals. Throws a `CorruptBlock`. */
export function decodeHuffman(
  table: HuffmanTable,
  bytes: Uint8Array,
  start: number,
  end: number,
  literals: Uint8Array,
  at: number,
  count: number,
): void {
  const stream = new BackwardBits(bytes, start, end);
  const { maxBits, symbol, bits } = table;
  for (let i = 0; i < count; i++) {
    const next = stream.peek(maxBits);
    literals[at + i] = symbol[next] as number;
    stream.left -= bits[next] as number;
  }
  if (stream.left !== 0) corrupt("literals of Zstandard that do not end where their stream does");
}

const BAD_CODE = "a code of Zstandard makes no sense";
const MAX_BITS = 11;
/** The last symbol's weight is not written: it is what the others leave. */
const MAX_WEIGHTS = 255;
const MAX_ACCURACY = 6;
const MAX_WEIGHT = 12;

/** Two states take turns, until one has no bits left to go on with. */
function readCompressedWeights(bytes: Uint8Array, start: number, end: number): readonly number[] {
  const { table, end: streamStart } = readFseTable(bytes, start, end, MAX_ACCURACY, MAX_WEIGHT);
  const stream = new BackwardBits(bytes, streamStart, end);
  let state = firstState(table, stream);
  let other = firstState(table, stream);
  const weights: number[] = [];
  while (weights.length < MAX_WEIGHTS) {
    weights.push(table.symbol[state] as number);
    const next = nextState(table, state, stream);
    if (stream.left < 0) {
      weights.push(table.symbol[other] as number);
      return weights;
    }
    state = other;
    other = next;
  }
  return corrupt(BAD_CODE);
}

/** A weight of w stands for 2^(w-1) of the 2^maxBits ways in which the next bits can begin. */
function makeTable(written: readonly number[]): HuffmanTable {
  let ways = 0;
  for (const weight of written) {
    if (weight > MAX_BITS) corrupt(BAD_CODE);
    if (weight > 0) ways += 1 << (weight - 1);
  }
  if (ways === 0 || written.length > MAX_WEIGHTS) corrupt(BAD_CODE);
  const maxBits = 32 - Math.clz32(ways);
  const left = (1 << maxBits) - ways;
  if (maxBits > MAX_BITS || (left & (left - 1)) !== 0) corrupt(BAD_CODE);
  const weights = [...written, 32 - Math.clz32(left)];

  const size = 1 << maxBits;
  const symbol = new Uint8Array(size);
  const bits = new Uint8Array(size);
  let at = 0;
  for (let weight = 1; weight <= maxBits; weight++) {
    for (let i = 0; i < weights.length; i++) {
      if (weights[i] !== weight) continue;
      const until = at + (1 << (weight - 1));
      symbol.fill(i, at, until);
      bits.fill(maxBits + 1 - weight, at, until);
      at = until;
    }
  }
  // A code of one symbol would leave a half of the ways unused.
  if (at !== size) corrupt(BAD_CODE);
  return { maxBits, symbol, bits };
}
