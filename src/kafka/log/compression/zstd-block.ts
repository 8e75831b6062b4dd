import { readUint16Le } from "../../../base/little-endian.ts";
import { BackwardBits } from "./backward-bits.ts";
import { corrupt } from "./corrupt-block.ts";
import type { Output } from "./output.ts";
import type { FseTable } from "./zstd-fse.ts";
import { firstState, makeFseTable, nextState, onlySymbol, readFseTable } from "./zstd-fse.ts";
import type { HuffmanTable } from "./zstd-huffman.ts";
import { decodeHuffman, readHuffmanTable } from "./zstd-huffman.ts";

/** No block holds more (RFC 8878, 3.1.1.2.4). */
export const MAX_BLOCK = 131_072;

/**
 * Decodes the compressed blocks of one Zstandard frame (RFC 8878, 3.1.1.3): literals, then sequences, each
 * of which takes some literals and repeats something. Tables and repeated distances go from block to block.
 */
export class ZstdBlocks {
  readonly #output: Output;
  /** Where the frame began in the output: nothing before it may be repeated. */
  readonly #floor: number;
  readonly #maxSize: number;
  #huffman: HuffmanTable | undefined = undefined;
  /** Of literal lengths, distances and match lengths. */
  readonly #tables: (FseTable | undefined)[] = [undefined, undefined, undefined];
  readonly #distances: [number, number, number] = [1, 4, 8];

  constructor(output: Output, maxSize: number) {
    this.#output = output;
    this.#floor = output.length;
    this.#maxSize = maxSize;
  }

  /** Appends what the block bytes[start, end) holds. Throws a `CorruptBlock`. */
  decode(bytes: Uint8Array, start: number, end: number): void {
    const literals = this.#readLiterals(bytes, start, end);
    this.#readSequences(bytes, literals.end, end, literals.bytes);
  }

  #readLiterals(bytes: Uint8Array, start: number, end: number): Literals {
    const header = readLiteralsHeader(bytes, start, end);
    const { kind, size, compressedSize } = header;
    if (size > this.#maxSize) corrupt(TOO_MUCH);
    const at = header.end;
    if (kind === RAW) {
      if (at + size > end) corrupt(CUT);
      return { bytes: bytes.subarray(at, at + size), end: at + size };
    }
    const literals = new Uint8Array(size);
    if (kind === RLE) {
      if (at >= end) corrupt(CUT);
      literals.fill(bytes[at] as number);
      return { bytes: literals, end: at + 1 };
    }
    const streamsEnd = at + compressedSize;
    if (streamsEnd > end) corrupt(CUT);
    let streamsStart = at;
    if (kind === COMPRESSED) {
      const code = readHuffmanTable(bytes, at, streamsEnd);
      this.#huffman = code.table;
      streamsStart = code.end;
    }
    const table = this.#huffman;
    if (table === undefined)
      return corrupt("a block of Zstandard goes by a code that was never given");
    if (header.isOneStream)
      decodeHuffman(table, bytes, streamsStart, streamsEnd, literals, 0, size);
    else decodeFour(table, bytes, streamsStart, streamsEnd, literals);
    return { bytes: literals, end: streamsEnd };
  }

  #readSequences(bytes: Uint8Array, start: number, end: number, literals: Uint8Array): void {
    const output = this.#output;
    let at = start;
    if (at >= end) corrupt(CUT);
    let count = bytes[at++] as number;
    if (count === 0) {
      if (at !== end) corrupt("a block of Zstandard goes on after its end");
      output.append(literals, 0, literals.length);
      return;
    }
    if (count === 255) {
      if (at + 2 > end) corrupt(CUT);
      count = readUint16Le(bytes, at) + 0x7f00;
      at += 2;
    } else if (count >= 128) {
      if (at >= end) corrupt(CUT);
      count = ((count - 128) << 8) | (bytes[at++] as number);
    }
    at = this.#readTables(bytes, at, end);
    this.#execute(new BackwardBits(bytes, at, end), count, literals);
  }

  /** Returns the position behind them. */
  #readTables(bytes: Uint8Array, start: number, end: number): number {
    if (start >= end) corrupt(CUT);
    const modes = bytes[start] as number;
    if ((modes & 3) !== 0) corrupt(BAD_SEQUENCES);
    let at = start + 1;
    for (let i = 0; i < 3; i++) {
      const { byDefault, maxAccuracy, maxSymbol } = ALPHABETS[i] as Alphabet;
      const mode = (modes >>> (6 - 2 * i)) & 3;
      if (mode === PREDEFINED) {
        this.#tables[i] = byDefault;
      } else if (mode === ONE_SYMBOL) {
        if (at >= end) corrupt(CUT);
        const symbol = bytes[at++] as number;
        if (symbol > maxSymbol) corrupt(BAD_SEQUENCES);
        this.#tables[i] = onlySymbol(symbol);
      } else if (mode === DESCRIBED) {
        const described = readFseTable(bytes, at, end, maxAccuracy, maxSymbol);
        this.#tables[i] = described.table;
        at = described.end;
      } else if (this.#tables[i] === undefined) {
        corrupt("a block of Zstandard goes by a table that was never given");
      }
    }
    return at;
  }

  #execute(stream: BackwardBits, count: number, literals: Uint8Array): void {
    const output = this.#output;
    const lengths = this.#tables[0] as FseTable;
    const distances = this.#tables[1] as FseTable;
    const matches = this.#tables[2] as FseTable;
    const ceiling = output.length + this.#maxSize;
    let lengthState = firstState(lengths, stream);
    let distanceState = firstState(distances, stream);
    let matchState = firstState(matches, stream);
    let taken = 0;
    for (let left = count; left > 0; left--) {
      const lengthCode = lengths.symbol[lengthState] as number;
      const matchCode = matches.symbol[matchState] as number;
      const distanceCode = distances.symbol[distanceState] as number;
      const distanceValue = 2 ** distanceCode + stream.read(distanceCode);
      const matchLength =
        (MATCH_BASE[matchCode] as number) + stream.read(MATCH_BITS[matchCode] as number);
      const literalLength =
        (LENGTH_BASE[lengthCode] as number) + stream.read(LENGTH_BITS[lengthCode] as number);
      if (taken + literalLength > literals.length) corrupt(BAD_SEQUENCES);
      if (output.length + literalLength + matchLength > ceiling) corrupt(TOO_MUCH);
      output.append(literals, taken, taken + literalLength);
      taken += literalLength;
      output.copyBack(this.#distance(distanceValue, literalLength), matchLength, this.#floor);
      if (left === 1) break;
      lengthState = nextState(lengths, lengthState, stream);
      matchState = nextState(matches, matchState, stream);
      distanceState = nextState(distances, distanceState, stream);
      if (stream.left < 0) corrupt(BAD_SEQUENCES);
    }
    if (stream.left !== 0) corrupt(BAD_SEQUENCES);
    if (output.length + literals.length - taken > ceiling) corrupt(TOO_MUCH);
    output.append(literals, taken, literals.length);
  }

  /** Values up to 3 stand for one of the last three distances; which, depends on whether literals came before. */
  #distance(value: number, literalLength: number): number {
    const last = this.#distances;
    const [first, second, third] = last;
    if (value > 3) {
      last[2] = second;
      last[1] = first;
      last[0] = value - 3;
      return last[0];
    }
    const which = literalLength === 0 ? value : value - 1;
    if (which === 0) return first;
    const distance = which === 1 ? second : which === 2 ? third : first - 1;
    if (which > 1) last[2] = second;
    last[1] = first;
    last[0] = distance;
    return distance;
  }
}

interface Literals {
  readonly bytes: Uint8Array;
  /** Where the section ended. */
  readonly end: number;
}

interface LiteralsHeader {
  readonly kind: number;
  readonly size: number;
  readonly compressedSize: number;
  readonly isOneStream: boolean;
  readonly end: number;
}

/** The kinds of literals; the last goes by the code of the block before. */
const RAW = 0;
const RLE = 1;
const COMPRESSED = 2;

const PREDEFINED = 0;
const ONE_SYMBOL = 1;
const DESCRIBED = 2;

const CUT = "a block of Zstandard is cut short";
const TOO_MUCH = "a block of Zstandard holds more than the frame allows";
const BAD_SEQUENCES = "sequences of Zstandard that make no sense";

/** One to five bytes: two bits each for the kind and the format, then one or two sizes. */
function readLiteralsHeader(bytes: Uint8Array, start: number, end: number): LiteralsHeader {
  const first = bytes[start] as number;
  const kind = first & 3;
  const format = (first >>> 2) & 3;
  if (kind === RAW || kind === RLE) {
    const width = (format & 1) === 0 ? 1 : format === 1 ? 2 : 3;
    if (start + width > end) corrupt(CUT);
    let size = width === 1 ? first >>> 3 : first >>> 4;
    if (width > 1) size |= (bytes[start + 1] as number) << 4;
    if (width > 2) size |= (bytes[start + 2] as number) << 12;
    return { kind, size, compressedSize: 0, isOneStream: true, end: start + width };
  }
  const width = format < 2 ? 3 : format + 2;
  if (start + width > end) corrupt(CUT);
  const sizeBits = format < 2 ? 10 : format === 2 ? 14 : 18;
  let bits = 0;
  for (let i = width - 1; i >= 0; i--) bits = bits * 256 + (bytes[start + i] as number);
  const sizes = Math.floor(bits / 16);
  const size = sizes % 2 ** sizeBits;
  const compressedSize = Math.floor(sizes / 2 ** sizeBits);
  return { kind, size, compressedSize, isOneStream: format === 0, end: start + width };
}

/** Four streams of equally many literals, but for the last; the sizes of three stand before them. */
function decodeFour(
  table: HuffmanTable,
  bytes: Uint8Array,
  start: number,
  end: number,
  literals: Uint8Array,
): void {
  if (start + 6 > end) corrupt(CUT);
  const each = (literals.length + 3) >> 2;
  if (each * 3 > literals.length) corrupt(BAD_SEQUENCES);
  let from = start + 6;
  for (let i = 0; i < 4; i++) {
    const to = i < 3 ? from + readUint16Le(bytes, start + 2 * i) : end;
    if (to > end) corrupt(CUT);
    const count = i < 3 ? each : literals.length - 3 * each;
    decodeHuffman(table, bytes, from, to, literals, i * each, count);
    from = to;
  }
}

/** What the codes of a table may be. */
interface Alphabet {
  readonly byDefault: FseTable;
  readonly maxAccuracy: number;
  readonly maxSymbol: number;
}

/** Of each symbol its share of the states, as many times as it is said. */
function spread(...shares: readonly (readonly [share: number, times: number])[]): number[] {
  return shares.flatMap(([share, times]) => new Array<number>(times).fill(share));
}

/** RFC 8878, 3.1.1.3.2.2. */
const ALPHABETS: readonly Alphabet[] = [
  {
    byDefault: makeFseTable(
      spread([4, 1], [3, 1], [2, 11], [1, 3], [2, 9], [3, 1], [2, 1], [1, 5], [-1, 4]),
      6,
    ),
    maxAccuracy: 9,
    maxSymbol: 35,
  },
  {
    byDefault: makeFseTable(spread([1, 6], [2, 3], [1, 15], [-1, 5]), 5),
    maxAccuracy: 8,
    maxSymbol: 31,
  },
  {
    byDefault: makeFseTable(spread([1, 1], [4, 1], [3, 1], [2, 6], [1, 37], [-1, 7]), 6),
    maxAccuracy: 9,
    maxSymbol: 52,
  },
];

/** RFC 8878, 3.1.1.3.2.1.1: the extra bits of each code; a code begins where the one before ends. */
const LENGTH_BITS = spread([0, 16], [1, 4], [2, 2], [3, 2], [4, 1], [6, 1]).concat([
  7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
]);
const MATCH_BITS = spread([0, 32], [1, 4], [2, 2], [3, 2], [4, 2], [5, 1]).concat([
  7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
]);
const LENGTH_BASE = basesOf(LENGTH_BITS, 0);
const MATCH_BASE = basesOf(MATCH_BITS, 3);

function basesOf(bits: readonly number[], first: number): readonly number[] {
  let base = first;
  return bits.map((width) => {
    const begins = base;
    base += 2 ** width;
    return begins;
  });
}
