import type { Offset } from "../kafka/ids.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { RecordId } from "./record-id.ts";

/** Somebody was told that a record stands at the offset. */
export const SEEN_ACKED = 1;
/** Somebody has read there. */
export const SEEN_READ = 2;

/** What clients know of one partition, all together: by offset. 13 bytes each. */
export class ObservedPartition {
  readonly ghost: PartitionGhost;
  /** Which record, as it was seen last; NO_RECORD if it is not known. */
  ids: Float64Array = new Float64Array(INITIAL);
  /** SEEN_ACKED, SEEN_READ. */
  seen: Uint8Array = new Uint8Array(INITIAL);
  /** How far it was from there to what the first who read on was given next; 0 if nobody has. */
  steps: Int32Array = new Int32Array(INITIAL);
  /** The highest offset that is known. */
  frontier: Offset = -1;
  readonly readers: PartitionReader[] = [];

  constructor(ghost: PartitionGhost) {
    this.ghost = ghost;
  }

  /** The record at an offset as it was seen last; NO_RECORD if none is known. */
  at(offset: Offset): RecordId {
    return offset < this.ids.length ? (this.ids[offset] as number) : 0;
  }

  makeRoom(offset: Offset): void {
    if (offset > this.frontier) this.frontier = offset;
    if (offset < this.ids.length) return;
    const length = Math.max(this.ids.length * 2, offset + 1);
    const ids = new Float64Array(length);
    ids.set(this.ids);
    this.ids = ids;
    const seen = new Uint8Array(length);
    seen.set(this.seen);
    this.seen = seen;
    const steps = new Int32Array(length);
    steps.set(this.steps);
    this.steps = steps;
  }

  findReader(client: string): PartitionReader | undefined {
    for (const reader of this.readers) if (reader.client === client) return reader;
    return undefined;
  }

  /** `flags`: what a record is that it has read, see `SendsPart.reads`. */
  addReader(client: string, flags: number): PartitionReader {
    const made = new PartitionReader(client, flags);
    this.readers.push(made);
    return made;
  }
}

const INITIAL = 1024;

/** A stretch [from, to) of offsets. */
export interface Stretch {
  readonly from: Offset;
  readonly to: Offset;
}

/** How one consumer has read one partition. */
export class PartitionReader {
  readonly client: string;
  readonly flags: number;
  /** The next offset that it would read; -1 if it has no position. */
  position: Offset = -1;
  /** What it was given last, since its position was last set; -1 if nothing. */
  last: Offset = -1;
  /** Where the stretch began that it is reading in one go. */
  from: Offset = -1;
  /** Stretches that it read in one go before. */
  readonly passed: Stretch[] = [];

  constructor(client: string, flags: number) {
    this.client = client;
    this.flags = flags;
  }

  /** Its position is set to `to`, or it has none from now on (-1). */
  jump(to: Offset): void {
    if (this.from >= 0 && this.position > this.from) {
      this.passed.push({ from: this.from, to: this.position });
    }
    this.position = to;
    this.from = to;
    this.last = -1;
  }

  /** Has it come past the offset, in one go with what lies around it? */
  hasPassed(offset: Offset): boolean {
    if (this.from >= 0 && offset >= this.from && offset < this.position) return true;
    return this.passed.some(({ from, to }) => offset >= from && offset < to);
  }
}
