import type { Offset } from "../../../kafka/ids.ts";
import type { World } from "../../../ports/node.ts";
import type { DurationSource } from "../../../ports/random.ts";
import type { TakenRecords } from "./completed-fetch.ts";

/** The application's work on what a poll gave it: one record after another, each in its time. */
export class Work {
  readonly #world: World;
  readonly #client: string;
  readonly #group: string;
  readonly #pace: DurationSource | undefined;
  readonly #timerKind: number;
  #taken: readonly TakenRecords[] = [];
  /** Which of them it is at, and which of its records. */
  #part = 0;
  #record = 0;

  /** Under `timerKind` the owner is woken for `done`. */
  constructor(
    world: World,
    client: string,
    group: string,
    pace: DurationSource | undefined,
    timerKind: number,
  ) {
    this.#world = world;
    this.#client = client;
    this.#group = group;
    this.#pace = pace;
    this.#timerKind = timerKind;
  }

  get isOver(): boolean {
    return this.#part >= this.#taken.length;
  }

  /** A poll gave these. */
  polled(taken: readonly TakenRecords[]): void {
    this.#taken = taken;
    this.#part = 0;
    this.#record = 0;
    for (const { partition, offsets, batches } of taken) {
      this.#world.facts.note({
        kind: "polled",
        client: this.#client,
        partition: partition.name,
        firstOffset: offsets[0] as Offset,
        lastOffset: offsets[offsets.length - 1] as Offset,
        batches,
      });
    }
  }

  begin(): void {
    if (this.#pace === undefined) this.#doAll();
    else this.#start(this.#pace);
  }

  /** The timer came due: the record is done. */
  done(): void {
    const pace = this.#pace;
    const part = this.#taken[this.#part];
    if (part === undefined || pace === undefined) return;
    const offset = part.offsets[this.#record] as Offset;
    this.#note(part, offset, offset);
    this.#record++;
    if (this.#record >= part.offsets.length) {
      this.#part++;
      this.#record = 0;
    }
    if (!this.isOver) this.#start(pace);
  }

  #start(pace: DurationSource): void {
    this.#world.timers.start(pace.draw(this.#world.random), this.#timerKind);
  }

  #doAll(): void {
    for (const part of this.#taken) {
      const { offsets } = part;
      this.#note(part, offsets[0] as Offset, offsets[offsets.length - 1] as Offset);
    }
    this.#part = this.#taken.length;
  }

  #note({ partition }: TakenRecords, firstOffset: Offset, lastOffset: Offset): void {
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
