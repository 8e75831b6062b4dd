/**
 * Which event scheduled which. Kept only for a run that is to be explained, since it costs a word for
 * each event that was ever scheduled.
 */
export class EventCauses {
  /** By sequence number: the event during which it was scheduled, 0 before the first. */
  readonly #scheduledBy: number[] = [];
  /** By event number. */
  readonly #causes: number[] = [];

  scheduled(sequence: number, during: number): void {
    this.#scheduledBy[sequence] = during;
  }

  happened(event: number, sequence: number): void {
    this.#causes[event] = this.#scheduledBy[sequence] ?? 0;
  }

  /** The event that scheduled this one; 0 if it was scheduled before the first, or before recording began. */
  of(event: number): number {
    return this.#causes[event] ?? 0;
  }
}
