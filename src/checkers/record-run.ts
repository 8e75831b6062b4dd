import type { Offset } from "../kafka/ids.ts";
import { counted, offsetsText } from "./wording.ts";

/** Records of one partition, gathered for one finding: how many, and between which offsets. */
export class RecordRun {
  first: Offset = Number.MAX_SAFE_INTEGER;
  last: Offset = -1;
  count = 0;

  add(first: Offset, last: Offset, count: number): void {
    if (first < this.first) this.first = first;
    if (last > this.last) this.last = last;
    this.count += count;
  }

  get offsets(): readonly [Offset, Offset] | undefined {
    return this.count === 0 ? undefined : [this.first, this.last];
  }

  /** `offsets 412..418`, or `5 of offsets 412..418` if there are others between. */
  get text(): string {
    const span = offsetsText(this.first, this.last);
    return this.isWhole ? span : `${this.count} of ${span}`;
  }

  /** `7 records`. */
  get size(): string {
    return counted(this.count, "record");
  }

  get isWhole(): boolean {
    return this.last - this.first + 1 === this.count;
  }
}
