import type { Offset } from "../../../kafka/ids.ts";
import type { World } from "../../../ports/node.ts";
import type { DurationSource } from "../../../ports/random.ts";
import type { AssignedPartition } from "../assigned-partition.ts";
import type { TakenRecords } from "./completed-fetch.ts";
import type { Finished, PolledWork } from "./polled-work.ts";

/** How an application works on records. */
export interface WorkPlan {
  /** How long each takes; undefined: no time. */
  readonly pace: DurationSource | undefined;
  /** How many it works on at a time. Of several, one that began later may be done sooner. */
  readonly workers: number;
}

/** What a poll gave of one partition, and how much of it is done. */
class Share {
  readonly taken: TakenRecords;
  /** Which of its records is the next to be begun. */
  next = 0;
  readonly #done: boolean[] = [];
  #unfinished = 0;

  constructor(taken: TakenRecords) {
    this.taken = taken;
  }

  offset(index: number): Offset {
    return this.taken.offsets[index] as Offset;
  }

  /** Returns the first offset that is not done. */
  finish(index: number): Offset {
    const { offsets } = this.taken;
    this.#done[index] = true;
    while (this.#done[this.#unfinished] === true) this.#unfinished++;
    return offsets[this.#unfinished] ?? this.offset(offsets.length - 1) + 1;
  }
}

/** A record that a worker is at. */
interface Task {
  readonly share: Share;
  readonly index: number;
}

/**
 * The application's work on what a poll gave it: by one after another, or by a pool of workers who begin in order
 * and finish as they finish.
 *
 * Simplified: the next poll waits for all of them; pools that poll on meanwhile pause what they cannot take.
 */
export class Work implements PolledWork {
  /** Whatever becomes of its commits, it has done its work. */
  readonly hasFailed = false;
  readonly #world: World;
  readonly #client: string;
  readonly #group: string;
  readonly #plan: WorkPlan;
  readonly #timerKind: number;
  #shares: readonly Share[] = [];
  /** Which of them is the next to be begun. */
  #share = 0;
  #busy = 0;

  /** Under `timerKind` the owner is woken for `done`, with a payload. */
  constructor(world: World, client: string, group: string, plan: WorkPlan, timerKind: number) {
    this.#world = world;
    this.#client = client;
    this.#group = group;
    this.#plan = plan;
    this.#timerKind = timerKind;
  }

  get isOver(): boolean {
    return this.#busy === 0 && this.#share >= this.#shares.length;
  }

  /** A poll gave these. */
  polled(taken: readonly TakenRecords[]): void {
    this.#shares = taken.map((records) => new Share(records));
    this.#share = 0;
    for (const one of taken) notePolled(this.#world, this.#client, one);
  }

  run(): void {
    // Its timers are all that it waits for.
  }

  begin(): void {
    const { pace, workers } = this.#plan;
    if (pace === undefined) this.#doAll();
    else while (this.#busy < workers && this.#start(pace));
  }

  /** The timer came due: a worker is done with its record, and takes the next. */
  done(task: unknown): Finished {
    const { share, index } = task as Task;
    const { partition } = share.taken;
    const offset = share.offset(index);
    this.#note(partition, offset, offset);
    const unfinished = share.finish(index);
    this.#busy--;
    const { pace } = this.#plan;
    if (pace !== undefined) this.#start(pace);
    return { partition, offset, unfinished };
  }

  /** A worker begins with the next record; false if there is none. */
  #start(pace: DurationSource): boolean {
    const share = this.#shares[this.#share];
    if (share === undefined) return false;
    const task: Task = { share, index: share.next };
    share.next++;
    if (share.next >= share.taken.offsets.length) this.#share++;
    this.#busy++;
    this.#world.timers.start(pace.draw(this.#world.random), this.#timerKind, task);
    return true;
  }

  #doAll(): void {
    for (const { taken } of this.#shares) {
      const { offsets, partition } = taken;
      this.#note(partition, offsets[0] as Offset, offsets[offsets.length - 1] as Offset);
    }
    this.#share = this.#shares.length;
  }

  #note(partition: AssignedPartition, firstOffset: Offset, lastOffset: Offset): void {
    this.#world.facts.note({
      kind: "records-processed",
      client: this.#client,
      group: this.#group,
      partition: partition.name,
      firstOffset,
      lastOffset,
    });
  }
}

/** Tells that the application was given them. */
export function notePolled(
  { facts }: World,
  client: string,
  { partition, offsets, batches }: TakenRecords,
): void {
  facts.note({
    kind: "polled",
    client,
    partition: partition.name,
    firstOffset: offsets[0] as Offset,
    lastOffset: offsets[offsets.length - 1] as Offset,
    batches,
  });
}
