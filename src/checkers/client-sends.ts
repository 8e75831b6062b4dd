import type { PartitionGhost } from "./partition-ghost.ts";

/** How a send ended, as far as its client was told. */
export const PENDING = 0;
export const ACKED = 1;
export const FAILED = 2;
export const UNKNOWN = 3;

/** Who has read it: flags. */
export const READ = 1;
export const READ_COMMITTED = 2;

/** A restart of a client leaves a large hole in its numbers: each part between has arrays of its own. */
const PART_BITS = 24;
const PART_MASK = (1 << PART_BITS) - 1;

/** What is known of one client's sends, by their numbers. Some 34 bytes each. */
export class ClientSends {
  readonly name: string;
  /** -1 if its payloads are not known. */
  readonly address: number;
  readonly #parts: SendsPart[] = [];

  constructor(name: string, address: number) {
    this.name = name;
    this.address = address;
  }

  /** Where the send stands: `part.offsets[index]` and so on, for `index = value & part.mask`. */
  partOf(value: number): SendsPart {
    const at = value >>> PART_BITS;
    let part = this.#parts[at];
    if (part === undefined) {
      part = new SendsPart(at << PART_BITS);
      this.#parts[at] = part;
    }
    part.makeRoom(value & PART_MASK);
    return part;
  }

  /** In ascending order of the numbers. */
  parts(): readonly SendsPart[] {
    return this.#parts.filter((part) => part !== undefined);
  }
}

/** Sends `first` and on; each array is indexed by what a send's number is above that. */
export class SendsPart {
  readonly first: number;
  count = 0;
  /** Where it was first seen to stand: acknowledged there, or read; -1 if nowhere. */
  offsets: Float64Array = new Float64Array(INITIAL).fill(-1);
  /** PENDING, ACKED, FAILED or UNKNOWN. */
  outcomes: Uint8Array = new Uint8Array(INITIAL);
  /** READ if somebody has read it, and READ_COMMITTED if somebody has who reads committed records only. */
  reads: Uint8Array = new Uint8Array(INITIAL);
  /** The highest offset of its partition that any client knew when it was sent; -1 if none. */
  frontiers: Float64Array = new Float64Array(INITIAL).fill(-1);
  /** When it was sent. */
  sentAt: Float64Array = new Float64Array(INITIAL);
  /** Which partition it was sent to. */
  partitions: PartitionGhost[] = [];

  constructor(first: number) {
    this.first = first;
  }

  makeRoom(index: number): void {
    if (index >= this.count) this.count = index + 1;
    if (index < this.offsets.length) return;
    const length = Math.max(this.offsets.length * 2, index + 1);
    this.offsets = filled(this.offsets, length);
    this.frontiers = filled(this.frontiers, length);
    this.sentAt = filled(this.sentAt, length);
    const outcomes = new Uint8Array(length);
    outcomes.set(this.outcomes);
    this.outcomes = outcomes;
    const reads = new Uint8Array(length);
    reads.set(this.reads);
    this.reads = reads;
  }
}

const INITIAL = 1024;

function filled(array: Float64Array, length: number): Float64Array {
  const grown = new Float64Array(length).fill(-1, array.length);
  grown.set(array);
  return grown;
}

export function indexOfSend(value: number): number {
  return value & PART_MASK;
}
