import type { BackwardBits } from "./backward-bits.ts";
import { corrupt } from "./corrupt-block.ts";

/** A decoding table of finite state entropy (RFC 8878, 4.1): what each state stands for and where it leads. */
export interface FseTable {
  /** There are 2^accuracy states. */
  readonly accuracy: number;
  readonly symbol: Uint8Array;
  /** How many bits lead to the next state, and to which number they are added. */
  readonly bits: Uint8Array;
  readonly base: Uint16Array;
}

/** The first state of a stream. */
export function firstState(table: FseTable, stream: BackwardBits): number {
  return stream.read(table.accuracy);
}

export function nextState(table: FseTable, state: number, stream: BackwardBits): number {
  return (table.base[state] as number) + stream.read(table.bits[state] as number);
}

/** A table in which every state is this symbol. */
export function onlySymbol(symbol: number): FseTable {
  return {
    accuracy: 0,
    symbol: new Uint8Array([symbol]),
    bits: new Uint8Array(1),
    base: new Uint16Array(1),
  };
}

/** A table, and where its description ended. */
export interface DescribedTable {
  readonly table: FseTable;
  readonly end: number;
}

/** Reads the description of a table that stands in bytes[start, end). Throws a `CorruptBlock`. */
export function readFseTable(
  bytes: Uint8Array,
  start: number,
  end: number,
  maxAccuracy: number,
  maxSymbol: number,
): DescribedTable {
  const stream = new ForwardBits(bytes, start, end);
  const accuracy = stream.read(4) + 5;
  if (accuracy > maxAccuracy) corrupt(BAD_TABLE);
  const shares: number[] = [];
  let left = 1 << accuracy;
  while (left > 0) {
    if (shares.length > maxSymbol) corrupt(BAD_TABLE);
    const share = readShare(stream, left);
    shares.push(share);
    left -= Math.abs(share);
    if (share === 0) skipAbsent(stream, shares, maxSymbol);
  }
  if (shares.length > maxSymbol + 1) corrupt(BAD_TABLE);
  return { table: makeFseTable(shares, accuracy), end: stream.byteAfter };
}

/**
 * The table in which each symbol has a share of the 2^accuracy states: -1 is less than one, but one
 * state all the same. The shares must add up.
 */
export function makeFseTable(shares: readonly number[], accuracy: number): FseTable {
  const size = 1 << accuracy;
  const symbol = new Uint8Array(size);
  const bits = new Uint8Array(size);
  const base = new Uint16Array(size);
  let high = size;
  for (let i = 0; i < shares.length; i++) if (shares[i] === -1) symbol[--high] = i;
  const step = (size >> 1) + (size >> 3) + 3;
  let at = 0;
  for (let i = 0; i < shares.length; i++) {
    for (let left = shares[i] as number; left > 0; left--) {
      symbol[at] = i;
      do at = (at + step) & (size - 1);
      while (at >= high);
    }
  }
  const next = shares.map((share) => Math.abs(share));
  for (let state = 0; state < size; state++) {
    const of = symbol[state] as number;
    const number = next[of] as number;
    next[of] = number + 1;
    const width = accuracy - (31 - Math.clz32(number));
    bits[state] = width;
    base[state] = (number << width) - size;
  }
  return { accuracy, symbol, bits, base };
}

const BAD_TABLE = "a table of Zstandard makes no sense";

/** Shares are written in as few bits as what is left to share out needs. */
function readShare(stream: ForwardBits, left: number): number {
  const width = 32 - Math.clz32(left + 1);
  const value = stream.read(width);
  const lowMask = (1 << (width - 1)) - 1;
  const threshold = (1 << width) - 1 - (left + 1);
  const low = value & lowMask;
  if (low < threshold) {
    stream.unread(1);
    return low - 1;
  }
  return (value > lowMask ? value - threshold : value) - 1;
}

/** After a symbol that is absent, two bits say how many more are; three of them, that two more bits follow. */
function skipAbsent(stream: ForwardBits, shares: number[], maxSymbol: number): void {
  let more: number;
  do {
    more = stream.read(2);
    for (let i = 0; i < more; i++) shares.push(0);
  } while (more === 3 && shares.length <= maxSymbol);
}

/** Reads bits from the lowest of the first byte on. */
class ForwardBits {
  readonly #bytes: Uint8Array;
  readonly #start: number;
  readonly #length: number;
  #at = 0;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.#start = start;
    this.#length = (end - start) * 8;
  }

  /** The position of the first byte of which no bit was read. */
  get byteAfter(): number {
    return this.#start + ((this.#at + 7) >>> 3);
  }

  /** At most 16 bits. */
  read(count: number): number {
    if (this.#at + count > this.#length) corrupt("a table of Zstandard is cut short");
    const bytes = this.#bytes;
    const at = this.#start + (this.#at >>> 3);
    const word =
      (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16);
    const value = (word >>> (this.#at & 7)) & ((1 << count) - 1);
    this.#at += count;
    return value;
  }

  unread(count: number): void {
    this.#at -= count;
  }
}
