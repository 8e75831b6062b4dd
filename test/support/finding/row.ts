import type { HuntCase } from "../../../src/fuzz/hunt.ts";
import type { Search } from "./search.ts";
import type { Shrinkage } from "./shrink-finding.ts";

/** What is known of one planted bug. */
export interface Row {
  readonly name: string;
  readonly breaks: string;
  /** What was otherwise when it was measured, if anything was. */
  readonly remark?: string;
  readonly guided: Search;
  /** From seed to seed. */
  readonly plain: Search;
  /** The run in which the guided search named it. */
  readonly found: HuntCase | undefined;
  /** The same run, made small. */
  readonly shrunk: Shrinkage | undefined;
}
