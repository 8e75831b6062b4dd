import type { Instant } from "../../../base/time.ts";
import type { Offset } from "../../../kafka/ids.ts";
import type { AssignedPartition } from "../assigned-partition.ts";
import type { TakenRecords } from "./completed-fetch.ts";

/** A record of a partition is done. */
export interface Finished {
  readonly partition: AssignedPartition;
  readonly offset: Offset;
  /** Of what the poll gave of the partition: the first record that is not done, or where that ends. */
  readonly unfinished: Offset;
}

/** What a program does with the records that a poll gave it, before it polls again. */
export interface PolledWork {
  /** A poll gave it these. */
  polled(taken: readonly TakenRecords[]): void;
  /** It may begin. If they were to be committed before: are they? */
  begin(isCommitted: boolean): void;
  /** A timer of its kind came due. What it tells is committed, if each record is to be. */
  done(payload: unknown): Finished | undefined;
  /** Something happened: it does what can be done now. */
  run(now: Instant): void;
  readonly isOver: boolean;
  /** It came to nothing: the records are to be read again, from where the group has committed. */
  readonly hasFailed: boolean;
}
